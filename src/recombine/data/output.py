"""Writes files whole or not at all."""

import os
import secrets
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from recombine.data.text import STANDARD
from recombine.errors import RecombineError


@contextmanager
def replacing(target: str | Path, *, force: bool = False) -> Iterator[BinaryIO]:
    """Gives a stream whose bytes become the target's content when the block ends well, and vanish when it does not.

    The bytes go to a hidden file beside the target, which takes the target's place in one step. A missing folder is
    created. Standard output and devices (``/dev/null``, pipes) have no content to protect: they are written directly.

    Args:
        target: A path, or ``-`` for standard output.
        force: Whether an existing file may be replaced.

    Raises:
        RecombineError: If the target is a folder, cannot be written, or exists and ``force`` is not set.
    """
    if str(target) == STANDARD:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(os.path.realpath(target))  # through a link: the file that it names is replaced, not the link
    try:
        check_free(target, force=force)
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                yield stream
        else:
            with _replacing(path) as stream:
                yield stream
    except OSError as error:
        raise _unwritable(error, target) from error


def check_free(target: str | Path, *, force: bool) -> None:
    """Raises the error for a file that may not or cannot be written: found before the work, it costs none."""
    if str(target) == STANDARD:
        return
    path = Path(os.path.realpath(target))
    if path.is_dir():
        raise RecombineError(
            "this is a folder; expected a file to write.", place=str(target), hint="Name a file in it."
        )
    if path.is_file() and not force:
        raise RecombineError(
            "the file exists already.", place=str(target), hint="Choose another name, or replace it: `force=True`."
        )
    if path.is_file() or not path.exists():  # what else there is, such as a device, is written where it is
        check_folder(path.parent, place=target)


def check_folder(folder: str | Path, *, place: str | Path) -> None:
    """Raises the error for a folder in which, once it and those above it are there, no file can be made.

    Args:
        folder: The folder, which need not be there yet.
        place: What cannot be written then.
    """
    path = Path(folder).absolute()
    try:
        above = next(each for each in (path, *path.parents) if each.exists())
        with tempfile.TemporaryFile(dir=above):  # permissions alone do not tell
            pass
    except OSError as error:
        raise _unwritable(error, place) from error


def _unwritable(error: OSError, place: str | Path) -> RecombineError:
    reason = error.strerror or str(error)
    return RecombineError(
        f"the file cannot be written: {reason}.", place=str(place), hint="Choose another place, or make room there."
    )


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        with temporary.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
