"""How training goes, on standard error: a bar on a terminal, elsewhere a line for every tenth of the way."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from recombine.cli.printing import say, working

if TYPE_CHECKING:
    from recombine.augmentation.sampler import Drawn
    from recombine.execution.executor import Executor
    from recombine.neighborhoods import Effort
    from recombine.training.loop import History, Report

LINES = 10
"""How many lines training says at most where there is no terminal."""

EVERY = 30.0
"""After so many seconds drawing says another line where there is no terminal."""


@contextmanager
def progress(what: str, *, judged: str, max_time: float | None = None) -> Iterator["Report"]:
    """Gives what training is to report to.

    Args:
        what: What is under way, e.g. ``"Training the predictor"``.
        judged: What the evaluation after each epoch tells, e.g. ``"held-out accuracy"``.
        max_time: The bound on training in seconds, if there is one.
    """
    shown = _bar if sys.stderr.isatty() else _lines
    with shown(what) as show:

        def report(steps: int, total: int, history: "History") -> None:
            show(steps, total, describe(steps, total, history, judged=judged, max_time=max_time))

        yield report


@contextmanager
def drawing(what: str) -> Iterator["Drawn"]:
    """Gives what the drawing of samples is to report to: a bar on a terminal, elsewhere a line now and then."""
    shown = _bar if sys.stderr.isatty() else _seldom
    with shown(what) as show:
        yield lambda done, total: show(done, total, f"{done:,} of {total:,}")


@contextmanager
def searching(what: str, examples: int, executor: "Executor | None" = None) -> Iterator["Effort"]:
    """Gives how neighborhoods are searched for: of many examples, in parts.

    Args:
        what: What is under way.
        examples: How many different ones there are.
        executor: Who searches the parts; None: as many processes as torch has threads.
    """
    from recombine.execution.processes import Processes
    from recombine.neighborhoods import ALONE, Effort, trial_step

    if trial_step(examples) == 1:
        with working(what):
            yield ALONE
        return
    import torch

    # A thread that redraws would be in the way of forks.
    shown = partial(_bar, redrawn=False) if sys.stderr.isatty() else _lines
    with shown(what) as show:
        yield Effort(
            executor=executor or Processes(torch.get_num_threads()),
            report=lambda done, parts: show(done, parts, f"{done} of {parts} parts"),
        )


def describe(steps: int, total: int, history: "History", *, judged: str, max_time: float | None = None) -> str:
    """Returns loss, evaluation and remaining time; of a population, the means.

    Args:
        steps: The steps that are done.
        total: The steps that there are.
        history: How it went so far.
        judged: What the evaluation tells.
        max_time: The bound on training in seconds, if there is one.
    """
    parts = [f"loss {fmean(history.loss[-1]):.3f}"]
    if history.evaluation:
        parts.append(f"{judged} {fmean(history.evaluation[-1]):.3f}")
    left = history.seconds * (total - steps) / steps
    if max_time is not None:
        left = min(left, max(0.0, max_time - history.seconds))
    return ", ".join([*parts, f"{duration(left)} left"])


def duration(seconds: float) -> str:
    """Returns a time for people."""
    whole = round(seconds)
    return f"{whole} s" if whole < 100 else f"{round(whole / 60)} min"


class _Bar:
    """Moves a bar along."""

    def __init__(self, what: str, *, redrawn: bool = True) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[now]}"),
        )
        console = Console(stderr=True, highlight=False)
        self.display = Progress(*columns, console=console, auto_refresh=redrawn)
        self.task = self.display.add_task(what, total=None, now="")

    def __call__(self, steps: int, total: int, now: str) -> None:
        self.display.update(self.task, completed=steps, total=total, now=now, refresh=True)


class _Lines:
    """Says a line whenever another tenth is done."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.said = 0

    def __call__(self, steps: int, total: int, now: str) -> None:
        tenth = LINES * steps // total
        if tenth > self.said:
            self.said = tenth
            say(f"{self.what}: {100 * steps // total} %, {now}")


class _Seldom:
    """Says a line whenever some time has gone by: the last of the samples may take longer than all others."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.said = time.monotonic()

    def __call__(self, done: int, total: int, now: str) -> None:
        if time.monotonic() - self.said >= EVERY:
            self.said = time.monotonic()
            say(f"{self.what}: {now}")


@contextmanager
def _bar(what: str, *, redrawn: bool = True) -> Iterator[_Bar]:
    bar = _Bar(what, redrawn=redrawn)
    with bar.display:
        yield bar


@contextmanager
def _lines(what: str) -> Iterator[_Lines]:
    yield _Lines(what)


@contextmanager
def _seldom(what: str) -> Iterator[_Seldom]:
    yield _Seldom(what)
