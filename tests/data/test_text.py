"""Lines and tokens of text, with a sentence and a place for whatever is none."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.data.text import MAX_LINE, Line, check_kind, check_side, join, read_lines, shown, split
from recombine.errors import RecombineError

Make = Callable[[bytes], Path]


def texts(path: Path) -> list[str]:
    return [line.text for line in read_lines(path)]


def error_of(path: Path) -> RecombineError:
    with pytest.raises(RecombineError) as caught:
        texts(path)
    return caught.value


@pytest.fixture
def file(tmp_path: Path) -> Make:
    path = tmp_path / "file"

    def make(content: bytes) -> Path:
        path.write_bytes(content)
        return path

    return make


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a\nb\n", ["a", "b"]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"\xef\xbb\xbfa\nb\n", ["a", "b"]),
        (b"\xef\xbb\xbfa\r\n", ["a"]),
        (b"a\n\n\r\n  \n", ["a"]),
        (b"", []),
        (b"\xef\xbb\xbf", []),
        ("a\u2028b\x85c\x0bd\x1ce\n".encode(), ["a\u2028b\x85c\x0bd\x1ce"]),
        ("i\u0307 ı İ e\u0301 é\n".encode(), ["i\u0307 ı İ e\u0301 é"]),
        ("a\n\ufeffb\n".encode(), ["a", "\ufeffb"]),
    ],
)
def test_lines(file: Make, content: bytes, expected: list[str]) -> None:
    assert texts(file(content)) == expected


def test_numbers_count_from_one(file: Make) -> None:
    assert [line.number for line in read_lines(file(b"a\r\nb\nc"))] == [1, 2, 3]


def test_latin_1_names_line_byte_and_offset(file: Make) -> None:
    path = file("año\n".encode() + "año\n".encode("latin-1"))
    error = error_of(path)
    assert error.place == f"{path}:2"
    assert "0xF1 at offset 6" in error.message
    assert path.read_bytes()[6] == 0xF1
    assert "iconv -f LATIN1" in error.hint


def test_a_truncated_character_at_the_end_of_the_file(file: Make) -> None:
    error = error_of(file("a\né".encode()[:-1]))
    assert "0xC3 at offset 2" in error.message


@pytest.mark.parametrize("content", [b"ab\ncd\0e\n", "ab\n".encode("utf-16")])
def test_binary_has_a_sentence_of_its_own(file: Make, content: bytes) -> None:
    error = error_of(file(content))
    assert f"binary (a NUL byte at offset {content.index(0)})" in error.message
    assert error.place.endswith(f":{content[: content.index(0)].count(10) + 1}")


def test_a_blank_line_between_others(file: Make) -> None:
    error = error_of(file(b"a\n \n\nb\n"))
    assert error.place.endswith("file:2")
    assert "blank" in error.message


@pytest.mark.parametrize("content", [b"a\rb\rc\r", b"ok\na\rb\n"])
def test_a_carriage_return_inside(file: Make, content: bytes) -> None:
    error = error_of(file(content))
    assert "carriage return" in error.message
    assert "character 2" in error.message


def test_the_longest_line_passes_and_a_longer_one_does_not(file: Make) -> None:
    assert texts(file("ş".encode() * MAX_LINE + b"\r\n")) == ["ş" * MAX_LINE]
    assert texts(file("𝕊".encode() * MAX_LINE + b"\nb")) == ["𝕊" * MAX_LINE, "b"]
    error = error_of(file(b"ok\n" + b"a" * (MAX_LINE + 1) + b"\n"))
    assert error.place.endswith(":2")
    assert "100,000 characters" in error.message


def test_an_endless_line_is_not_read_whole(file: Make) -> None:
    assert "100,000 characters" in error_of(file(b"a" * (MAX_LINE * 20))).message


def test_missing_file_and_folder(tmp_path: Path) -> None:
    assert "no such file" in error_of(tmp_path / "missing").message
    error = error_of(tmp_path)
    assert "folder" in error.message
    assert error.place == str(tmp_path)


def test_a_path_through_a_file(file: Make) -> None:
    assert "cannot be read" in error_of(file(b"a\n") / "below").message


def test_quotes_are_short_and_visible() -> None:
    assert shown("a\tb") == r"'a\tb'"
    assert len(shown("x" * 1000)) == 62


@given(st.lists(st.characters()))
def test_characters_come_back(side: list[str]) -> None:
    assert split(join(side, "characters"), "characters") == tuple(side)


@given(st.lists(st.text(st.characters(exclude_characters=" "), min_size=1)), st.integers(1, 3))
def test_words_come_back_however_many_spaces(side: list[str], spaces: int) -> None:
    assert split(join(side, "words").replace(" ", " " * spaces), "words") == tuple(side)


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
        check_side(side, "input", line=Line("", "file", 4))
    assert caught.value.place == "file:4"
    assert found in caught.value.message


def test_unknown_kind() -> None:
    with pytest.raises(RecombineError, match="Did you mean 'characters'"):
        check_kind("character")
