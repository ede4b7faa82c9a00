"""The learned augmenter for one's own data, with networks that train in a second."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tiny_networks import PREDICTOR, SAMPLING
from toy_task import QUICK_GENERATOR, TASK

from recombine import GECA, Augmenter, Both, Predictor
from recombine.augmentation.recombination import Recombination
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods import LongShort
from recombine.training import presets

QUICK = {"network": QUICK_GENERATOR, "device": "cpu"}
SETTINGS = {**QUICK, "sampling": SAMPLING}


@cache
def fitted() -> Augmenter:
    return Augmenter(**SETTINGS).fit(TASK.train)


@pytest.mark.slow
def test_from_data_to_better_predictions() -> None:
    """All of it on a tiny task: "jump" is seen alone, and tested in company.

    Networks of this size are a matter of luck: with this seed the plain one fails.
    """
    network = replace(QUICK_GENERATOR.network, hidden=48)
    recipe = replace(QUICK_GENERATOR, network=network, lr=0.005, max_steps=600)
    new = Augmenter(seed=2, network=recipe, device="cpu").fit(TASK.train).sample(12)
    assert len(new) >= 10
    assert all("jump" in sample.x or "JUMP" in sample.y for sample in new)  # "jump" is what is rare here
    assert all(sample.provenance.log_probability < 0 for sample in new)
    recipe = replace(PREDICTOR, epochs=60)
    plain = Predictor(seed=2, network=recipe, device="cpu").fit(TASK.train)
    helped = Predictor(seed=2, network=recipe, device="cpu").fit(TASK.train, augmented=new)
    assert helped.score(TASK.test) > plain.score(TASK.test)


def test_what_was_chosen_or_given_is_told_with_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    told = fitted().report_.choices
    assert (told["rarity"].name, told["neighborhood"].name) == ("tokens", "spans")
    assert str(told["network"]) == "your own: as given"
    monkeypatch.setattr(presets, "SMALL_GENERATOR", QUICK_GENERATOR)
    told = Augmenter(device="cpu", epochs=2, rarity=None, neighborhood="long-short").fit(TASK.train).report_.choices
    assert list(told) == ["rarity", "neighborhood", "size", "network", "length"]
    assert all(choice.reason for choice in told.values())
    assert str(told["length"]) == "2 epochs: as given"
    assert told["rarity"].name == "nothing"
    assert told["neighborhood"].reason.startswith("as given; ")
    stopped = Augmenter(device="cpu", network=QUICK_GENERATOR, epochs=10_000, max_time=0.2).fit(TASK.train)
    reason = stopped.report_.choices["length"].reason
    assert re.fullmatch(r"as given, but not beyond max_time=0\.2; max_time stopped it after \d+ epochs", reason)


def of_half(examples: Sequence[Example]) -> list[tuple[int, int, int]]:
    """Rebuilds "a and b" from "a and c" and "b"."""
    place = {example.x: number for number, example in enumerate(examples)}
    rows = []
    for x, number in place.items():
        if len(x) == 3 and x[1] == "and" and x[0] != x[2]:
            rows.append((number, place[(x[0], "and", x[0])], place[(x[2],)]))
    return rows


def test_a_function_may_say_what_is_made_of_what(tmp_path: Path) -> None:
    augmenter = Augmenter(**SETTINGS, neighborhood=of_half).fit(TASK.train)
    assert augmenter.report_.choices["neighborhood"].name == "your own"
    samples = augmenter.sample(3)
    assert len(samples) == 3
    assert all(len(sample.provenance.prototypes) == 2 for sample in samples)
    augmenter.save(tmp_path / "model")
    again = Augmenter.load(tmp_path / "model", neighborhood=of_half, device="cpu")
    assert again.sample(3) == samples
    assert again.neighborhood is of_half
    augmenter.tokens_ = "characters"
    augmenter.save(tmp_path / "spelled")
    (first, *_) = (tmp_path / "spelled" / "examples.jsonl").read_text().splitlines()
    assert json.loads(first)["input"] == "".join(augmenter.examples_[0].x)
    with pytest.warns(RuntimeWarning, match="functions are not saved, so there is neighborhood='auto'"):
        Augmenter.load(tmp_path / "model", device="cpu")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "gave 0 rows of no positions"),
        ([(0, 1), (0, 1, 2)], "gave 2 rows of 2, 3 positions"),
        ([(0,)], "gave 1 rows of 1 positions"),
        ([(0, 61)], r"gave the row \(0, 61\).*from 0 to 60"),
        ([(0, -1)], r"gave the row \(0, -1\)"),
        ([(0, 1, 2), (3, 4, 3)], r"the row \(3, 4, 3\), in which an example is its own prototype"),
        (None, "gave 'None'"),
        ([0, 1], r"gave '\[0, 1\]'"),
        ([(0, "jump")], r"gave the row \(0, 'jump'\)"),
    ],
)
def test_a_function_that_gives_no_neighborhoods(rows: list[tuple[int, ...]], words: str) -> None:
    with pytest.raises(RecombineError, match=words):
        Augmenter(**SETTINGS, neighborhood=lambda _: rows).fit(TASK.train)


def test_a_rule_may_be_named_or_given_and_progress_is_told() -> None:
    for rule, name in (("one-prototype", "one-prototype"), (LongShort(first=1), "long-short")):
        told: list[int] = []
        settings = {
            **SETTINGS,
            "neighborhood": rule,
            "epochs": 1,
            "progress": lambda done, *_, told=told: told.append(done),
        }
        augmenter = Augmenter(**settings).fit(TASK.train)
        assert augmenter.report_.choices["neighborhood"].name == name
        assert told == sorted(told) != []


def broken(examples: Sequence[Example]) -> list[tuple[int, int]]:
    return [(0, len(examples) // 0)]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"neighborhood": 5}, "the neighborhood is 5, expected a name, a rule or a function"),
        ({"neighborhood": "long-shirt"}, r"unknown neighborhood 'long-shirt'.*'long-short'"),
        ({"neighborhood": broken}, "the neighborhood function broken raised ZeroDivisionError"),
        ({"network": "huge"}, "unknown size 'huge'"),
        ({"device": "gpu"}, "unknown device 'gpu'"),
        ({"epochs": 0}, "epochs is 0, expected a whole number, at least 1"),
        ({"epochs": 1.5}, "epochs is 1.5"),
        ({"max_time": -1}, "max_time is -1, expected a number above 0"),
        ({"max_time": 0}, "max_time is 0"),
        ({"max_time": float("nan")}, "max_time is nan"),
        ({"network": replace(QUICK_GENERATOR, batch=0)}, "batch is 0"),
        ({"network": replace(QUICK_GENERATOR, sorting=0)}, "sorting is 0, expected a whole number, at least 1"),
        ({"progress": "foo"}, "the progress is 'foo', expected a function or None"),
        ({"seed": 0.5}, "seed is 0.5"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, object], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recombination, "fit_on", lambda *_, **__: pytest.fail("it was trained"))
    for kind in (Augmenter, Predictor) if "neighborhood" not in settings else (Augmenter,):
        with pytest.raises(RecombineError, match=words):
            kind(**{**QUICK, **settings}).fit(TASK.train)


def test_both_takes_half_from_geca_and_the_rest_with_other_inputs_from_networks(tmp_path: Path) -> None:
    settings = {**SETTINGS, "rarity": None, "agreement": False, "seeds": 2, "neighborhood": "long-short"}
    both = Both(**settings).fit(TASK.train)
    every = both.sample_each(9)
    by_rule = GECA(seeds=2).fit(TASK.train).sample_each(4)
    for samples, first in zip(every, by_rule, strict=True):
        assert [sample.provenance.method for sample in samples] == ["geca"] * 4 + ["recombination"] * 5
        assert list(samples[:4]) == list(first)
        assert len({sample.x for sample in samples}) == 9
    assert every[0] != every[1]
    assert both.learned.sample_each(9) == Augmenter(**settings).fit(TASK.train).sample_each(9)
    both.save(tmp_path / "model")
    assert Both.load(tmp_path / "model", device="cpu").sample_each(9) == every
    with pytest.raises(RecombineError, match="one sample cannot be made by both methods"):
        both.sample(1)


def test_the_time_for_training_does_not_bound_what_is_drawn_later(tmp_path: Path) -> None:
    hasty = Augmenter(device="cpu", network=QUICK_GENERATOR, epochs=1, max_time=5).fit(TASK.train)
    hasty.save(tmp_path / "model")
    assert hasty._for_drawing == 60
    assert Augmenter.load(tmp_path / "model", device="cpu")._for_drawing is None
    assert Augmenter.load(tmp_path / "model", device="cpu", max_time=600)._for_drawing == 600


def test_loading_takes_settings_that_there_are(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    with pytest.raises(RecombineError, match=r"^unknown setting 'devise'"):
        Augmenter.load(tmp_path / "model", devise="cpu")


def test_rare_tokens_without_a_sample_are_named() -> None:
    pairs = [(f"{verb} {noun}", f"{verb.upper()} {noun.upper()}") for verb in ("see", "get") for noun in "abcdefghijkl"]
    samples = GECA(rarity="auto").fit([*pairs, ("see x", "SEE X"), ("what ever", "WHAT EVER")]).sample(5)
    assert samples.warning == "In no sample are 4 of the 6 rare tokens: EVER, WHAT, ever, what."
    assert samples.warning in samples.account
