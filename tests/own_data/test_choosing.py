"""Predictors are chosen on held-out training data, once, within bounds."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_networks import PREDICTOR

from recombine.example import Example
from recombine.own_data import networks
from recombine.training.recipe import Recipe

NAMES = [f"n{number}" for number in range(6)]
EXAMPLES = [
    Example((verb, first, word, second), (verb.upper(), first, second, word.upper()))
    for verb in ("see", "hear", "find")
    for word in ("and", "or")
    for first in NAMES[:4]
    for second in NAMES[2:]
]
BLIND = replace(PREDICTOR, lr=1e-9, epochs=6, batch=32)
SEEING = replace(BLIND, lr=0.02, epochs=60)
"""One learns nothing, the other all there is."""


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[Recipe]:
    """The recipes that were tried."""
    found: list[Recipe] = []
    trial = networks._tried
    monkeypatch.setattr(networks, "TRIED_ON_CPU", 1)
    monkeypatch.setattr(networks, "_tried", lambda recipe, *rest: (found.append(recipe), trial(recipe, *rest))[1])
    return found


def test_the_best_is_chosen_and_what_was_tried_is_told(tried: list[Recipe]) -> None:
    said: list[str] = []
    candidates = {"blind": BLIND, "seeing": SEEING}
    found = networks.choose_predictor(candidates, EXAMPLES, device="cpu", say=said.append)
    assert found.name == "seeing"
    assert found.value == SEEING
    assert found.reason.startswith("2 were tried on 19 held-out examples: blind 0.00, seeing ")
    assert [sentence.split()[0] for sentence in said] == ["Choosing", "Tried", "Tried", "Chosen"]
    assert all(recipe.held_out == 0 for recipe in tried)


@pytest.mark.parametrize(
    ("held_out", "cut_short", "accuracy", "best"),
    [
        (100, False, [0.2, 0.56, 0.6, 0.57], 1),  # a standard error is 0.05
        (400, False, [0.2, 0.56, 0.6, 0.57], 2),
        (100, False, [0.0, 0.3], 1),
        (100, False, [0.0, 0.09], None),  # too short to tell
        (100, True, [0.0, 0.3], None),
        (100, True, [0.0, 0.6], 1),
    ],
)
def test_the_first_is_chosen_of_those_as_good_as_the_best(
    held_out: int, cut_short: bool, accuracy: list[float], best: int | None
) -> None:
    assert networks._Trial(held_out, 1.0, cut_short, accuracy).best == best


def test_an_outcome_that_was_kept_is_not_sought_again(tried: list[Recipe], tmp_path: Path) -> None:
    candidates, kept = {"blind": BLIND, "seeing": replace(SEEING, epochs=2)}, tmp_path / "kept"
    found = networks.choose_predictor(candidates, EXAMPLES, device="cpu", kept=kept)
    assert networks.choose_predictor(candidates, EXAMPLES, device="cpu", kept=kept) == found
    assert len(tried) == 2
    for content in ("{", "[]", json.dumps({"run": json.loads(kept.read_bytes())["run"]})):
        kept.write_text(content)
        assert networks.choose_predictor(candidates, EXAMPLES, device="cpu", kept=kept) == found
    assert len(tried) == 8
    networks.choose_predictor(candidates, EXAMPLES[1:], device="cpu", kept=kept)
    assert len(tried) == 10


def test_time_is_shared_between_networks_and_training(tried: list[Recipe], monkeypatch: pytest.MonkeyPatch) -> None:
    candidates = {"a": replace(BLIND, max_time=8.0), "b": replace(BLIND, max_time=8.0)}
    assert networks.choose_predictor(candidates, EXAMPLES, device="cpu").value.max_time == 6.0
    assert [recipe.max_time for recipe in tried] == [1.0, 1.0]
    monkeypatch.setattr(networks, "SECONDS", 1e-6)
    reason = networks.choose_predictor({"a": SEEING, "b": SEEING}, EXAMPLES, device="cpu").reason
    assert "not to the end for want of time" in reason


def test_few_examples_or_a_single_candidate_are_no_choice(tried: list[Recipe]) -> None:
    assert networks.choose_predictor({"a": BLIND, "b": BLIND}, EXAMPLES[:39], device="cpu").name == "a"
    assert networks.choose_predictor({"a": BLIND}, EXAMPLES, device="cpu").name == "a"
    assert not tried


def test_outputs_that_differ_in_copies_only_are_held_out_together() -> None:
    verbs = [f"v{number}" for number in range(20)]
    examples = [Example((verb, name), (verb.upper(), name)) for verb in verbs for name in NAMES]
    for train, held in networks._folds(examples, 3, seed=0):
        assert len(held) == 24
        assert {*train, *held} == {*examples}
        assert not {example.y[0] for example in train} & {example.y[0] for example in held}


def test_where_all_outputs_are_alike_examples_are_held_out_one_by_one() -> None:
    ((train, held),) = networks._folds([Example((str(n),), ("Y",)) for n in range(50)], 1, seed=0)
    assert (len(train), len(held)) == (40, 10)
