"""What somebody typed, held against what a network knows."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from recombine.data.text import shown
from recombine.data.vocabulary import Vocabulary
from recombine.errors import RecombineError
from recombine.example import Example

NAMED = 30
"""So many known tokens are named to somebody who typed an unknown one."""

SPACE = "␣"
"""Stands for a space within a token, on the page too, since spaces part tokens."""

BLAMED = 5
"""So many unknown tokens are named."""


def check_prototypes(prototypes: Sequence[Example], vocabulary: Vocabulary, *, expected: int) -> None:
    """Raises the error for prototypes that a network cannot read.

    Raises:
        RecombineError: If there are more or fewer than expected, one lacks an input or an output, or holds a token that
            is not in the vocabulary.
    """
    if len(prototypes) != expected:
        raise RecombineError(f"the network has {expected} prototypes, got {len(prototypes)}.")
    for number, prototype in enumerate(prototypes, start=1):
        if not (prototype.x and prototype.y):
            side = "output" if prototype.x else "input"
            raise RecombineError(f"the {side} of prototype {number} is empty.", hint="Pick an example, or type tokens.")
        check_tokens((*prototype.x, *prototype.y), vocabulary, where=f"prototype {number}")


def check_tokens(tokens: Iterable[str], vocabulary: Vocabulary, *, where: str) -> None:
    """Raises the error for tokens that are not in the vocabulary, with the nearest ones that are."""
    known = dict.fromkeys(vocabulary.tokens)
    unknown = [token for token in dict.fromkeys(tokens) if token not in known]
    if not unknown:
        return
    blamed = ", ".join(map(shown, unknown[:BLAMED])) + (" and others" if len(unknown) > BLAMED else "")
    raise RecombineError(
        f"the network does not know {blamed}, in {where}.", hint=f"{_nearest(unknown[0], known)}{_some(known)}"
    )


def _nearest(token: str, known: Iterable[str]) -> str:
    if len(token) > 1 and set(token) <= set(known):
        return f"Put spaces between tokens: {shown(' '.join(token))}. "
    near = get_close_matches(token[:60], list(known), n=1, cutoff=0.5)
    return f"Did you mean {shown(near[0])}? " if near else ""


def _some(known: Iterable[str]) -> str:
    tokens = list(known)
    rest = f" and {len(tokens) - NAMED:,} others" if len(tokens) > NAMED else ""
    return f"It knows: {' '.join(token[:60].replace(' ', SPACE) for token in tokens[:NAMED])}{rest}."
