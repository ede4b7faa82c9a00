import math
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from recombine.data.vocabulary import EOS, PAD, SEP
from recombine.models.noise import Noise
from recombine.training.renaming import disguised

IDS = 16
TOKENS, POOL = range(SEP + 1, 11), range(11, IDS)
"""What targets may hold, and what they may not: the latter can stand in, unless a prototype happens to hold it."""

sequences = st.lists(st.sampled_from([SEP, *TOKENS]), max_size=4)
prototypes = st.lists(st.sampled_from([SEP, *TOKENS, *POOL]), max_size=5)
tuples = st.tuples(sequences, st.lists(prototypes, min_size=3, max_size=3))
pools = st.sets(st.sampled_from(POOL))


def table(rows: list[list[int]], steps: int) -> list[list[int]]:
    return [[*row, EOS, *[PAD] * steps][:steps] for row in rows]


def tensors(batch: list[tuple[list[int], list[list[int]]]]) -> tuple[Tensor, Tensor]:
    """Prototypes (1, B, 3, 6) and targets (1, B, 5)."""
    sources = torch.tensor([table(sources, 6) for _, sources in batch])
    return sources.unsqueeze(0), torch.tensor(table([target for target, _ in batch], 5)).unsqueeze(0)


def marks(pool: set[int]) -> Tensor:
    return torch.tensor([[number in pool for number in range(IDS)]])


def renaming(before: list[int], after: list[int]) -> dict[int, int]:
    """What each id became, the same wherever it stands."""
    names = dict(zip(before, after, strict=True))
    assert [names[token] for token in before] == after
    return names


@given(st.lists(tuples, min_size=1, max_size=4), pools, st.integers(0, 1000))
def test_what_only_later_prototypes_supply_is_renamed_and_nothing_else(
    batch: list[tuple[list[int], list[list[int]]]], pool: set[int], seed: int
) -> None:
    sources, target = tensors(batch)
    new_sources, new_target = disguised(sources, target, marks(pool), 1.0, Noise([seed]))
    assert (new_sources.shape, new_target.shape) == (sources.shape, target.shape)
    for number, (d, (first, *later)) in enumerate(batch):
        before = [*sources[0, number].flatten().tolist(), *target[0, number].tolist()]
        after = [*new_sources[0, number].flatten().tolist(), *new_target[0, number].tolist()]
        names = renaming(before, after)
        supplied = sorted((set(d) - set(first)) & {token for prototype in later for token in prototype} - {SEP})
        free = pool - set(before)  # else a stand-in would be taken for what another prototype shows
        renamed = supplied[: len(free)]
        stand_ins = [names[token] for token in renamed]
        assert set(stand_ins) <= free
        assert len(set(stand_ins)) == len(renamed)
        assert all(name == token for token, name in names.items() if token not in renamed)


FIVE = [([5, SEP, 6], [[5], [6], []])]


def test_more_tokens_than_stand_ins_leave_some_as_they_are() -> None:
    d = [5, 6, 7, 8]
    _, target = disguised(*tensors([(d, [[], d, []])]), marks({11, 12}), 1.0, Noise([0]))
    assert sorted(target[0, 0].tolist()[:2]) == [11, 12]
    assert target[0, 0].tolist()[2:] == [7, 8, EOS]


def test_without_stand_ins_all_is_as_it_was() -> None:
    sources, target = tensors(FIVE)
    same = disguised(sources, target, marks(set()), 1.0, Noise([0]))
    assert torch.equal(same[0], sources)
    assert torch.equal(same[1], target)


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.9])
def test_as_many_tuples_are_disguised_as_the_rate_says(rate: float) -> None:
    sources, target = tensors(FIVE * 4000)
    new_sources, new_target = disguised(sources, target, marks(set(POOL)), rate, Noise([5]))
    changed = (new_target != target).any(-1)
    assert torch.equal(changed, (new_sources != sources).flatten(2).any(-1))
    assert changed.float().mean().item() == pytest.approx(rate, abs=4 * math.sqrt(rate * (1 - rate) / 4000))


def test_every_stand_in_comes_as_often() -> None:
    _, target = disguised(*tensors(FIVE * 4000), marks(set(POOL)), 1.0, Noise([5]))
    counts = Counter(target[0, :, 2].tolist())
    assert sorted(counts) == list(POOL)
    p = 1 / len(POOL)
    for count in counts.values():
        assert count / 4000 == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 4000))


def test_a_replica_of_a_population_is_disguised_as_alone_though_pools_differ() -> None:
    sources, target = (part.expand(3, *part.shape[1:]) for part in tensors(FIVE * 50))
    pool = torch.cat([marks({11}), marks({12, 13, 14}), marks(set(POOL))])
    together = disguised(sources, target, pool, 0.5, Noise([7, 8, 9]))
    for number, seed in enumerate((7, 8, 9)):
        mine = slice(number, number + 1)
        alone = disguised(sources[mine], target[mine], pool[mine], 0.5, Noise([seed]))
        assert torch.equal(together[0][mine], alone[0])
        assert torch.equal(together[1][mine], alone[1])
