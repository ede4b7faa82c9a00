"""How far work is: the one way in which the package tells it, whatever shows it."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

Report = Callable[[int, int, Any], None]
"""Is told how far a stage is: what is done (steps, samples, parts), of how much, and what else there is to tell, which
is a text, or of training its `History`."""

Say = Callable[[str], None]
"""Is told, in words, what has been done."""


class Progress(Protocol):
    """Shows how far work is, stage by stage."""

    def __call__(self, what: str, effort: float = 1.0, /) -> AbstractContextManager[Report | None]:
        """Gives, for the time of a stage, what it is to report to; `effort` is its share where stages make a whole."""
        ...


def no_progress(what: str, effort: float = 1.0, /) -> AbstractContextManager[None]:
    """Shows nothing."""
    return nullcontext()
