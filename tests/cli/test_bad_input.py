"""Whatever is wrong with the input ends in one sentence that names the place, with exit code 2 and no traceback."""

from pathlib import Path

import pytest
from commands import Run, assert_is_sentence

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


@pytest.mark.parametrize("problem", FILES)
@pytest.mark.parametrize("command", COMMANDS)
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
        (["-n", "0"], ["0 samples", "at least 1"]),
        (["-n", "-3"], ["-3 samples", "at least 1"]),
        (["--seed", "-1"], ["--seed", "0"]),
        (["--epsilon", "2"], ["epsilon", "2.0"]),
        (["--epsilon", "0"], ["epsilon", "0.0"]),
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
    assert_is_sentence(done, ["at least 2 different examples", "Give more"])
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


def test_the_temperature_has_to_be_above_zero(run: Run, train: Path) -> None:
    assert_is_sentence(run("augment", train, "--temperature", 0), ["temperature is 0", "such as 0.1"])


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


def test_output_that_is_a_folder(run: Run, train: Path, tmp_path: Path) -> None:
    assert_is_sentence(run("augment", train, "--method", "geca", "-o", tmp_path), [str(tmp_path), "folder"])


def test_standard_input_cannot_be_two_files(run: Run) -> None:
    assert_is_sentence(run("audit", "-", "--train", "-"), ["only one", "standard input"])


def test_bad_line_of_standard_input(run: Run) -> None:
    assert_is_sentence(run("inspect", "-", stdin="walk WALK\n"), ["stdin:1", "1 column"])
