"""What commands say and where: data to standard output, talk and progress to standard error, the next command last."""

import json
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Literal

import typer

from recombine.cli.options import STANDARD

if TYPE_CHECKING:
    from recombine.augmentation.sampler import Drawn
    from recombine.execution.executor import Executor
    from recombine.neighborhoods import Effort
    from recombine.training.loop import History, Report

LINES = 10
"""How many lines training says at most where there is no terminal."""

EVERY = 30.0
"""Seconds between two lines about one stage, where there is no terminal."""


def say(text: str) -> None:
    """Talks to the user, on standard error."""
    typer.echo(text, err=True)


def say_next(*words: str | None) -> None:
    """Names the command to run next, the last thing that a command says.

    Args:
        words: The words of the command after ``recombine``; None and standard input, which cannot be read again, show
            as a placeholder.
    """
    shown = " ".join("FILE" if word in (None, STANDARD) else shlex.quote(str(word)) for word in words)
    say(f"Next: recombine {shown}")


def counted(count: int, noun: str) -> str:
    """Returns how many there are of something, in the singular or the plural."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def print_json(document: Mapping[str, object]) -> None:
    """Prints one JSON document on standard output."""
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2))


def print_json_list(items: Sequence[Mapping[str, object]]) -> None:
    """Prints a JSON list of records on standard output."""
    typer.echo(json.dumps(list(items), ensure_ascii=False, indent=2))


def print_line(text: str = "") -> None:
    """Prints a line of the result on standard output."""
    typer.echo(text)


def print_table(
    rows: Iterable[Sequence[str]], *, header: Sequence[str] = (), justify: Literal["left", "right"] = "right"
) -> None:
    """Prints rows in columns on standard output.

    Args:
        rows: The cells.
        header: The names of the columns, if they need any.
        justify: To which side all columns but the first go; numbers belong to the right.
    """
    from rich.console import Console
    from rich.table import Table

    cells = [tuple(row) for row in rows]
    table = Table(box=None, show_header=bool(header), pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place in range(max(map(len, cells), default=len(header))):
        name = header[place] if header else ""
        table.add_column(name, justify="left" if place == 0 else justify, overflow="fold")
    for row in cells:
        table.add_row(*row)
    # Tags look like rich's markup, so that is off; a file or pipe has no width to fold at.
    width = None if sys.stdout.isatty() else 1_000
    Console(markup=False, highlight=False, emoji=False, width=width).print(table)


def print_markdown(rows: Iterable[Sequence[str]], *, header: Sequence[str]) -> None:
    """Prints a Markdown table on standard output; arguments as for ``print_table``."""
    for cells in (header, ["---"] * len(header), *rows):
        typer.echo(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")


@contextmanager
def working(on: str) -> Iterator[None]:
    """Shows on a terminal that work is under way; elsewhere says nothing."""
    from rich.console import Console

    with Console(stderr=True, markup=False).status(f"{on} …"):
        yield


def percent(share: float) -> str:
    """Returns a share for people: 0.978 is ``97.8 %``."""
    return f"{100 * share:.1f} %"


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


class MatrixProgress:
    """Follows stages one after the other and tells the time that all of them together still need.

    Effort is what stages are told to be; how long a unit of it takes is seen from what has been done so far, or from
    the stage under way where that is slower: after a second of neighborhoods nobody knows how long networks take.
    """

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.done = self.left = 0.0
        self._pace = 0.0  # seconds a unit of the stage under way
        self._bar = _MatrixBar() if sys.stderr.isatty() else None
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


class _MatrixBar:
    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        columns = (TaskProgressColumn(), BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}"))
        self.display = Progress(*columns, console=Console(stderr=True, highlight=False))
        self.task = self.display.add_task("", total=None)

    def move(self, done: float, total: float, text: str) -> None:
        self.display.update(self.task, completed=done, total=total, description=text)
