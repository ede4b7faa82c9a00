"""Looks before writing: nothing is overwritten unasked, and nothing is computed in vain."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from recombine.cli.reading import STANDARD
from recombine.data import output
from recombine.data.locking import lock_of, locked
from recombine.errors import RecombineError

STATE = ".training"
"""Ends the name of the file that holds the state of training until it is over, beside what is being made."""


def check_free(targets: Iterable[str | Path], *, force: bool) -> None:
    """Raises an error if a file to be written exists already or cannot be written, before any work is done for it.

    Args:
        targets: Paths; ``-`` is always free.
        force: Whether files may be replaced.
    """
    for target in targets:
        output.check_free(target, force=force)


def check_model(folder: str, *, force: bool) -> None:
    """Raises an error if a model may not or cannot be written to a folder, before any work is done for it."""
    from recombine.training import folder as models

    models.check_free(Path(folder), force=force)
    output.check_folder(Path(folder).absolute().parent, place=folder)


def check_apart(targets: Iterable[str | Path], sources: Iterable[str | None]) -> None:
    """Raises an error if a file to be written is one that is read, which not even --force may replace."""
    read = {Path(source).resolve() for source in sources if source not in (None, STANDARD)}
    for target in targets:
        if str(target) != STANDARD and Path(target).resolve() in read:
            raise RecombineError(
                "this file is read, too.", place=str(target), hint="Choose another name for the output."
            )


def state_of_training(target: str | None) -> Path | None:
    """Returns where the state of training is kept while something is being made; None if that has no name."""
    return None if target in (None, STANDARD) else Path(f"{target}{STATE}")


def is_unfinished(target: str | None) -> bool:
    """Tells whether a run that was making this was killed: what it had written already may be written again."""
    state = state_of_training(target)
    return target is not None and state is not None and (state.exists() or lock_of(target).exists())


@contextmanager
def working_on(target: str | None, files: Iterable[str] = ()) -> Iterator[bool]:
    """Keeps other processes from making the same thing, and clears away what a killed one left of it.

    Args:
        target: The file or folder that is being made, if it has a name.
        files: What else comes of it.

    Yields:
        Whether a run that was making this was killed; see `is_unfinished`.

    Raises:
        RecombineError: If another process is making it.
    """
    state = state_of_training(target)
    special = target is not None and Path(target).exists() and not Path(target).is_file() and not Path(target).is_dir()
    if target is None or state is None or special:  # nobody's alone: a device, a pipe
        yield False
        return
    with locked(target) as was_killed:
        for path in (Path(target), state, *map(Path, files)):
            output.sweep(path)
        yield was_killed or state.exists()


def numbered(output: str, count: int) -> list[str]:
    """Returns the names of one file for each network: OUT.jsonl for one, else OUT.0.jsonl, OUT.1.jsonl and so on.

    Raises:
        RecombineError: If several are to go to standard output.
    """
    if count == 1:
        return [output]
    if output == STANDARD:
        raise RecombineError(f"{count} networks write {count} files.", hint="Name them with -o.")
    path = Path(output)
    return [str(path.with_name(f"{path.stem}.{number}{path.suffix}")) for number in range(count)]
