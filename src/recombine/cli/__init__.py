"""The command line: commands parse options, call the package, and print what comes of it."""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]

INTERRUPTED = 130
"""The exit code after the interrupt key."""
AGAIN = "interrupted; no file is left half written. The same command starts anew, or from what was saved."


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs a command and exits: 0 done, 1 failed, 2 usage or bad input, 130 interrupted.

    The arguments are the words after ``recombine``; None: those of the process.
    """
    # Sums in the same order whatever the number of threads, at about a fifth more time for products of matrices.
    os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")
    try:
        from recombine.cli.app import run  # takes long enough to be interrupted
    except KeyboardInterrupt:
        print(f"Error: {AGAIN}", file=sys.stderr)
        sys.exit(INTERRUPTED)
    sys.exit(run(arguments))
