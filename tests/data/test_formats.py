"""The formats line by line: what is read, what is refused with the line and the value, and what a header looks like."""

import json

import pytest

from recombine.data.formats import Format, Jsonl, Scan, Sigmorphon, Tsv, check_columns, looks_like_header, recognized
from recombine.data.text import Line
from recombine.errors import RecombineError
from recombine.example import Example, Provenance

WORDS, CHARACTERS = Tsv(tokens="words"), Tsv(tokens="characters")


def parse(format: Format, *texts: str) -> list[Example]:
    return list(format.parse([Line(text, "file", number) for number, text in enumerate(texts, start=1)]))


def error_of(format: Format, *texts: str) -> RecombineError:
    with pytest.raises(RecombineError) as caught:
        parse(format, *texts)
    return caught.value


def columns(*numbers: int, tokens: str = "words") -> Tsv:
    return Tsv(tokens=tokens, columns=numbers)


@pytest.mark.parametrize(
    ("format", "text", "expected"),
    [
        (WORDS, "turn  left \tI\u00a0LEFT\u2028x I", Example(("turn", "left"), ("I\u00a0LEFT\u2028x", "I"))),
        (CHARACTERS, "e\u0301 i\tı", Example(("e", "\u0301", " ", "i"), ("ı",))),
        (columns(4, 2), "a\tb\tc\td", Example(("d",), ("b",))),
        (columns(1, 2), "a\tb\tc\td", Example(("a",), ("b",))),
        (columns(1, 2, 3), "go\twent\tV;PST", Example(("go", "[V]", "[PST]"), ("went",))),
        (columns(2, 3, 1, tokens="characters"), "PST\tgo\twent", Example(("g", "o", "[PST]"), tuple("went"))),
        (Sigmorphon(), "go to\twent to\tV;PST", Example((*"go to", "[V]", "[PST]"), tuple("went to"))),
        (Scan(), "IN: jump twice OUT: I_JUMP I_JUMP", Example(("jump", "twice"), ("I_JUMP", "I_JUMP"))),
        (Jsonl(), '{"x": ["turn left"], "y": "a  b"}', Example(("turn left",), ("a", "b"))),
        (Jsonl(tokens="characters"), '{"x": "a b", "y": ["ab"]}', Example(("a", " ", "b"), ("ab",))),
    ],
)
def test_lines_are_read(format: Format, text: str, expected: Example) -> None:
    assert parse(format, text) == [expected]


PLAIN = '"x": ["a"], "y": ["b"]'


def with_provenance(text: str) -> str:
    return f'{{{PLAIN}, "provenance": {text}}}'


def with_method(text: str) -> str:
    return with_provenance(f'{{"method": "m", {text}}}')


@pytest.mark.parametrize(
    ("format", "texts", "found"),
    [
        (columns(1, 2), ("a\tb", "a b"), "found 1 column in 'a b', expected 2"),
        (WORDS, ("a\tb\tc",), "found 3 columns"),
        (WORDS, ("a\tb\t",), "found 3 columns"),
        (columns(1, 3), ("a\tb",), "found 2 columns in 'a\\tb', expected 3"),
        (columns(1, 3), ("a\tb\tc", "a\tb\tc\td"), "found 4 columns"),
        (columns(1, 3), ("a\tb\tc\td", "a\tb\tc"), "expected 4"),
        (WORDS, ("\tb",), "the input (column 1) is empty"),
        (WORDS, ("a\t  ",), "the output (column 2) is empty"),
        (columns(1, 2, 3), ("a\tb\t",), "empty tag in ''"),
        (columns(1, 2, 3), ("a\tb\tV;;SG",), "empty tag in 'V;;SG'"),
        (Sigmorphon(), ("go\twent",), "found 2 columns in 'go\\twent', expected 3"),
        (Sigmorphon(), ("go\twent\tV;PST\t",), "found 4 columns"),
        (Sigmorphon(), ("\twent\tV;PST",), "the lemma (column 1) is empty"),
        (Sigmorphon(), ("go\t\tV;PST",), "the form (column 2) is empty"),
        (Sigmorphon(), ("go\twent\t",), "empty tag in ''"),
        (Scan(), ("jump\tI_JUMP",), "expected 'IN: "),
        (Scan(), ("IN: jump",), "expected 'IN: "),
        (Scan(), ("IN: jump OUT:I_JUMP",), "expected 'IN: "),
        (Scan(), ("IN: jump OUT: I_JUMP OUT: I_JUMP",), "expected 'IN: "),
        (Scan(), ("IN: jump OUT: I_JUMP IN: walk",), "expected 'IN: "),
        (Scan(), ("IN: OUT: I_JUMP",), "input (after IN:) is empty"),
        (Scan(), ("IN: jump OUT: ",), "output (after OUT:) is empty"),
        (Scan(), ("IN: jump\ttwice OUT: I_JUMP",), r"token 'jump\ttwice'"),
        (Jsonl(), ("a\tb",), "no JSON"),
        (Jsonl(), (f"{{{PLAIN}",), "no JSON"),
        (Jsonl(), ("[" * 90_000,), "no JSON"),
        (Jsonl(), ("[1, 2]",), "found '[1, 2]' as line; expected an object"),
        (Jsonl(), ('{"x": ["a"]}',), "has no 'y'"),
        (Jsonl(), ('{"input": "a", "output": "b"}',), "has no 'x'; found the keys 'input, output'"),
        (Jsonl(), ("{}",), "has no 'x'; found the keys none"),
        (Jsonl(), (f'{{{PLAIN}, "z": 1, "wieght": 2}}',), "unknown keys: 'z', 'wieght'"),
        (Jsonl(), ('{"x": ["a"], "x": ["b"], "y": ["c"]}',), "twice"),
        (Jsonl(), ('{"x": [], "y": ["b"]}',), "the x is empty"),
        (Jsonl(), ('{"x": ["a"], "y": "  "}',), "the y is empty"),
        (Jsonl(), ('{"x": [1], "y": ["b"]}',), "found '[1]' as x"),
        (Jsonl(), ('{"x": 3, "y": ["b"]}',), "found '3' as x"),
        (Jsonl(), (r'{"x": "a\tb", "y": ["b"]}',), r"'a\tb'"),
        (Jsonl(), (r'{"x": ["\ud800"], "y": ["b"]}',), "surrogate"),
        (Jsonl(), (with_provenance('"geca"'),), "as provenance; expected an object"),
        (Jsonl(), (with_provenance("{}"),), "the provenance has no 'method'"),
        (Jsonl(), (with_provenance('{"method": 1}'),), "found '1' as method"),
        (Jsonl(), (with_method('"score": 1'),), "unknown keys: 'score'"),
        (Jsonl(), (with_method('"prototypes": 1'),), "found '1' as prototypes"),
        (Jsonl(), (with_method('"prototypes": [{"x": ["a"]}]'),), "the prototype has no 'y'"),
        (Jsonl(), (with_method('"log_probability": NaN'),), "NaN"),
        (Jsonl(), (with_method('"log_probability": -1e999'),), "log_probability"),
        (Jsonl(), (with_method(f'"log_probability": 1{"0" * 400}'),), "too large"),
        (Jsonl(), (with_method('"log_probability": true'),), "found 'true' as log_probability"),
        (Jsonl(), (with_method('"sources": ["1:1"]'),), "1 sources; expected one for each of the 2"),
        (Jsonl(), (with_method('"sources": ["own:x", "1:1"]'),), "'own:I'"),
        (Jsonl(), (with_method('"details": {"a": []}'),), "as details"),
    ],
)
def test_errors_name_the_line_and_what_was_found(format: Format, texts: tuple[str, ...], found: str) -> None:
    error = error_of(format, *texts)
    assert error.place == f"file:{len(texts)}"
    assert found in error.message


def test_hints_say_what_the_line_looks_like() -> None:
    stray = error_of(WORDS, "a\tb\tc").hint
    assert "`columns`" in stray
    assert "`format='sigmorphon'`" in stray
    assert "`format='scan'`" in error_of(WORDS, "IN: a OUT: b").hint
    assert "commas" in error_of(WORDS, "walk twice,WALK WALK").hint
    assert "semicolons" in error_of(WORDS, "walk twice;WALK WALK").hint
    assert "list in JSON" in error_of(WORDS, '[{"x": "walk, run", "y": "WALK"}]').hint
    for text in ('{"x": 3, "y": ["b"]}', "[1, 2]", "walk"):
        hint = error_of(Jsonl(), text).hint
        shown = hint[hint.index("{") : hint.rindex("}") + 1]
        assert parse(Jsonl(), shown) == [Example(("walk", "twice"), ("WALK", "WALK"))]


def test_jsonl_keeps_provenance_entirely() -> None:
    provenance = Provenance(
        method="recomb-2",
        prototypes=(Example(("a",), ("b",)), Example(("c",), ("d", "e"))),
        log_probability=-1.25,
        sources=("written", "own:1", "2:3"),
        details={"template": "_ ş", "count": 3, "share": 0.1},
    )
    text = Jsonl().render(Example(("a",), ("b", "c"), provenance))
    assert "ş" in text
    assert json.loads(text)["provenance"]["prototypes"][1] == {"x": ["c"], "y": ["d", "e"]}
    assert parse(Jsonl(), text)[0].provenance == provenance
    assert Jsonl().render(Example(("a",), ("b",))) == '{"x": ["a"], "y": ["b"]}'
    least = Jsonl().render(Example(("a",), ("b",), Provenance("m", log_probability=0.0)))
    assert json.loads(least)["provenance"] == {"method": "m", "log_probability": 0.0}


def test_prototypes_nested_too_deep() -> None:
    inner = f"{{{PLAIN}}}"
    for _ in range(1000):
        inner = with_method(f'"prototypes": [{inner}]')
    assert "recursion" in error_of(Jsonl(), inner).message


@pytest.mark.parametrize("details", [{"a": float("inf")}, {"a": object()}])
def test_provenance_that_json_cannot_hold(details: dict[str, object]) -> None:
    with pytest.raises(RecombineError, match="cannot be written as JSON"):
        Jsonl().render(Example(("a",), ("b",), Provenance("m", details=details)))


@pytest.mark.parametrize("columns", [(), (1,), (1, 1), (0, 1), (1, 2, 3, 4), (1, 2, -1), "12"])
def test_columns_that_make_no_sense(columns: tuple[int, ...]) -> None:
    with pytest.raises(RecombineError, match="columns"):
        check_columns(columns)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("go\twent\tV;PST", "sigmorphon"),
        ("otuz birci\totuz bircimiz\tN;NOM;SG;PSS1P", "sigmorphon"),
        ("a\tb\tV.PTCP;PST;{ACC/DAT};2;3S", "sigmorphon"),
        ("go\twent", "tsv"),
        ("go\twent\tyes", "tsv"),
        ("go\twent\tV;", "tsv"),
        ("go\twent\ta word; and another", "tsv"),
        ("go\twent\tV;PST\tx", "tsv"),
        ("IN: a OUT: b", "scan"),
        ('{"x": "a"}', "jsonl"),
        ('{"x"\tb', "tsv"),
    ],
)
def test_formats_are_recognized(text: str, expected: str) -> None:
    assert recognized(text) == expected


@pytest.mark.parametrize("names", ["input\toutput", "Source\tTarget", "command\taction", "x\ty", "frage\tantwort"])
def test_a_header_is_known_by_its_names_or_by_being_like_no_other_line(names: str) -> None:
    lines = [names, "walk\tWALK", "walk twice\tWALK WALK", "run\tRUN"]
    assert looks_like_header(parse(WORDS, *lines))
    assert not looks_like_header(parse(WORDS, *lines[1:]))


@pytest.mark.parametrize("first", ["jump\tI_JUMP", "walk\tGO", "run away\tRUN"])
def test_a_word_seen_once_is_no_header(first: str) -> None:
    assert not looks_like_header(parse(WORDS, first, "walk twice\tWALK WALK", "run\tRUN"))


@pytest.mark.parametrize("format", [WORDS, CHARACTERS])
def test_where_all_lines_are_single_words_the_first_is_no_header(format: Format) -> None:
    lines = ["meeshethaa\tme:SeTa:", "qhora\tXora", "lumee\tlume:", "na\tna"]
    assert not looks_like_header(parse(format, *lines))
    assert looks_like_header(parse(format, "word\tpronunciation", *lines))
