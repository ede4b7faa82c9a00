import pytest

from recombine.data import tsv
from recombine.data.text import Line
from recombine.errors import RecombineError
from recombine.example import Example


def parse(*texts: str, tokens: str = "words", columns: tuple[int, ...] | None = None) -> list[Example]:
    lines = [Line(text, "file", number) for number, text in enumerate(texts, start=1)]
    return list(tsv.parse(lines, tokens=tokens, columns=columns))


def error_of(*texts: str, columns: tuple[int, ...] | None = None) -> RecombineError:
    with pytest.raises(RecombineError) as caught:
        parse(*texts, columns=columns)
    return caught.value


def test_words_split_on_spaces_only() -> None:
    assert parse("turn  left \tI_TURN\u00a0LEFT\u2028x I") == [
        Example(("turn", "left"), ("I_TURN\u00a0LEFT\u2028x", "I"))
    ]


def test_characters_are_code_points_and_spaces_are_among_them() -> None:
    assert parse("e\u0301 i\tı", tokens="characters") == [Example(("e", "\u0301", " ", "i"), ("ı",))]


def test_columns_are_chosen_from_one() -> None:
    assert parse("a\tb\tc\td", columns=(4, 2)) == [Example(("d",), ("b",))]


def test_the_first_two_of_several_columns_can_be_chosen() -> None:
    assert parse("a\tb\tc\td", columns=(1, 2)) == [Example(("a",), ("b",))]


def test_features_join_the_input() -> None:
    assert parse("go\twent\tV;PST", columns=(1, 2, 3)) == [Example(("go", "[V]", "[PST]"), ("went",))]
    assert parse("PST\tgo\twent", columns=(2, 3, 1), tokens="characters") == [
        Example(("g", "o", "[PST]"), tuple("went"))
    ]


@pytest.mark.parametrize(
    ("texts", "columns", "place", "found"),
    [
        (("a\tb", "a b"), (1, 2), "file:2", "found 1 column in 'a b', expected 2"),
        (("a\tb\tc",), None, "file:1", "found 3 columns"),
        (("a\tb\t",), None, "file:1", "found 3 columns"),
        (("a\tb",), (1, 3), "file:1", "found 2 columns in 'a\\tb', expected 3"),
        (("a\tb\tc", "a\tb\tc\td"), (1, 3), "file:2", "found 4 columns"),
        (("a\tb\tc\td", "a\tb\tc"), (1, 3), "file:2", "expected 4"),
        (("\tb",), (1, 2), "file:1", "input (column 1) is empty"),
        (("a\t  ",), (1, 2), "file:1", "output (column 2) is empty"),
        (("a\tb\t",), (1, 2, 3), "file:1", "empty tag in ''"),
        (("a\tb\tV;;SG",), (1, 2, 3), "file:1", "empty tag in 'V;;SG'"),
    ],
)
def test_errors(texts: tuple[str, ...], columns: tuple[int, ...] | None, place: str, found: str) -> None:
    error = error_of(*texts, columns=columns)
    assert error.place == place
    assert found in error.message


def test_hints() -> None:
    stray = error_of("a\tb\tc").hint
    assert "`columns`" in stray
    assert "`format='sigmorphon'`" in stray
    assert "`format='scan'`" in error_of("IN: a OUT: b").hint
    assert "commas" in error_of("walk twice,WALK WALK").hint
    assert "semicolons" in error_of("walk twice;WALK WALK").hint
    assert "list in JSON" in error_of('[{"x": "walk, run", "y": "WALK"}]').hint


@pytest.mark.parametrize("columns", [(), (1,), (1, 1), (0, 1), (1, 2, 3, 4), (1, 2, -1)])
def test_columns_that_make_no_sense(columns: tuple[int, ...]) -> None:
    with pytest.raises(RecombineError, match="columns"):
        tsv.check_columns(columns)


@pytest.mark.parametrize("names", ["input\toutput", "Source\tTarget", "command\taction", "x\ty", "frage\tantwort"])
def test_a_header_is_known_by_its_names_or_by_being_like_no_other_line(names: str) -> None:
    lines = [names, "walk\tWALK", "walk twice\tWALK WALK", "run\tRUN"]
    assert tsv.looks_like_header(parse(*lines))
    assert not tsv.looks_like_header(parse(*lines[1:]))


@pytest.mark.parametrize("first", ["jump\tI_JUMP", "walk\tGO", "run away\tRUN"])
def test_a_word_seen_once_is_no_header(first: str) -> None:
    assert not tsv.looks_like_header(parse(first, "walk twice\tWALK WALK", "run\tRUN"))


@pytest.mark.parametrize("tokens", ["words", "characters"])
def test_where_all_lines_are_single_words_the_first_is_no_header(tokens: str) -> None:
    lines = ["meeshethaa\tme:SeTa:", "qhora\tXora", "lumee\tlume:", "na\tna"]
    assert not tsv.looks_like_header(parse(*lines, tokens=tokens))
    assert tsv.looks_like_header(parse("word\tpronunciation", *lines, tokens=tokens))


def test_names_are_known_where_characters_are_tokens() -> None:
    assert tsv.looks_like_header(parse("src\ttgt", "abc\tcba", tokens="characters"))
