import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.augmentation.fragments import GAPS, Code, Inventory, Proposals, fill, take_out
from recombine.augmentation.geca import GECA
from recombine.example import Example

TOKENS = st.lists(st.sampled_from(["a", "b", "_1", "▷", "\t", "\0", "\1", "##"]), min_size=1, max_size=6).map(tuple)


@given(st.builds(Example, TOKENS, TOKENS))
def test_code_gives_back_what_it_was_given_and_takes_no_token_for_a_gap_or_the_border(example: Example) -> None:
    code = Code([example])
    sequence = code.encode(example)
    assert code.decode(sequence) == example
    assert not set(sequence) & set(GAPS)
    assert len(sequence) == len(example.x) + 1 + len(example.y)


@given(st.builds(Example, TOKENS, TOKENS), st.integers(1, 3), st.integers(1, 3))
def test_filling_a_template_gives_the_sequence_back(example: Example, size: int, gaps: int) -> None:
    sequence = Code([example]).encode(example)
    inventory = Inventory([sequence], fragment_size=size, gaps=gaps)
    for fragments, template in inventory.gappings(sequence):
        assert fill(template, fragments) == sequence
        assert take_out(sequence, fragments) == template


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
