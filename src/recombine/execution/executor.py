"""Work that is done one piece after the other or in several processes, and lists of jobs each of which fails alone.

All that carries out work keeps one contract, `Executor`: what comes of a piece does not depend on who does it.
"""

import copy
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Sized
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from recombine.errors import RecombineError

Item = TypeVar("Item")
Result = TypeVar("Result")
Handle = TypeVar("Handle")

AHEAD = 2
"""How many items of an iterator are taken ahead for each worker."""

_do: Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Result]):
    """What came of a piece of work: a value, or the error that ended it."""

    value: Result | None = None
    error: Exception | None = None


class Executor(ABC):
    """Carries out pieces of work; what comes of them does not depend on which executor it is."""

    here: bool = True
    """Whether pieces are done in this process, where they can tell people how it goes."""

    def on(self, device: str) -> "Executor":
        """Returns the executor of the same kind for work on a device, such as ``cpu`` or ``cuda:0``."""
        return self

    @abstractmethod
    def outcomes(self, do: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Outcome[Result], None, None]:
        """Yields what comes of doing something with each item, in the items' order.

        What is done depends on the item alone, and on data that it refers to and leaves as they are. Items are small
        things that say which piece of work it is. An iterator may have no end: only as many of its items as keep all
        workers busy are taken ahead of their outcomes.
        """


class Serial(Executor):
    """Does one piece after the other in this process, each when its outcome is asked for."""

    def __repr__(self) -> str:
        return "Serial()"

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
    """Yields the results of pieces of one whole (see `Executor.outcomes`); where one fails, the whole does, at once."""
    with closing(executor.outcomes(do, items)) as outcomes:
        for outcome in outcomes:
            if outcome.error is not None:
                raise outcome.error
            yield outcome.value  # type: ignore[misc]


def windowed(
    items: Iterable[Item],
    submit: Callable[[Item], Handle],
    result: Callable[[Handle], Outcome[Result]],
    pending: deque[Handle],
    workers: int,
) -> Generator[Outcome[Result], None, None]:
    """Yields the results of submitted items in order. `pending` holds those under way, all if they can be counted."""
    ahead = len(items) if isinstance(items, Sized) else AHEAD * workers
    for item in items:
        pending.append(submit(item))
        if len(pending) > ahead:
            yield result(pending.popleft())
    while pending:
        yield result(pending.popleft())


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
    """Keeps of an error's tracebacks only the text: they hold all that failed work held, such as a GPU's memory."""
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


class Processes(Executor):
    """Does pieces of work in processes that are forks: they see what is to be done and all that it refers to uncopied.

    Each computes with one thread. Where there is no safe fork (macOS, Windows), all is done in this process. Without a
    number of workers, there is one for each processor that this process may use.
    """

    def __init__(self, workers: int | None = None) -> None:
        linux = sys.platform == "linux"
        self.workers = workers or (len(os.sched_getaffinity(0)) if linux else 1)
        self.here = self.workers == 1 or not linux

    def __repr__(self) -> str:
        return f"Processes({self.workers})"

    def on(self, device: str) -> Executor:
        """Returns itself, or for a GPU, which forks cannot share with their parent, who works in this process."""
        return self if device.startswith("cpu") else SERIAL

    def outcomes(self, do: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Outcome[Result], None, None]:
        """Yields what comes of doing something with each item; see `Executor.outcomes`."""
        with self.started(do, items) as outcomes:
            yield from outcomes

    @contextmanager
    def started(
        self, do: Callable[[Item], Result], items: Iterable[Item]
    ) -> Generator[Iterator[Outcome[Result]], None, None]:
        """Starts on all items, if they can be counted, and gives what comes of them in their order.

        Whoever has something else to do meanwhile can leave sooner, and waits for those under way only. Where all is
        done in this process, each is begun when its outcome is asked for.
        """
        if self.here:
            yield SERIAL.outcomes(do, items)
            return
        workers = min(self.workers, max(1, len(items))) if isinstance(items, Sized) else self.workers
        context = multiprocessing.get_context("fork")
        pool = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(do, os.getpid()))
        submit, begun = partial(_submitted, pool), deque[Future[Outcome[Result]]]()
        try:
            if isinstance(items, Sized):
                begun.extend(map(submit, items))
                items = ()
            yield windowed(items, submit, _outcome, begun, self.workers)
        finally:  # once: a second call, such as at the end of `with pool`, would have what was cancelled done after all
            pool.shutdown(wait=True, cancel_futures=True)


def _submitted(pool: ProcessPoolExecutor, item: Any) -> "Future[Outcome[Any]]":  # noqa: ANN401
    try:
        with warnings.catch_warnings():
            # Later Pythons warn of forks beside threads, which may hold locks. These processes only compute.
            warnings.simplefilter("ignore", DeprecationWarning)
            return pool.submit(_attempt, item)
    except BrokenProcessPool as error:
        failed: Future[Outcome[Any]] = Future()
        failed.set_exception(error)
        return failed


def _outcome(future: "Future[Outcome[Result]]") -> Outcome[Result]:
    try:
        return future.result()
    except BrokenProcessPool:
        message = "a process was ended in the middle of its work, perhaps since memory ran out."
        return Outcome(error=RecombineError(message, hint="Try again with less data, or where there is more memory."))
    except Exception as error:  # a result that cannot be sent
        return Outcome(error=error)


def _begin(do: Callable[[Any], object], parent: int) -> None:
    global _do
    _do = do
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is the parent's to explain
    if "torch" in sys.modules:  # whose threads did not come along, and one for each process is enough
        sys.modules["torch"].set_num_threads(1)

    def end_with_parent() -> None:  # which may have been killed without a chance to say so
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def _attempt(item: Any) -> Outcome[Any]:  # noqa: ANN401
    return attempt(_do, item)


@dataclass(frozen=True, slots=True)
class Job(Generic[Result]):
    """Something to do that needs nothing from the other jobs of its list, with a name for people."""

    name: str
    do: Callable[[], Result]


class Run:
    """Carries out lists of jobs, of which some may fail, and says at the end which did."""

    def __init__(self) -> None:
        self.failures: list[tuple[str, Exception]] = []  # with the names of the jobs
        self._count = 0

    def finished(self, jobs: Sequence[Job[Result]], executor: Executor) -> Iterator[Result]:
        """Yields the results of the jobs that succeed, in order; those that fail leave the others alone."""
        yield from self._succeeded(jobs, executor.outcomes(lambda number: jobs[number].do(), range(len(jobs))))

    @contextmanager
    def started(self, jobs: Sequence[Job[Result]], processes: Processes) -> Iterator[Iterator[Result]]:
        """Starts the jobs, and gives their results as `finished` does, for whoever has something to do meanwhile."""
        with processes.started(lambda number: jobs[number].do(), range(len(jobs))) as outcomes:
            yield self._succeeded(jobs, outcomes)

    def _succeeded(self, jobs: Sequence[Job[Result]], outcomes: Iterable[Outcome[Result]]) -> Iterator[Result]:
        for job, outcome in zip(jobs, outcomes, strict=True):
            self._count += 1
            if outcome.error is None:
                yield outcome.value  # type: ignore[misc]
            else:
                let_go(outcome.error)
                self.failures.append((job.name, outcome.error))

    def check(self) -> None:
        """Raises the error for the jobs that failed, if any did: of a single one, what it raised."""
        if len(self.failures) == 1:
            name, error = self.failures[0]
            if isinstance(error, RecombineError):
                raise RecombineError(f"{name}: {error.message}", place=error.place, hint=error.hint)
            error.add_note(f"The job that failed: {name}.")
            raise error
        if self.failures:
            message = f"{len(self.failures)} of {self._count} jobs failed; the others are done."
            for name, error in self.failures:
                kind = "" if isinstance(error, RecombineError | OSError) else f"{type(error).__name__}: "
                message += f"\n{name}: {kind}{error}"
            raise RecombineError(message) from ExceptionGroup("failed jobs", [error for _, error in self.failures])
