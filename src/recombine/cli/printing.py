"""What commands say and where: data to standard output, talk and progress to standard error, the next command last."""

import json
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import typer

from recombine.cli.options import STANDARD
from recombine.execution.terminal import EVERY, describe, new_bar
from recombine.execution.terminal import duration as duration
from recombine.execution.terminal import percent as percent
from recombine.execution.terminal import progress as progress
from recombine.execution.terminal import say as say
from recombine.execution.terminal import working as working

if TYPE_CHECKING:
    from recombine.execution.executor import Executor
    from recombine.execution.progress import Report
    from recombine.neighborhoods import Effort
    from recombine.training.fitted import History


def say_next(*words: str | None) -> None:
    """Names the command to run next, the last thing that a command says, by its words after ``recombine``.

    None and standard input, which cannot be read again, show as a placeholder.
    """
    shown = " ".join("FILE" if word in (None, STANDARD) else shlex.quote(str(word)) for word in words)
    say(f"Next: recombine {shown}")


def counted(count: int, noun: str) -> str:
    """Returns how many there are of something, in the singular or the plural."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def print_json(document: Mapping[str, object] | Sequence[Mapping[str, object]]) -> None:
    """Prints one JSON document on standard output: a record, or a list of records."""
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2))


def print_table(
    rows: Iterable[Sequence[str]],
    *,
    header: Sequence[str] = (),
    justify: Literal["left", "right"] = "right",
    markdown: bool = False,
) -> None:
    """Prints rows in columns on standard output, or as a Markdown table, which needs a header.

    All columns but the first go to one side: numbers belong to the right.
    """
    if markdown:
        for cells in (header, ["---"] * len(header), *rows):
            typer.echo(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        return
    from rich.console import Console
    from rich.table import Table

    lines = [tuple(row) for row in rows]
    table = Table(box=None, show_header=bool(header), pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place in range(max(map(len, lines), default=len(header))):
        name = header[place] if header else ""
        table.add_column(name, justify="left" if place == 0 else justify, overflow="fold")
    for line in lines:
        table.add_row(*line)
    # Tags look like rich's markup, so that is off; a file or pipe has no width to fold at.
    width = None if sys.stdout.isatty() else 1_000
    Console(markup=False, highlight=False, emoji=False, width=width).print(table)


def superscript(number: int) -> str:
    """Returns a number, above 0, as a mark behind a token; of 0, nothing."""
    return str(number or "").translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


@contextmanager
def searching(what: str, examples: int, executor: "Executor | None" = None) -> Iterator["Effort"]:
    """Gives the effort of a search for neighborhoods: many examples are searched in parts, with progress.

    Unless there is an executor, as many processes search the parts as torch has threads.
    """
    from recombine.execution.executor import Processes
    from recombine.neighborhoods import ALONE, Effort, trial_step

    if trial_step(examples) == 1:
        with working(what):
            yield ALONE
        return
    import torch

    with progress(what) as report:
        yield Effort(executor=executor or Processes(torch.get_num_threads()), report=report)


class MatrixProgress:
    """Shows how far a whole table is, stage by stage, and how long all that is left will take.

    The time per unit of effort is that of all stages so far, or that of the current stage if it is slower: a second
    of searching for neighborhoods does not tell how long networks take.
    """

    def __init__(self) -> None:
        self.began = self._said = time.monotonic()
        self.done = self.left = 0.0
        self._pace = 0.0  # seconds a unit of the stage under way
        self.bar = new_bar()
        self._task = self.bar.add_task("", total=None, now="") if self.bar else None

    def expect(self, effort: float) -> None:
        """Sets the effort that is left."""
        self.left = effort

    @contextmanager
    def __call__(self, what: str, effort: float = 1.0, /) -> Iterator["Report"]:
        """Gives the function that a stage reports to."""
        began, before, left = time.monotonic(), self.done, self.left

        def report(done: int, total: int, now: "History | str") -> None:
            self.done, self.left = before + effort * done / total, max(0.0, left - effort * done / total)
            self._pace = (time.monotonic() - began) / max(self.done - before, 1e-9)
            text = now if isinstance(now, str) else describe(done, total, now)
            self._show(f"{what}: {100 * done // total} %, {text}")

        self._show(what)
        yield report
        self.done, self.left = before, left
        self.elsewhere(what, effort, time.monotonic() - began)

    def elsewhere(self, what: str, effort: float, seconds: float) -> None:
        """Counts a stage as finished, here or by another process."""
        self.done, self.left, self._pace = self.done + effort, max(0.0, self.left - effort), 0.0
        self.say(f"{what}: {duration(seconds)}; {self.remaining} in all.")

    @property
    def remaining(self) -> str:
        """The remaining time of the whole, in words."""
        if not self.done:
            return "time left unknown yet"
        pace = max(self._pace, (time.monotonic() - self.began) / self.done)
        return f"{duration(pace * self.left)} left"

    def say(self, text: str) -> None:
        """Says a line, above the bar if there is one."""
        self._said = time.monotonic()
        if self.bar:
            self.bar.console.print(text, markup=False)
        else:
            say(text)

    def _show(self, text: str) -> None:
        text = f"{text} ({self.remaining} in all)"
        if self.bar and self._task is not None:
            self.bar.update(self._task, completed=self.done, total=self.done + self.left, now=text, refresh=True)
        elif time.monotonic() - self._said >= EVERY:
            self.say(text)
