"""What all augmenters do alike, and the record of what they gave."""

import sys
from collections import Counter
from dataclasses import replace
from itertools import islice, permutations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.augmentation.protocol import Samples, check_request, in_random_order, together, turned_down
from recombine.errors import RecombineError
from recombine.example import Example, Provenance


def test_samples_as_a_data_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    made_by = Provenance("geca", (), details={"right": 0.9})
    samples = Samples((Example(("big", "dot"), ("DOT",), made_by),), 1, estimate=(0.8, 0.9, 1.0))
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    found = samples.to_pandas()
    assert found == {"input": ["big dot"], "output": ["DOT"], "method": ["geca"], "right": [0.9]}
    assert replace(samples, tokens="characters").to_pandas()["input"] == ["bigdot"]
    assert replace(samples, estimate=None).to_pandas(tokens="characters").keys() == {"input", "output", "method"}
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(RecombineError, match="pip install pandas"):
        samples.to_pandas()


@given(st.integers(0, 200), st.integers(0, 2**32))
def test_random_order_has_every_number_once(count: int, seed: int) -> None:
    assert sorted(in_random_order(count, np.random.default_rng(seed))) == list(range(count))


def test_every_order_is_equally_likely() -> None:
    rng = np.random.default_rng(0)
    draws = 12_000
    counts = Counter(tuple(in_random_order(4, rng)) for _ in range(draws))
    assert set(counts) == set(permutations(range(4)))
    chi_squared = sum((count - draws / 24) ** 2 / (draws / 24) for count in counts.values())
    assert chi_squared < 57  # 23 degrees of freedom: exceeded with probability 1e-4
    # A few of very many cost little.
    assert len(set(islice(in_random_order(10**15, np.random.default_rng(0)), 1000))) == 1000


@pytest.mark.parametrize(("n", "seed"), [(2.5, 0), ("5", 0), (3, "a"), (3, 1.5)])
def test_what_is_no_whole_number_is_refused(n: object, seed: object) -> None:
    with pytest.raises(RecombineError, match="expected a whole number"):
        check_request(n, seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("said", [True, False, 0])
def test_a_validator_gives_reasons_not_yes_or_no(said: object) -> None:
    with pytest.raises(RecombineError, match="expected None for what it accepts"):
        turned_down(Example(("a",), ("b",)), lambda _: said)  # type: ignore[arg-type, return-value]
    assert turned_down(Example(("a",), ("b",)), lambda _: "because") == "because"


ONE, TWO, THREE = (Example((word,), (word.upper(),)) for word in ("a", "b", "c"))


def test_the_samples_of_several_are_all_there_in_order_and_so_is_their_account() -> None:
    first = Samples((ONE, TWO), 5, {"known": 1, "too long": 2}, "Three are missing.")
    second = Samples((TWO,), 1, {"known": 3}, turned_down=(THREE,), warning="Look at it.")
    found = together([first, second])
    assert list(found) == [ONE, TWO, TWO]  # what both made is there twice
    assert found.requested == 6
    assert found.rejected == {"known": 4, "too long": 2}
    assert list(found.turned_down) == [THREE]
    assert found.account == "3 of 6 samples; rejected: 4 known, 2 too long. Three are missing. Look at it."
    assert together([first]) == first
