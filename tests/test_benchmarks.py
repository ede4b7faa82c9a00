"""Programs that are run by hand, for a step or two; mypy reads all of them."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def test_training_prints_a_line_for_each_network() -> None:
    command = [sys.executable, BENCHMARKS / "training.py", "--small", "--steps", "1", "--replicas", "2"]
    done = subprocess.run([*command, "--networks", "word-form"], capture_output=True, text=True, check=True)
    lines = [line.split()[:3] for line in done.stdout.splitlines()]
    assert ["word-form", "generator", "2"] in lines
    assert ["word-form", "predictor", "2"] in lines


def test_a_killed_command_given_again_makes_what_an_undisturbed_one_makes() -> None:
    """A few moments here; ``make killing`` tries fifty, and comparisons and the paper's tables, too."""
    command = [sys.executable, BENCHMARKS / "killing.py", "--moments", "2", "--only", "augment,train,export"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("2 moments, ") == 3
    assert " 0 kills" not in done.stdout
