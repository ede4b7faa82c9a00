"""Where a figure came from: command, commit, machine, versions, date."""

import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from recombine import __version__


def provenance(command: Sequence[str], device: str) -> dict[str, str]:
    """Returns what a record says of its origin.

    Args:
        command: The words that were typed.
        device: Where networks were trained, e.g. ``"cuda"``.
    """
    import torch

    on_gpu = device.startswith("cuda")
    # With a cluster, the GPU may be another machine's.
    gpu = torch.cuda.get_device_name() if on_gpu and torch.cuda.is_available() else device
    return {
        "command": shlex.join(command),
        "commit": commit(),
        "device": gpu if on_gpu else platform.processor() or platform.machine(),
        "recombine": __version__,
        "torch": torch.__version__,
        "python": sys.version.split()[0],
        "date": today(),
    }


@cache
def commit() -> str:
    """Returns the commit of this code, if it lies in a repository of its own, or what RECOMBINE_COMMIT says."""
    told = os.environ.get("RECOMBINE_COMMIT")
    if told:
        return told
    # An installed copy may lie within a repository of its user's, whose commit says nothing of it.
    own = _git("ls-files", "--error-unmatch", Path(__file__).name)
    return _git("rev-parse", "HEAD") or "unknown" if own else "unknown"


def _git(*words: str) -> str:
    """Returns what git says in the folder of this file; nothing if it fails or is not there."""
    command = ["git", "-C", str(Path(__file__).parent), *words]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def today() -> str:
    """Returns the date, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d")
