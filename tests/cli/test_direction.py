"""Of word forms, every command says which side is the input."""

from pathlib import Path

import pytest
from commands import Run

from recombine.cli.direction import ANALYSIS, INFLECTION, direction
from recombine.data import files
from recombine.example import Example
from recombine.inflection import reordered
from recombine.prediction.predictor import Predictor

INFLECT = ("--columns", "1,2,3", "--tokens", "characters")


def test_the_direction_is_that_of_the_examples(words: Path) -> None:
    forms = files.read(words)
    assert direction(forms) == INFLECTION
    assert direction(list(map(reordered, forms))) == ANALYSIS
    assert direction([*forms, Example(("walk",), ("WALK",))]) is None


@pytest.mark.parametrize(("options", "told"), [((), ANALYSIS), (INFLECT, INFLECTION)])
def test_training_and_predicting_say_it_and_do_it(
    run: Run, words: Path, tmp_path: Path, tiny: None, options: tuple[str, ...], told: str
) -> None:
    model, predicted = tmp_path / "model", tmp_path / "predicted.jsonl"
    for command in (
        ("train", words, "-o", model, "--epochs", 1, "--device", "cpu"),
        ("evaluate", model, words, "--device", "cpu"),
        ("predict", model, words, "-o", predicted, "--device", "cpu"),
        ("score", "--gold", words, "--predicted", predicted),
    ):
        done = run(*command, *options)
        assert done.code == 0, done.err
        assert told in done.err
        assert done.err.count("Word forms, as") == 1
    assert any("[V]" in example.x for example in files.read(predicted)) == (told == INFLECTION)
    assert Predictor.load(model, device="cpu").recipe.network.copying == "reluctant"


def test_comparisons_are_of_analyses(run: Run, words: Path, tiny: None) -> None:
    quick = ("--methods", "oversampling", "--seeds", 1, "--epochs", 1, "--device", "cpu")
    assert run("compare", words, "--test", words, *quick).err.count(ANALYSIS) == 1


def test_exports_are_inflections(run: Run, words: Path, tmp_path: Path) -> None:
    assert INFLECTION in run("export", words, words, "--to", "yoyodyne", "-o", tmp_path / "out").err


def test_nothing_is_said_of_other_examples(run: Run, train: Path, predictors: Path, tmp_path: Path) -> None:
    for command in (("export", train, train, "-o", tmp_path / "out"), ("predict", predictors, train)):
        assert "Word forms" not in run(*command).err
