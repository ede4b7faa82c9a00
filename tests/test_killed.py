"""Commands that are killed, then given again, make what undisturbed ones make, byte for byte.

A few moments here; ``make killing`` tries fifty, and comparisons and the paper's tables, too.
"""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "killing.py"


def test_a_killed_command_given_again_makes_the_same() -> None:
    command = [sys.executable, str(SCRIPT), "--moments", "2", "--only", "augment,train,export"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("2 moments, ") == 3
    assert " 0 kills" not in done.stdout
