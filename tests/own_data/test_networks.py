"""How large networks are, how long they train, and which predictor is chosen on held-out training data."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from kinds_of_data import NAMES, dataset, rarity_of
from tiny_networks import PREDICTOR

from recombine.augmentation.resample import PAIRS
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import reordered
from recombine.own_data import networks
from recombine.training import presets
from recombine.training.recipe import Recipe


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)


@pytest.mark.usefixtures("gpu")
def test_networks_are_small_on_a_cpu_or_with_few_examples() -> None:
    large = {name for name in NAMES if networks.size("auto", dataset(name)).value == "paper"}
    assert large == {"jump", "around-right", "morphology"}
    assert {networks.size("auto", dataset(name), "cpu").value for name in NAMES} == {"small"}
    assert networks.size("auto", dataset("tiny") * 100).value == "small"  # copies are no data
    assert networks.size("paper", dataset("tiny"), "cpu").value == "paper"
    with pytest.raises(RecombineError, match=r"unknown size 'papr'.*'paper'"):
        networks.size("papr", dataset("tiny"), "cpu")


def twins(examples: Sequence[Example]) -> int:
    """Counts sets of examples that exactly one input token and exactly one output token is held by."""
    sides: list[dict[frozenset[int], int]] = []
    for side in ("x", "y"):
        held: dict[str, set[int]] = defaultdict(set)
        for number, example in enumerate(examples):
            for token in getattr(example, side):
                held[token].add(number)
        tally: dict[frozenset[int], int] = defaultdict(int)
        for numbers in held.values():
            tally[frozenset(numbers)] += 1
        sides.append(tally)
    return sum(count == 1 == sides[1].get(holders) for holders, count in sides[0].items())


@pytest.mark.parametrize("size", networks.SIZES)
def test_what_data_lack_decides_what_a_network_is_taught(size: str) -> None:
    chosen = {name: networks.generator(dataset(name), size, rare=rarity_of(name).kind) for name in NAMES}
    assert {name: choice.name for name, choice in chosen.items()} == {
        "jump": "stand-ins",
        "around-right": "twins",
        "morphology": "gated copying",
        "geography": "stand-ins",
        "tiny": "stand-ins",
    }
    assert f"{twins(dataset('around-right'))} tokens" in chosen["around-right"].reason
    hidden = {choice.value.network.hidden for name, choice in chosen.items() if name != "morphology"}
    assert hidden == {{"small": presets.SMALL_GENERATOR, "paper": presets.SCAN_GENERATOR}[size].network.hidden}
    for choice in chosen.values():
        assert not (choice.value.stand_ins and choice.value.twins)
        assert choice.value.network.hide_shared_tokens == bool(choice.value.twins)
    assert chosen["jump"].value.network.write_seen_only


def test_twins_take_two_prototypes_and_pairs_that_always_occur_together() -> None:
    # "a" is in x and y, but "b" and "c" stand for the same.
    examples = [Example((one, "and", two), ("Y", "Z")) for one in "abc" for two in "abc"]
    assert twins(examples) == 0
    assert networks.generator(examples, "small", rare=PAIRS).name == "stand-ins"
    chosen = networks.generator(dataset("around-right"), "small", rare=PAIRS, prototypes=1)
    assert (chosen.name, chosen.value.twins) == ("plain", 0)


def test_predictors_of_word_forms_copy_in_either_order() -> None:
    for examples in (dataset("morphology"), [reordered(example) for example in dataset("morphology")]):
        (name, first), *others = networks.predictors(examples, "small").items()
        assert name == "penalized copying"
        assert first.network == presets.SMALL_WORD_FORM_PREDICTOR.network
        assert all(other.network.copying != "none" for _, other in others)


@pytest.mark.parametrize("size", networks.SIZES)
@pytest.mark.parametrize("many", [False, True])
def test_predictors_that_copy_are_tried_where_both_sides_have_tokens_in_common(
    size: str, many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(networks, "MANY", 0 if many else 10_000)
    found = {
        name: [recipe.network.copying for recipe in networks.predictors(dataset(name), size).values()]
        for name in ("jump", "around-right", "geography")
    }
    assert set(found["jump"]) == set(found["around-right"]) == {"none"}
    assert set(found["geography"]) == {"joint", "none"}
    assert found["geography"][0] == "joint"


@pytest.mark.parametrize("size", networks.SIZES)
def test_the_rates_of_predictors_fall_where_their_parameters_are_not_averaged(
    size: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for many in (False, True):
        monkeypatch.setattr(networks, "MANY", 0 if many else 10_000)
        for name in ("jump", "geography"):
            for recipe in networks.predictors(dataset(name), size).values():
                assert recipe.falls_to == (1 if recipe.averaging else networks.FALLS_TO)


@pytest.mark.parametrize("size", networks.SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_steps_are_bounded_whatever_the_size_of_the_data(name: str, size: str) -> None:
    recipe = networks.generator(dataset(name), size, rare=rarity_of(name).kind).value
    chosen = networks.length(recipe, most=networks.GENERATOR_STEPS).value
    for rows in (10, 1_000, 100_000, 10_000_000):
        assert 500 < chosen.duration(rows).steps <= 10_000
    if size == "small" and name in ("jump", "around-right"):  # twins take longer to learn
        assert chosen.duration(100).steps == {"jump": 1_500, "around-right": 3_000}[name]


def test_users_may_bound_training_otherwise() -> None:
    assert networks.length(presets.SMALL_GENERATOR).value == presets.SMALL_GENERATOR
    bounded = networks.length(presets.SMALL_GENERATOR, most=7, epochs=3, max_time=9.0).value
    duration = bounded.duration(320)
    assert (duration.epochs, duration.steps_per_epoch, bounded.max_time) == (3, 10, 9.0)


WORDS = [f"n{number}" for number in range(6)]
EXAMPLES = [
    Example((verb, first, word, second), (verb.upper(), first, second, word.upper()))
    for verb in ("see", "hear", "find")
    for word in ("and", "or")
    for first in WORDS[:4]
    for second in WORDS[2:]
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
    examples = [Example((verb, name), (verb.upper(), name)) for verb in verbs for name in WORDS]
    for train, held in networks._folds(examples, 3, seed=0):
        assert len(held) == 24
        assert {*train, *held} == {*examples}
        assert not {example.y[0] for example in train} & {example.y[0] for example in held}


def test_where_all_outputs_are_alike_examples_are_held_out_one_by_one() -> None:
    ((train, held),) = networks._folds([Example((str(n),), ("Y",)) for n in range(50)], 1, seed=0)
    assert (len(train), len(held)) == (40, 10)
