"""Of word forms, every command says which side is the input."""

from pathlib import Path

import pytest
from commands import Run

from recombine.cli.files import DIRECTIONS, say_direction
from recombine.data import files
from recombine.example import Example
from recombine.inflection import directed, reordered
from recombine.prediction.predictor import Predictor

ANALYSIS, INFLECTION = DIRECTIONS["analysis"], DIRECTIONS["inflection"]
COLUMNS = ("--columns", "1,2,3", "--tokens", "characters")


def test_the_direction_is_that_of_the_examples_or_the_one_asked_for(words: Path) -> None:
    forms = files.read(words)
    assert say_direction(forms) == "inflection"
    assert say_direction(list(map(reordered, forms))) == "analysis"
    assert say_direction([*forms, Example(("walk",), ("WALK",))]) is None
    mixed = [forms[0], reordered(forms[1]), Example(("[V]",), ("x",)), forms[2]]
    assert directed(mixed) == [reordered(forms[0]), reordered(forms[1]), mixed[2], reordered(forms[2])]
    assert directed(mixed, "inflection") == [*forms[:2], mixed[2], forms[2]]


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    ("options", "direction", "told"),
    [((), (), ANALYSIS), ((), ("--direction", "inflection"), INFLECTION), (COLUMNS, (), INFLECTION)],
)
def test_training_and_predicting_say_it_and_do_it(
    run: Run, words: Path, tmp_path: Path, options: tuple[str, ...], direction: tuple[str, ...], told: str
) -> None:
    model, predicted = tmp_path / "model", tmp_path / "predicted.jsonl"
    for command in (
        ("train", words, "-o", model, "--epochs", 1, *direction),
        ("evaluate", model, words),
        ("predict", model, words, "-o", predicted),
        ("score", "--gold", words, "--predicted", predicted),
    ):
        done = run(*command, *options).ok
        assert told in done.err
        assert done.err.count("Word forms, as") == 1
    assert any("[V]" in example.x for example in files.read(predicted)) == (told == INFLECTION)
    assert Predictor.load(model, device="cpu").recipe.network.copying == "penalized"


@pytest.mark.usefixtures("tiny")
def test_comparisons_are_of_analyses_or_as_asked_for_and_exports_inflections(
    run: Run, words: Path, train: Path, predictors: Path, tmp_path: Path
) -> None:
    compare = ("compare", words, "--test", words, "--methods", "oversample", "--seeds", 1, "--epochs", 1)
    assert run(*compare).err.count(ANALYSIS) == 1
    assert run(*compare, "--direction", "inflection").err.count(INFLECTION) == 1
    assert INFLECTION in run("export", words, words, "--to", "yoyodyne", "-o", tmp_path / "out").err
    for command in (("export", train, train, "-o", tmp_path / "others"), ("predict", predictors, train)):
        assert "Word forms" not in run(*command).err
