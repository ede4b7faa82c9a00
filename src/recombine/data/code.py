"""Takes JSON, SQL, logical forms and sentences apart into words, numbers and marks, and puts them together again.

A word is the same token wherever it stands: ``"Łukasz"}`` and ``Łukasz?`` share ``Łukasz``. Tokens say nothing about
spaces where these are as usual, ``f(x, "y z")``; where they are not, a token of its own does: ``␣`` is a space and
``⁀`` is none. A text that is unusual throughout begins with a token for its style instead. So joining the tokens of a
text gives back the text, byte for byte.
"""

import json
import re
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from sys import intern

from recombine.example import Example, Tokens

SPACE, NO_SPACE = "␣", "⁀"
"""Between two tokens: a space, against the usual; no space, against the usual. In a text, these characters double."""

USUAL, SPACED, COMPACT, PREFIX = "", SPACE + "*", NO_SPACE + "*", SPACE + "("
"""Styles: ``f(x, "y z")``, ``f ( x , "y z" )``, ``f(x,"y z")`` and ``(f x "y z")``; all but the first are tokens."""

FIRST, MARKED = 1000, 0.05
"""How many examples tell whether tokens of code suit, and in what share of them outputs have words with marks."""

_SAVING = 2
"""How many tokens a style must save to be chosen: one odd space more is better than another style."""

_MARKS = (
    r"!-/:-@\[-^`{-~\xa0-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7\u2000-\u200b\u200e-\u206f\u2190-\u243f"
    r"\u3000-\u3003\u3008-\u3020\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
"""What is in no word. Everything else is, so that scripts with combining characters are not taken apart."""

_LETTER = rf"(?:[^ {_MARKS}]|\\u[0-9a-fA-F]{{4}})"
_TOKEN = re.compile(
    rf"""(?P<gap>\ *)(?P<token>
        \d+(?:[.:]\d+)*(?:[eE][+-]?\d+)?(?!{_LETTER})    # a number, version or time
      | (?<=[^ {_MARKS}])['’]s(?!{_LETTER})             # the 's of Łukasz's
      | {_LETTER}+(?:['’](?!s(?!{_LETTER})){_LETTER}+)*  # a word, O'Brien among them
      | (?<=[^ {_MARKS}])''(?=[^ {_MARKS}])            # the quote in SQL's 'O''Brien'
      | \\[^{SPACE}{NO_SPACE} ]                         # an escaped character
      | <=|>=|!=|<>|==|&&|\|\||->|=>|:=|::
      | [^ ]
    )""",
    re.VERBOSE,
)
_MARK = re.compile(f"[{_MARKS}]")
_AROUND = re.compile(r"""[()\[\]{}"'`,;:=<>]""")  # not what paths, dates and decimals have
_GLUED = re.compile(rf"""[(\[{{"'][^ {_MARKS}]|[^ {_MARKS}](?:[()\[\]{{}}"]|'$)""")

_QUOTES = frozenset("\"'`")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_NO_SPACE_AFTER = _OPENING | frozenset("$#¬∃∀¿¡“„«-/@&~^\\") | {"::", "''"}
_NO_SPACE_BEFORE = _CLOSING | frozenset(",;:.?!%°…”»/@&~^\\") | {"::", "''", "'s", "’s"}
_KEYWORDS = {
    *("SELECT", "FROM", "WHERE", "HAVING", "VALUES", "EXISTS", "JOIN", "UNION", "WHEN", "THEN", "ELSE"),
    *("AND", "OR", "NOT", "IN", "AS", "ON", "BY"),
}
"""Words of SQL with a space before a bracket, where other words are functions: ``IN (1, 2)``, ``MAX(price)``."""


def split(text: str) -> Tokens:
    """Returns the tokens of a text, which ``join`` makes of them again."""
    found = [(len(match["gap"]), match["token"]) for match in _TOKEN.finditer(text)]
    end = len(text) - len(text.rstrip(" "))
    tokens = _told(found, end, USUAL)
    if len(tokens) > len(found) + _SAVING:  # else no style can save as many
        best = min((_told(found, end, style) for style in (SPACED, COMPACT, PREFIX)), key=len)
        tokens = best if len(best) + _SAVING <= len(tokens) else tokens
    return tuple(map(intern, tokens))


def join(tokens: Iterable[str]) -> str:
    """Returns the text of tokens: those of a text, or what a network made of such, in whatever order."""
    parts: list[str] = []
    rule, gap = _Rule(USUAL), None
    for token in tokens:
        if token == SPACE:
            gap = (gap or 0) + 1
        elif token == NO_SPACE:
            gap = gap or 0
        elif token in (SPACED, COMPACT, PREFIX):
            rule.style = token
        else:
            token = token[0] if token in (2 * SPACE, 2 * NO_SPACE) else token
            gap = int(rule.has_space(token)) if gap is None else gap
            parts += (" " * gap, token)
            rule.go_on(token, is_glued=gap == 0)
            gap = None
    return "".join(parts) + " " * (gap or 0)


def kind_of(examples: Iterable[Example], as_words: Iterable[Example] = ()) -> str:
    """Returns what a token is if nobody says: ``"code"`` where that suits (see `code_suits`), else words."""
    return "code" if code_suits(examples, as_words) else "words"


def code_suits(examples: Iterable[Example], as_words: Iterable[Example] = ()) -> str | None:
    """Returns why tokens of code suit examples, or None.

    They do if all outputs are objects or lists of JSON. They do, too, if outputs have words of their inputs only beside
    marks, such as ``texas)``: as another word it could not be copied. The first thousand examples tell.

    Args:
        examples: The examples, their texts split as code. Of tokens that were given as such only JSON can be told.
        as_words: The same, their texts split as words.
    """
    going = iter(examples)
    first = list(islice(going, FIRST))
    if first and all(_is_json(example.y) for example in chain(first, going)):
        return "all outputs are JSON"
    marked = [piece for pair in zip(first, as_words, strict=False) if (piece := _marked(*pair))]
    if not marked or len(marked) < MARKED * len(first):
        return None
    return f"outputs have words of their inputs with marks, such as {marked[0]!r}"


def glued(examples: Sequence[Example]) -> str | None:
    """Returns a token with a bracket or quote that had better be apart, if examples of words call for tokens of code.

    This is so if most outputs have such tokens, and there are fewer different ones once they are taken apart. The first
    thousand examples count.
    """
    examples = examples[:FIRST]
    found = [token for example in examples for token in islice(filter(_GLUED.search, example.y), 1)]
    if 2 * len(found) <= len(examples):
        return None
    sides = [side for example in examples for side in (example.x, example.y)]
    words = {token for side in sides for token in side}
    parts = {token for side in sides for token in split(" ".join(side))}
    return found[0] if len(parts) < len(words) else None


def _is_json(output: Tokens) -> bool:
    text = join(output)
    if not text.lstrip(" ").startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return split(text) == tuple(output)


def _marked(example: Example, as_words: Example) -> str | None:
    """Returns a piece of an output that has a word of the input and marks around it, and is not in the input itself."""
    if example.y == as_words.y:
        return None
    known, pieces = {token for token in example.x if token[0].isalpha()}, {*as_words.y} - {*as_words.x}
    found = (piece for piece in as_words.y if piece in pieces and _AROUND.search(piece))
    return next((piece for piece in found if not known.isdisjoint(split(piece))), None)


def _told(found: Sequence[tuple[int, str]], end: int, style: str) -> list[str]:
    """Returns the tokens of a text in a style, given the spaces before each word, number or mark, and at the end."""
    told, rule = [style] if style else [], _Rule(style)
    for gap, token in found:
        if gap != rule.has_space(token):
            told += [SPACE] * gap or [NO_SPACE]
        told.append(2 * token if token in (SPACE, NO_SPACE) else token)
        rule.go_on(token, is_glued=gap == 0)
    return told + [SPACE] * end


class _Rule:
    """Says where a space is usual, going through a text from left to right."""

    def __init__(self, style: str) -> None:
        self.style = style
        self.left = ""
        self.quote = ""  # the quote that opened the string in which the next token stands
        self.is_first = False  # whether the next token is the first in a string

    def go_on(self, token: str, *, is_glued: bool) -> None:
        """Takes notice of a token, and of whether there was no space before it."""
        self.is_first = False
        if token == self.quote:
            self.quote = ""
        elif token in _QUOTES and not self.quote and not (is_glued and _is_word(self.left[-1:])):
            self.quote, self.is_first = token, True  # else it is an apostrophe, or inches
        self.left = token

    def has_space(self, right: str) -> bool:
        """Tells whether a space is usual before a token."""
        left = self.left
        if not left or self.is_first or right == self.quote:
            return False
        left_is_word = left in _QUOTES or _is_word(left[-1])
        if self.quote:
            if right in _QUOTES or _is_escape(left) or _is_escape(right):
                return False
        elif self.style == SPACED:
            return True
        elif self.style == COMPACT:
            right_is_word = right in _QUOTES or _is_word(right[0])
            return left_is_word and (right_is_word or (right in _OPENING and left in _KEYWORDS))
        elif self.style == PREFIX and ":" in (left, right):
            return False
        elif self.style != PREFIX and right in _OPENING and (left_is_word or left in _CLOSING):
            return left in _KEYWORDS  # a call, or a list in SQL
        if left == ".":
            return right[0].isupper()  # a sentence or abbreviation ended, else it is a name such as staff.city
        if right == "-":
            return not left_is_word and left not in _NO_SPACE_AFTER  # a negative number, else a hyphen
        return left not in _NO_SPACE_AFTER and right not in _NO_SPACE_BEFORE


def _is_word(character: str) -> bool:
    return bool(character) and not _MARK.match(character)


def _is_escape(token: str) -> bool:
    return token[0] == "\\" and len(token) == 2
