"""The largest inputs that are taken: what is larger is a mistake or an attack, and gets a sentence, not memory."""

import errno
from collections.abc import Iterable, Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar

from recombine.errors import RecombineError

_Item = TypeVar("_Item")

MAX_LINE = 100_000
"""The longest line that is read or written, in characters; a longer one is no example but a file of another kind."""

MAX_TOKENS = 10_000
"""The longest input or output, in tokens: tables of examples are as wide as the longest."""

MAX_VOCABULARY = 1_000_000
"""The most different tokens: each has a row in the tables of a network, and a code point in searches."""

MAX_EXAMPLES = 10_000_000
"""The most examples of a file that are held together; reading one by one has no such limit."""

MAX_CELLS = 1 << 30
"""The most places of a table that has a row for each example, as wide as the longest: 8 GB."""

MAX_WHOLE = 1 << 31
"""The largest file that is read whole, in bytes: models, neighborhoods, downloads. Examples are read line by line."""


def check_length(tokens: int, name: str, *, place: str | None = None) -> None:
    """Raises the error for an input or output with too many tokens.

    Args:
        tokens: How many it has.
        name: What messages call it.
        place: Where it stands.
    """
    if tokens > MAX_TOKENS:
        raise RecombineError(
            f"the {name} has {tokens:,} tokens, expected at most {MAX_TOKENS:,}.",
            place=place,
            hint="Check that a line holds one example, and what a token is; cut long sequences into shorter ones.",
        )


def check_vocabulary(tokens: int) -> None:
    """Raises the error for too many different tokens."""
    if tokens > MAX_VOCABULARY:
        raise RecombineError(
            f"the examples have more than {MAX_VOCABULARY:,} different tokens.",
            hint="Check what a token is; split words into smaller pieces.",
        )


def check_table(rows: int, longest: int) -> None:
    """Raises the error for examples whose table would not fit: many, of which some are very long."""
    if rows * longest > MAX_CELLS:
        raise RecombineError(
            f"{rows:,} examples with up to {longest:,} tokens make too large a table.",
            hint="Leave out or cut the longest examples, or take a part of the file.",
        )


def not_too_many(items: Iterable[_Item], *, place: str) -> Iterator[_Item]:
    """Yields what is read, as long as it can be held together.

    Args:
        items: What is read.
        place: Where from.

    Raises:
        RecombineError: If there are more than ``MAX_EXAMPLES``.
    """
    for number, item in enumerate(items, start=1):
        if number > MAX_EXAMPLES:
            raise RecombineError(
                f"the file has more than {MAX_EXAMPLES:,} examples.", place=place, hint="Take a part of it."
            )
        yield item


def check_whole(size: int, *, place: str) -> None:
    """Raises the error for a file that is too large to be read whole.

    Args:
        size: How many bytes it has, or takes when unpacked.
        place: The file.
    """
    if size > MAX_WHOLE:
        raise RecombineError(
            f"the file takes {size:,} bytes, expected at most {MAX_WHOLE:,}.",
            place=place,
            hint="Check that it is the file that you meant.",
        )


def read_whole(path: Path | Traversable) -> bytes:
    """Returns the bytes of a file.

    Raises:
        OSError: If it cannot be read.
        RecombineError: If it is too large.
    """
    if isinstance(path, Path) and path.is_fifo():  # for whose other end one could wait forever
        raise OSError(errno.EINVAL, "This is a pipe", str(path))
    with path.open("rb") as stream:
        content = stream.read(MAX_WHOLE + 1)  # not by the size that it says it has: a device has none
    check_whole(len(content), place=str(path))
    return content
