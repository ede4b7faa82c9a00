"""Numbered pieces of work in several processes that share what there is in memory, with the results in order."""

import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar, cast

from recombine.errors import RecombineError

_Result = TypeVar("_Result")

_job: Callable[[int], object]


def in_order(job: Callable[[int], _Result], count: int, *, workers: int) -> Iterator[_Result]:
    """Yields job(0), job(1), …, job(count - 1).

    The processes are forks, which see the job and all that it refers to without a copy. The first piece is done in this
    process before, so that tables which the job makes when they are first needed are made once. Where there is no safe
    fork (macOS, Windows), all is done in this process.

    Args:
        job: What to do; a function of the number alone.
        count: How many pieces there are.
        workers: How many processes at most.

    Raises:
        RecombineError: If a process is ended from outside.
    """
    alone = workers == 1 or count <= 2 or sys.platform != "linux"
    yield from map(job, range(count if alone else 1))
    if alone:
        return
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(min(workers, count - 1), context, initializer=_begin, initargs=(job, os.getpid())) as pool:
        try:
            with warnings.catch_warnings():
                # Later Pythons warn of forks beside threads, which may hold locks. These processes only compute.
                warnings.simplefilter("ignore", DeprecationWarning)
                pending = [pool.submit(_do, number) for number in range(1, count)]
            while pending:
                yield cast(_Result, pending.pop(0).result())
        except BrokenProcessPool:
            raise RecombineError(
                "a process was ended in the middle of its work, perhaps since memory ran out.",
                hint="Try again with less data, or where there is more memory.",
            ) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _begin(job: Callable[[int], object], parent: int) -> None:
    global _job
    _job = job
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is the parent's to explain
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """Ends this process once its parent is gone, which may have been killed without a chance to say so."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _do(number: int) -> object:
    return _job(number)
