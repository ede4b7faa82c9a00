"""Checksums within JSON documents, so that what was altered since it was written is noticed."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from recombine.errors import RecombineError

DIGEST = "digest"
"""Names the checksum of all else in a document."""


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a document, as it will be read again, with its checksum."""
    content = json.loads(json.dumps(document))  # in which a key that is a number has become a string
    return {**content, DIGEST: _digest(content)}


def unseal(document: dict[str, Any], *, place: str, hint: str) -> None:
    """Takes the checksum out of a document, which must be that of the rest.

    Args:
        document: What `sealed` returned, as it was read.
        place: The file it is from.
        hint: What to do if it is not as it was written.

    Raises:
        RecombineError: If there is no checksum, or it is that of something else.
    """
    if DIGEST not in document:
        raise RecombineError(f"this has no checksum, which should be under {DIGEST!r}.", place=place, hint=hint)
    try:
        intact = document.pop(DIGEST) == _digest(document)
    except RecursionError:  # some depths can be read, but not have been written
        intact = False
    if not intact:
        raise RecombineError("this is not as it was written.", place=place, hint=hint)


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
