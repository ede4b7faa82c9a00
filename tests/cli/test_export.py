"""``recombine export``."""

import json
from pathlib import Path

from commands import Run, assert_is_sentence

from recombine.data.output import lock_of


def test_it_writes_a_folder_and_says_how_to_train(run: Run, train: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.jsonl"
    new.write_text('{"x": ["jump", "twice"], "y": ["I_JUMP", "I_JUMP"]}\n')
    done = run("export", train, new, "--to", "fairseq", "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert "fairseq-train" in done.out
    assert (tmp_path / "out/train.src").read_text().splitlines()[-1] == "jump twice"
    again = run("export", train, new, "--to", "fairseq", "-o", tmp_path / "out", "--json", "--force")
    document = json.loads(again.out)
    assert (document["originals"], document["new"]) == (len(train.read_text().splitlines()), 1)
    assert [Path(name).name for name in document["files"]] == ["train.src", "train.tgt", "README.md"]


def test_mistakes_are_sentences(run: Run, train: Path, tmp_path: Path) -> None:
    assert_is_sentence(run("export", train, train, "--to", "fairsec", "-o", tmp_path / "out"), ["fairseq"])
    assert_is_sentence(run("export", train, train, "--p-aug", 1, "-o", tmp_path / "out"), ["p_aug"])
    assert_is_sentence(run("export", "-", "-", "-o", tmp_path / "out"), ["standard input"])
    assert not (tmp_path / "out").exists()


def test_a_killed_command_goes_on_and_clears_up(run: Run, train: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("export", train, train, "--to", "fairseq", "-o", out)
    assert run(*words).code == 0
    whole = {path.name: path.read_bytes() for path in out.iterdir()}
    assert_is_sentence(run(*words), ["already"])
    # As a process leaves it that is killed while it writes the second file.
    (out / "train.tgt").rename(out / ".train.tgt.0123456789abcdef.tmp")
    (out / "README.md").unlink()
    lock_of(out / "README.md").write_text("process 1 on host")
    assert run(*words).code == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == whole
