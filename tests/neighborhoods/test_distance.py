import literal_neighborhoods as literal
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recombine.neighborhoods.distance import covers, distinct, lev, near, remainder, symmetric_difference

SEQUENCES = st.text("abcd", max_size=8)


@given(SEQUENCES, SEQUENCES)
def test_lev_is_the_recurrence(a: str, b: str) -> None:
    assert lev(a, b) == literal.lev(tuple(a), tuple(b))


@given(SEQUENCES, st.lists(SEQUENCES, min_size=1), st.sampled_from([0.25, 0.5, 1.0, 2.0]))
def test_near_excludes_the_bound_itself(sequence: str, others: list[str], delta: float) -> None:
    strings = np.array(others, np.object_)
    lengths = np.array([len(other) for other in others], np.int32)
    batches = np.array_split(np.arange(len(others), dtype=np.int32), 2)
    hits = [hit for hits in near(sequence, batches, strings=strings, lengths=lengths, delta=delta) for hit in hits]
    assert hits == [i for i, other in enumerate(others) if lev(sequence, other) < delta]


def test_half_is_not_nearer_than_half() -> None:
    strings = np.array(["ab", "aa"], np.object_)
    hits = near("aa", [np.array([0, 1])], strings=strings, lengths=np.array([2, 2]), delta=0.5)
    assert np.concatenate(list(hits)).tolist() == [1]


@given(SEQUENCES, SEQUENCES)
def test_differences_are_those_of_sets(a: str, b: str) -> None:
    assert remainder(a, b) == "".join(literal.left_over(tuple(a), tuple(b)))
    assert set(distinct(a)) == set(a)
    assert len(distinct(a)) == len(set(a))
    assert covers(a, b) == (set(b) <= set(a))
    assert symmetric_difference(a, b) == len(set(a) ^ set(b))
