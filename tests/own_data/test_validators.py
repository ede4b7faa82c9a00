from dataclasses import replace

from kinds_of_data import dataset

from recombine.example import Example
from recombine.own_data.validators import all_of, well_formed

A, B = Example(("a",), ("A",)), Example(("b",), ("B",))


def test_the_first_reason_counts() -> None:
    no_a, no_b = (lambda sample, x=x: f"has {x}" if x in sample.x else None for x in "ab")
    never = all_of(no_a, None, no_b, lambda _: "whatever it is")
    assert never is not None
    assert [never(sample) for sample in (A, B, Example(("c",), ("C",)))] == ["has a", "has b", "whatever it is"]
    lenient = all_of(no_a, None)
    assert lenient is not None
    assert lenient(B) is None


def test_none_of_none_is_none() -> None:
    assert all_of() is None
    assert all_of(None, None) is None


def test_samples_of_word_forms_are_word_forms() -> None:
    check = well_formed(dataset("morphology"))
    assert check is not None
    word = dataset("morphology")[0]
    assert check(word) is None
    assert check(replace(word, x=word.y)) == "no word form"
    assert well_formed([A, B]) is None
