import pytest

from recombine.data import scan_format
from recombine.data.text import Line
from recombine.errors import RecombineError
from recombine.example import Example


def parse(text: str) -> Example:
    (example,) = scan_format.parse([Line(text, "file", 3)])
    return example


def test_a_published_line() -> None:
    example = Example(("jump", "twice"), ("I_JUMP", "I_JUMP"))
    assert parse("IN: jump twice OUT: I_JUMP I_JUMP") == example
    assert scan_format.render(example) == "IN: jump twice OUT: I_JUMP I_JUMP"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("jump\tI_JUMP", "expected 'IN: "),
        ("IN: jump", "expected 'IN: "),
        ("IN: jump OUT:I_JUMP", "expected 'IN: "),
        ("IN: jump OUT: I_JUMP OUT: I_JUMP", "expected 'IN: "),
        ("IN: jump OUT: I_JUMP IN: walk", "expected 'IN: "),
        ("IN: OUT: I_JUMP", "input (after IN:) is empty"),
        ("IN: jump OUT: ", "output (after OUT:) is empty"),
        ("IN: jump\ttwice OUT: I_JUMP", r"token 'jump\ttwice'"),
    ],
)
def test_errors(text: str, found: str) -> None:
    with pytest.raises(RecombineError) as caught:
        parse(text)
    assert caught.value.place == "file:3"
    assert found in caught.value.message
