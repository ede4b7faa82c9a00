from collections import Counter
from itertools import islice, permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recombine.augmentation.drawing import in_random_order


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


def test_a_few_of_very_many_cost_little() -> None:
    assert len(set(islice(in_random_order(10**15, np.random.default_rng(0)), 1000))) == 1000
