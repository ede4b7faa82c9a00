"""Runs the commands of the README and the docs, and compares their tables with the records.

Every ``console`` and ``python`` block of a page is run, in order and in one folder, as a reader would. The lines of
output that the page shows must be printed, in order. Dots stand for anything: ``...`` alone for any lines, within a
line for any text. The comment after ``print(...)  #`` is what must be printed. A comment ``<!-- rehearsed with OPTIONS
-->`` before a block adds options to its first ``recombine`` command, which would take long without them; the numbers
that this command prints may differ from those shown. Commands in ``sh`` blocks and in sentences may take hours or need
a GPU. For these the test checks that the program has the command and its options.

All pages except the tutorial can use the files that the tutorial's first block writes. Tables of
figures must be what ``make tables`` writes (`tables.py`).
"""

import os
import re
import runpy
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path

import pytest
import tables
from word_forms import write_language

from recombine.cli import main

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "tutorial.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = re.compile(
    r"^(?:<!-- rehearsed with (?P<options>[^\n]*) -->\n)?```(?P<language>console|python)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
PROGRAMS = Path(sys.executable).parent


@dataclass(frozen=True)
class Step:
    """A command, and the lines that it must print among others; numbers may differ if it is rehearsed."""

    language: str
    text: str
    shown: list[str]
    rehearsed: bool = False


def steps(page: Path) -> Iterator[Step]:
    for block in BLOCKS.finditer(page.read_text("utf-8")):
        text = block["text"]
        if block["language"] == "python":
            yield Step("python", text, re.findall(r"print\(.*\)  # (.*)", text))
            continue
        options = block["options"]
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            rehearsed = bool(options) and command.startswith("recombine ")
            if rehearsed:
                command, options = f"{command} {options}", None
            yield Step("console", command, [line for line in shown if line not in ("", "...")], rehearsed)


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


def pattern(shown: str, rehearsed: bool = False) -> str:
    found = ".*".join(re.escape(" ".join(piece.split())) for piece in shown.split("..."))
    return re.sub(r"\d([\d,]|\\\.\d)*", r"[\\d,.]+", found) if rehearsed else found


def test_there_is_a_step_for_every_command_that_ends_within_seconds() -> None:
    commands = {step.text for page in PAGES for step in steps(page)}
    making = ("inspect", "augment", "picture", "audit", "export", "compare", "report")
    alone = (*making, "train", "evaluate", "predict", "score", "env")
    for command in ("data scan", "data sigmorphon", "paper table1", "paper samples", "paper items", *alone):
        assert any(f"recombine {command}" in run for run in commands)


def test_comments_add_options_to_the_first_command_of_blocks_and_patterns_know_what_differs(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    block = "```console\n$ a\n$ recombine b --epochs 60\nIn 60 epochs, 60 s.\n$ recombine c\n```\n"
    page.write_text(f"<!-- rehearsed with --epochs 1 -->\n{block}\n{block}", "utf-8")
    shown = ["In 60 epochs, 60 s."]
    found = [(step.text, step.shown, step.rehearsed) for step in steps(page)]
    for at, rehearsed in ((0, True), (3, False)):
        second = "recombine b --epochs 60 --epochs 1" if rehearsed else "recombine b --epochs 60"
        assert found[at : at + 3] == [("a", [], False), (second, shown, rehearsed), ("recombine c", [], False)]
    assert re.fullmatch(pattern("a    1..."), "a 1 and more")
    assert not re.fullmatch(pattern("a    1"), "a 2")
    assert re.fullmatch(pattern("In 1,200 s, 0.5 left.", rehearsed=True), "In 3 s, 0.25 left.")
    assert not re.fullmatch(pattern("In 1 s.", rehearsed=True), "In 1 h.")


def printed_by(start: Callable[[], object], folder: Path = ROOT) -> str:
    """Returns all that a command or program prints in a folder; it must end well."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(out), chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("default")
        code = None
        try:
            start()
        except SystemExit as ended:
            code = ended.code
    assert not code, out.getvalue()
    return out.getvalue()


FIGURES = dict(zip(tables.PAGES, ("1.00 (1.00)", "**1.00 ± 0.00** | 1.00 ± 0.00"), strict=True))


@pytest.mark.parametrize("page", FIGURES, ids=lambda page: page.name)
def test_tables_of_figures_are_those_of_the_records_and_others_are_renewed(page: Path) -> None:
    text = page.read_text("utf-8")
    assert FIGURES[page] in text
    assert tables.renewed(text.replace(FIGURES[page], "0.98 (1.00)")) == text, "run make tables"
    assert re.findall(r"<!-- printed by ((?!COMMAND).*) -->", "".join(page.read_text("utf-8") for page in PAGES)) == [
        "recombine paper table1 --show --markdown",
        "recombine paper table2 --show --markdown --hints 8",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if any(steps(page))], ids=lambda page: page.name)
def test_every_step_does_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    write_language(tmp_path / "conll2018/task1/all", "turkish")
    for folder in ("benchmarks", "results"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    if page != TUTORIAL:
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
    program, *words = [*shlex.split(command), "--help"]
    told = printed_by(partial(run_script if program == "python" else main, words))
    return [word for word in command.split() if word.startswith("--") and word not in told]


def run_script(words: list[str]) -> None:
    """Runs a script as Python does: with these words, and with the modules beside it."""
    script = ROOT / words[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", words)
        patch.syspath_prepend(script.parent)
        runpy.run_path(str(script), run_name="__main__")


def check(step: Step, folder: Path) -> None:
    output = run(step, folder)
    printed = (" ".join(line.split()) for line in output.splitlines())
    for shown in step.shown:
        wanted = re.compile(pattern(shown, step.rehearsed))
        assert any(map(wanted.fullmatch, printed)), f"{shown!r} is missing\n{step.text}\n{output}"


def run(step: Step, folder: Path) -> str:
    """Returns what a step prints; in this process where it can be: another one would take seconds to import torch."""
    if step.language == "python":
        return printed_by(partial(exec, step.text, {"__name__": "__main__"}), folder)
    if step.text.startswith("recombine ") and not {*"|<>"} & {*step.text}:
        return printed_by(partial(main, shlex.split(step.text)[1:]), folder)
    # Threads that wait for each other on a busy machine cost minutes.
    environment = {**os.environ, "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
    together = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    words = ["bash", "-o", "pipefail", "-c", step.text]
    done = subprocess.run(words, cwd=folder, env=environment, **together, text=True, check=False)
    assert done.returncode == 0, f"{step.text}\n{done.stdout}"
    return done.stdout
