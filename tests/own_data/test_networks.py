"""How large networks are and how long they train, on five kinds of data."""

from collections import defaultdict
from collections.abc import Sequence

import pytest
import torch
from kinds_of_data import NAMES, dataset, rarity_of

from recombine.augmentation.resample import PAIRS
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import reordered
from recombine.own_data import networks
from recombine.training import presets


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
