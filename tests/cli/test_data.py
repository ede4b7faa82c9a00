"""``recombine data`` and ``recombine export``."""

from collections import Counter
from pathlib import Path

import pytest
from commands import Run, assert_is_sentence
from word_forms import write_language

from recombine.data import files, scan
from recombine.data.output import lock_of
from recombine.data.scan import interpret
from recombine.errors import RecombineError
from recombine.example import Example


def test_scan_writes_the_split_and_replaces_files_only_by_force(run: Run, tmp_path: Path) -> None:
    words = ("data", "scan", "--split", "jump", "-o", tmp_path / "scan")
    existing = tmp_path / "scan/test.tsv"
    existing.parent.mkdir()
    existing.write_text("mine")
    assert_is_sentence(run(*words), [str(existing), "exists", "--force"])
    assert (existing.read_text(), (tmp_path / "scan/train.tsv").exists()) == ("mine", False)
    counts = {"train": 14670, "test": 7706}
    made = [{"path": str(tmp_path / f"scan/{name}.tsv"), "examples": count} for name, count in counts.items()]
    assert run(*words, "--force", "--json").document == {"files": made}
    train, test = (files.read(tmp_path / f"scan/{name}.tsv") for name in counts)
    assert {"train": len(train), "test": len(test)} == counts
    assert all(interpret(example.x) == example.y for example in test)


@pytest.fixture
def seeds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Makes SCAN a dataset of two examples, and holds the seeds that it was asked for with."""
    asked: list[int] = []
    walk, run = Example(("walk",), ("I_WALK",)), Example(("run",), ("I_RUN",))

    def split(name: str, *, seed: int = 0) -> scan.Dataset:
        asked.append(seed)
        return scan.Dataset(train=(walk, run), test=(run,))

    monkeypatch.setattr(scan, "split", split)
    return asked


def test_sigmorphon_writes_three_columns(run: Run, tmp_path: Path) -> None:
    write_language(tmp_path / "source", "klingon")
    where = ("--source", tmp_path / "source", "-o", tmp_path / "out")
    assert run("data", "sigmorphon", "--language", "klingon", "--hints", 4, "--split", 0, *where, "--json").ok
    counts = {path.name: len(path.read_text().splitlines()) for path in (tmp_path / "out").iterdir()}
    assert counts == {"train.tsv": 1000, "past.tsv": 100, "future.tsv": 100, "other.tsv": 100}
    train = files.read_inflections(tmp_path / "out/train.tsv")
    tags = Counter(tag for inflection in train for tag in inflection.tags)
    assert (tags["PST"], tags["FUT"]) == (4, 4)
    assert files.detect(tmp_path / "out/train.tsv") == "sigmorphon"


@pytest.mark.usefixtures("seeds")
@pytest.mark.parametrize(
    ("words", "second", "last"),
    [
        (["data", "scan", "--split", "jump", "-o", "OUT"], "test.tsv", "test.tsv"),
        (["export", "TRAIN", "TRAIN", "--to", "fairseq", "-o", "OUT"], "train.tgt", "README.md"),
    ],
)
def test_a_killed_command_goes_on_and_clears_up(
    run: Run, train: Path, tmp_path: Path, words: list[str], second: str, last: str
) -> None:
    out = tmp_path / "out"
    words = [{"TRAIN": train, "OUT": out}.get(word, word) for word in words]
    assert run(*words).ok
    whole = {path.name: path.read_bytes() for path in out.iterdir()}
    assert "already" in run(*words).err
    # As a process leaves it that is killed while it writes the second file.
    (out / second).rename(out / f".{second}.0123456789abcdef.tmp")
    (out / last).unlink(missing_ok=True)
    lock_of(out / last).write_text("process 1 on host")
    assert run(*words).ok
    assert {path.name: path.read_bytes() for path in out.iterdir()} == whole


def test_what_is_next_is_named_and_a_second_file_that_cannot_be_written_leaves_no_first(
    run: Run, tmp_path: Path, seeds: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("data", "scan", "--split", "length", "--seed", 7, "-o", tmp_path / "length").ok
    assert (done.out, seeds) == ("", [7])
    assert "2 examples" in done.err
    folder = tmp_path / "length"
    assert done.last == f"Next: recombine inspect {folder}/train.tsv --test {folder}/test.tsv"
    write = files.write

    def fail(part: object, path: str, **options: object) -> int:
        if path.endswith("test.tsv"):
            raise RecombineError("the disk is full.")
        return write(part, path, **options)

    monkeypatch.setattr("recombine.cli.data.write", fail)
    assert "the disk is full" in run("data", "scan", "--split", "jump", "-o", tmp_path / "jump").err
    assert list(tmp_path.iterdir()) == [folder]


def test_export_writes_a_folder_and_says_how_to_train(run: Run, train: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.jsonl"
    new.write_text('{"x": ["jump", "twice"], "y": ["I_JUMP", "I_JUMP"]}\n')
    done = run("export", train, new, "--to", "fairseq", "-o", tmp_path / "out").ok
    assert "fairseq-train" in done.out
    assert (tmp_path / "out/train.src").read_text().splitlines()[-1] == "jump twice"
    again = run("export", train, new, "--to", "fairseq", "-o", tmp_path / "out", "--json", "--force")
    document = again.document
    assert (document["originals"], document["new"]) == (len(train.read_text().splitlines()), 1)
    assert [Path(name).name for name in document["files"]] == ["train.src", "train.tgt", "README.md"]
