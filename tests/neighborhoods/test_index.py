from collections.abc import Iterable

import literal_neighborhoods as literal
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods import index as indexing
from recombine.neighborhoods.index import FIRST_LOOK, Index, in_batches, sampled


def together(batches: Iterable[np.ndarray]) -> list[int]:
    found = [int(number) for batch in batches for number in batch]
    assert len(found) == len(set(found))
    return found


@pytest.mark.parametrize("bits", [3, 128])
@given(literal.corpora(), literal.BOUNDS)
def test_what_is_near_is_found_and_nothing_else_whether_or_not_tokens_share_bits(
    bits: int, examples: list[Example], delta: float
) -> None:
    sequences = list(literal.data(examples).values())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "BAG_BITS", bits)
        indexing._occurrences.cache_clear()
        index = Index(examples)
        options = {"delta": delta, "budget": 10**6, "rng": np.random.default_rng(0)}
        for string, d in zip(index.strings, sequences, strict=True):
            near = {j for j, other in enumerate(sequences) if literal.lev(d, other) < delta}
            assert set(together(index.similar(string, **options))) == near
            assert set(together([index.covering(string, **options)])) == {j for j in near if {*d} <= {*sequences[j]}}
    indexing._occurrences.cache_clear()


@given(literal.corpora())
def test_duplicates_count_once_and_token_sets_one_apart_know_each_other(examples: list[Example]) -> None:
    index = Index(examples)
    assert index.originals.tolist() == list(literal.data(examples))
    assert index.lengths.tolist() == [len(d) for d in literal.data(examples).values()]
    for number, tokens in enumerate(index.sets):
        wanted = [other for other, its in enumerate(index.sets) if len(set(tokens) ^ set(its)) == 1]
        assert sorted(index.one_apart[number].tolist()) == wanted


def test_the_budget_bounds_what_is_compared_and_what_shares_little_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index([Example((str(i), "a"), ("b",)) for i in range(5000)])
    found = together(index.similar(index.strings[0], delta=0.9, budget=1000, rng=np.random.default_rng(0)))
    assert 900 <= len(found) <= 1000 + FIRST_LOOK
    index = Index([Example(tuple(x), ("y",)) for x in ("abab", "abcd", "wxyz", "aaaa")])
    compared: list[str] = []
    cdist = indexing.cdist
    noting = lambda one, others, **how: compared.extend(others) or cdist(one, others, **how)  # noqa: E731
    monkeypatch.setattr(indexing, "cdist", noting)
    assert together(index.similar(index.strings[0], delta=0.3, budget=10, rng=np.random.default_rng(0))) == [0]
    assert compared == [index.strings[0]]
    with pytest.raises(RecombineError, match="no examples"):
        Index([])


@given(st.integers(0, 200), st.integers(0, 250))
def test_samples_are_distinct_and_as_many_as_allowed(size: int, limit: int) -> None:
    shelf = np.arange(size, dtype=np.int32)
    chosen = sampled([shelf[: size // 3], shelf[size // 3 :]], limit, np.random.default_rng(size)).tolist()
    assert len(set(chosen)) == min(size, limit)
    assert set(chosen) <= set(range(size))


def test_sampling_favors_nobody_batches_hold_everything_once_and_nothing_short_covers_long_data() -> None:
    rng = np.random.default_rng(0)
    counts = np.bincount(np.concatenate([sampled([np.arange(7, dtype=np.int32)], 3, rng) for _ in range(9000)]))
    # By stretches of 2, 2 and 3, so nearly but not exactly alike.
    assert counts.min() > 2700
    assert counts.max() < 4800
    assert sorted(together(in_batches(np.arange(1500, dtype=np.int32), rng))) == list(range(1500))
    index = Index([Example(("a",), ("A",)), Example(tuple("bcdefgh"), tuple("BCDEFGH"))])
    for datum, found in ((0, [0]), (1, [])):
        short = index.strings[datum][0] + "\0"
        assert index.covering(short, delta=0.5, budget=10, rng=np.random.default_rng(0)).tolist() == found
