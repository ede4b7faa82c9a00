"""How far a whole table is, on standard error: a bar on a terminal, elsewhere a line now and then."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recombine.cli.printing import say
from recombine.cli.progress import describe, duration

if TYPE_CHECKING:
    from recombine.training.loop import History, Report

EVERY = 20.0
"""Seconds between two lines about one stage, where there is no terminal."""


class MatrixProgress:
    """Follows stages one after the other and tells the time that all of them together still need.

    Effort is what stages are told to be; how long a unit of it takes is seen from what has been done so far, or from
    the stage under way where that is slower: after a second of neighborhoods nobody knows how long networks take.
    """

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.done = self.left = 0.0
        self._pace = 0.0  # seconds a unit of the stage under way
        self._bar = _Bar() if sys.stderr.isatty() else None
        self._said = self.began

    def expect(self, effort: float) -> None:
        """Is told what is left, now that it is known better."""
        self.left = effort

    @contextmanager
    def __call__(self, what: str, effort: float) -> Iterator["Report"]:
        """Gives what the training of a stage is to report to."""
        began, before, left = time.perf_counter(), self.done, self.left

        def report(steps: int, total: int, history: "History") -> None:
            self._advance(before, left, effort * steps / total)
            self._pace = (time.perf_counter() - began) / max(self.done - before, 1e-9)
            self._show(f"{what}: {100 * steps // total} %, {describe(steps, total, history, judged='held out')}")

        self._show(what)
        yield report
        self._finish(what, before, left, effort, seconds=time.perf_counter() - began)

    def elsewhere(self, what: str, effort: float, seconds: float) -> None:
        """Is told of a stage that was done by another process, when it is over.

        Args:
            what: The stage.
            effort: How much effort it was.
            seconds: How long it took.
        """
        self._finish(what, self.done, self.left, effort, seconds=seconds)

    @property
    def remaining(self) -> str:
        """The remaining time of the whole, in words."""
        if not self.done:
            return "time left unknown yet"
        pace = max(self._pace, (time.perf_counter() - self.began) / self.done)
        return f"{duration(pace * self.left)} left"

    def say(self, text: str) -> None:
        """Says a line, above the bar if there is one."""
        self._said = time.perf_counter()
        if self._bar:
            self._bar.display.console.print(text, markup=False)
        else:
            say(text)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Shows the bar, if there is one, for the time of the block."""
        if self._bar is None:
            yield
            return
        with self._bar.display:
            yield

    def _finish(self, what: str, before: float, left: float, effort: float, *, seconds: float) -> None:
        self._advance(before, left, effort)
        self._pace = 0.0
        self.say(f"{what}: {duration(seconds)}; {self.remaining} in all.")

    def _advance(self, before: float, left: float, effort: float) -> None:
        self.done, self.left = before + effort, max(0.0, left - effort)

    def _show(self, text: str) -> None:
        if self._bar:
            self._bar.move(self.done, self.done + self.left, f"{text} ({self.remaining} in all)")
        elif time.perf_counter() - self._said >= EVERY:
            self.say(f"{text} ({self.remaining} in all)")


class _Bar:
    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        columns = (TaskProgressColumn(), BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}"))
        self.display = Progress(*columns, console=Console(stderr=True, highlight=False))
        self.task = self.display.add_task("", total=None)

    def move(self, done: float, total: float, text: str) -> None:
        self.display.update(self.task, completed=done, total=total, description=text)
