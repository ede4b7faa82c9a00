import math
from collections import Counter
from collections.abc import Sequence
from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from recombine.data.vocabulary import Vocabulary
from recombine.example import Example
from recombine.training.corpus import Corpus
from recombine.training.schedule import Batch, Group, Schedule, _Shapes, mixture


def corpus(lengths: Sequence[tuple[int, int]]) -> Corpus:
    """One example for each (length of x, length of y)."""
    examples = [Example(("a",) * x, ("b",) * y) for x, y in lengths]
    return Corpus.for_prediction([examples], Vocabulary.of(examples), torch.device("cpu"))


VARIED = corpus([(1 + i % 7, 1 + i % 11) for i in range(48)])


def batches(
    count: int, *, groups: Sequence[Sequence[Group]], seeds: Sequence[int], **settings: int | None
) -> list[Batch]:
    return list(islice(Schedule(VARIED, groups, seeds, **settings), count))


@pytest.mark.parametrize(
    ("batch", "pool", "pools", "times"), [(8, 6, 1, 1), (4, 4, 3, 1), (8, 3, 4, 2), (12, 20, 1, 5)]
)
def test_every_row_is_shown_once_in_every_pass(batch: int, pool: int, pools: int, times: int) -> None:
    group = [Group(np.arange(48))]
    drawn = batches(pool * pools, groups=[group, group], seeds=[1, 2], batch=batch, pool=pool)
    for r in range(2):
        assert Counter(np.concatenate([b.rows[r] for b in drawn]).tolist()) == dict.fromkeys(range(48), times)


@pytest.mark.parametrize("p_aug", [0.05, 0.2, 0.5])
def test_augmented_rows_have_their_share(p_aug: float) -> None:
    groups = [mixture(40, 8, p_aug)]
    count = 20 * Schedule(VARIED, groups, [3], 16).pool_of(0)  # whole pools
    drawn = np.concatenate([b.rows[0] for b in batches(count, groups=groups, seeds=[3], batch=16)])
    share = (drawn >= 40).mean()
    assert share == pytest.approx(p_aug, abs=4 * math.sqrt(p_aug * (1 - p_aug) / len(drawn)))
    for rows in (range(40), range(40, 48)):  # and within each group, every row comes as often, give or take one pass
        counts = [int((drawn == row).sum()) for row in rows]
        assert max(counts) - min(counts) <= 1


def test_mixtures_in_words() -> None:
    assert [(group.rows.tolist(), group.share) for group in mixture(3, 2, None)] == [([0, 1, 2], 0.6), ([3, 4], 0.4)]
    assert [group.rows.tolist() for group in mixture(3, 0, 0.5)] == [[0, 1, 2]]
    assert [(group.rows.tolist(), group.share) for group in mixture(2, 1, 0.25)] == [([0, 1], 0.75), ([2], 0.25)]


GROUP = [Group(np.arange(48))]
SOURCES, TARGETS = VARIED.source_lengths[0], VARIED.target_lengths[0]


@pytest.mark.parametrize("groups", [GROUP, mixture(40, 8, 0.3)])
def test_a_batch_has_one_row_of_every_stratum(groups: Sequence[Group]) -> None:
    """By the length of targets, the rows of a pool fall into as many strata of one size as a batch has rows."""
    schedule = Schedule(VARIED, [groups], [3], 8)
    pool = schedule.pool_of(0)
    drawn = np.stack([b.rows[0] for b in islice(schedule, 3 * pool)]).reshape(3, pool, 8)
    for batches_of_pool in drawn:
        lengths = TARGETS[batches_of_pool]
        assert (np.diff(lengths, axis=1) <= 0).all()  # the longest first
        # Strata do not overlap: what is the shortest of one is no shorter than the longest of the next.
        assert (lengths.min(axis=0)[:-1] >= lengths.max(axis=0)[1:]).all()
    assert len({tuple(sorted(batch)) for batch in drawn.reshape(-1, 8).tolist()}) == 3 * pool  # at random


def test_a_pool_is_no_more_than_a_pass_over_the_rows() -> None:
    assert Schedule(VARIED, [GROUP], [1], 8).pool_of(0) == 6
    assert Schedule(VARIED, [GROUP], [1], 8, pool=4).pool_of(0) == 4
    assert Schedule(VARIED, [GROUP], [1], 100).pool_of(0) == 1
    assert Schedule(VARIED, [mixture(40, 8, 0.2)], [1], 10).pool_of(0) == 5


@given(st.integers(1, 12), st.integers(0, 100), st.sampled_from([None, 1, 3]))
def test_shapes_are_just_what_the_rows_of_a_batch_need(size: int, seed: int, sorting: int | None) -> None:
    for b in batches(8, groups=[GROUP] * 2, seeds=[seed, seed + 1], batch=size, sorting=sorting):
        lengths = TARGETS[b.rows]
        assert (np.diff(lengths, axis=1) <= 0).all()
        assert b.counts == tuple(int((lengths > t).sum(axis=1).max()) for t in range(lengths.max()))
        assert b.source_steps == SOURCES[b.rows].max()


@given(st.integers(1, 12), st.integers(0, 100))
def test_fixed_shapes_are_few_and_have_room_for_all_rows(size: int, seed: int) -> None:
    schedule = Schedule(VARIED, [GROUP] * 2, [seed, seed + 1], size, fixed=True)
    drawn = list(islice(schedule, 5 * schedule.pool_of(0)))
    assert len({(b.source_steps, b.counts) for b in drawn}) <= 3
    for b in drawn:
        lengths = TARGETS[b.rows]
        counts = np.array(b.counts)
        assert counts[0] == size
        assert (np.diff(counts) <= 0).all()
        assert all((lengths > t).sum(axis=1).max() <= count for t, count in enumerate(counts))
        assert lengths.max() <= len(counts)
        assert b.source_steps == SOURCES.max()


def test_fixed_shapes_waste_little() -> None:
    rng = np.random.default_rng(0)
    lengths = np.minimum(rng.geometric(0.1, 3000), 50)
    varied = corpus([(3, int(y)) for y in lengths])
    drawn = list(islice(Schedule(varied, [[Group(np.arange(3000))]] * 4, [1, 2, 3, 4], 64, fixed=True), 200))
    needed = sum(varied.target_lengths[0][b.rows].sum() / 4 for b in drawn)
    assert sum(sum(b.counts) for b in drawn) < 1.15 * needed
    assert len({b.counts for b in drawn}) == 3
    assert np.mean([len(b.counts) for b in drawn]) < varied.target_lengths.max()


def test_where_a_batch_has_more_long_rows_than_expected_shapes_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no margin at all, hardly a batch fits: every row is trained on nevertheless."""
    monkeypatch.setattr(_Shapes, "MARGIN", -2.0)
    before: tuple[int, ...] = ()
    for b in batches(24, groups=[GROUP], seeds=[3], batch=8, fixed=True):
        assert all((TARGETS[b.rows] > t).sum(axis=1).max() <= count for t, count in enumerate(b.counts))
        assert all(old <= new for old, new in zip(before, b.counts, strict=False))
        before = max(before, b.counts, key=len)


def test_sorted_batches_of_fixed_shapes_are_padded() -> None:
    for b in batches(12, groups=[GROUP], seeds=[3], batch=4, sorting=1, fixed=True):
        assert b.counts == (4,) * min(-(-TARGETS[b.rows].max() // 4) * 4, TARGETS.max())
        assert b.source_steps == min(-(-SOURCES[b.rows].max() // 4) * 4, SOURCES.max())


@pytest.mark.parametrize("sorting", [1, 5, 100])
def test_sequences_share_sorted_batches_whose_rounded_lengths_are_alike(sorting: int) -> None:
    """Beyond that they come as they are drawn."""
    schedule = Schedule(VARIED, [GROUP], [3], 6, pool=16, sorting=sorting)
    found = {tuple(sorted(b.rows[0].tolist())) for b in islice(schedule, 16)}

    def lengths(row: int) -> tuple[int, int, int]:
        source, target = (math.ceil(each[row] / sorting) for each in (SOURCES, TARGETS))
        return max(source, target), target, source

    drawn = next(schedule._pools(0, np.random.default_rng([1, 3]))).tolist()
    in_order = sorted(drawn, key=lengths)
    assert found == {tuple(sorted(in_order[start : start + 6])) for start in range(0, 96, 6)}


def test_tokens_count_as_often_as_their_targets_are_drawn() -> None:
    """Lengths of targets, with what ends them: 2, 4, 6 and 8."""
    rows = corpus([(1, 1), (1, 3), (1, 5), (1, 7)])
    even, mixed = [Group(np.arange(4))], [Group(np.array([0, 1]), 0.75), Group(np.array([2, 3]), 0.25)]
    assert Schedule(rows, [even, mixed], [1, 2], batch=2).mean_tokens() == [5.0, 0.75 * 3 + 0.25 * 7]
