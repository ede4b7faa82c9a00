import pytest

from recombine.data import sigmorphon_format
from recombine.data.text import Line
from recombine.errors import RecombineError
from recombine.example import Example


def parse(text: str) -> Example:
    (example,) = sigmorphon_format.parse([Line(text, "file", 3)])
    return example


def test_the_generator_sees_lemma_and_tags_then_form() -> None:
    assert parse("go to\twent to\tV;PST") == Example((*"go to", "[V]", "[PST]"), tuple("went to"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("go\twent", "found 2 columns in 'go\\twent', expected 3"),
        ("go", "found 1 column "),
        ("go\twent\tV;PST\t", "found 4 columns"),
        ("\twent\tV;PST", "the lemma is empty"),
        ("go\t\tV;PST", "the form is empty"),
        ("go\twent\t", "the column of the tags is empty"),
        ("go\twent\tV;", "empty tag in 'V;'"),
    ],
)
def test_errors(text: str, found: str) -> None:
    with pytest.raises(RecombineError) as caught:
        parse(text)
    assert caught.value.place == "file:3"
    assert found in caught.value.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("go\twent\tV;PST", True),
        ("otuz birci\totuz bircimiz\tN;NOM;SG;PSS1P", True),
        ("a\tb\tV.PTCP;PST;{ACC/DAT};2;3S", True),
        ("go\twent", False),
        ("go\twent\tyes", False),
        ("go\twent\t3", False),
        ("go\twent\tV;", False),
        ("go\twent\ta word; and another", False),
        ("go\twent\tV;PST\tx", False),
    ],
)
def test_recognises(text: str, expected: bool) -> None:
    assert sigmorphon_format.recognises(text) is expected
