from collections.abc import Iterable

import literal_neighborhoods as literal
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods.index import BAG_BITS, FIRST_LOOK, Bags, Index, in_batches, sampled
from recombine.neighborhoods.search import lev


def together(batches: Iterable[np.ndarray]) -> list[int]:
    found = [int(number) for batch in batches for number in batch]
    assert len(found) == len(set(found))
    return found


@given(literal.corpora())
def test_duplicates_count_once_and_the_first_stands_for_all(examples: list[Example]) -> None:
    index = Index.of(examples)
    assert index.originals.tolist() == list(literal.data(examples))
    assert index.lengths.tolist() == [len(d) for d in literal.data(examples).values()]


@given(literal.corpora(), literal.BOUNDS)
def test_nothing_near_is_missed(examples: list[Example], delta: float) -> None:
    index = Index.of(examples)
    sequences = list(literal.data(examples).values())
    for string, d in zip(index.strings, sequences, strict=True):
        found = together(index.similar(string, delta=delta, budget=10**6, rng=np.random.default_rng(0)))
        assert set(found) >= {j for j, other in enumerate(sequences) if literal.lev(d, other) < delta}


@given(literal.corpora(), literal.BOUNDS)
def test_nothing_near_that_covers_is_missed(examples: list[Example], delta: float) -> None:
    index = Index.of(examples)
    sequences = list(literal.data(examples).values())
    for string, d in zip(index.strings, sequences, strict=True):
        found = together(index.covering(string, delta=delta, budget=10**6, rng=np.random.default_rng(0)))
        wanted = {j for j, e in enumerate(sequences) if set(d) <= set(e) and literal.lev(d, e) < delta}
        assert set(found) >= wanted


@given(literal.corpora())
def test_token_sets_one_apart(examples: list[Example]) -> None:
    index = Index.of(examples)
    for number, tokens in enumerate(index.sets):
        wanted = [other for other, its in enumerate(index.sets) if len(set(tokens) ^ set(its)) == 1]
        assert sorted(index.one_apart[number].tolist()) == wanted


@pytest.mark.parametrize("vocabulary", [5, 200])
def test_keys_are_equal_just_where_lacks_are_however_many_tokens_there_are(vocabulary: int) -> None:
    rng = np.random.default_rng(0)
    examples = [Example(tuple(map(str, rng.integers(vocabulary, size=4))), ("y",)) for _ in range(60)]
    index = Index.of(examples)
    for target in range(0, len(index), 7):
        lacks = ["".join(sorted({*index.strings[target]} - {*other})) for other in index.strings]
        keys = index.lacks(target, np.arange(len(index), dtype=np.int32))
        assert len({*keys}) == len({*lacks}) == len({*zip(keys, lacks, strict=True)})


def test_equal_keys_mean_equal_lacks_for_a_target_of_very_many_tokens() -> None:
    long = Example(tuple(map(str, range(100))), ("y",))
    examples = [long, *(Example(long.x[:size], ("y",)) for size in range(1, 100)), Example(("z", "0"), ("y",))]
    index = Index.of(examples)
    keys = index.lacks(0, np.arange(len(index), dtype=np.int32))
    assert len({*keys}) == len(index)


def test_what_only_long_data_hold_is_covered_by_nothing_short() -> None:
    index = Index.of([Example(("a",), ("A",)), Example(tuple("bcdefgh"), tuple("BCDEFGH"))])
    rng = np.random.default_rng(0)
    a, b = index.strings[0][0], index.strings[1][0]
    assert together(index.covering(a + "\0", delta=0.5, budget=10, rng=rng)) == [0]
    assert together(index.covering(b + "\0", delta=0.5, budget=10, rng=rng)) == []


def test_the_budget_bounds_what_is_compared() -> None:
    examples = [Example((str(i), "a"), ("b",)) for i in range(5000)]
    index = Index.of(examples)
    found = together(index.similar(index.strings[0], delta=0.9, budget=1000, rng=np.random.default_rng(0)))
    assert 900 <= len(found) <= 1000 + FIRST_LOOK


@given(st.integers(0, 200), st.integers(0, 250))
def test_samples_are_distinct_and_as_many_as_allowed(size: int, limit: int) -> None:
    shelf = np.arange(size, dtype=np.int32)
    chosen = sampled([shelf[: size // 3], shelf[size // 3 :]], limit, np.random.default_rng(size)).tolist()
    assert len(set(chosen)) == min(size, limit)
    assert set(chosen) <= set(range(size))


def test_sampling_favors_nobody() -> None:
    rng = np.random.default_rng(0)
    counts = np.bincount(np.concatenate([sampled([np.arange(7, dtype=np.int32)], 3, rng) for _ in range(9000)]))
    # By stretches of 2, 2 and 3, so nearly but not exactly alike.
    assert counts.min() > 2700
    assert counts.max() < 4800


def test_batches_hold_everything_once() -> None:
    assert sorted(together(in_batches(np.arange(1500, dtype=np.int32), np.random.default_rng(0)))) == list(range(1500))


def test_no_examples_is_an_error() -> None:
    with pytest.raises(RecombineError, match="no examples"):
        Index.of([])


ALPHABET = [chr(number) for number in (0, 1, 2, BAG_BITS, BAG_BITS + 1, 5000)]
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
