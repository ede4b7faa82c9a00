"""Shows on standard error how far work is: a bar on a terminal, elsewhere lines now and then."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from recombine.execution.progress import Progress, Report, no_progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

VOICE = {"quiet": False, "verbose": False}
"""How much a command is to say: only results, warnings and errors; also why."""

LINES = 10
"""How many lines training says after the first where there is no terminal."""

SOON, EVERY = 5.0, 30.0
"""Seconds before the first line about a stage, and between two, where there is no terminal."""


def say(text: str) -> None:
    """Talks to the user, on standard error; where talk is not wanted, only warns."""
    if not VOICE["quiet"] or text.startswith("Warning"):
        print(text, file=sys.stderr, flush=True)


def explain(choices: object) -> None:
    """Tells what was chosen and why, where that was asked for."""
    if VOICE["verbose"]:
        say(str(choices))


def by_default() -> Progress:
    """Returns what shows progress if nobody says how: a bar for people at a terminal, lines for those at a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    at_notebook = type(shell).__name__ == "ZMQInteractiveShell"
    return partial(progress, transient=True) if at_notebook or sys.stderr.isatty() else no_progress


@contextmanager
def working(on: str) -> Iterator[None]:
    """Shows on a terminal that work is under way; elsewhere says nothing."""
    bar = new_bar(transient=True)
    with bar or nullcontext():
        if bar:
            bar.add_task(on, total=None, now="")
        yield


@contextmanager
def progress(
    what: str, effort: float = 1.0, /, *, judged: str = "held out", transient: bool = False
) -> Iterator[Report]:
    """Shows how far a stage is: a bar on a terminal; elsewhere lines, for training the first and one for each tenth.

    The effort is ignored, since stages are shown one by one. For `judged` see `describe`; a transient bar goes away.
    """
    bar = new_bar(transient=transient)
    task = bar.add_task(what, total=None, now="") if bar else None
    tenths, due = -1, time.monotonic() + SOON

    def report(done: int, total: int, now: Any) -> None:  # noqa: ANN401
        nonlocal tenths, due
        text = now if isinstance(now, str) else describe(done, total, now, judged=judged)
        if bar and task is not None:
            bar.update(task, completed=done, total=total, now=text, refresh=True)
        elif isinstance(now, str) and time.monotonic() >= due:
            due = time.monotonic() + EVERY
            say(f"{what}: {text}")
        elif not isinstance(now, str) and LINES * done // total > tenths:
            tenths = LINES * done // total
            say(f"{what}: {100 * done // total} %, {text}")

    with bar or nullcontext():
        yield report


def describe(steps: int, total: int, history: Any, *, judged: str = "held out") -> str:  # noqa: ANN401
    """Returns loss, evaluation and remaining time of training, by its `History`; of a population, the means.

    What the evaluation after each epoch tells is `judged`, e.g. ``"held-out accuracy"``.
    """
    return f"{history.latest(judged)}, {duration(history.seconds * (total - steps) / steps)} left"


def duration(seconds: float) -> str:
    """Returns a time for people."""
    whole = round(seconds)
    return f"{whole} s" if whole < 100 else f"{round(whole / 60)} min"


def percent(share: float) -> str:
    """Returns a share for people: 0.978 is ``97.8 %``."""
    return f"{100 * share:.1f} %"


def new_bar(*, transient: bool = False) -> "Bar | None":
    """Returns a bar if there is a terminal; no thread redraws it, since processes may be forked meanwhile."""
    if VOICE["quiet"] or not sys.stderr.isatty():
        return None
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(20), TaskProgressColumn(), TimeElapsedColumn())
    now, console = TextColumn("{task.fields[now]}"), Console(stderr=True, highlight=False)
    return Progress(*columns, now, console=console, auto_refresh=False, transient=transient)
