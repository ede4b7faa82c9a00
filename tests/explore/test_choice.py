"""How the next token is chosen."""

import numpy as np
import pytest

from recombine.example import SEPARATOR
from recombine.explore.choice import Choice

P = np.array([0.0, 0.6, 0.3, 0.1, 0.0])


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_draws_are_as_frequent_as_the_temperature_says(temperature: float) -> None:
    draws = [
        Choice(strategy="temperature", temperature=temperature, seed=seed).choose(P, ("a",)) for seed in range(3000)
    ]
    expected = P ** (1 / temperature) / (P ** (1 / temperature)).sum()
    np.testing.assert_allclose(np.bincount(draws, minlength=5) / 3000, expected, atol=0.03)
    assert not {0, 4} & set(draws)


def test_a_seed_draws_the_same_again_and_elsewhere_something_else() -> None:
    choice = Choice(strategy="temperature", temperature=2.0, seed=5)
    along = [choice.choose(P, ("a",) * n) for n in range(40)]
    assert along == [choice.choose(P, ("b",) * n) for n in range(40)]
    assert len(set(along)) > 1


@pytest.mark.parametrize(
    ("strategy", "beginning", "is_drawn"),
    [
        ("greedy", ("a",), False),
        ("mixed", ("a",), True),
        ("mixed", ("a", SEPARATOR), False),
        ("temperature", ("a", SEPARATOR), True),
    ],
)
def test_what_is_drawn_depends_on_the_strategy(strategy: str, beginning: tuple[str, ...], is_drawn: bool) -> None:
    chosen = {Choice(strategy=strategy, temperature=1.0, seed=seed).choose(P, beginning) for seed in range(60)}
    assert chosen == ({1, 2, 3} if is_drawn else {1})


def test_the_coldest_temperature_divides_by_nothing_too_small() -> None:
    tiny = np.array([1e-300, 1.0, 1e-200])
    assert Choice(strategy="temperature", temperature=0.05).choose(tiny, ()) == 1
