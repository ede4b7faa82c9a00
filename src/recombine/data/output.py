"""Files on the disk: read whole within bounds, written whole or not at all, and locked while they are being made."""

import errno
import os
import secrets
import shutil
import socket
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import BinaryIO

from recombine.data.text import STANDARD
from recombine.errors import RecombineError

try:
    import fcntl
except ImportError:  # Windows; there, files still appear whole or not at all
    fcntl = None  # type: ignore[assignment]

MAX_WHOLE = 1 << 31
"""The largest file that is read whole, in bytes: models, neighborhoods, downloads. Examples are read line by line."""

GRACE = 3.0
"""Seconds until a lock counts as held: what a killed process had started may outlive it for a moment."""

_KEPT = 60  # characters of a name that a temporary one begins with: names may have 255 bytes
_RANDOM = "[0-9a-f]" * 16
_PAUSE = 0.1


def read_whole(path: Path | Traversable) -> bytes:
    """Returns the bytes of a file; one that is larger than ``MAX_WHOLE`` is an error."""
    if isinstance(path, Path):
        check_regular(path)
    with path.open("rb") as stream:
        content = stream.read(MAX_WHOLE + 1)
    if len(content) > MAX_WHOLE:
        raise RecombineError(
            f"the file takes more than {MAX_WHOLE:,} bytes, the most that is read.",
            place=str(path),
            hint="Check that it is the file that you meant.",
        )
    return content


def check_regular(path: Path) -> None:
    """Raises the OSError for a path that is no file, or a pipe or device that may never end."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "This is no regular file", str(path))


@contextmanager
def replacing(target: str | Path, *, force: bool = False) -> Iterator[BinaryIO]:
    """Gives a stream whose bytes become the target's content when the block ends well, and vanish when it does not.

    The bytes go to a hidden file beside the target, which takes the target's place in one step. A missing folder is
    created. Standard output (``-``) and devices (``/dev/null``, pipes) have no content to protect: they are written
    directly. An existing file is replaced only with `force`.
    """
    if str(target) == STANDARD:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(os.path.realpath(target))  # through a link: the file that it names is replaced, not the link
    temporary = _beside(path)
    try:
        check_free(target, force=force)
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                yield stream
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
        _sync(path.parent)
    except OSError as error:
        raise _unwritable(error, target) from error
    finally:
        with suppress(OSError):
            _remove(temporary)


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


def check_folder(folder: str | Path, *, place: str | Path, what: str = "file") -> None:
    """Raises the error for a place, of a file or folder, if nothing can be made in a folder, once that is there."""
    path = Path(folder).absolute()
    try:
        above = next(each for each in (path, *path.parents) if each.exists())
        with tempfile.TemporaryFile(dir=above):  # permissions alone do not tell
            pass
    except OSError as error:
        raise _unwritable(error, place, what) from error


def _unwritable(error: OSError, place: str | Path, what: str = "file") -> RecombineError:
    return RecombineError(
        f"the {what} cannot be written: {error.strerror or error}.",
        place=str(place),
        hint="Choose another place, or make room there and give the same command again.",
    )


@contextmanager
def replacing_folder(target: Path) -> Iterator[Path]:
    """Gives a folder to put files into, which takes the target's place when the block ends well, and else vanishes.

    A folder that is there already makes way only once the new one is whole, and goes only once that is in its place.
    """
    temporary, old = _beside(target), _beside(target)
    try:
        temporary.mkdir(parents=True)
        yield temporary
        for path in (*temporary.rglob("*"), temporary):
            _sync(path)
        if target.exists():
            target.rename(old)
        temporary.rename(target)
        _sync(target.parent)
        _remove(old)
    except OSError as error:
        raise _unwritable(error, target, "folder") from error
    finally:
        with suppress(OSError):
            _remove(temporary)


@contextmanager
def all_or_none(targets: Iterable[str | Path]) -> Iterator[None]:
    """Removes those of the files that were not there before if a block does not end well: it can be tried again."""
    new = [path for path in map(Path, targets) if not path.exists()]
    try:
        yield
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        raise


def sweep(target: Path, *, within: bool = False) -> None:
    """Removes what killed processes left beside a file or folder, or `within` one, for its only writer now."""
    folder, name = (target, "*") if within else (target.parent, f"{escape(target.name[:_KEPT])}.")
    for left in folder.glob(f".{name}{_RANDOM}.tmp"):
        _remove(left)


def _beside(target: Path) -> Path:
    """Returns a free name beside a file or folder, by which `sweep` knows whose it is."""
    return target.with_name(f".{target.name[:_KEPT]}.{secrets.token_hex(8)}.tmp")


def _sync(path: Path) -> None:
    """Waits until a file, or what a folder lists, is on the disk."""
    if os.name == "nt" and path.is_dir():  # cannot be opened there
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def locked(target: str | Path, *, say: Callable[[str], None] | None = None) -> Iterator[bool]:
    """Holds the lock of a file or folder that is being made, for the time of the block.

    The lock file names the process that holds it and its machine; see `lock_of`. What killed processes left beside the
    target is swept. File systems without locks are left without. If another process holds the lock, `say` is told and
    that is waited for; without it, that is an error.

    Yields:
        Whether the one who held the lock before was killed: its lock file was left.
    """
    if fcntl is None:
        yield False
        return
    lock = lock_of(target)
    made = [folder for folder in lock.parents if not folder.exists()]
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _acquired(lock, target, say)
    except OSError as error:
        raise _unwritable(error, lock) from error
    try:
        was_killed = os.fstat(descriptor).st_size > 0
        try:
            os.truncate(descriptor, os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode()))
        except OSError as error:
            raise _unwritable(error, lock) from error
        sweep(Path(target))
        yield was_killed
    finally:
        lock.unlink(missing_ok=True)  # while it is held, so that nobody else's is removed
        os.close(descriptor)
        with suppress(OSError):  # folders into which nothing came after all
            for folder in made:
                folder.rmdir()


def lock_of(target: str | Path) -> Path:
    """Returns the lock file of a file or folder: the hidden ``.NAME.lock`` beside it."""
    path = Path(os.path.realpath(target))
    return path.with_name(f".{path.name}.lock")


def _acquired(lock: Path, target: str | Path, say: Callable[[str], None] | None) -> int:
    """Returns the open lock file once it is ours, until it is closed."""
    patience = time.monotonic() + GRACE
    told = False
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > patience and not told:
                holder = os.read(descriptor, 300).decode("utf-8", "replace") or "another process"
                if say is None:
                    os.close(descriptor)
                    hint = "Wait until it has ended, or choose another name."
                    raise RecombineError(f"{holder} is working on this.", place=str(target), hint=hint) from None
                say(f"{target}: {holder} is working on this; waiting until it has ended.")
                told = True
        except OSError:  # a file system that has no locks
            return descriptor
        else:
            with suppress(FileNotFoundError):  # the one who held it before may have removed it
                if os.path.samestat(lock.stat(), os.fstat(descriptor)):
                    return descriptor
        os.close(descriptor)
        time.sleep(_PAUSE)
