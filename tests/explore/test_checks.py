"""What is said to somebody who typed tokens that a network does not know."""

import pytest

from recombine.data.vocabulary import Vocabulary
from recombine.errors import RecombineError
from recombine.explore.checks import BLAMED, NAMED, check_tokens


def said(tokens: list[str], known: list[str]) -> str:
    with pytest.raises(RecombineError) as raised:
        check_tokens(tokens, Vocabulary(tuple(sorted(known))), where="prototype 1")
    return str(raised.value)


def test_known_tokens_are_fine() -> None:
    check_tokens(["a", "b", "a"], Vocabulary(("a", "b")), where="prototype 1")


def test_words_that_are_characters_put_together_are_taken_apart() -> None:
    assert "Put spaces between tokens: 'g e l'." in said(["gel"], ["g", "e", "l"])


def test_the_nearest_token_is_suggested_and_each_is_blamed_once() -> None:
    message = said(["walc", "walc", "walk", "zzz"], ["walk", "run"])
    assert "does not know 'walc', 'zzz', in prototype 1." in message
    assert "Did you mean 'walk'? It knows: run walk." in message


def test_neither_list_is_endless() -> None:
    message = said([f"bad{i}" for i in range(100)], [f"token{i}" for i in range(1000)])
    assert message.count("bad") == BLAMED
    assert "and others" in message
    assert f"and {1000 - NAMED:,} others." in message


def test_a_space_can_be_seen() -> None:
    assert "It knows: ␣ a." in said(["zzz"], ["a", " "])
