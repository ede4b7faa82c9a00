"""Pieces of work in several processes that share what there is in memory."""

import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Sized
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from recombine.errors import RecombineError
from recombine.execution.executor import SERIAL, Executor, Item, Outcome, Result, attempt

AHEAD = 2
"""So many items for each worker are taken ahead from an iterator."""

_do: Callable[[Any], object]


class Processes:
    """Does pieces of work in processes that are forks: they see what is to be done and all that it refers to uncopied.

    Each computes with one thread. Where there is no safe fork (macOS, Windows), all is done in this process.

    Args:
        workers: How many processes at most; None: one for each processor that this process may use.
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

    def alone(self) -> Executor:
        """Returns who works in this process: it has all threads."""
        return SERIAL

    def outcomes(self, do: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Outcome[Result], None, None]:
        """Yields what comes of doing something with each item; see `Executor.outcomes`."""
        if isinstance(items, Sized):
            with self.started(do, list(items)) as outcomes:
                yield from outcomes
            return
        if self.here:
            yield from SERIAL.outcomes(do, items)
            return
        with self._pool(do, self.workers) as pool:
            pending: deque[Future[Outcome[Result]]] = deque()
            for item in items:
                pending.append(_submitted(pool, item))
                if len(pending) > AHEAD * self.workers:
                    yield _outcome(pending.popleft())
            while pending:
                yield _outcome(pending.popleft())

    @contextmanager
    def started(
        self, do: Callable[[Item], Result], items: Sequence[Item]
    ) -> Generator[Iterator[Outcome[Result]], None, None]:
        """Starts on all items, and gives what comes of them in their order, for whoever has something to do meanwhile.

        Whoever leaves sooner waits for those under way only. Where all is done in this process, each is begun when its
        outcome is asked for.
        """
        if self.here:
            yield SERIAL.outcomes(do, items)
            return
        with self._pool(do, min(self.workers, max(1, len(items)))) as pool:
            begun: deque[Future[Outcome[Result]]] = deque(_submitted(pool, item) for item in items)
            yield (_outcome(begun.popleft()) for _ in items)

    @contextmanager
    def _pool(self, do: Callable[[Item], Result], workers: int) -> Generator[ProcessPoolExecutor, None, None]:
        context = multiprocessing.get_context("fork")
        pool = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(do, os.getpid()))
        try:
            yield pool
        finally:  # once: a second call, such as at the end of `with pool`, would have what was cancelled done after all
            pool.shutdown(wait=True, cancel_futures=True)


def _submitted(pool: ProcessPoolExecutor, item: Item) -> "Future[Outcome[Result]]":
    try:
        with warnings.catch_warnings():
            # Later Pythons warn of forks beside threads, which may hold locks. These processes only compute.
            warnings.simplefilter("ignore", DeprecationWarning)
            return pool.submit(_attempt, item)
    except BrokenProcessPool as error:
        failed: Future[Outcome[Result]] = Future()
        failed.set_exception(error)
        return failed


def _outcome(future: "Future[Outcome[Result]]") -> Outcome[Result]:
    try:
        return future.result()
    except BrokenProcessPool:
        return Outcome(
            error=RecombineError(
                "a process was ended in the middle of its work, perhaps since memory ran out.",
                hint="Try again with less data, or where there is more memory.",
            )
        )
    except Exception as error:  # a result that cannot be sent
        return Outcome(error=error)


def _begin(do: Callable[[Any], object], parent: int) -> None:
    global _do
    _do = do
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is the parent's to explain
    if "torch" in sys.modules:  # whose threads did not come along, and one for each process is enough
        sys.modules["torch"].set_num_threads(1)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """Ends this process once its parent is gone, which may have been killed without a chance to say so."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _attempt(item: Any) -> Outcome[Any]:  # noqa: ANN401
    return attempt(_do, item)
