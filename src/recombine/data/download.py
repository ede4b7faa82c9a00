"""One file from the web into the user's cache, checked before anyone sees it."""

import hashlib
import http.client
import os
import urllib.request
from pathlib import Path

from recombine.data.limits import MAX_WHOLE, check_whole
from recombine.data.output import replacing
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
            content: bytes = response.read(MAX_WHOLE + 1)
            if response.length and len(content) <= MAX_WHOLE:
                raise http.client.IncompleteRead(content, response.length)
    except (OSError, http.client.HTTPException) as error:
        raise RecombineError(f"could not download {url} ({error}).", hint=hint) from error
    check_whole(len(content), place=url)
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise RecombineError(f"{url} is not the expected file: SHA-256 {found}, expected {sha256}.", hint=hint)
    try:
        with replacing(target, force=True) as file:
            file.write(content)
    except RecombineError as error:
        raise RecombineError(error.message, place=str(target), hint=hint) from error
