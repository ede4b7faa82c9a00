from dataclasses import replace

import numpy as np
import pytest

from recombine.augmentation.recombination import Recombination
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods import LongShort, OnePrototype
from recombine.training.presets import SMALL_GENERATOR
from recombine.training.recipe import Recipe

NETWORK = replace(SMALL_GENERATOR.network, hidden=8, embedding=4, attention=4)
TINY = Recipe(network=NETWORK, batch=8, epochs=1)
WORDS = ("walk", "run", "look", "turn")
EXAMPLES = [
    Example((word, *ways), (word.upper(), *ways)) for word in WORDS for ways in ((), ("left",), ("right", "now"))
]
LONER = Example(("quite",), ("OTHERWISE", "INDEED"))


def test_without_prototypes_every_example_is_learned_from_whether_it_has_neighbors_or_not() -> None:
    learned = Recombination(LongShort(), TINY, prototypes=0, device="cpu").fit([*EXAMPLES, LONER])
    assert learned.neighborhoods_.rows[:, 0].tolist() == list(range(len(EXAMPLES) + 1))
    assert learned.fitted_.model.architecture.prototypes == 0


def test_a_rule_with_one_prototype_cannot_give_two() -> None:
    learned = Recombination(OnePrototype(), TINY, prototypes=2, device="cpu")
    with pytest.raises(RecombineError, match="1 prototypes, not the 2 asked for"):
        learned.fit(EXAMPLES)


def test_data_without_neighbors_say_which_condition_failed() -> None:
    strangers = [Example((f"x{i}",) * (i + 1), (f"y{i}",)) for i in range(5)]
    with pytest.raises(RecombineError, match="no example has a long-short neighborhood: 5 distinct examples, 0 with"):
        Recombination(LongShort(), TINY, device="cpu").fit(strangers)


def test_a_prototype_holds_what_is_in_focus_and_without_one_any_is_drawn() -> None:
    learned = Recombination(LongShort(removal="distinct"), TINY, device="cpu").fit(EXAMPLES)
    walks = [number for number, example in enumerate(EXAMPLES) if "walk" in example.x]

    def share_with_walk() -> float:
        drawn = learned.drawing(0)(500, np.random.default_rng(0))
        return float(np.isin(drawn[:, -1], walks).mean())

    assert share_with_walk() < 0.9
    learned.focus = lambda example: None if "walk" in example.x else "without walk"
    assert share_with_walk() == 1
    learned.focus = lambda example: "never"
    assert share_with_walk() < 0.9
