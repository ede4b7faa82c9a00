"""Runs every ``console`` and ``python`` block of the README, in order and in one folder, as a reader would.

A line of output that the README shows must come, in order. Dots stand for anything: ``...`` alone for any lines, within
a line for any text. After ``print(...)  #`` stands what is printed.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from word_forms import write_language

README = Path(__file__).parent.parent / "README.md"
PROGRAMS = Path(sys.executable).parent


@dataclass(frozen=True)
class Step:
    """Something to run, and the lines that it must print among others."""

    words: list[str]
    shown: list[str]

    def __str__(self) -> str:
        return self.words[-1].splitlines()[0]


def steps() -> Iterator[Step]:
    for language, block in re.findall(r"```(console|python)\n(.*?)```", README.read_text("utf-8"), flags=re.DOTALL):
        if language == "python":
            yield Step([sys.executable, "-c", block], re.findall(r"print\(.*\)  # (.*)", block))
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            yield Step(["bash", "-o", "pipefail", "-c", command], [line for line in shown if line not in ("", "...")])


def pattern(shown: str) -> str:
    return ".*".join(re.escape(" ".join(piece.split())) for piece in shown.split("..."))


def test_the_readme_has_a_step_for_every_command() -> None:
    commands = {" ".join(step.words) for step in steps()}
    alone = ("inspect", "augment", "picture", "audit", "train", "evaluate", "predict", "score", "env")
    for command in ("data scan", "data sigmorphon", *alone):
        assert any(f"recombine {command}" in run for run in commands)


def test_pattern_knows_what_differs() -> None:
    assert re.fullmatch(pattern("a    1..."), "a 1 and more")
    assert not re.fullmatch(pattern("a    1"), "a 2")


def test_every_step_does_what_the_readme_shows(tmp_path: Path) -> None:
    write_language(tmp_path / "conll2018/task1/all", "turkish")
    for step in steps():
        check(step, tmp_path)


def check(step: Step, folder: Path) -> None:
    # Threads that wait for each other on a busy machine cost minutes.
    environment = {**os.environ, "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
    together = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(step.words, cwd=folder, env=environment, **together, text=True, check=False)
    assert done.returncode == 0, f"{step}\n{done.stdout}"
    printed = (" ".join(line.split()) for line in done.stdout.splitlines())
    for shown in step.shown:
        assert any(re.fullmatch(pattern(shown), line) for line in printed), (
            f"{shown!r} is missing\n{step}\n{done.stdout}"
        )
