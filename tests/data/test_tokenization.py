import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.data.text import Line
from recombine.data.tokenization import check_kind, check_side, join, split, split_tags
from recombine.errors import RecombineError

LINE = Line("", "file", 4)


@given(st.lists(st.characters()))
def test_characters_come_back(side: list[str]) -> None:
    assert split(join(side, "characters"), "characters") == tuple(side)


@given(st.lists(st.text(st.characters(exclude_characters=" "), min_size=1)), st.integers(1, 3))
def test_words_come_back_however_many_spaces(side: list[str], spaces: int) -> None:
    assert split(join(side, "words").replace(" ", " " * spaces), "words") == tuple(side)


def test_tags() -> None:
    assert split_tags("V;V.PTCP;PST", line=LINE) == ("V", "V.PTCP", "PST")
    assert split_tags("V", line=LINE) == ("V",)


@pytest.mark.parametrize(
    ("side", "found"),
    [
        ((), "the input is empty"),
        (("a", ""), "empty token"),
        (("a", "b\0"), r"'b\x00'"),
        (("a\nb",), r"'a\nb'"),
        (("a\rb",), r"'a\rb'"),
        (("a\tb",), r"'a\tb'"),
        (("\ud83d", "\ude00"), r"'\ud83d'"),
    ],
)
def test_sides_that_cannot_stand_in_a_file(side: tuple[str, ...], found: str) -> None:
    with pytest.raises(RecombineError) as caught:
        check_side(side, "input", line=LINE)
    assert caught.value.place == "file:4"
    assert found in caught.value.message


def test_unknown_kind() -> None:
    with pytest.raises(RecombineError, match="Did you mean 'characters'"):
        check_kind("character")
