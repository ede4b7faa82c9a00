"""What cannot be read or written ends in one sentence that names the place, before any work is done."""

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Run, assert_is_sentence
from sample_run import sample_run, write_run

from recombine.augmentation.geca import GECA
from recombine.augmentation.recombination import Recombination
from recombine.prediction.predictor import Predictor
from recombine.report import page

GOOD = b"walk\tWALK\nrun\tRUN\nwalk twice\tWALK WALK\n"
COMMANDS = {
    "inspect": ["inspect", "FILE"],
    "augment": ["augment", "FILE", "--method", "geca", "-o", "OUT"],
    "augment by learning": ["augment", "FILE", "-o", "OUT"],
    "train": ["train", "FILE", "-o", "OUT"],
    "train --augmented": ["train", "GOOD", "--augmented", "FILE", "-o", "OUT"],
    "audit": ["audit", "FILE", "--train", "GOOD"],
    "audit --train": ["audit", "GOOD", "--train", "FILE"],
    "score": ["score", "--gold", "GOOD", "--predicted", "FILE"],
}
FILES = {
    "missing": (None, ["there is no such file"]),
    "empty": (b"", ["empty"]),
    "binary": (b"\x7fELF\0\0\0", ["bad.tsv:1", "binary"]),
    "without a tab": (b"walk\tWALK\nwalk WALK\n", ["bad.tsv:2", "1 column", "expected 2"]),
    "Latin-1": ("marché\tGO\n".encode("latin-1"), ["bad.tsv:1", "0xE9", "UTF-8"]),
    "empty side": (b"walk\tWALK\nrun\t\n", ["bad.tsv:2", "output", "empty"]),
    "stray tab": (b"walk\tWALK\t\n", ["bad.tsv:1", "3 columns", "--tokens characters and --columns"]),
}


@pytest.mark.parametrize(
    ("command", "problem"),
    [*((command, "without a tab") for command in COMMANDS), *(("inspect", problem) for problem in FILES)],
)
def test_bad_file(run: Run, tmp_path: Path, command: str, problem: str) -> None:
    content, words = FILES[problem]
    paths = {"FILE": tmp_path / "bad.tsv", "GOOD": tmp_path / "good.tsv", "OUT": tmp_path / "out.jsonl"}
    paths["GOOD"].write_bytes(GOOD)
    if content is not None:
        paths["FILE"].write_bytes(content)
    done = run(*(paths.get(word, word) for word in COMMANDS[command]))
    assert_is_sentence(done, [str(paths["FILE"]), *words])
    assert not paths["OUT"].exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-n", "0"], ["-n", "1", "augment --help"]),
        (["--seed", "-1"], ["--seed", "0"]),
        (["--epsilon", "2"], ["epsilon", "2.0"]),
        (["--epsilon", "0"], ["epsilon", "0.0"]),
        (["--method", "learned", "--temperature", "0"], ["temperature is 0", "such as 0.1"]),
        (["--ngram", "2"], ["--epsilon"]),
        (["--epsilon", ".1", "--ngram", "0"], ["ngram", "0"]),
        (["--columns", "one,two"], ["--columns", "one,two"]),
        (["--columns", "0,1"], ["columns 0, 1"]),
        (["--tokens", "wrods"], ["Did you mean 'words'?"]),
        (["--format", "tvs"], ["Did you mean 'tsv'?"]),
        (["--json"], ["--json", "-o"]),
        (["--test", "none.tsv"], ["none.tsv", "no such file"]),
    ],
)
def test_bad_setting_of_augment(run: Run, train: Path, options: list[str], words: list[str]) -> None:
    assert_is_sentence(run("augment", train, "--method", "geca", *options), words)


def test_one_example_only(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "one.tsv"
    path.write_text("walk\tWALK\n")
    done = run("augment", path, "--method", "geca", "-o", tmp_path / "out.jsonl")
    assert_is_sentence(done, ["at least 2 different examples"])
    assert not (tmp_path / "out.jsonl").exists()


def test_examples_with_nothing_in_common(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "two.tsv"
    path.write_text("walk twice\tWALK WALK\nrun\tRUN\n")
    done = run("augment", path, "--method", "geca", "-o", tmp_path / "out.jsonl")
    assert done.code == 1
    assert "No file was written. Give more examples" in done.err


@pytest.mark.parametrize("command", [("augment", "--method", "geca", "-n", 2), ("inspect", "--neighborhood", "none")])
def test_a_test_file_that_is_the_training_file(run: Run, train: Path, command: tuple[object, ...]) -> None:
    done = run(command[0], train, *command[1:], "--test", train)
    assert f"Warning: {train} has the same examples as the training file" in done.err


def test_one_example_can_be_inspected(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "one.tsv"
    path.write_text("walk\tWALK\n")
    done = run("inspect", path)
    assert done.code == 0
    assert "0.0 % of the different examples have one" in done.out


@pytest.mark.parametrize("command", ["augment", "data scan"])
def test_nothing_is_overwritten_without_force(run: Run, train: Path, tmp_path: Path, command: str) -> None:
    arguments = {
        "augment": ["augment", train, "--method", "geca", "-n", "2", "-o", tmp_path / "test.tsv"],
        "data scan": ["data", "scan", "--split", "jump", "-o", tmp_path / "scan"],
    }[command]
    existing = tmp_path / ("test.tsv" if command == "augment" else "scan/test.tsv")
    existing.parent.mkdir(exist_ok=True)
    existing.write_text("mine")
    assert_is_sentence(run(*arguments), [str(existing), "exists", "--force"])
    assert existing.read_text() == "mine"
    assert not (tmp_path / "scan/train.tsv").exists()
    assert run(*arguments, "--force").code == 0
    assert existing.read_text() != "mine"


@pytest.mark.parametrize("command", [["inspect", "x"], ["data", "scan", "--split", "jump", "-o", "x"]])
def test_negative_seed(run: Run, command: list[str]) -> None:
    assert_is_sentence(run(*command, "--seed", "-1"), ["--seed", "0"])


def test_standard_input(run: Run) -> None:
    assert_is_sentence(run("audit", "-", "--train", "-"), ["only one", "standard input"])
    assert_is_sentence(run("inspect", "-", stdin="walk WALK\n"), ["stdin:1", "1 column"])


WRITING = {
    "augment": ["augment", "TRAIN", "-o", "OUT"],
    "augment by rule": ["augment", "TRAIN", "--method", "geca", "-o", "OUT"],
    "augment --model": ["augment", "TRAIN", "--model", "OUT"],
    "train": ["train", "TRAIN", "-o", "OUT"],
    "compare": ["compare", "TRAIN", "-o", "OUT"],
    "export": ["export", "TRAIN", "TRAIN", "-o", "OUT"],
    "report": ["report", "RUN", "-o", "OUT"],
    "predict": ["predict", "PREDICTORS", "TRAIN", "-o", "OUT"],
    "picture": ["picture", "PREDICTORS", "-o", "OUT"],
    "data": ["data", "scan", "--split", "jump", "-o", "OUT"],
}
OF_FILES = ("augment", "augment by rule", "report", "predict", "picture")


Words = Callable[[str, Path], list[object]]


@pytest.fixture
def words(train: Path, predictors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Words:
    """Gives the words of a command that writes to a place, and that must not get to its work."""

    def work(*_: object, **__: object) -> None:
        pytest.fail("this is noticed after the work")

    for owner, name in ((Recombination, "fit_on"), (GECA, "fit"), (Predictor, "fit_each"), (Predictor, "predict")):
        monkeypatch.setattr(owner, name, work)
    monkeypatch.setattr(page, "render", work)
    run = write_run(tmp_path / "run", sample_run())
    paths = {"TRAIN": train, "RUN": run, "PREDICTORS": predictors}
    return lambda command, out: [({**paths, "OUT": out}).get(word, word) for word in WRITING[command]]


@pytest.mark.parametrize("command", WRITING)
def test_a_place_below_a_file(run: Run, train: Path, words: Words, command: str) -> None:
    for out in (train / "out", train / "folder/out"):
        assert_is_sentence(run(*words(command, out)), [str(train)])


@pytest.mark.parametrize("command", WRITING)
def test_a_folder_that_nobody_can_write_to(run: Run, words: Words, command: str) -> None:
    if not Path("/proc/self").exists():
        pytest.skip("there is no /proc, where not even root can make files")
    out = Path("/proc/nowhere/out")
    assert_is_sentence(run(*words(command, out)), [str(out), "cannot be written", "another place"])


@pytest.mark.parametrize("command", OF_FILES)
def test_a_folder_in_the_place_of_a_file(run: Run, tmp_path: Path, words: Words, command: str) -> None:
    assert_is_sentence(run(*words(command, tmp_path)), [str(tmp_path), "this is a folder"])
