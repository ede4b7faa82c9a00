"""Looks before writing: nothing is overwritten unasked, and nothing is computed in vain."""

from collections.abc import Iterable
from pathlib import Path

from recombine.cli.reading import STANDARD
from recombine.errors import RecombineError


def check_free(targets: Iterable[str | Path], *, force: bool) -> None:
    """Raises an error if a file to be written exists already, before any work is done for it.

    Args:
        targets: Paths; ``-`` is always free.
        force: Whether files may be replaced.
    """
    for target in targets:
        if str(target) != STANDARD and Path(target).is_file() and not force:
            raise RecombineError(
                "the file exists already.", place=str(target), hint="Choose another name, or replace it with --force."
            )
