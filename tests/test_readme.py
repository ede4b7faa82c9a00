"""Runs what the README and the docs tell a reader to run.

Every ``console`` and ``python`` block of a page is run, in order and in one folder, as a reader would. A line of output
that the page shows must come, in order. Dots stand for anything: ``...`` alone for any lines, within a line for any
text. After ``print(...)  #`` stands what is printed. Commands that would take minutes are run with further options, in
blocks with ``<!-- rehearsed with OPTIONS -->`` before them. Commands in ``sh`` blocks and in sentences may take hours
or a GPU: of these it is checked that the program knows them and their options.

Pages of the docs, but for the tutorial itself, may use the files that the tutorial's first block writes.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from word_forms import write_language

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "tutorial.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = re.compile(
    r"^(?:<!-- rehearsed with (?P<options>.*) -->\n)?```(?P<language>console|python)\n(?P<text>.*?)^```$", re.M | re.S
)
PROGRAMS = Path(sys.executable).parent


@dataclass(frozen=True)
class Step:
    """Something to run, and the lines that it must print among others."""

    words: list[str]
    shown: list[str]

    def __str__(self) -> str:
        return self.words[-1].splitlines()[0]


def shell(command: str) -> list[str]:
    return ["bash", "-o", "pipefail", "-c", command]


def steps(page: Path) -> Iterator[Step]:
    for block in BLOCKS.finditer(page.read_text("utf-8")):
        text = block["text"]
        if block["language"] == "python":
            yield Step([sys.executable, "-c", text], re.findall(r"print\(.*\)  # (.*)", text))
            continue
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            rehearsed = f"{command} {block['options'] or ''}"
            yield Step(shell(rehearsed), [line for line in shown if line not in ("", "...")])


def mentioned() -> list[str]:
    """Returns the commands that pages name but that are not run: in ``sh`` blocks, and between single backticks."""
    found = []
    for page in PAGES:
        text = page.read_text("utf-8")
        for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL):
            found += [line.split("#")[0].strip() for line in block.splitlines()]
        found += re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    ours = re.compile(r"(recombine|python benchmarks/\w+\.py)( (?!COMMAND).*)?")
    return [command for command in dict.fromkeys(found) if ours.fullmatch(command)]


def pattern(shown: str) -> str:
    return ".*".join(re.escape(" ".join(piece.split())) for piece in shown.split("..."))


def test_there_is_a_step_for_every_command_that_ends_within_seconds() -> None:
    commands = {" ".join(step.words) for page in PAGES for step in steps(page)}
    making = ("inspect", "augment", "picture", "audit", "export", "compare", "report")
    alone = (*making, "train", "evaluate", "predict", "score", "env")
    for command in ("data scan", "data sigmorphon", "paper table1", "paper samples", "paper items", *alone):
        assert any(f"recombine {command}" in run for run in commands)


def test_pattern_knows_what_differs() -> None:
    assert re.fullmatch(pattern("a    1..."), "a 1 and more")
    assert not re.fullmatch(pattern("a    1"), "a 2")


def test_comments_add_options_to_the_blocks_that_they_stand_before(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- rehearsed with --epochs 1 -->\n```console\n$ a b\nc\n```\n\n```console\n$ d\n```\n", "utf-8")
    assert [(step.words[-1].strip(), step.shown) for step in steps(page)] == [("a b --epochs 1", ["c"]), ("d", [])]


@pytest.mark.parametrize("page", [page for page in PAGES if any(steps(page))], ids=lambda page: page.name)
def test_every_step_does_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    write_language(tmp_path / "conll2018/task1/all", "turkish")
    for folder in ("benchmarks", "results"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    if page not in (README, TUTORIAL):
        check(next(steps(TUTORIAL)), tmp_path)
    for step in steps(page):
        check(step, tmp_path)


@pytest.mark.parametrize("command", mentioned())
def test_every_command_named_is_known(command: str) -> None:
    assert unknown_options(command) == []


def test_commands_and_options_that_there_are_not_are_noticed() -> None:
    assert {"recombine quickstart", "recombine paper table1"} < set(mentioned())
    assert unknown_options("python benchmarks/training.py --step 1 --stops") == ["--stops"]
    with pytest.raises(AssertionError, match="papers"):
        unknown_options("recombine papers")


def unknown_options(command: str) -> list[str]:
    told = run(shell(f"{command} --help"), ROOT)
    return [word for word in command.split() if word.startswith("--") and word not in told]


def check(step: Step, folder: Path) -> None:
    output = run(step.words, folder)
    printed = (" ".join(line.split()) for line in output.splitlines())
    for shown in step.shown:
        assert any(re.fullmatch(pattern(shown), line) for line in printed), f"{shown!r} is missing\n{step}\n{output}"


def run(words: list[str], folder: Path) -> str:
    # Threads that wait for each other on a busy machine cost minutes.
    environment = {**os.environ, "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
    together = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(words, cwd=folder, env=environment, **together, text=True, check=False)
    assert done.returncode == 0, f"{words[-1]}\n{done.stdout}"
    return done.stdout
