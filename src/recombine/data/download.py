"""One file from the web into the user's cache, checked before anyone sees it."""

import hashlib
import http.client
import os
import tempfile
import urllib.request
from pathlib import Path

from recombine.errors import RecombineError

_TIMEOUT = 30.0  # seconds without an answer


def cache_folder() -> Path:
    """Returns where downloads are kept: ``recombine`` in ``$XDG_CACHE_HOME``, else in ``~/.cache``."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification wants relative paths to be ignored.
    return (given if given.is_absolute() else Path.home() / ".cache") / "recombine"


def download(url: str, target: Path, *, sha256: str, hint: str) -> None:
    """Writes the file at an address to the target, all of it or nothing.

    Args:
        url: Where the file is.
        target: Where it goes; folders are made.
        sha256: What the file's bytes hash to, in hexadecimal.
        hint: What to do if it cannot be had, for the error.

    Raises:
        RecombineError: If there is no answer, the answer is an error or another file, or the target can't be written.
    """
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as response:
            content: bytes = response.read()
    except (OSError, http.client.HTTPException) as error:
        raise RecombineError(f"could not download {url} ({error}).", hint=hint) from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise RecombineError(f"{url} is not the expected file: SHA-256 {found}, expected {sha256}.", hint=hint)
    try:
        _write(content, target)
    except OSError as error:
        raise RecombineError(f"could not write the download ({error}).", place=str(target), hint=hint) from error


def _write(content: bytes, target: Path) -> None:
    """Writes beside the target, then renames, so that an interrupted run leaves no half file under its name."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f"{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
