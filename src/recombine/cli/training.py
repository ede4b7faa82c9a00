"""What all commands with networks have in common: progress, time, threads, memory, interruptions."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.cli.printing import counted, progress, say, searching
from recombine.errors import RecombineError

if TYPE_CHECKING:
    from recombine.own_data.settings import Display
    from recombine.training.fitted import History


def on_terminal(*, judged: str = "held out") -> "Display":
    """Returns what shows on standard error how work goes; `judged` is as for `describe`."""
    from recombine.own_data.settings import Display

    return Display(say=say, progress=partial(progress, judged=judged), searching=searching)


class Interrupted(Exception):
    """The interrupt key, with a sentence on how to go on."""


@contextmanager
def resumable(*states: Path | None) -> Iterator[None]:
    """Turns the interrupt key during work, whose state is saved here, into a sentence that says how to go on."""
    from recombine.own_data.settings import choice_beside

    def saved() -> dict[Path, int]:
        beside = [path for state in filter(None, states) for path in (state, choice_beside(state))]
        return {path: path.stat().st_mtime_ns for path in beside if path.exists()}

    before = saved()
    try:
        yield
    except KeyboardInterrupt:
        new = [state for state, when in saved().items() if before.get(state) != when]
        old = "starts where this one did: nothing was saved since" if before else "starts anew: nothing was saved yet"
        raise Interrupted(f"interrupted; the same command {f'goes on from {new[0]}' if new else old}.") from None


@contextmanager
def enough_memory() -> Iterator[None]:
    """Turns a lack of memory, on a GPU or off it, into a sentence that names the settings to lower."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        import torch

        # A CPU's allocator has no exception of its own, only this text.
        text = "can't allocate memory"
        if not isinstance(error, MemoryError | torch.OutOfMemoryError) and text not in str(error):
            raise
        raise RecombineError(
            "the memory does not suffice.",
            hint="Lower --seeds or take --size small; if a GPU is too small, --device cpu.",
        ) from error


def use_threads(count: int | None) -> None:
    """Sets how many threads a CPU uses; None leaves it to torch, whose threads stall on a busy machine."""
    import torch

    if count is not None:
        torch.set_num_threads(count)
    elif torch.get_num_threads() > 1 and hasattr(os, "getloadavg") and (load := os.getloadavg()[0]) >= 1:
        say(f"The machine is busy (load {load:.1f} on {os.cpu_count()} cores). If this is slow, try --threads 1.")


def outcome(history: "History") -> str:
    """Returns how training ended, for people: in which time, and whether the bound on time ended it."""
    late, epochs = " stopped by --max-time (more may help)", f" {counted(len(history.loss), 'epoch')}"
    return f"Training:{late if history.stopped_early else epochs}, {history.seconds:.0f} s."
