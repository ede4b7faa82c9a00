import torch

from recombine.data.vocabulary import SEP, UNK, Vocabulary
from recombine.example import Example
from recombine.models.noise import Noise
from recombine.training.corpus import encoded
from recombine.training.twins import Twins, called

EXAMPLES = [
    Example(("walk", "left"), ("L", "W")),
    Example(("walk", "right", "twice"), ("R", "W", "R", "W")),
    Example(("look", "left", "twice"), ("L", "K", "L", "K")),
    Example(("look", "right"), ("R", "K")),
]
VOCABULARY = Vocabulary.of(EXAMPLES)
TABLE = encoded([example.d for example in EXAMPLES], VOCABULARY, torch.device("cpu"))


def found(names: int = 4) -> Twins:
    return Twins.of(TABLE, len(VOCABULARY), names)


def test_finds_words_and_their_actions_and_nothing_else() -> None:
    pairs = {VOCABULARY.decode(pair.tolist()) for pair in found().pairs}
    assert pairs == {("walk", "W"), ("look", "K"), ("left", "L"), ("right", "R")}


def test_two_words_in_the_same_examples_are_no_twins_of_one_action() -> None:
    examples = [Example(("turn", "around"), ("T",)), Example(("walk",), ("W",))]
    vocabulary = Vocabulary.of(examples)
    table = encoded([example.d for example in examples], vocabulary, torch.device("cpu"))
    pairs = [vocabulary.decode(pair.tolist()) for pair in Twins.of(table, len(vocabulary), 2).pairs]
    assert pairs == [("walk", "W")]


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


def test_naming_back_gives_what_there_was() -> None:
    for twins in (found(), found(names=2)):  # with two pairs of names, some twins keep their own
        sources, names = drawn(twins)
        hidden = called(names, sources)
        assert (hidden != sources).any()
        assert torch.equal(called(twins.undone(names), hidden), sources)


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
