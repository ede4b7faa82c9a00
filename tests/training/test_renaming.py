import math
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from recombine.data.vocabulary import EOS, PAD, SEP, UNK, Vocabulary
from recombine.example import Example
from recombine.models.noise import Noise
from recombine.training.corpus import encoded
from recombine.training.renaming import Twins, called, disguised, unknown

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


FIRST = SEP + 1
SEEN = torch.randint(FIRST, FIRST + 8, (2, 50, 1, 6), generator=torch.Generator().manual_seed(0))
AIM = torch.randint(SEP, FIRST + 12, (2, 50, 9), generator=torch.Generator().manual_seed(1))


def test_a_token_is_unknown_wherever_it_stands_and_nothing_else_is() -> None:
    sources, target = unknown(SEEN, AIM, FIRST + 12, 0.3, Noise((1, 2), longest=16), copied=True)
    share = (sources == UNK).float().mean()
    assert 0.2 < share < 0.4
    assert torch.equal(sources[sources != UNK], SEEN[sources != UNK])
    for replica in range(2):
        for row in range(50):
            gone = {*SEEN[replica, row][sources[replica, row] == UNK].tolist()}
            left = {*sources[replica, row].flatten().tolist()}
            assert not gone & left
            expected = [UNK if token in gone else token for token in AIM[replica, row].tolist()]
            assert target[replica, row].tolist() == expected


def test_what_cannot_be_copied_is_still_to_be_written_and_at_rate_zero_all_is_known() -> None:
    assert unknown(SEEN, AIM, FIRST + 12, 0.3, Noise((1, 2), longest=16), copied=False)[1] is AIM
    sources, target = unknown(SEEN, AIM, FIRST + 12, 0.0, Noise((1, 2), longest=16), copied=True)
    assert torch.equal(sources, SEEN)
    assert torch.equal(target, AIM)


EXAMPLES = [
    Example(("walk", "left"), ("L", "W")),
    Example(("walk", "right", "twice"), ("R", "W", "R", "W")),
    Example(("look", "left", "twice"), ("L", "K", "L", "K")),
    Example(("look", "right"), ("R", "K")),
]
VOCABULARY = Vocabulary.of(EXAMPLES)
TABLE = encoded([example.d for example in EXAMPLES], VOCABULARY, torch.device("cpu"))

SIDE = st.lists(st.sampled_from("abcd"), min_size=1, max_size=4).map(tuple)
PAIRS = st.lists(st.builds(Example, SIDE, SIDE), min_size=1, max_size=5)


def found(names: int = 4) -> Twins:
    return Twins.of(TABLE, len(VOCABULARY), names)


def twins_of(examples: list[Example]) -> set[tuple[str, ...]]:
    vocabulary = Vocabulary.of(examples)
    return {vocabulary.decode(pair.tolist()) for pair in in_table(examples, names=2)[1].pairs}


def in_table(examples: list[Example], *, names: int) -> tuple[torch.Tensor, Twins]:
    vocabulary = Vocabulary.of(examples)
    table = encoded([example.d for example in examples], vocabulary, torch.device("cpu"))
    return table, Twins.of(table, len(vocabulary), names)


@given(PAIRS)
def test_twins_are_held_by_the_same_examples_and_have_no_rivals(examples: list[Example]) -> None:
    """Tokens here may stand on both sides: a word is judged by the inputs that hold it, an action by the outputs."""
    holders = [
        {token: frozenset(i for i, side in enumerate(sides) if token in side) for side in sides for token in side}
        for sides in ([example.x for example in examples], [example.y for example in examples])
    ]
    expected = {
        (word, action)
        for word, by in holders[0].items()
        for action, also in holders[1].items()
        if by == also and [list(held.values()).count(by) for held in holders] == [1, 1]
    }
    assert twins_of(examples) == expected


def drawn(twins: Twins, seeds: tuple[int, ...] = (0, 1)) -> tuple[torch.Tensor, torch.Tensor]:
    sources = torch.stack([TABLE[[0, 1]], TABLE[[2, 3]], TABLE[[0, 2]]]).expand(len(seeds), -1, -1, -1)
    return sources, twins.draw(sources, Noise(seeds))


def test_names_are_drawn_in_pairs_one_for_each_pair_of_twins() -> None:
    twins = found()
    _, names = drawn(twins)
    for tuple_names in names.flatten(0, 1):
        renamed = [(int(tuple_names[x]), int(tuple_names[y])) for x, y in twins.pairs.tolist()]
        used = [pair for pair in renamed if pair[0] >= len(VOCABULARY)]
        assert len({first for first, _ in used}) == len(used) >= 3  # each tuple holds three pairs or four
        assert all(second == first + 1 and (first - len(VOCABULARY)) % 2 == 0 for first, second in used)
    twice = VOCABULARY.encode(("twice",))[0]
    assert (names[..., twice] == twice).all()
    assert (names[..., SEP] == SEP).all()


def test_prototypes_and_target_go_by_the_same_names() -> None:
    """What the target shares with its prototypes, token by token, it still shares."""
    twins = found(names=8)
    sources = torch.stack([TABLE[[0, 1]], TABLE[[2, 3]]]).expand(2, -1, -1, -1)
    target = torch.stack([TABLE[1], TABLE[2]]).expand(2, -1, -1)
    hidden, aim = twins.disguised(sources, target, Noise([0, 1]))

    def shared(prototypes: torch.Tensor, rebuilt: torch.Tensor) -> torch.Tensor:
        return prototypes.flatten(2).unsqueeze(-1) == rebuilt.unsqueeze(-2)

    assert torch.equal(shared(hidden, aim), shared(sources, target))
    assert not torch.isin(aim, twins.pairs).any()  # no twin is called by its own name


@given(PAIRS, st.integers(1, 4))
def test_naming_back_gives_what_there_was_even_where_words_are_actions(examples: list[Example], names: int) -> None:
    table, twins = in_table(examples, names=names)
    sources = table.expand(1, 1, -1, -1)
    drawn_names = twins.draw(sources, Noise([0]))
    assert torch.equal(called(twins.undone(drawn_names), called(drawn_names, sources)), sources)


def test_a_name_that_stands_for_nothing_is_unknown() -> None:
    twins = found(names=6)
    _, names = drawn(twins)
    back = twins.undone(names)
    spare = torch.ones_like(names, dtype=torch.bool).scatter(-1, names[..., : len(VOCABULARY)], False)
    spare[..., : len(VOCABULARY)] = False
    assert spare.any()
    assert (back[spare] == UNK).all()


def test_every_tuple_has_names_of_its_own_and_a_seed_fixes_them() -> None:
    twins = found(names=8)
    _, names = drawn(twins, (0, 1, 0))
    assert torch.equal(names[0], names[2])
    assert not torch.equal(names[0], names[1])


def test_fixed_names_rename_every_pair() -> None:
    twins = found()
    names = twins.fixed()
    assert sorted(names[twins.pairs.flatten()].tolist()) == list(range(len(VOCABULARY), len(VOCABULARY) + 8))
