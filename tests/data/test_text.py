"""Lines and tokens of text, with a sentence and a place for whatever is none."""

from collections.abc import Callable
from pathlib import Path

import pytest

from recombine.data.text import MAX_LINE, MAX_TOKENS, Line, check_side, read_lines, shown
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
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"\xef\xbb\xbfa\nb\n", ["a", "b"]),
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


LATIN = "año\n".encode() + "año\n".encode("latin-1")
UTF_16 = "ab\n".encode("utf-16")


@pytest.mark.parametrize(
    ("content", "line", "message", "hint"),
    [
        (LATIN, 2, f"the byte 0xF1 at offset {LATIN.index(0xF1)} is not UTF-8", "iconv -f LATIN1"),
        ("a\né".encode()[:-1], 2, "0xC3 at offset 2", "iconv"),  # the end of the file cuts a character
        (b"ab\ncd\0e\n", 2, "binary (a NUL byte at offset 5)", "UTF-16"),
        (UTF_16, 1, f"binary (a NUL byte at offset {UTF_16.index(0)})", "UTF-16"),
        (b"a\n \n\nb\n", 2, "the line is blank", "Remove the line"),
        (b"a\rb\rc\r", 1, "a carriage return stands inside the line, at character 2", "Macintosh"),
        (b"ok\n" + b"a" * (MAX_LINE + 1) + b"\n", 2, "100,000 characters", "one example in each line"),
        (b"a" * (MAX_LINE * 20), 1, "100,000 characters", "one example"),  # is not read whole
    ],
)
def test_what_is_no_line_has_a_place_and_a_sentence(
    file: Make, content: bytes, line: int, message: str, hint: str
) -> None:
    path = file(content)
    error = error_of(path)
    assert error.place == f"{path}:{line}"
    assert message in error.message
    assert hint in error.hint


def test_the_longest_line_passes_lines_are_counted_from_1_and_quotes_are_short(file: Make) -> None:
    assert texts(file("ş".encode() * MAX_LINE + b"\r\n")) == ["ş" * MAX_LINE]
    assert texts(file("𝕊".encode() * MAX_LINE + b"\nb")) == ["𝕊" * MAX_LINE, "b"]
    assert [line.number for line in read_lines(file(b"a\r\nb\nc"))] == [1, 2, 3]
    assert shown("a\tb") == r"'a\tb'"
    assert len(shown("x" * 1000)) == 62


def test_what_cannot_be_opened(tmp_path: Path, file: Make) -> None:
    for path, message in (
        (tmp_path / "missing", "no such file"),
        (tmp_path, "this is a folder"),
        (file(b"a\n") / "below", "cannot be read"),
    ):
        error = error_of(path)
        assert message in error.message
        assert error.place == str(path)


@pytest.mark.parametrize(
    ("side", "found"),
    [
        ((), "the input is empty"),
        (("a", ""), "empty token"),
        (("a",) * (MAX_TOKENS + 1), "has 10,001 tokens, expected at most 10,000"),
        (("a", "b\0"), r"'b\x00'"),
        (("a\nb",), r"'a\nb'"),
        (("a\tb",), r"'a\tb'"),
        (("\ud83d", "\ude00"), r"'\ud83d'"),
    ],
)
def test_sides_that_cannot_stand_in_a_file(side: tuple[str, ...], found: str) -> None:
    with pytest.raises(RecombineError) as caught:
        check_side(side, "input", line=Line("", "file", 4))
    assert caught.value.place == "file:4"
    assert found in caught.value.message
