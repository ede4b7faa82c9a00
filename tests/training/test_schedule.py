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
from recombine.training.schedule import Batch, Group, Schedule, mixture


def corpus(lengths: Sequence[tuple[int, int]]) -> Corpus:
    """One example for each (length of x, length of y)."""
    examples = [Example(("a",) * x, ("b",) * y) for x, y in lengths]
    return Corpus.for_prediction([examples], Vocabulary.of(examples), torch.device("cpu"))


VARIED = corpus([(1 + i % 7, 1 + i % 11) for i in range(48)])


def batches(count: int, *, groups: Sequence[Sequence[Group]], seeds: Sequence[int], **settings: int) -> list[Batch]:
    return list(islice(Schedule(VARIED, groups, seeds, **settings), count))


@pytest.mark.parametrize(
    ("batch", "pool", "pools", "times"), [(8, 6, 1, 1), (4, 4, 3, 1), (8, 3, 4, 2), (12, 20, 1, 5)]
)
def test_every_row_is_shown_once_in_every_pass(batch: int, pool: int, pools: int, times: int) -> None:
    group = [Group(np.arange(48))]
    drawn = batches(pool * pools, groups=[group, group], seeds=[1, 2], batch=batch, pool=pool)
    for r in range(2):
        assert Counter(np.concatenate([b.rows[r] for b in drawn]).tolist()) == dict.fromkeys(range(48), times)


def test_passes_come_in_different_orders() -> None:
    group = [[Group(np.arange(48))]]
    drawn = batches(24, groups=group, seeds=[1], batch=4, pool=3)
    first, second = (sorted(sorted(b.rows[0].tolist()) for b in half) for half in (drawn[:12], drawn[12:]))
    assert first != second


@pytest.mark.parametrize("p_aug", [0.05, 0.2, 0.5])
def test_augmented_rows_have_their_share(p_aug: float) -> None:
    groups = [mixture(40, 8, p_aug)]
    drawn = np.concatenate([b.rows[0] for b in batches(256, groups=groups, seeds=[3], batch=16)])
    share = (drawn >= 40).mean()
    assert share == pytest.approx(p_aug, abs=4 * math.sqrt(p_aug * (1 - p_aug) / len(drawn)))
    for rows in (range(40), range(40, 48)):  # and within each group, every row comes as often, give or take one pass
        counts = [int((drawn == row).sum()) for row in rows]
        assert max(counts) - min(counts) <= 1


def test_mixtures_in_words() -> None:
    assert [(group.rows.tolist(), group.share) for group in mixture(3, 2, None)] == [([0, 1, 2], 0.6), ([3, 4], 0.4)]
    assert [group.rows.tolist() for group in mixture(3, 0, 0.5)] == [[0, 1, 2]]
    assert [(group.rows.tolist(), group.share) for group in mixture(2, 1, 0.25)] == [([0, 1], 0.75), ([2], 0.25)]


@pytest.mark.parametrize("p_aug", [None, 0.3])
def test_a_replicas_rows_do_not_depend_on_the_others(p_aug: float | None) -> None:
    mine, other = mixture(40, 8, p_aug), [Group(np.arange(30))]
    together = batches(40, groups=[other, mine, other], seeds=[7, 8, 9], batch=4, pool=16)
    alone = batches(40, groups=[mine], seeds=[8], batch=4, pool=16)
    for many, one in zip(together, alone, strict=True):
        assert np.array_equal(many.rows[1], one.rows[0])
    assert any(not np.array_equal(b.rows[0], b.rows[2]) for b in together)


@given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 100))
def test_shapes_cover_every_sequence_and_are_round(rounding: int, pool: int, seed: int) -> None:
    group = [Group(np.arange(48))]
    sources, targets = VARIED.source_lengths[0], VARIED.target_lengths[0]
    for b in batches(8, groups=[group] * 2, seeds=[seed, seed + 1], batch=5, pool=pool, rounding=rounding):
        assert b.source_steps - rounding < sources[b.rows].max() <= b.source_steps
        assert b.target_steps - rounding < targets[b.rows].max() <= b.target_steps
        assert b.source_steps % rounding == b.target_steps % rounding == 0


def test_batches_hold_sequences_of_about_the_same_length() -> None:
    """Batches of one pass need less padding, of sources and of targets, than any of a hundred random partitions."""
    drawn = np.stack([b.rows[0] for b in batches(6, groups=[[Group(np.arange(48))]], seeds=[1], batch=8, pool=6)])

    def padding(partition: np.ndarray) -> int:
        tables = (VARIED.source_lengths[0], VARIED.target_lengths[0])
        return sum(int((lengths[rows].max() - lengths[rows]).sum()) for lengths in tables for rows in partition)

    rng = np.random.default_rng(0)
    assert padding(drawn) < min(padding(rng.permutation(48).reshape(6, 8)) for _ in range(100))


@pytest.mark.parametrize(("sorting", "as_fine_as"), [(1, 1), (5, 5), (100, 100), (None, 4)])
def test_sequences_share_batches_whose_rounded_lengths_are_alike(sorting: int | None, as_fine_as: int) -> None:
    """Beyond that they come as they are drawn."""
    groups, sources, targets = [[Group(np.arange(48))]], VARIED.source_lengths[0], VARIED.target_lengths[0]

    def pool(**settings: int | None) -> set[tuple[int, ...]]:
        first = islice(Schedule(VARIED, groups, [3], 6, pool=16, **settings), 16)
        return {tuple(b.rows[0].tolist()) for b in first}

    def lengths(row: int) -> tuple[int, int, int]:
        source, target = (math.ceil(each[row] / as_fine_as) for each in (sources, targets))
        return max(source, target), target, source

    drawn = next(Schedule(VARIED, groups, [3], 6, pool=16)._stream(0)).tolist()
    in_order = sorted(drawn, key=lengths)
    assert pool(sorting=sorting) == {tuple(in_order[start : start + 6]) for start in range(0, 96, 6)}
    assert (pool(sorting=sorting) == {tuple(drawn[start : start + 6]) for start in range(0, 96, 6)}) == (sorting == 100)


def test_the_same_seeds_give_the_same_batches() -> None:
    groups = [mixture(40, 8, 0.2)]
    first, second = (batches(70, groups=groups, seeds=[5], batch=4) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(one.rows, other.rows)
        assert one[1:] == other[1:]


def test_rows_with_weights_are_drawn_in_proportion_to_them() -> None:
    group = Group(np.array([7, 8, 9]), weights=np.array([1.0, 0.0, 3.0]))
    drawn, _ = group.drawn(4000, np.empty(0, dtype=np.int64), np.random.default_rng(0))
    assert set(drawn) == {7, 9}
    assert abs((drawn == 9).mean() - 0.75) < 4 * (0.75 * 0.25 / 4000) ** 0.5


def test_weights_alone_make_an_original_count_as_a_weight_of_one() -> None:
    originals, augmented = mixture(6, 2, None, [1.5, 0.5])
    assert (originals.share, augmented.share) == (0.75, 0.25)
    assert [group.share for group in mixture(6, 2, 0.1, [1.5, 0.5])] == [0.9, 0.1]


def test_tokens_count_as_often_as_their_targets_are_drawn() -> None:
    """Lengths of targets, with what ends them: 2, 4, 6 and 8."""
    rows = corpus([(1, 1), (1, 3), (1, 5), (1, 7)])
    even, weighted = (
        [Group(np.arange(4))],
        [Group(np.array([0, 1]), 0.75), Group(np.array([2, 3]), 0.25, np.array([3.0, 1.0]))],
    )
    assert Schedule(rows, [even, weighted], [1, 2], batch=2).mean_tokens() == [5.0, 0.75 * 3 + 0.25 * 6.5]
