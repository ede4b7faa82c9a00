"""Tokens of JSON, SQL and logical forms, and the text that they came from."""

import own_files
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.data.code import COMPACT, NO_SPACE, PREFIX, SPACE, SPACED, join, split

LINES = st.text(st.characters(blacklist_characters="\0\t\n\r", blacklist_categories=["Cs"]))
CODE = st.text(st.sampled_from(" \"'`\\()[]{},.:;=!<>-*sO2é_" + SPACE + NO_SPACE))


@given(LINES | CODE)
def test_a_text_comes_back_byte_for_byte(text: str) -> None:
    tokens = split(text)
    assert join(tokens) == text
    assert all(tokens)
    assert not any(" " in token for token in tokens)


@given(st.lists(st.sampled_from([*"a\"'(),.", SPACE, NO_SPACE, SPACED, COMPACT, PREFIX, "''", "\\n", "[TAG]", "a b"])))
def test_any_tokens_have_a_text_that_comes_back(tokens: list[str]) -> None:
    text = join(tokens)
    assert join(split(text)) == text


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ('{"to": "Łukasz"}', '{ " to " : " Łukasz " }'),
        ('[{"to": "Łukasz"}, 1, -2.5e-7]', '[ { " to " : " Łukasz " } , 1 , - 2.5e-7 ]'),
        ("SELECT COUNT(*) FROM t WHERE a >= 3", "SELECT COUNT ( * ) FROM t WHERE a >= 3"),
        ("t.city IN ('New York', 'O''Brien')", "t . city IN ( ' New York ' , ' O '' Brien ' )"),
        ("f(g(x, y))", "f ( g ( x , y ) )"),
        ("f ( g ( x , y ) )", "␣* f ( g ( x , y ) )"),
        ("f(g(x,y),z,1)", "⁀* f ( g ( x , y ) , z , 1 )"),
        ('{"a":1,"b":"New York"}', '⁀* { " a " : 1 , " b " : " New York " }'),
        ("(lambda $0 (and (city:t $0) (big:t $0)))", "␣( ( lambda $ 0 ( and ( city : t $ 0 ) ( big : t $ 0 ) ) )"),
        ("does O'Brien live in Kraków?", "does O'Brien live in Kraków ?"),
        ("Łukasz's dog, at 10:30.", "Łukasz 's dog , at 10:30 ."),
        ("St. Gallen (Switzerland)", "St . Gallen ␣ ( Switzerland )"),
        ("the boys' room", "the boys ⁀ ' room"),
        (" a  b ", "␣ a ␣ ␣ b ␣"),
        ("⁀ and ␣", "⁀⁀ and ␣␣"),
        ("हिन्दी में", "हिन्दी में"),
        (r'{"a": "\"b\" Krak\u00f3w"}', r'{ " a " : " \" b \" ␣ Krak\u00f3w " }'),
    ],
)
def test_words_numbers_and_marks_are_tokens(text: str, tokens: str) -> None:
    assert split(text) == tuple(tokens.split(" "))
    assert join(split(text)) == text


@pytest.mark.parametrize("kind", own_files.KINDS)
def test_ordinary_files_need_no_tokens_for_spaces(kind: str) -> None:
    for x, y in own_files.make(kind, 100).train:
        assert {SPACE, NO_SPACE}.isdisjoint((*split(x), *split(y)))
        assert split(y)[0] in y
