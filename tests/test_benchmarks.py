"""Benchmarks that are run by hand, for a step or two; mypy reads all of them."""

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
