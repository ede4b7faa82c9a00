"""Checksums within JSON documents, so that what was altered since it was written is noticed."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

DIGEST = "digest"
"""Names the checksum of all else in a document."""


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a document, as it will be read again, with its checksum."""
    content = json.loads(json.dumps(document))  # in which a key that is a number has become a string
    return {**content, DIGEST: _digest(content)}


def unseal(document: dict[str, Any]) -> bool:
    """Takes the checksum out of a document and tells whether it is right; one that has none passes."""
    digest = document.pop(DIGEST, None)
    return digest is None or digest == _digest(document)


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
