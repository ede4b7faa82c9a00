import pytest

from recombine.augmentation.fragments import Code, Inventory, Proposals
from recombine.augmentation.geca import GECA
from recombine.example import Example


@pytest.mark.parametrize(("size", "gaps", "length"), [(1, 2, 2_000), (1, 9, 40), (32, 2, 100)])
def test_an_example_with_too_many_choices_is_left_out_with_a_sentence(size: int, gaps: int, length: int) -> None:
    tokens = tuple(map(str, range(length)))
    walks = [Example((verb, *times), (verb, *times)) for verb in ("a", "b") for times in ((), ("c",))][:-1]
    geca = GECA(fragment_size=size, gaps=gaps, novel="pair")
    made = geca.fit([*walks, Example(tokens, tokens)]).sample(9)
    assert list(made) == list(geca.fit(walks).sample(9)) != []
    assert "the longest 1 have too many fragments" in made.shortfall


def test_if_there_are_too_many_choices_together_the_longest_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.augmentation.fragments.MAX_TOGETHER", 60)
    examples = [Example(tuple("abcdef"[:length]), ("A",)) for length in (5, 1, 3, 2, 4)]  # 28, 6, 15, 10, 21 choices
    code = Code(examples)
    sequences = [code.encode(example) for example in examples]
    assert Proposals(sequences, Inventory(sequences, fragment_size=1, gaps=2)).left_out == 1
