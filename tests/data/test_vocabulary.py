from collections.abc import Sequence

import pytest

from recombine.data import vocabulary
from recombine.data.vocabulary import (
    LEAST,
    ONLY_IN_OUTPUTS,
    Vocabulary,
    are_unlike,
    only_in_outputs,
    strange_tokens,
    told_swapped,
)
from recombine.errors import RecombineError
from recombine.example import Example, Tokens
from recombine.neighborhoods import LongLong

DATES = [(f"{day} May {year}", f"{year}-05-{day}") for day in range(10, 28) for year in (1990, 2013)]
WORDS = [Example(tuple(x.split()), tuple(y.split())) for x, y in DATES]
CHARACTERS = [Example(tuple(x), tuple(y)) for x, y in DATES]
COMMANDS = [Example(("walk", "twice"), ("WALK", "WALK")), Example(("run",), ("RUN",))]


def inputs(examples: Sequence[Example]) -> list[Tokens]:
    return [example.x for example in examples]


def test_inputs_of_outputs_are_told_unless_both_sides_share_their_tokens() -> None:
    notes = {ONLY_IN_OUTPUTS: only_in_outputs(COMMANDS)}
    assert told_swapped([example.y for example in COMMANDS], notes).startswith("most tokens in the inputs, such as 'W")
    assert told_swapped(inputs(COMMANDS), notes) == ""
    assert told_swapped([("walk", "WALK")], notes) == ""  # a half
    assert told_swapped([("WALK",)], {}) == ""  # a model that did not note it
    assert only_in_outputs(iter([Example(("a", "b"), ("b", "a")), Example(("c",), ("c", "d"))])) == ["d"]
    assert told_swapped([("b", "a"), ("c", "d")], {ONLY_IN_OUTPUTS: ["d"]}) == ""
    with pytest.raises(RecombineError, match="only in outputs"):
        told_swapped([], {ONLY_IN_OUTPUTS: 1})


def test_words_and_characters_are_strange_to_each_other_and_some_new_words_are_not() -> None:
    assert strange_tokens(inputs(WORDS), inputs(CHARACTERS))[:3] == ["1", "0", " "]
    assert strange_tokens(inputs(CHARACTERS), inputs(WORDS))[:3] == ["10", "May", "1990"]
    assert strange_tokens(inputs(COMMANDS), inputs(WORDS))[0] == "10"
    assert strange_tokens(inputs(WORDS), inputs(WORDS)) == []
    assert strange_tokens(inputs(COMMANDS), [("walk", "slowly")]) == []  # a half is known
    assert strange_tokens(inputs(COMMANDS), [("walk", "slowly", "slowly")]) == ["slowly"]
    assert strange_tokens(inputs(COMMANDS), []) == []


def test_outputs_of_one_word_each_have_nothing_in_common() -> None:
    assert are_unlike(WORDS[:LEAST])
    assert not are_unlike(WORDS[: LEAST - 1])  # too few to tell
    assert not are_unlike([*WORDS[: LEAST - 1], WORDS[0]])  # repetitions count once
    assert not are_unlike(CHARACTERS)
    classes = [Example((str(number),), (("odd", "even")[number % 2],)) for number in range(40)]
    assert not are_unlike(classes)
    assert not are_unlike([*WORDS, *classes])  # half of them are


def test_the_largest_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "MAX_VOCABULARY", 5)
    assert len(Vocabulary.of(COMMANDS).tokens) == 5
    LongLong().build(COMMANDS)
    monkeypatch.setattr(vocabulary, "MAX_VOCABULARY", 4)
    for work in (Vocabulary.of, LongLong().build):
        with pytest.raises(RecombineError, match="more than 4 different tokens"):
            work(COMMANDS)
