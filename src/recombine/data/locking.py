"""Keeps two processes from making one thing: a lock file, which the system frees when its process ends in any way."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from recombine.errors import RecombineError

try:
    import fcntl
except ImportError:  # Windows; there, files still appear whole or not at all
    fcntl = None  # type: ignore[assignment]

GRACE = 3.0
"""Seconds until a lock counts as held: what a killed process had started may outlive it for a moment."""

_PAUSE = 0.1


@contextmanager
def locked(target: str | Path, *, say: Callable[[str], None] | None = None) -> Iterator[bool]:
    """Holds the lock of a file or folder that is being made, for the time of the block.

    The lock file names the process that holds it and its machine; see `lock_of`. File systems without locks are left
    without.

    Args:
        target: A path.
        say: Is told who holds the lock, if another process does, which is then waited for; None: that is an error.

    Yields:
        Whether the one who held the lock before was killed: its lock file was left.

    Raises:
        RecombineError: If another process holds the lock, or the lock file cannot be written.
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
    was_killed = os.fstat(descriptor).st_size > 0
    try:
        _sign(descriptor, lock)
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
    """Returns the open lock file once it is ours."""
    patience = time.monotonic() + GRACE
    told = False
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        if _claim(descriptor):
            if _is_at(lock, descriptor):
                return descriptor
        elif time.monotonic() > patience:
            holder = os.read(descriptor, 300).decode("utf-8", "replace") or "another process"
            if say is None:
                os.close(descriptor)
                raise RecombineError(
                    f"{holder} is working on this.",
                    place=str(target),
                    hint="Wait until it has ended, or choose another name.",
                )
            if not told:
                say(f"{target}: {holder} is working on this; waiting until it has ended.")
                told = True
        os.close(descriptor)
        time.sleep(_PAUSE)


def _sign(descriptor: int, lock: Path) -> None:
    """Writes into the lock file whose it is."""
    try:
        os.truncate(descriptor, os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode()))
    except OSError as error:
        raise _unwritable(error, lock) from error


def _unwritable(error: OSError, lock: Path) -> RecombineError:
    return RecombineError(f"the file cannot be written: {error.strerror or error}.", place=str(lock))


def _is_at(path: Path, descriptor: int) -> bool:
    """Tells whether an open file still has its name: the one who held it before may have removed it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _claim(descriptor: int) -> bool:
    """Locks an open file until it is closed, and tells whether that was possible, without waiting."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system that has no locks
        return True
    return True
