import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recombine.neighborhoods.bags import BITS, Bags
from recombine.neighborhoods.distance import lev

ALPHABET = [chr(number) for number in (0, 1, 2, BITS, BITS + 1, 5000)]
SEQUENCES = st.text(ALPHABET, max_size=12)


@given(SEQUENCES, st.lists(SEQUENCES, min_size=1), st.sampled_from([0.3, 0.5, 0.7, 1.0]))
def test_nothing_near_is_implausible(sequence: str, others: list[str], delta: float) -> None:
    bags = Bags(others, np.array([len(other) for other in others], np.int32))
    plausible = bags.plausible(sequence, np.arange(len(others), dtype=np.int32), delta=delta).tolist()
    assert set(plausible) >= {i for i, other in enumerate(others) if lev(sequence, other) < delta}


def test_what_shares_little_is_implausible() -> None:
    others = ["abab", "abcd", "wxyz", "aaaa"]
    bags = Bags(others, np.full(4, 4, np.int32))
    assert bags.plausible("abab", np.arange(4, dtype=np.int32), delta=0.5).tolist() == [0]
