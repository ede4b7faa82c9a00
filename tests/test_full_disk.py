"""Where nothing more can be written, a command says so in one sentence, and what was finished stays as it was."""

import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
import torch
import tiny_networks
from recombine.cli import main
from recombine.training import presets, resume

torch.set_num_threads(1)
presets.SMALL_DATA_PREDICTOR = tiny_networks.PREDICTOR
resume.EVERY = 0.0
main(sys.argv[1:])
"""
TRAIN = "walk\tWALK\nrun\tRUN\nwalk twice\tWALK WALK\nrun twice\tRUN RUN\njump\tJUMP\n"
LARGEST = 20_000
"""Bytes that a file may have: enough for samples, too few for the state of training."""


def run(words: list[object], *, limited: bool = True) -> "subprocess.CompletedProcess[str]":
    """Runs a command; one that is limited cannot write large files, as if the disk were full."""
    command = [sys.executable, "-c", PROGRAM.format(tests=str(Path(__file__).parent)), *map(str, words)]
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (LARGEST, LARGEST)) if limited else None
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit)


@pytest.fixture
def train(tmp_path: Path) -> Path:
    path = tmp_path / "train.tsv"
    path.write_text(TRAIN)
    return path


def test_training_that_cannot_be_saved(tmp_path: Path, train: Path) -> None:
    model = tmp_path / "model"
    done = run(["train", train, "--device", "cpu", "--epochs", 3, "-o", model])
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        f"Error: {model}.training: the file cannot be written: File too large. "
        "Choose another place, or make room there and give the same command again."
    )
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == [train]


def test_samples_that_cannot_be_written(tmp_path: Path, train: Path) -> None:
    new = tmp_path / "new.jsonl"
    new.write_text("from before")
    words = ["augment", train, "--method", "oversample", "--epsilon", "1", "-n", 1000]
    done = run([*words, "-o", new, "--force"])
    assert done.returncode == 2
    assert f"Error: {new}: the file cannot be written: File too large." in done.stderr
    assert new.read_text() == "from before"
    assert sorted(tmp_path.iterdir()) == [new, train]
    if Path("/dev/full").exists():
        command = [sys.executable, "-m", "recombine", *map(str, words)]
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode != 0
        assert "No space left on device" in done.stderr
        assert "Traceback" not in done.stderr
