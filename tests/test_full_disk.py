"""Where nothing more can be written, a command says so in one sentence, and what was finished stays as it was."""

import resource
import shutil
import subprocess
import sys
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


def limited(words: list[object]) -> "subprocess.CompletedProcess[str]":
    """Runs a command that cannot write large files, as if the disk were full."""
    program = PROGRAM.format(tests=str(Path(__file__).parent))
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST)),
    )


def test_training_that_cannot_be_saved(tmp_path: Path) -> None:
    train, model = tmp_path / "train.tsv", tmp_path / "model"
    train.write_text(TRAIN)
    done = limited(["train", train, "--device", "cpu", "--epochs", 3, "-o", model])
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        f"Error: {model}.training: the file cannot be written: File too large. "
        "Choose another place, or make room there and give the same command again."
    )
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["train.tsv"]


def test_samples_that_cannot_be_written(tmp_path: Path) -> None:
    train, new = tmp_path / "train.tsv", tmp_path / "new.jsonl"
    train.write_text(TRAIN)
    new.write_text("from before")
    words = ["augment", train, "--method", "oversample", "--epsilon", "1", "-n", 1000, "-o", new, "--force"]
    done = limited(words)
    assert done.returncode == 2
    assert f"Error: {new}: the file cannot be written: File too large." in done.stderr
    assert new.read_text() == "from before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.jsonl", "train.tsv"]


def test_standard_output_that_cannot_be_written(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    train = tmp_path / "train.tsv"
    train.write_text(TRAIN)
    words = [sys.executable, "-m", "recombine", "augment", str(train), "--method", "geca", "-n", "3"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode != 0
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    """The same with a real one, where one can be had: only root may mount, and not everywhere."""
    mount = shutil.which("mount")
    disk = tmp_path / "disk"
    disk.mkdir()
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=48k", "none", str(disk)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        (disk / "train.tsv").write_text(TRAIN)
        (disk / "finished").write_text("whole")
        (disk / "ballast").write_bytes(b"0" * 24_000)
        program = PROGRAM.format(tests=str(Path(__file__).parent))
        words = ["train", str(disk / "train.tsv"), "--device", "cpu", "--epochs", "3", "-o", str(disk / "model")]
        done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].startswith(
            f"Error: {disk}/model.training: the file cannot be written: No s"
        )
        assert (disk / "finished").read_text() == "whole"
        assert sorted(path.name for path in disk.iterdir()) == ["ballast", "finished", "train.tsv"]
    finally:
        subprocess.run(["umount", str(disk)], check=False)
