import json

import pytest

from recombine.data import jsonl
from recombine.data.text import Line
from recombine.errors import RecombineError
from recombine.example import Example, Provenance


def parse(text: str, tokens: str = "words") -> Example:
    (example,) = jsonl.parse([Line(text, "file", 7)], tokens=tokens)
    return example


def test_lists_are_tokens_and_strings_are_split() -> None:
    assert parse('{"x": ["turn left"], "y": "a  b"}') == Example(("turn left",), ("a", "b"))
    assert parse('{"x": "a b", "y": ["ab"]}', tokens="characters") == Example(("a", " ", "b"), ("ab",))


def test_provenance_is_kept_entirely() -> None:
    provenance = Provenance(
        method="recomb-2",
        prototypes=(Example(("a",), ("b",)), Example(("c",), ("d", "e"))),
        log_probability=-1.25,
        sources=("written", "own:1", "2:3"),
        details={"template": "_ ş", "count": 3, "share": 0.1},
    )
    example = Example(("a",), ("b", "c"), provenance)
    text = jsonl.render(example)
    assert "ş" in text
    assert json.loads(text)["provenance"]["prototypes"][1] == {"x": ["c"], "y": ["d", "e"]}
    back = parse(text)
    assert back == example
    assert back.provenance == provenance
    assert parse(jsonl.render(Example(("a",), ("b",)))).provenance is None


PLAIN = '"x": ["a"], "y": ["b"]'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\tb", "no JSON"),
        ('{"x": ["a"], "y": ["b"]', "no JSON"),
        ("[" * 90_000, "no JSON"),
        ("[1, 2]", "found '[1, 2]' as line; expected an object"),
        ('{"x": ["a"]}', "has no 'y'"),
        ('{"input": "a", "output": "b"}', "has no 'x'; found the keys 'input, output'"),
        ("{}", "has no 'x'; found the keys none"),
        (f'{{{PLAIN}, "z": 1, "wieght": 2}}', "unknown keys: 'z', 'wieght'"),
        ('{"x": ["a"], "x": ["b"], "y": ["c"]}', "twice"),
        ('{"x": [], "y": ["b"]}', "the x is empty"),
        ('{"x": ["a"], "y": "  "}', "the y is empty"),
        ('{"x": ["a", ""], "y": ["b"]}', "empty token"),
        ('{"x": [1], "y": ["b"]}', "found '[1]' as x"),
        ('{"x": 3, "y": ["b"]}', "found '3' as x"),
        (r'{"x": ["a\tb"], "y": ["b"]}', r"'a\tb'"),
        (r'{"x": "a\tb", "y": ["b"]}', r"'a\tb'"),
        (r'{"x": ["a"], "y": ["b\n"]}', r"'b\n'"),
        (r'{"x": ["a\u0000"], "y": ["b"]}', r"'a\x00'"),
        (r'{"x": ["\ud800"], "y": ["b"]}', "surrogate"),
        (f'{{{PLAIN}, "provenance": "geca"}}', "as provenance; expected an object"),
        (f'{{{PLAIN}, "provenance": {{}}}}', "the provenance has no 'method'"),
        (f'{{{PLAIN}, "provenance": {{"method": 1}}}}', "found '1' as method"),
        (f'{{{PLAIN}, "provenance": {{"method": "m", "score": 1}}}}', "unknown keys: 'score'"),
        (f'{{{PLAIN}, "provenance": {{"method": "m", "prototypes": 1}}}}', "found '1' as prototypes"),
        (f'{{{PLAIN}, "provenance": {{"method": "m", "prototypes": [{{"x": ["a"]}}]}}}}', "the prototype has no 'y'"),
        (f'{{{PLAIN}, "provenance": {{"method": "m", "log_probability": NaN}}}}', "NaN"),
        (f'{{{PLAIN}, "provenance": {{"method": "m", "log_probability": -1e999}}}}', "log_probability"),
        (f'{{{PLAIN}, "provenance": {{"method": "m", "log_probability": 1{"0" * 400}}}}}', "too large"),
        (f'{{{PLAIN}, "provenance": {{"method": "m", "log_probability": true}}}}', "found 'true' as log_probability"),
        (
            f'{{{PLAIN}, "provenance": {{"method": "m", "sources": ["1:1"]}}}}',
            "1 sources; expected one for each of the 2",
        ),
        (f'{{{PLAIN}, "provenance": {{"method": "m", "sources": ["own:x", "1:1"]}}}}', "'own:I'"),
        (f'{{{PLAIN}, "provenance": {{"method": "m", "details": {{"a": []}}}}}}', "as details"),
    ],
)
def test_errors_name_the_line_and_what_was_found(text: str, found: str) -> None:
    with pytest.raises(RecombineError) as caught:
        parse(text)
    assert caught.value.place == "file:7"
    assert found in caught.value.message


@pytest.mark.parametrize("text", ['{"x": 3, "y": ["b"]}', "[1, 2]", "walk"])
def test_what_is_no_example_is_answered_with_one(text: str) -> None:
    with pytest.raises(RecombineError) as caught:
        parse(text)
    assert caught.value.hint is not None
    shown = caught.value.hint[caught.value.hint.index("{") : caught.value.hint.rindex("}") + 1]
    assert parse(shown) == Example(("walk", "twice"), ("WALK", "WALK"))


def test_prototypes_nested_too_deep() -> None:
    inner = f"{{{PLAIN}}}"
    for _ in range(1000):
        inner = f'{{{PLAIN}, "provenance": {{"method": "m", "prototypes": [{inner}]}}}}'
    with pytest.raises(RecombineError, match="recursion"):
        parse(inner)


@pytest.mark.parametrize("details", [{"a": float("inf")}, {"a": object()}])
def test_provenance_that_json_cannot_hold(details: dict[str, object]) -> None:
    with pytest.raises(RecombineError, match="cannot be written as JSON"):
        jsonl.render(Example(("a",), ("b",), Provenance("m", details=details)))
