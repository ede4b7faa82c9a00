"""From a field of a file to tokens and back, and the rules that every token keeps."""

import re
from collections.abc import Iterable
from sys import intern

from recombine.data.limits import check_length
from recombine.data.text import Line, shown
from recombine.errors import unknown
from recombine.example import Tokens

TOKENS = ("words", "characters")
"""What a token is: a run of anything but spaces, or one code point (a space is a token then)."""

_FORBIDDEN = re.compile(r"[\0\t\n\r\ud800-\udfff]")


def check_kind(tokens: str) -> None:
    """Raises the error for a kind of token that is none of ``TOKENS``."""
    if tokens not in TOKENS:
        raise unknown("token kind", tokens, TOKENS)


def split(text: str, tokens: str) -> Tokens:
    """Returns the tokens of a text: of words between single or multiple spaces, or of characters."""
    if tokens == "characters":
        return tuple(text)
    # Words recur: one string for all that are equal takes a tenth of the memory, and is compared in no time.
    return tuple([intern(word) for word in text.split(" ") if word])


def join(side: Iterable[str], tokens: str) -> str:
    """Returns the text of tokens; ``split`` gives them back unless they hold spaces, or more than a character."""
    return ("" if tokens == "characters" else " ").join(side)


def split_tags(field: str, *, line: Line) -> Tokens:
    """Returns the tags of a field such as ``V;IND;PST``.

    Raises:
        RecombineError: If a tag is empty.
    """
    tags = tuple(field.split(";"))
    if "" in tags:
        raise line.error(f"an empty tag in {shown(field)}; expected tags between semicolons, as in 'V;IND;PST'.")
    return tags


def check_side(side: Tokens, name: str, *, line: Line) -> Tokens:
    """Returns a side of an example if it can stand in a file: not empty, of tokens that can.

    Args:
        side: The tokens.
        name: What messages call the side.
        line: Where it stands.

    Raises:
        RecombineError: If there are no tokens or too many, or one is empty, or holds a NUL, a tab, a line break or half
            a surrogate pair, which UTF-8 cannot hold.
    """
    if not side:
        raise line.error(f"the {name} is empty; expected at least one token.", hint="Fill it in or remove the line.")
    check_length(len(side), name, place=line.place)
    if "" in side:
        raise line.error(f"the {name} holds an empty token; expected at least one character in each.")
    if _FORBIDDEN.search("".join(side)):
        token = next(token for token in side if _FORBIDDEN.search(token))
        raise line.error(
            f"the {name} holds the token {shown(token)}; expected no NUL, tab, line break or lone surrogate in it."
        )
    return side
