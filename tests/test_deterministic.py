"""The same seed gives the same bytes: under any hash seed, from any folder, with one thread or two."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
import tiny_networks
from recombine.cli import main

def run(words):
    try:
        main(words)
    except SystemExit as ended:
        return ended.code

tiny_networks.make_small_tiny()
train, out = sys.argv[1:]
both = ["--device", "cpu", "--epochs", "4"]
large = ["--device", "cpu", "--epochs", "1", "--size", "paper"]  # so large that threads share the work
new = ["-n", "5", "--no-resample", "--temperature", "1", "--neighborhood", "swap"]
new += ["--model", out + "/generator", "-o", out + "/a.jsonl"]
assert run(["augment", train, *both, *new]) == 0
assert run(["augment", train, "--method", "geca", "-n", "5", "-o", out + "/b.jsonl"]) == 0
assert run(["train", train, "--augmented", out + "/a.jsonl", *both, "-o", out + "/predictor"]) == 0
assert run(["train", train, *large, "-o", out + "/large"]) == 0
assert run(["predict", out + "/predictor", train, "--device", "cpu", "-o", out + "/c.tsv"]) == 0
"""
VERBS, OFTEN = ("walk", "run", "look", "turn"), (("twice", 2), ("thrice", 3))


def start(train: Path, out: Path, *, where: Path, **environment: str) -> "subprocess.Popen[bytes]":
    out.mkdir()
    program = PROGRAM.format(tests=str(Path(__file__).parent))
    words = [sys.executable, "-c", program, os.path.relpath(train, where), os.path.relpath(out, where)]
    return subprocess.Popen(words, cwd=where, env=os.environ | environment, stderr=subprocess.PIPE)


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_same_seed_is_the_same_bytes(tmp_path: Path) -> None:
    train, elsewhere = tmp_path / "train.tsv", tmp_path / "elsewhere"
    elsewhere.mkdir()
    lines = [f"{verb}\t{verb.upper()}" for verb in (*VERBS, "jump")]
    lines += [f"{verb} {often}\t{' '.join([verb.upper()] * n)}" for verb in VERBS for often, n in OFTEN]
    lines += [f"{one} and {two}\t{one.upper()} {two.upper()}" for one in VERBS for two in VERBS]
    # The gradient of torch's softmax over more than 16 places depends on the number of threads.
    lines += [f"{' and '.join([verb] * n)}\t{' '.join([verb.upper()] * n)}" for verb in VERBS for n in range(9, 13)]
    train.write_text("\n".join(lines) + "\n")
    runs = {
        "plain": start(train, tmp_path / "plain", where=tmp_path, PYTHONHASHSEED="0", OMP_NUM_THREADS="1"),
        "other": start(train, tmp_path / "other", where=elsewhere, PYTHONHASHSEED="7", OMP_NUM_THREADS="2"),
    }
    errors = {name: process.communicate()[1].decode() for name, process in runs.items()}
    assert [process.returncode for process in runs.values()] == [0, 0], errors
    plain = contents(tmp_path / "plain")
    assert {"a.jsonl", "b.jsonl", "c.tsv", "generator/weights.safetensors", "predictor/weights.safetensors"} <= {*plain}
    assert contents(tmp_path / "other") == plain
