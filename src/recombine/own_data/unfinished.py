"""What an unfinished run left behind: the state of a training that goes on, or of another, which is kept aside."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path

from recombine.errors import RecombineError
from recombine.experiment import Say
from recombine.training.loop import History, Report
from recombine.training.stored import damaged, read_tensors

ASIDE = ".old-"
"""With a name of the run after it, ends that of another run's state, until the one that took its place is over."""


@contextmanager
def keeping(state: Path | None, report: Report | None, say: Say) -> Iterator[Report | None]:
    """Gives what training is to report to, so that the state of a run with other settings is neither used nor lost.

    Training goes on only from a state with its own settings and data, and replaces any other at its first save. Which
    of the two it is shows after the first epoch.

    Args:
        state: Where the state of training is saved; None: nowhere.
        report: Is told how training goes.
        say: Is told of a state of another run, and where that is until `forget`.
    """
    if state is None or not state.exists():
        yield report
        return
    aside = _kept_aside(state)
    goes_on = True

    def told(steps: int, total: int, history: History) -> None:
        nonlocal goes_on
        if goes_on and len(history.loss) == 1:  # a state is saved after an epoch at the earliest
            goes_on = False
            say(
                f"{state} is of an unfinished run with other settings or data, so training starts over. To go on with "
                f"that run, stop this one and rename {aside} to {state.name}; it is deleted when this one is done."
            )
        if report is not None:
            report(steps, total, history)

    try:
        yield told
    finally:
        if goes_on:
            aside.unlink(missing_ok=True)


def chosen(state: Path | None) -> Path | None:
    """Returns where it is kept which network was chosen, beside the state of its training."""
    return None if state is None else state.with_name(f"{state.name}.chosen")


def forget(state: Path | None) -> None:
    """Removes the state of training, and all that was kept beside it, now that the result is safe."""
    choice = chosen(state)
    if state is not None and choice is not None:
        choice.unlink(missing_ok=True)
        state.unlink(missing_ok=True)
        for aside in state.parent.glob(f"{escape(state.name)}{ASIDE}*"):
            aside.unlink(missing_ok=True)


def _kept_aside(state: Path) -> Path:
    """Gives the state a second name and returns it; what takes the place of the first leaves the second alone."""
    _, description = read_tensors(state)
    run = description.get("run")
    if not isinstance(run, str) or not run.isalnum():  # it becomes a part of a file's name
        raise damaged(state)
    aside = state.with_name(f"{state.name}{ASIDE}{run[:8]}")
    try:
        aside.unlink(missing_ok=True)  # an earlier state of the same run
        try:
            os.link(state, aside)
        except OSError:  # not all file systems have links
            shutil.copy2(state, aside)
    except OSError as error:
        raise RecombineError(f"the file cannot be written: {error.strerror or error}.", place=str(aside)) from error
    return aside
