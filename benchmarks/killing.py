"""Kills commands at random moments, gives them again, and compares what they make with what undisturbed ones make.

    python benchmarks/killing.py [--moments 50] [--seed 0] [--only augment,train,compare,table1,data,export]

Moments are, in turn, points in time and operations on files: the dangerous ones are too short to be met by chance.
Networks are tiny, and state is saved after every epoch, so that there is a lot to be killed in. Prints a line for each
command and for each difference; exits with 1 if there is any.
"""

import argparse
import importlib
import json
import mmap
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import torch

from recombine.cli import main as recombine
from recombine.training import presets, resume

LATE = (
    "torch._dynamo",
    "recombine.comparison.document",
    "recombine.data.export",
    "recombine.own_data.augmenters",
    "recombine.paper.matrix",
    "recombine.paper.scale",
)
"""What commands import while they run; imported before the forks, so that kills hit their work."""

VERBS = ("walk", "run", "look", "turn")
TRAIN = "".join(
    [f"{verb}\t{verb.upper()}\n" for verb in (*VERBS, "jump")]
    + [f"{verb} twice\t{verb.upper()} {verb.upper()}\n" for verb in VERBS]
    + [f"{one} and {two}\t{one.upper()} {two.upper()}\n" for one in VERBS for two in VERBS]
)
COMMANDS = {
    "augment": "augment train.tsv -n 5 --epochs 4 --neighborhood swap --no-resample --seeds 2 -o new.jsonl",
    "train": "train train.tsv --epochs 6 --seeds 2 --device cpu -o model",
    "compare": "compare train.tsv --epochs 3 --seeds 2 -n 5 --epsilon 0.3 --device cpu -o run",
    "table1": "paper table1 --tiny --splits jump --seeds 2 --rows baseline,recomb-2 --device cpu -o results",
    "data": "data scan --split jump -o scan",
    "export": "export train.tsv train.tsv --to fairseq -o exported",
}
WRITES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate")
"""Operations that change folders; to these come files that are opened for writing."""
DIFFER = ("seconds", "provenance")
"""What a record says that is another each time."""


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes:
        status: Its exit code, or minus the signal's number.
        seconds: How long it took.
        writes: How many operations it changed files or folders by.
        said: What it wrote to standard error.
    """

    status: int
    seconds: float
    writes: int
    said: str


def run(words: str, folder: Path, *, after: float = float("inf"), write: int = -1) -> Ended:
    """Runs a command in a fork, which is killed after some seconds, or just before a write."""
    count = mmap.mmap(-1, 8)
    began = time.perf_counter()
    child = os.fork()
    if not child:
        _act(words.split(), folder, count, write)
    ended = status = 0
    while not ended:
        time.sleep(0.001)
        if time.perf_counter() - began > after:
            os.kill(child, signal.SIGKILL)
        ended, status = os.waitpid(child, os.WNOHANG)
    said = (folder.parent / f"{folder.name}.err").read_text(encoding="utf-8")
    seconds = time.perf_counter() - began
    return Ended(os.waitstatus_to_exitcode(status), seconds, int.from_bytes(count[:8], "little"), said)


def _act(words: Sequence[str], folder: Path, count: mmap.mmap, write: int) -> NoReturn:
    """Is the child."""

    def watch(event: str, details: tuple[object, ...]) -> None:
        if event in WRITES or (event == "open" and isinstance(details[2], int) and details[2] & os.O_CREAT):
            done = int.from_bytes(count[:8], "little")
            if done == write:
                os.kill(os.getpid(), signal.SIGKILL)
            count[:8] = (done + 1).to_bytes(8, "little")

    try:
        sys.dont_write_bytecode = True  # as many writes each time
        os.chdir(folder)
        errors = os.open(f"../{folder.name}.err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(errors, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.addaudithook(watch)
        recombine(words)
    except SystemExit as ended:
        os._exit(int(ended.code or 0))
    except BaseException:
        traceback.print_exc()
    os._exit(70)


def contents(folder: Path) -> dict[str, object]:
    """Returns what a command made, by name: bytes, or of documents what does not differ each time."""
    found: dict[str, object] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file() or not any(path.iterdir())):
        name = path.relative_to(folder).as_posix()
        if path.is_dir():
            found[name] = "an empty folder"
        elif path.parent == folder / "results" or path.name in ("stage.json", "run.json"):
            document = json.loads(path.read_text(encoding="utf-8"))
            found[name] = {key: value for key, value in document.items() if key not in (*DIFFER, "digest", "date")}
        else:
            found[name] = path.read_bytes()
    return found


def difference(expected: dict[str, object], folder: Path) -> str:
    """Returns what is missing, too much or other than expected; nothing if all is equal."""
    found = contents(folder)
    missing, extra = expected.keys() - found.keys(), found.keys() - expected.keys()
    other = [name for name in expected.keys() & found.keys() if expected[name] != found[name]]
    parts = {"missing": missing, "too much": extra, "different": other}
    return "; ".join(f"{what}: {', '.join(sorted(names))}" for what, names in parts.items() if names)


def fresh(folder: Path) -> Path:
    """Returns an empty folder with the data in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "train.tsv").write_text(TRAIN, encoding="utf-8")
    return folder


def try_command(name: str, moments: int, seed: int, room: Path) -> int:
    """Kills one command at several moments and returns how many of them made a difference."""
    words, rng = COMMANDS[name], random.Random(f"{name} {seed}")
    whole = run(words, fresh(room / "whole"))
    if whole.status:
        print(f"{name}: the undisturbed command ended with {whole.status}: {whole.said}")
        return moments
    expected, bad, killed = contents(room / "whole"), 0, 0
    began = time.perf_counter()
    for number in range(moments):
        folder = fresh(room / "killed")
        after = rng.uniform(0.0, whole.seconds) if number % 2 else float("inf")
        write = -1 if number % 2 else rng.randrange(whole.writes)
        first = run(words, folder, after=after, write=write)
        killed += first.status == -signal.SIGKILL
        again = run(words, folder)
        # Where all was made when the kill came, there is nothing left to do, and nothing is overwritten unasked.
        is_done = again.status == 2 and "already" in again.said
        found = difference(expected, folder) or ("" if again.status == 0 or is_done else f"status {again.status}")
        if found:
            bad += 1
            moment = f"after {after:.3f} s" if number % 2 else f"before write {write}"
            print(f"{name}, killed {moment} of {whole.seconds:.3f} s, {whole.writes} writes: {found}\n{again.said}")
    seconds = time.perf_counter() - began
    print(f"{name}: {moments} moments, {killed} kills, {bad} differences, {seconds:.0f} s", flush=True)
    return bad


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join(COMMANDS))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for name in LATE:
        importlib.import_module(name)
    resume.EVERY = 0.0
    for preset in ("SMALL_GENERATOR", "SMALL_DATA_PREDICTOR"):
        recipe = getattr(presets, preset)
        network = replace(recipe.network, hidden=16, embedding=8)
        setattr(presets, preset, replace(recipe, network=network, batch=8, min_steps=0, max_steps=None))
    with tempfile.TemporaryDirectory() as room:
        bad = [try_command(name, arguments.moments, arguments.seed, Path(room)) for name in arguments.only.split(",")]
    sys.exit(any(bad))


if __name__ == "__main__":
    main()
