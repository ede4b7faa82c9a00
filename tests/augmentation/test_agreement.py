"""Tokens of inputs and outputs that go together, and forms that show their rare tags."""

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import pairs, word, words

from recombine.augmentation.agreement import (
    APART,
    UNCALLED,
    UNEVEN,
    UNSHOWN,
    Agreement,
    Calls,
    Doubtful,
    Exponents,
    change,
    pieces,
)
from recombine.augmentation.resample import Resampler
from recombine.data import scan
from recombine.example import Example
from recombine.inflection import Inflection, is_tag
from recombine.own_data.augmenters import sample_filter

SUMS = pairs("two plus two ▷ + 2 2", "two plus one ▷ + 2 1", "one minus one ▷ - 1 1", "nine ▷ 9")


def test_what_comes_equally_often_in_all_data_must_in_samples() -> None:
    agreement = Agreement.of(SUMS)
    said = [agreement(each) for each in pairs("nine plus nine ▷ + 9 9", "nine plus nine ▷ + 9 9 9", "nine ▷ 9 9")]
    assert said == [None, UNEVEN, UNEVEN]
    once = pairs("two plus one ▷ + 2 1", "one ▷ 1", "nine ▷ 9")  # nothing tells how it would be with two of them
    assert Agreement.of(once)(pairs("nine nine ▷ 9")[0]) is None
    assert not Agreement.of([*SUMS, *pairs("one twice ▷ 1 1")]).even


SIDES = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(tuple)
EXAMPLES = st.lists(st.builds(Example, SIDES, SIDES), min_size=1, max_size=6)


@given(EXAMPLES, st.builds(Example, SIDES, SIDES))
def test_agreement_is_that_of_sets_of_examples(examples: Sequence[Example], sample: Example) -> None:
    """Beside the definition, with sets of examples written out."""

    def holders(token: str, side: str) -> frozenset[Example]:
        return frozenset(each for each in examples if token in getattr(each, side))

    sets = {holders(token, "x") for token in "abc"} & {holders(token, "y") for token in "abc"} - {frozenset()}
    expected = all(
        any(holders(token, "x") == each for token in sample.x) == any(holders(token, "y") == each for token in sample.y)
        for each in sets
    )
    agreement = Agreement.of(examples)
    assert (agreement(sample) != APART) == expected
    assert all(agreement(example) is None for example in examples)


def test_a_word_calls_for_what_all_its_outputs_have_and_no_word_beside_it_calls_for() -> None:
    numbers = {"three": "3", "four": "4", "six": "6", "seven": "7", "nine": "9"}
    tens = {f"{word}ty": digit for word, digit in numbers.items()}
    said = [f"{ten} {one} ▷ {tens[ten]} {numbers[one]}" for ten in tens for one in numbers]
    calls = Calls.of(pairs(*said, *(f"{each} again" for each in said), *(f"minus {each}" for each in said)))
    assert calls.called_for == {word: {digit} for word, digit in {**numbers, **tens}.items()}
    assert calls(pairs("fourty seven ▷ 4 4")[0]) == UNCALLED
    assert calls(pairs("fourty three again ▷ 4 3")[0]) is None
    around = [f"{word} around left ▷ LEFT {word.upper()} {count}" for word in "abcdefgh" for count in "12"]
    others = [f"{word} left ▷ LEFT {word.upper()}" for word in "abcdefgh"]
    rest = [f"{word} {count} ▷ {word.upper()} {count}" for word in "abcdefgh" for count in "12345"]
    assert Calls.of(pairs(*around, *others, *rest)).called_for.get("around") is None  # "left" calls for LEFT
    # Of 40 examples, 3 have "squared": a 2, which is in them only, is no chance; a 1, which 20 have, may be.
    letters = [f"{chr(97 + number)} ▷ {chr(65 + number)} {number % 2}" for number in range(20)]
    twice = [f"{word} again ▷ {word.upper()} {number % 2}" for number, word in enumerate("abcdefghijklmnopq")]
    squared = [f"{word} squared ▷ 2 {word.upper()} 1" for word in "rst"]
    assert Calls.of(pairs(*letters, *twice, *squared)).called_for.get("squared") == {"2"}
    assert not Calls.of(pairs(*letters, *twice, *squared[1:])).called_for.get("squared")


def test_examples_that_contradict_others_or_may_have_typing_errors_are_doubtful() -> None:
    counts, nouns = (
        {"1": "one", "2": "two", "3": "three", "4": "four"},
        {"tab": "tablet", "cap": "capsule", "gtt": "drop"},
    )
    times = {"am": "morning", "pm": "evening", "hs": "night"}
    sound = [
        f"{count} {noun} {time} ▷ {counts[count]} {nouns[noun]} {times[time]}"
        for count, noun, time in product(counts, nouns, times)
    ]
    sound += ["1 tap am ▷ one TAP morning", "pms 2 tab ▷ evenings two tablet"]  # words of their own
    sound += ["2 tabs am ▷ two tablet morning"]  # a form of its own
    contradictory = pairs("4 cap ▷ four capsule", "4 cap ▷ four capsule daily")
    in_input, in_output = pairs("pm 1 tba ▷ one tablet evening", "am 2 cap ▷ two capsule mornign")
    doubtful = Doubtful.of([*pairs(*sound), *contradictory, in_input, in_output])
    assert doubtful.contradictory == {*contradictory}
    assert doubtful.misspelled == {in_input: {"tba": "tab"}, in_output: {"mornign": "morning"}}
    assert doubtful.examples == {*contradictory, in_input, in_output}
    assert doubtful.typing_errors == "tba (tab), mornign (morning)"


def test_of_words_one_letter_apart_the_most_frequent_was_meant() -> None:
    sound = [
        f"{place} the {noun} ▷ {noun[0]} {place}"
        for noun, count in (("horse", 12), ("house", 30))
        for place in range(count)
    ]
    slip = pairs("9 the hoose ▷ h 9")
    assert Doubtful.of([*pairs(*sound), *slip]).misspelled == {slip[0]: {"hoose": "house"}}


def test_words_that_change_the_output_and_capitals_are_no_typing_errors() -> None:
    sound = [f"call the man {place} ▷ CALL MAN {place}" for place in range(30)]
    real, capital = "call the men 3 ▷ CALL MAN MAN 3", "call the mAn 7 ▷ CALL MAN 7"
    slip = "call the mzn 5 ▷ CALL MAN 5"
    assert [*Doubtful.of(pairs(*sound, real, capital, slip)).misspelled] == pairs(slip)


@pytest.mark.slow
@pytest.mark.parametrize("split", ["jump", "around-right"])
def test_no_right_command_is_torn_apart(split: str) -> None:
    data = scan.split(split)
    agreement = Agreement.of(data.train)
    assert len({*agreement.x.values()}) == len({*agreement.y.values()}) == 6
    assert not agreement.even
    calls = Calls.of(data.train)
    assert not any(agreement(example) or calls(example) for example in data.test)
    jump = Example(("jump", "and", "walk"), ("I_JUMP", "I_JUMP"))
    assert agreement(jump) == APART


SPANISH = words(
    "cantar canto PRS;1;SG",
    "cantar cantas PRS;2;SG",
    "mirar mira PRS;3;SG",
    "mirar miraste PST;2;SG",
    "tomar tomé PST;1;SG",
    "amar ame SBJV;1;SG",
    "amar amaré FUT;1;SG",
)
SWAHILI = words("kusoma ninasoma PRS;1", "kucheza unacheza PRS;2", "kusoma tulisoma PST;1;PL", "kula wanakula PRS;3;PL")


@pytest.mark.parametrize(
    ("examples", "tag", "sample", "shown"),
    [
        (SPANISH, "PST", "cantar cantaste PST;2;SG", True),
        (SPANISH, "PST", "cantar cantas PST;2;SG", False),  # a present form
        (SPANISH, "PST", "cantar canté PST;1;SG", True),
        (SPANISH, "PST", "cantar cantaré PST;1;SG", False),  # the same ending, but not in place of -ar
        (SPANISH, "FUT", "cantar cantaré FUT;1;SG", True),
        (SPANISH, "PST", "cantar cantas PRS;2;SG", True),  # no rare tag, nothing asked
        (SPANISH, "FUT", "cantar canté PST;1;SG", True),  # of another tag, nothing is asked
        (SWAHILI, "PST", "kucheza nilicheza PST;1", True),
        (SWAHILI, "PST", "kucheza ninacheza PST;1", False),
    ],
)
def test_a_rare_tag_is_to_be_seen(examples: Sequence[Example], tag: str, sample: str, shown: bool) -> None:
    exponents = Exponents.of(examples, [f"[{tag}]"])
    assert exponents(word(sample)) == (None if shown else UNSHOWN)


def test_tags_that_nothing_shows_are_not_asked_for() -> None:
    forms = words("sheep sheep PL", "sheep sheep SG", "fish fish SG", "cat cat SG")
    exponents = Exponents.of(forms, ["[PL]"])
    assert not exponents.by_tag
    assert exponents(word("fish fish PL")) is None


def test_words_that_share_nothing_with_their_lemmas_have_few_pieces() -> None:
    assert len(pieces(change(Inflection("a" * 300, ("PST",), "b" * 300).for_generation))) < 100


LEMMAS, FORMS = st.text("abc", min_size=1, max_size=4), st.text("abc", min_size=1, max_size=5)
RECORDS = st.builds(Inflection, LEMMAS, st.sampled_from([("A",), ("B",), ("A", "B")]), FORMS)


@given(st.lists(RECORDS, min_size=1, max_size=8))
def test_exponents_are_in_more_forms_with_the_tag_than_without(records: Sequence[Inflection]) -> None:
    """Beside the definition, piece by piece."""
    examples = list(dict.fromkeys(record.for_generation for record in records))
    exponents = Exponents.of(examples, ["[A]"])
    found = exponents.by_tag.get("[A]", frozenset())
    for piece in {piece for example in examples for piece in pieces(change(example))}:
        having = ["[A]" in example.x for example in examples if piece in pieces(change(example))]
        assert (piece in found) == (sum(having) > len(having) / 2)
    assert not any(map(exponents, examples))


def test_forms_like_those_with_the_tag_show_it_even_if_others_look_the_same() -> None:
    common = [f"{stem}a {stem}is GEN" for stem in ("mens", "ros", "lun", "terr")]
    exponents = Exponents.of(words(*common, "vita vitis VOC", "nox noctum VOC"), ["[VOC]"])
    assert exponents.by_tag
    assert exponents(word("rosa rosis VOC")) is None
    assert exponents(word("rosa rosae VOC")) == UNSHOWN


def test_samples_with_a_rare_tag_must_show_it() -> None:
    rare = Resampler(epsilon=0.15, relevant=is_tag).fit(SPANISH)  # FUT and SBJV, one of seven each
    accept = sample_filter(SPANISH, rare)
    assert accept(word("cantar cantaré FUT;1;SG")) is None
    assert accept(word("cantar canto FUT;1;SG")) == UNSHOWN
    assert accept(word("mirar miras PRS;2;SG")) == "without a rare token"
