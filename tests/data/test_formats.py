"""The formats line by line: what is read, what is refused with the line and the value, and what a header looks like."""

import json
import re

import pytest

from recombine.data.formats import Format, looks_like_header
from recombine.data.text import Line
from recombine.errors import RecombineError
from recombine.example import Example, Provenance

WORDS, CHARACTERS = Format("tsv"), Format("tsv", "characters")
CSV, JSONL, SCAN, SIGMORPHON = Format("csv"), Format("jsonl"), Format("scan"), Format("sigmorphon")


SYSTEM, TURN = '{"role": "system", "content": "be brief"}', '{"role": "user", "content": "a"}'
ANSWER = '{"role": "assistant", "content": "b c", "name": "x"}'
TAGGED = Example(("a", "[V]", "[PST]"), ("b",))


def parse(format: Format, *texts: str) -> list[Example]:
    return list(format.parse([Line(text, "file", number) for number, text in enumerate(texts, start=1)]))


def error_of(format: Format, *texts: str) -> RecombineError:
    with pytest.raises(RecombineError) as caught:
        parse(format, *texts)
    return caught.value


def columns(*numbers: int, tokens: str = "words") -> Format:
    return Format("tsv", tokens, numbers)


@pytest.mark.parametrize(
    ("format", "text", "expected"),
    [
        (WORDS, "turn  left \tI\u00a0LEFT\u2028x I", Example(("turn", "left"), ("I\u00a0LEFT\u2028x", "I"))),
        (CHARACTERS, "e\u0301 i\tı", Example(("e", "\u0301", " ", "i"), ("ı",))),
        (columns(4, 2), "a\tb\tc\td", Example(("d",), ("b",))),
        (columns(1, 2), "a\tb\tc\td", Example(("a",), ("b",))),
        (columns(1, 2, 3), "go\twent\tV;PST", Example(("go", "[V]", "[PST]"), ("went",))),
        (columns(2, 3, 1, tokens="characters"), "PST\tgo\twent", Example(("g", "o", "[PST]"), tuple("went"))),
        (SIGMORPHON, "go to\twent to\tV;PST", Example((*"go to", "[V]", "[PST]"), tuple("went to"))),
        (SCAN, "IN: jump twice OUT: I_JUMP I_JUMP", Example(("jump", "twice"), ("I_JUMP", "I_JUMP"))),
        (JSONL, '{"x": ["turn left"], "y": "a  b"}', Example(("turn left",), ("a", "b"))),
        (JSONL, '{"x": "a", "y": "b", "weight": 0.5, "method": null}', Example(("a",), ("b",))),
        (JSONL, '{"output": "b", "id": 7, "input": "a"}', Example(("a",), ("b",))),
        (Format("jsonl", columns=("q", "sql", "t")), '{"q": "a", "sql": "b", "t": "V;PST"}', TAGGED),
        (Format("jsonl", columns="q,sql,t"), '{"q": "a", "sql": ["b"], "t": ["V", "PST"], "x": 1}', TAGGED),
        (JSONL, f'{{"messages": [{SYSTEM}, {TURN}, {ANSWER}]}}', Example(("a",), ("b", "c"))),
        (CSV, 'a,"b ""c"", d"', Example(("a",), ("b", '"c",', "d"))),
        (CSV, "a b;c", Example(("a", "b"), ("c",))),
        (CSV, "gel,geldi,V;PST", Example(("g", "e", "l", "[V]", "[PST]"), tuple("geldi"))),
        (Format("csv", columns=(3, 1)), "a|b|c", Example(("c",), ("a",))),
        (Format("jsonl", "characters"), '{"x": "a b", "y": ["ab"]}', Example(("a", " ", "b"), ("ab",))),
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
        (columns(1, 3), ("a\tb",), "found 2 columns in 'a\\tb', expected 3"),
        (columns(1, 3), ("a\tb\tc\td", "a\tb\tc"), "expected 4"),
        (WORDS, ("\tb",), "the input (column 1) is empty"),
        (WORDS, ("a\t  ",), "the output (column 2) is empty"),
        (columns(1, 2, 3), ("a\tb\t",), "empty tag in ''"),
        (SIGMORPHON, ("go\twent",), "found 2 columns in 'go\\twent', expected 3"),
        (SIGMORPHON, ("go\t\tV;PST",), "the form (column 2) is empty"),
        (SIGMORPHON, ("go\twent\t",), "empty tag in ''"),
        (SCAN, ("IN: jump",), "expected 'IN: "),
        (SCAN, ("IN: jump OUT: I_JUMP OUT: I_JUMP",), "expected 'IN: "),
        (SCAN, ("IN: jump OUT: I_JUMP IN: walk",), "expected 'IN: "),
        (SCAN, ("IN: jump OUT: ",), "output (after OUT:) is empty"),
        (JSONL, ("a\tb",), "no JSON"),
        (JSONL, ("[" * 90_000,), "no JSON"),
        (JSONL, ("[1, 2]",), "the line is a list; expected an object"),
        (JSONL, ('{"x": ["a"]}',), "the line lacks 'y'; found the keys 'x'"),
        (JSONL, ('{"question": "a", "sql": "b"}',), "the line lacks 'x'; found the keys 'question, sql'"),
        (Format("jsonl", columns="question,sql"), ('{"question": "a", "x": "b"}',), "the line lacks 'sql'; found"),
        (Format("jsonl", columns="a,b"), ('{"a": 3, "b": "b"}',), "a is 3; expected a string or a list"),
        (JSONL, ('{"messages": [{"role": "user", "content": "a"}]}',), "the line lacks 'y'"),
        (JSONL, ('{"messages": [{"role": "user"}]}',), "messages[0] lacks 'content'"),
        (JSONL, (f'{{"messages": [{TURN}, {TURN}]}}',), "found messages of 'user, user'; expected one of the user"),
        (Format("tsv", columns="a,b"), ("a\tc",), "found no column named 'b'; the first line has 'a, c'"),
        (Format("tsv", columns="a,b"), ("a\tb\tb",), "found two columns named 'b'"),
        (CSV, ('a,"b',), "no line of CSV"),
        (CSV, ("a,b", '"a" b,c'), "no line of CSV"),
        (CSV, ("id,question,sql", "1,a,b"), "found 3 columns"),
        (JSONL, (f'{{{PLAIN}, "z": 1, "wieght": 2}}',), "unknown key of the line 'z'"),
        (JSONL, ('{"x": ["a"], "x": ["b"], "y": ["c"]}',), "twice"),
        (JSONL, ('{"x": ["a"], "y": "  "}',), "the y is empty"),
        (JSONL, ('{"x": [1], "y": ["b"]}',), "x[0] is 1; expected a string"),
        (JSONL, ('{"x": 3, "y": ["b"]}',), "x is 3; expected a string or a list"),
        (JSONL, (with_method('"prototypes": [{"x": ["a"]}]'),), "provenance.prototypes[0] lacks 'y'; found"),
        (JSONL, (with_method('"log_probability": NaN'),), "found nan as log_probability"),
        (JSONL, (with_method('"log_probability": -1e999'),), "found -inf as log_probability"),
        (JSONL, (with_method(f'"log_probability": 1{"0" * 400}'),), "; expected a number"),
        (JSONL, (with_method('"sources": ["1:1"]'),), "1 sources; expected one for each of the 2"),
        (JSONL, (with_method('"sources": ["own:x", "1:1"]'),), "found 'own:x' among the sources; expected"),
        (JSONL, (with_method('"details": {"a": []}'),), "provenance.details.a is a list; expected"),
    ],
)
def test_errors_name_the_line_and_what_was_found(format: Format, texts: tuple[str, ...], found: str) -> None:
    error = error_of(format, *texts)
    assert error.place == f"file:{1 if texts[0].startswith('id') else len(texts)}"
    assert found in error.message


def test_hints_say_what_the_line_looks_like() -> None:
    stray = error_of(WORDS, "a\tb\tc").hint
    assert "`columns`" in stray
    assert "`format='sigmorphon'`" in stray
    assert "`format='scan'`" in error_of(WORDS, "IN: a OUT: b").hint
    assert "`format=csv`, or the file a name that ends in .csv" in error_of(WORDS, "walk twice,WALK WALK").hint
    assert "semicolons" in error_of(WORDS, "walk twice;WALK WALK").hint
    for format, names in ((WORDS, "question\tsql\tid"), (CSV, "question,sql,id"), (JSONL, '{"question": 1, "sql": 2}')):
        assert "`columns='question,sql'`" in error_of(format, names).hint
    assert "list in JSON" in error_of(WORDS, '[{"x": "walk, run", "y": "WALK"}]').hint
    for text in ('{"x": 3, "y": ["b"]}', "[1, 2]", "walk"):
        hint = error_of(JSONL, text).hint
        shown = hint[hint.index("{") : hint.rindex("}") + 1]
        assert parse(JSONL, shown) == [Example(("walk", "twice"), ("WALK", "WALK"))]


def test_json_has_texts_beside_the_tokens_and_they_must_agree() -> None:
    call = Example(("set", "it"), ("set", "(", "it", ",", "␣", "2", ")"))
    form = Example(("g", "e", "l", "[V]", "[PST]"), ("g", "e", "l", "d", "i"))
    for example, tokens, texts in (
        (call, "code", {"input": "set it", "output": "set(it, 2)"}),
        (call, "words", {"input": "set it", "output": "set ( it , ␣ 2 )"}),
        (form, "words", {"input": "gel [V] [PST]", "output": "geldi"}),
        (Example(form.x, form.x), "characters", {"output": "gel [V] [PST]"}),
    ):
        line = Format("jsonl", tokens).render(example)
        assert texts.items() <= json.loads(line).items()
        assert parse(JSONL, line) == [example]
    said = error_of(JSONL, '{"input": "walk twice", "x": ["walk"], "y": ["W"]}')
    assert said.message == "the input is 'walk twice', but its tokens are 'walk'."
    assert error_of(JSONL, '{"input": "walk  twice", "x": "walk twice", "y": "W"}')
    for line in (
        '{"input": "walk twice", "output": "W W"}',
        '{"input": "walk  twice", "x": "walk  twice", "y": "W W"}',
    ):
        assert parse(JSONL, line) == [Example(("walk", "twice"), ("W", "W"))]


def test_provenance_that_json_cannot_hold_and_columns_that_make_no_sense() -> None:
    for details in ({"a": float("inf")}, {"a": object()}):
        with pytest.raises(RecombineError, match="cannot be written as JSON"):
            JSONL.render(Example(("a",), ("b",), Provenance("m", details=details)))
    inner = f"{{{PLAIN}}}"
    for _ in range(1000):
        inner = with_method(f'"prototypes": [{inner}]')
    assert "recursion" in error_of(JSONL, inner).message
    for columns in ((), (1,), (1, 1), (0, 1), (1, 2, 3, 4), (1, 2, -1), "12"):
        with pytest.raises(RecombineError, match="columns"):
            Format("auto", columns=columns)


@pytest.mark.parametrize(
    ("format", "names"),
    [
        (Format("tsv", columns="Question, sql"), "sql\tid\tquestion "),
        (Format("csv", columns=("question", "sql")), '"sql",id,question'),
        (Format("csv", columns="question,sql"), "sql;id;question"),
        (Format("csv", columns="question,sql"), "sql|id|question"),
    ],
)
def test_named_columns_are_found_in_the_first_line(format: Format, names: str) -> None:
    texts = (names, *(re.sub("[\t,;|]", names[-9 - names.endswith(" ")], text) for text in ("B\t1\ta", "B b\t2\ta b")))
    assert parse(format, *texts) == [Example(("a",), ("B",)), Example(("a", "b"), ("B", "b"))]


def test_first_lines_that_are_written_are_headers_in_csv_and_not_among_examples_in_tsv() -> None:
    assert parse(CSV, "input,output", "a,b") == parse(WORDS, "a\tb")
    assert len(parse(WORDS, "input\toutput", "a\tb")) == 2
    assert parse(Format("auto"), "lemma\tform\ttags", "a\tb\tV") == parse(SIGMORPHON, "a\tb\tV")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("go\twent\tV;PST", "sigmorphon"),
        ("a\tb\tV.PTCP;PST;{ACC/DAT};2;3S", "sigmorphon"),
        ("go\twent", "tsv"),
        ("go\twent\tyes", "tsv"),
        ("go\twent\tV;", "tsv"),
        ("go\twent\ta word; and another", "tsv"),
        ("IN: a OUT: b", "scan"),
        ('{"x": "a"}', "jsonl"),
        ('{"x"\tb', "tsv"),
    ],
)
def test_formats_are_recognized(text: str, expected: str) -> None:
    assert Format("auto").recognized(Line(text, "file", 1)).name == expected


OTHERS = ("walk\tWALK", "walk twice\tWALK WALK", "run\tRUN")
SINGLE = ("meeshethaa\tme:SeTa:", "qhora\tXora", "lumee\tlume:", "na\tna")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        *(((names, *OTHERS), True) for names in ("input\toutput", "Source\tTarget", "command\taction", "x\ty")),
        (("frage\tantwort", *OTHERS), True),  # like no other line
        (OTHERS, False),
        *(((first, *OTHERS[1:]), False) for first in ("jump\tI_JUMP", "walk\tGO", "run away\tRUN")),  # words seen once
        (SINGLE, False),  # all lines are single words
        (("word\tpronunciation", *SINGLE), True),
    ],
)
def test_a_header_is_known_by_its_names_or_by_being_like_no_other_line(lines: tuple[str, ...], expected: bool) -> None:
    assert looks_like_header(parse(WORDS, *lines)) is expected
    if "na\tna" in lines:
        assert looks_like_header(parse(CHARACTERS, *lines)) is expected


def test_an_estimate_is_beside_the_texts_too_and_read_again() -> None:
    for right, shown in ((0.97, {"right": 0.97}), (1, {"right": 1}), ("no", {})):
        sample = Example(("a",), ("b",), Provenance("own", details={"right": right}))
        line = JSONL.render(sample)
        assert {key: value for key, value in json.loads(line).items() if key == "right"} == shown
        (back,) = JSONL.parse([Line(line, "file", 1)])
        assert back.provenance == sample.provenance
    assert "right" not in json.loads(JSONL.render(Example(("a",), ("b",))))
    with pytest.raises(RecombineError, match="right"):
        list(JSONL.parse([Line('{"x": "a", "y": "b", "right": "yes"}', "file", 1)]))
