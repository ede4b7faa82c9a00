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
        """Gives, for the time of a stage, what the stage is to report to.

        Args:
            what: The stage, in words.
            effort: How much work it is, where several stages make a whole.
        """
        ...


def no_progress(what: str, effort: float = 1.0, /) -> AbstractContextManager[None]:
    """Shows nothing."""
    return nullcontext()
