"""What cannot be read, written or done ends in one sentence that names the place, before any work is done."""

import random
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Run, assert_is_sentence
from sample_run import sample_run, write_run

from recombine.augmentation.geca import GECA
from recombine.augmentation.recombination import Recombination
from recombine.prediction.predictor import Predictor
from recombine.report import run as reports

GOOD = b"walk\tWALK\nrun\tRUN\nwalk twice\tWALK WALK\n"
COMMANDS = {
    "inspect": ["inspect", "FILE"],
    "augment": ["augment", "FILE", "--method", "geca", "-o", "OUT"],
    "augment by learning": ["augment", "FILE", "-o", "OUT"],
    "train": ["train", "FILE", "-o", "OUT"],
    "train --augmented": ["train", "GOOD", "--augmented", "FILE", "-o", "OUT"],
    "predict": ["predict", "PREDICTORS", "FILE", "-o", "OUT"],
    "evaluate": ["evaluate", "PREDICTORS", "FILE"],
    "audit": ["audit", "FILE", "--train", "GOOD"],
    "audit --train": ["audit", "GOOD", "--train", "FILE"],
    "score": ["score", "--gold", "GOOD", "--predicted", "FILE"],
}
FILES = {
    "missing": (None, ["there is no such file"]),
    "without a tab": (b"walk\tWALK\nwalk WALK\n", ["bad.tsv:2", "1 column", "expected 2"]),
    "empty side": (b"walk\tWALK\nrun\t\n", ["bad.tsv:2", "output", "empty"]),
}


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        *((command, "without a tab") for command in COMMANDS if command != "predict"),  # which needs no outputs
        *(("inspect", problem) for problem in FILES),
        *((command, problem) for command in ("predict", "evaluate") for problem in ("missing", "empty side")),
    ],
)
def test_bad_file(run: Run, tmp_path: Path, predictors: Path, command: str, problem: str) -> None:
    content, words = FILES[problem]
    paths = {"FILE": tmp_path / "bad.tsv", "GOOD": tmp_path / "good.tsv", "OUT": tmp_path / "out.jsonl"}
    paths["GOOD"].write_bytes(GOOD)
    if content is not None:
        paths["FILE"].write_bytes(content)
    done = run(*({**paths, "PREDICTORS": predictors}.get(word, word) for word in COMMANDS[command]))
    assert_is_sentence(done, [str(paths["FILE"]), *words])
    assert not paths["OUT"].exists()


MISTAKES = {
    # Misspelt words and wrong usage
    "augmnt": ["Did you mean 'augment'?"],
    "data scann": ["Did you mean 'scan'?"],
    "augment x --methd geca": ["Did you mean --method?"],
    "augment train.tsv --method gcea": ["Did you mean 'geca'?"],
    "augment train.tsv --no-resample --neighborhood longshort": ["Did you mean 'long-short'?"],
    "augment x --novelty imput": ["Did you mean 'input'?"],
    "data scan --split jmup -o x": ["Did you mean 'jump'?"],
    "data sigmorphon --language turkisch -o x": ["Did you mean 'turkish'?"],
    "inspect train.tsv --neighborhood longshort": ["Did you mean 'long-short'?"],
    "train x -o y --size smal": ["Did you mean 'small'?"],
    "audit train.tsv --train train.tsv --gold scna": ["Did you mean 'scan'?"],
    "compare train.tsv --methods gecca": ["geca"],
    "export train.tsv train.tsv --to fairsec -o new": ["fairseq"],
    "augment": ["TRAIN", "augment --help"],
    "train train.tsv": ["--output", "train --help"],
    "data": ["Missing command", "data --help"],
    "data scan --split jump -o x --seed -1": ["--seed", "0"],
    f"data scan --split jump -o x --seed {'1' * 400}": ["--seed is 1111", "a whole number, at least 0"],
    "data scan --split jump -o x --seed ''": ["--seed is empty, expected a whole number, at least 0"],
    # Settings of augment
    "augment train.tsv --method geca -n 0": ["-n is 0, expected a whole number, at least 1"],
    "augment train.tsv --method geca --epsilon 2": ["--epsilon is 2, expected a number, more than 0 and at most 1"],
    "augment train.tsv --method geca --ngram 2": ["--epsilon"],
    "augment train.tsv --method geca --epsilon .1 --ngram 0": ["ngram", "0"],
    "augment train.tsv --method geca --epsilon 0.1 --no-resample": ["--epsilon", "--no-resample"],
    "augment train.tsv --method geca --epsilon 0.000001": ["nothing is in fewer than 0.0001%", "The rarest is in "],
    "augment train.tsv --method geca --columns one,two": ["train.tsv:1", "no column named 'one'"],
    "augment train.tsv --method geca --tokens wrods": ["Did you mean 'words'?"],
    "augment train.tsv --method geca --format tvs": ["Did you mean 'tsv'?"],
    "augment train.tsv --method geca --json": ["--json", "-o"],
    "augment train.tsv --method geca --test none.tsv": ["none.tsv", "no such file"],
    "augment train.tsv --method geca -n 5 -o train.tsv --force": ["train.tsv", "also an input"],
    "augment train.tsv --temperature nan": ["--temperature", "is nan, expected a number, more than 0"],
    "augment train.tsv --seeds 2": ["2 files", "-o"],
    "augment train.tsv --device gpu --no-resample": ["gpu", "cuda"],
    "augment train.tsv --model . -o new": [".", "no model", "another folder"],
    "augment train.tsv --method both -n 1": ["one sample cannot be made by both methods", "at least 2"],
    "augment one.tsv --method both": ["at least 2 different examples"],
    "augment one.tsv --method geca -o new": ["at least 2 different examples"],
    "augment one.tsv --no-resample": ["at least 2 different examples"],
    "augment train.tsv --method oversample --gaps 2": ["--gaps is for --method geca or both, not for oversample."],
    **{
        f"augment train.tsv --method {method} {option}": [f"{option.split()[0]} is for --method learned or both, not"]
        for method, option in [
            *(("oversample", option) for option in ("--epochs 3", "--device cpu")),
            *(("geca", f"--{option}") for option in ("epochs 3", "device cpu", "size small", "max-time 9")),
            *(("geca", f"--{option}") for option in ("prototypes 2", "neighborhood tagged", "temperature 1")),
            *(("geca", f"--{option}") for option in ("novelty pair", "model x", "executor processes")),
        ]
    },
    # No neighborhoods
    "augment lonely.tsv --no-resample --method learned -o new": ["long-long", "one-prototype", "3 ", "more examples"],
    "augment lonely.tsv --no-resample --neighborhood long-long": ["(long-long: 3 ", "--neighborhood auto"],
    "augment train.tsv --no-resample --neighborhood one-prototype --prototypes 2": ["2 prototypes", "--prototypes"],
    # Executors
    **{
        f"{command} -o new {options}": words
        for command in ("paper table1", "paper table2", "compare train.tsv", "augment train.tsv")
        for options, words in {
            "--executor slurm": ["unknown executor 'slurm'", "processes, ray, serial"],
            "--address 10.0.0.1:6379": ["--address", "--executor ray"],
            "--executor processes --address 10.0.0.1:6379": ["--address", "--executor ray"],
        }.items()
    },
    # Training
    "train train.tsv -o new --p-aug 0.1": ["--p-aug", "--augmented"],
    "train train.tsv -o new --augmented train.tsv --p-aug 1": ["--p-aug is 1", "less than 1"],
    "train train.tsv -o new --augmented none.jsonl": ["none.jsonl", "no such file"],
    "train - -o new --augmented -": ["only one", "standard input"],
    "train train.tsv -o new --seeds 0": ["--seeds"],
    "augment train.tsv -n ten": ["-n is ten, expected a whole number, at least 1"],
    "augment train.tsv --gaps 10": ["--gaps is 10, expected a whole number, at least 1 and at most 9"],
    "augment train.tsv --precision 0.9 --max-time 5": ["for --method auto", "--max-time is for networks"],
    "augment train.tsv --precision 90": ["--precision is 90, expected a number, more than 0 and at most 1"],
    "train train.tsv -o new --max-time 0": ["--max-time is 0, expected a number, more than 0"],
    "train train.tsv -o new --device tpu": ["tpu", "cuda"],
    "train train.tsv -o new --direction inflection": ["these are no word forms"],
    "train words.tsv -o new --direction back": ["unknown direction 'back'"],
    "train train.tsv -o -": ["a model is a folder", "-o"],
    "train train.tsv -o . --force": [".", "no model", "another folder"],
    # Comparing, exporting and scoring
    "compare train.tsv --methods ''": ["no method to compare", "oversample, geca"],
    "compare train.tsv -o new --direction inflection": ["these are no word forms"],
    "compare words.tsv -o new --direction back": ["unknown direction 'back'"],
    "compare - --test -": ["standard input"],
    "compare train.tsv -o train.tsv": ["train.tsv/run.json", "cannot be written"],
    "compare one.tsv": ["at least 10"],
    "export train.tsv train.tsv --p-aug 1 -o new": ["--p-aug is 1, expected a number, at least 0 and less than 1"],
    "export - - -o new": ["standard input"],
    "score --gold train.tsv --predicted one.tsv": ["has 1 examples", "has 29"],
    "score --gold train.tsv --predicted train.tsv --train train.tsv": ["no tags"],
    # The paper's tables
    "paper table1 -o new --population 0": ["--population"],
    "paper table1 -o new --experiments .": ["no experiments"],
    "paper table2 -o new --languages turkis": ["unknown language 'turkis'", "turkish"],
    "paper table2 -o new --hints 5": ["no splits with 5 hints", "4, 8, 16"],
    "paper table2 -o new --splits 5": ["no split 5"],
    "paper table2 -o new --size huge": ["unknown size 'huge'"],
    "paper table2 -o new --source nowhere": ["nowhere", "no such folder"],
    "paper table2 -o new --p-values": ["--show"],
    "paper table2 -o new --show --p-values --errors": ["one of them at a time"],
    "paper table2 -o new --show --splits 0": ["split"],
    "paper table2 -o new --show --seeds 2": ["split"],
    "paper table1 -o none --show": ["none", "no figures", "another folder"],
    "paper items -o none": ["none", "no figures", "another folder"],
    # Pictures and reports
    "picture nowhere -o -": ["nowhere"],
    "report nowhere -o -": ["nowhere", "recombine compare"],
}


@pytest.mark.usefixtures("train", "words")
@pytest.mark.parametrize("command", MISTAKES)
def test_mistakes_are_sentences(run: Run, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.tsv").write_text("walk\tI_WALK\n")
    (tmp_path / "lonely.tsv").write_text("a b\tX\nc d\tY\ne f\tZ\n")
    monkeypatch.chdir(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert_is_sentence(run(*shlex.split(command)), MISTAKES[command])
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    assert not (tmp_path / "new").exists()


def test_examples_with_nothing_in_common_and_one_example(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "two.tsv"
    path.write_text("walk twice\tWALK WALK\nrun\tRUN\n")
    done = run("augment", path, "--method", "geca", "-o", tmp_path / "out.jsonl")
    assert done.code == 1
    assert "No file was written. Give more examples" in done.err
    assert "0.0 % of the different examples have one" in run("inspect", "-", stdin="walk\tWALK\n").ok.out
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
def words_of(train: Path, predictors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Words:
    """Gives the words of a command that writes to a place, and that must not get to its work."""

    def work(*_: object, **__: object) -> None:
        pytest.fail("this is noticed after the work")

    for owner, name in ((Recombination, "fit_on"), (GECA, "fit"), (Predictor, "fit_each"), (Predictor, "predict")):
        monkeypatch.setattr(owner, name, work)
    monkeypatch.setattr(reports, "render", work)
    run = write_run(tmp_path / "run", sample_run())
    paths = {"TRAIN": train, "RUN": run, "PREDICTORS": predictors}
    return lambda command, out: [({**paths, "OUT": out}).get(word, word) for word in WRITING[command]]


@pytest.mark.parametrize("command", WRITING)
def test_places_that_cannot_be_written(run: Run, train: Path, tmp_path: Path, words_of: Words, command: str) -> None:
    for out in (train / "out", train / "folder/out"):
        assert_is_sentence(run(*words_of(command, out)), [str(train)])
    if command in OF_FILES:
        assert_is_sentence(run(*words_of(command, tmp_path)), [str(tmp_path), "this is a folder"])
    assert_is_sentence(run("inspect", "."), ["this is a folder"])
    if Path("/proc/self").exists():  # where not even root can make files
        out = Path("/proc/nowhere/out")
        assert_is_sentence(run(*words_of(command, out)), [str(out), "cannot be written", "another place"])


@pytest.mark.parametrize("command", ["augment by rule", "report", "predict"])
def test_files_are_replaced_only_by_force(run: Run, tmp_path: Path, words_of: Words, command: str) -> None:
    taken = tmp_path / "taken.tsv"
    taken.write_text("mine")
    assert_is_sentence(run(*words_of(command, taken)), [str(taken), "exists already", "--force"])
    assert taken.read_text() == "mine"


def unlike_any_language(kind: str) -> str:
    """Training data from which nothing can be learned to recombine."""
    rng = random.Random(0)
    lines = []
    for number in range(10_000 if kind == "50,000 words" else 60):
        x = " ".join(f"w{rng.randrange(30)}" for _ in range(4))
        y = " ".join(f"W{rng.randrange(30)}" for _ in range(4))
        if kind == "50,000 words":
            x, y = " ".join(f"w{5 * number + place}" for place in range(5)), f"W{number} W{number + 1}"
        if kind == "long outputs":
            y = " ".join([y] * 60)
        lines.append({"one input": f"go\t{y}", "one output": f"{x}\tYES"}.get(kind, f"{x}\t{y}"))
    return "\n".join(dict.fromkeys(lines)) + "\n"


@pytest.mark.parametrize(
    "kind",
    ["random outputs", "one input", "one output", "long outputs", pytest.param("50,000 words", marks=pytest.mark.slow)],
)
@pytest.mark.usefixtures("tiny")
def test_data_without_any_alignment_give_a_sentence_and_a_plain_predictor(run: Run, tmp_path: Path, kind: str) -> None:
    data, made = tmp_path / "data.tsv", tmp_path / "made.jsonl"
    data.write_text(unlike_any_language(kind))
    assert run("inspect", data).ok.out
    same = {"one input": ": all inputs are the same", "one output": ": all outputs are the same"}.get(kind, "")
    none = f"no rule makes a sample of these data{same}. GECA can make no novel pair"
    for method, reason in (("auto", none), ("spans", "0 of 5 samples"), ("geca", "0 of 5 samples")):
        done = run("augment", data, "--method", method, "-n", 5, "-o", made)
        assert (done.code, "Error: " in done.last, made.exists()) == (1, True, False)
        assert reason in done.last
    trained = run("train", data, "--max-time", 1, "--device", "cpu", "-o", tmp_path / "model").ok
    assert "The predictor is in" in trained.err
