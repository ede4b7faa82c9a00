import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.augmentation.fragments import GAPS, Code, Fragments, Inventory, fill, take_out
from recombine.errors import RecombineError
from recombine.example import Example, Tokens

TOKENS = st.lists(st.sampled_from(["a", "b", "_1", "▷", "\t", "\0", "\1", "##"]), min_size=1, max_size=6).map(tuple)


def sequences_of(*pairs: tuple[str, str]) -> tuple[Code, list[str]]:
    examples = [Example(tuple(x.split()), tuple(y.split())) for x, y in pairs]
    code = Code(examples)
    return code, [code.encode(example) for example in examples]


def shown(code: Code, gappings: list[tuple[Fragments, str]]) -> set[tuple[Tokens, str]]:
    return {(tuple(map(code.show, fragments)), code.show(template)) for fragments, template in gappings}


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


def test_a_fragment_leaves_both_sides_at_once() -> None:
    code, [sequence] = sequences_of(("a b", "b a"))
    inventory = Inventory([sequence], fragment_size=1, gaps=1)
    assert shown(code, inventory.gappings(sequence)) == {(("a",), "_1 b ▷ b _1"), (("b",), "a _1 ▷ _1 a")}


def test_fragments_of_one_side_are_left_out_where_sides_have_no_token_in_common() -> None:
    code, [sequence] = sequences_of(("a b", "X"))
    inventory = Inventory([sequence], fragment_size=1, gaps=2)
    assert shown(code, inventory.gappings(sequence)) == {(("a", "X"), "_1 b ▷ _2"), (("b", "X"), "a _1 ▷ _2")}


def test_fragments_taken_together_share_no_token_and_keep_their_order() -> None:
    code, [sequence] = sequences_of(("a b a", "a"))
    inventory = Inventory([sequence], fragment_size=2, gaps=2)
    taken = {fragments for fragments, _ in shown(code, inventory.gappings(sequence)) if len(fragments) == 2}
    assert taken == {("a", "b"), ("b", "a")}  # an a starts after the b, and the other way round; "a b" excludes both


@pytest.mark.parametrize(("size", "gaps", "length"), [(1, 2, 2_000), (1, 9, 40), (32, 2, 100)])
def test_an_example_with_too_many_choices_gets_a_sentence_and_no_memory(size: int, gaps: int, length: int) -> None:
    tokens = tuple(map(str, range(length)))
    sequence = Code([Example(tokens, tokens)]).encode(Example(tokens, tokens))
    inventory = Inventory([sequence], fragment_size=size, gaps=gaps)
    with pytest.raises(RecombineError, match=f"an example of {2 * length:,} tokens has more than"):
        inventory.gappings(sequence)
