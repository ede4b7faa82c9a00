"""A toy language, of which it is known what calls for what, and what is used alike."""

from itertools import permutations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.augmentation.alignment import COMMON, DICE, OFTEN_WITH, Alignment, _bounds
from recombine.example import Example

VERBS = {"sees": "SEE", "hears": "HEAR", "calls": "CALL"}
NAMES = ("Ann", "Bob", "Eve", "Tom", "Zoë")
CALLED_FOR = {**VERBS, **{name: name.lower() for name in NAMES}}


def example(*x: str) -> Example:
    """The output has the verb first."""
    one, verb, other = (CALLED_FOR[word] for word in x)
    return Example(("now", *x), (verb, "(", one, other, ")"))


SPEECH = [example(one, verb, other) for verb, (one, other) in product(VERBS, permutations(NAMES, 2))]


def test_words_call_for_what_occurs_with_them_and_words_that_are_everywhere_for_nothing() -> None:
    assert Alignment(SPEECH).meanings == CALLED_FOR


def test_a_word_calls_for_nothing_that_is_there_as_often_without_it() -> None:
    often = [("kindly",) * (number % 5 < 3) for number in range(len(SPEECH))]
    asked = [("loud",) * (number % 7 < 4) for number in range(len(SPEECH))]
    known = [Example((*k, *each.x), (*each.y, *a)) for k, each, a in zip(often, SPEECH, asked, strict=True)]
    assert Alignment(known).meanings == CALLED_FOR


def test_words_that_are_used_alike_are_a_class() -> None:
    classes = Alignment(SPEECH).classes
    assert classes.keys() == CALLED_FOR.keys()
    assert len({classes[verb] for verb in VERBS}) == len({classes[name] for name in NAMES}) == 1
    assert classes["sees"] != classes["Ann"]


def test_a_word_that_is_seen_once_is_of_the_class_of_its_neighbors() -> None:
    known = [*SPEECH, Example(("now", "Ann", "greets", "Bob"), ("GREET", "(", "ann", "bob", ")"))]
    found = Alignment(known)
    assert found.meanings["greets"] == "GREET"
    assert found.classes["greets"] == found.classes["sees"]


def test_each_token_and_each_word_has_one_partner_at_most() -> None:
    pairs = Alignment(SPEECH).pairs(("now", "Ann", "sees", "Bob", "Bob"), ("SEE", "(", "ann", "bob", "bob", "eve", ")"))
    assert pairs == {"SEE": "sees", "ann": "Ann", "bob": "Bob"}


def test_letters_tell_names_apart_that_are_new_together() -> None:
    known = [*SPEECH, Example(("now", "Kim", "sees", "Lee"), ("SEE", "(", "kim", "lee", ")"))]
    meanings = Alignment(known).meanings
    assert (meanings["Kim"], meanings["Lee"]) == ("kim", "lee")
    strange = [*SPEECH, Example(("now", "Kim", "sees", "Lee"), ("SEE", "(", "k", "l", ")"))]
    assert not Alignment(strange).meanings.keys() & {"Kim", "Lee"}


def test_no_word_calls_for_what_is_ignored_and_of_no_examples_nothing_is_known() -> None:
    assert Alignment(SPEECH, frozenset(("ann", "SEE"))).meanings.keys() == CALLED_FOR.keys() - {"Ann", "sees"}
    assert Alignment([]).meanings == Alignment([]).classes == {}


def test_every_occurrence_of_a_word_may_have_called_for_its_token() -> None:
    known = Alignment(SPEECH)
    assert known.places(("now", "Ann", "sees", "Ann"), ("SEE", "(", "ann", "bob", ")")) == [(2,), (), (1, 3), (), ()]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(*(st.lists(st.sampled_from("abcde"), min_size=1, max_size=4) for _ in "xy")), max_size=20))
def test_what_is_not_counted_together_could_not_be_called_for(pairs: list[tuple[list[str], list[str]]]) -> None:
    examples = list(dict.fromkeys(Example(tuple(x), tuple(token.upper() for token in y)) for x, y in pairs))
    for often in range(1, len(examples) + 1):
        least, most = _bounds(often, len(examples))
        words = [word for word in "abcde" if sum(word in example.x for example in examples) == often]
        for word, token in product(words, "ABCDE"):
            count = sum(token in example.y for example in examples)
            together = sum(word in example.x and token in example.y for example in examples)
            elsewhere = (count - together) / (len(examples) - often) if often < len(examples) else 1.0
            sure = 2 * together / (often + count) >= DICE or (
                (together / often - elsewhere) * (1 - 1 / (1 + often)) >= OFTEN_WITH
            )
            assert least <= count <= most or not (sure and together and elsewhere <= COMMON)
