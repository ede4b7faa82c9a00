import torch
from hypothesis import given
from hypothesis import strategies as st

from recombine.data.vocabulary import SEP, UNK, Vocabulary
from recombine.example import Example
from recombine.models.noise import Noise
from recombine.training.corpus import encoded
from recombine.training.renaming import Twins, called

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


def test_where_there_are_no_twins_nothing_is_renamed() -> None:
    table, twins = in_table([Example(("a", "b"), ("c",)), Example(("a", "b"), ("d",))], names=4)
    sources, target = table.expand(1, 1, -1, -1), table[None, :1]
    renamed = twins.disguised(sources, target, Noise([0]))
    assert len(twins.pairs) == 0
    assert torch.equal(renamed[0], sources)
    assert torch.equal(renamed[1], target)


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
