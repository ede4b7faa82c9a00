"""The contract of all that carries out work, the simplest that keeps it, and what came of a piece of work."""

import copy
import traceback
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Result]):
    """What came of a piece of work: a value, or the error that ended it.

    Attributes:
        value: The result; None also where there is an error.
        error: The error, if there was one.
    """

    value: Result | None = None
    error: Exception | None = None


class Executor(Protocol):
    """Carries out pieces of work; what comes of them does not depend on which executor it is."""

    @property
    def here(self) -> bool:
        """Whether pieces are done in this process, where they can tell people how it goes."""
        ...

    def on(self, device: str) -> "Executor":
        """Returns the executor of the same kind for work on a device, such as ``cpu`` or ``cuda:0``."""
        ...

    def alone(self) -> "Executor":
        """Returns who does a piece of work that is the only one: where all is done on this machine, this process."""
        ...

    def outcomes(self, do: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Outcome[Result], None, None]:
        """Yields what comes of doing something with each item, in the items' order.

        Args:
            do: What to do; a function of the item alone, and of data that it refers to and leaves as they are.
            items: Small things that say which piece of work it is. Of an iterator, which may have no end, only so many
                are taken ahead of their outcomes as keep all workers busy.
        """
        ...


class Serial:
    """Does one piece after the other in this process, each when its outcome is asked for."""

    here = True

    def __repr__(self) -> str:
        return "Serial()"

    def on(self, device: str) -> Executor:
        """Returns itself: here are the devices of this process."""
        return self

    def alone(self) -> Executor:
        """Returns itself."""
        return self

    def outcomes(self, do: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Outcome[Result], None, None]:
        """Yields what comes of doing something with each item."""
        for item in items:
            try:
                outcome = Outcome(do(item))
            except Exception as error:
                outcome = Outcome(error=error)
            yield outcome


SERIAL = Serial()


def in_order(executor: Executor, do: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result, None, None]:
    """Yields the results of pieces of one whole; where one fails, the whole does, at once.

    Args:
        executor: Who does it.
        do: What to do; see `Executor.outcomes`.
        items: With what.
    """
    with closing(executor.outcomes(do, items)) as outcomes:
        for outcome in outcomes:
            if outcome.error is not None:
                raise outcome.error
            yield outcome.value  # type: ignore[misc]


def attempt(do: Callable[[Item], Result], item: Item) -> Outcome[Result]:
    """Does a piece of work for another process, to which its outcome can be sent."""
    try:
        return Outcome(do(item))
    except Exception as error:
        let_go(error)
        try:
            copy.copy(error)  # as it is taken apart and made again on its way
        except Exception:
            return Outcome(error=RuntimeError("".join(traceback.format_exception(error))))
        return Outcome(error=error)


def let_go(error: BaseException) -> None:
    """Keeps of an error's tracebacks only the text.

    They hold all that failed work held, which cannot travel, and would keep a GPU's memory full for the work that
    follows.
    """
    if error.__traceback__ is None:  # as after a journey
        return
    error.add_note("".join(traceback.format_exception(error)))
    related, seen = [error], set[int]()
    while related:
        found = related.pop()
        if id(found) not in seen:
            seen.add(id(found))
            found.__traceback__ = None
            related += [each for each in (found.__cause__, found.__context__) if each is not None]
