"""Where a figure came from: command, commit, machine, versions, date."""

import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache

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
    """Returns git's commit, or what RECOMBINE_COMMIT says where git is not at hand."""
    told = os.environ.get("RECOMBINE_COMMIT")
    if told:
        return told
    try:
        found = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return found.stdout.strip() or "unknown"


def today() -> str:
    """Returns the date, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d")
