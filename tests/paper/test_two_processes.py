"""Two processes on one table: one waits for the other, and finds its stages."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_two_processes_on_one_cache_do_the_work_once(tmp_path: Path) -> None:
    words = ["paper", "table1", "--tiny", "--rows", "baseline", "--splits", "jump", "--seeds", "2", "--device", "cpu"]
    command = [sys.executable, "-m", "recombine", *words, "-o", str(tmp_path)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert said[0][0] == said[1][0]  # the table
    trained = ["jump: 2 predictors" in err for _, err in said]
    assert sorted(trained) == [False, True]
    stages = sorted(path.name.split("-")[0] for path in (tmp_path / ".cache").iterdir())
    assert stages == ["predictions", "predictions"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".cache", "jump-baseline.json"]
    assert len(json.loads((tmp_path / "jump-baseline.json").read_text("utf-8"))["exact_match"]) == 2
