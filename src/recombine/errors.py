"""The one error type that users see: a sentence, the place it speaks of, and what to do next."""

import difflib
from collections.abc import Callable, Iterable
from functools import partial
from typing import Self


class RecombineError(Exception):
    """A problem that the user can mend: bad input, a bad setting, a request that cannot be met.

    The command line prints it as a sentence and exits with code 2; anything else that is raised is a bug of ours.

    Attributes:
        message: What is wrong, with the offending value and what was expected.
        place: Where, as ``file`` or ``file:line`` (1-based), if there is a place.
        hint: What to do next, if there is something to do. What stands between backquotes is an argument of what was
            called, such as `force=True`; the command line shows the option of that name instead.
    """

    def __init__(self, message: str, *, place: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, place, hint)
        self.message = message
        self.place = place
        self.hint = hint

    def __reduce__(self) -> tuple[Callable[[str], Self], tuple[str]]:
        """Says how to make it again, in another process: place and hint go by name."""
        return partial(type(self), place=self.place, hint=self.hint), (self.message,)

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        then = f" {self.hint}" if self.hint else ""
        return f"{where}{self.message}{then}"


class NothingMade(RecombineError):
    """A correct request with an empty result; the command line exits with code 1."""


class NoNeighborhood(RecombineError):
    """No example can be rebuilt from others, so there is nothing to learn recombination from."""


def unknown(kind: str, value: str, options: Iterable[str]) -> RecombineError:
    """Returns the error for a name that is not among the options; it suggests the nearest one.

    The kind is what the name stands for, e.g. ``"split"`` or ``"key of the document"``.
    """
    names = sorted(options)
    lowered = {name.lower(): name for name in names}
    near = difflib.get_close_matches(value.lower(), lowered, n=1, cutoff=0.5)
    suggestion = f"Did you mean {lowered[near[0]]!r}? " if near else ""
    noun, of, rest = kind.partition(" of ")
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and not noun.endswith("ey") else f"{noun}s"
    return RecombineError(
        f"unknown {kind} {value!r}.", hint=f"{suggestion}The {plural}{of}{rest} are: {', '.join(names)}."
    )
