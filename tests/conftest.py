"""Sets up all tests: helpers of this folder can be imported, and torch computes as in commands, the same each time."""

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")  # before torch is imported, as commands do

import pytest
import torch
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

from browser import Page, browser
from commands import Outcome, Run
from two_nodes import two_nodes

torch.set_num_threads(1)
# A busy machine is slow, not wrong. Half of the usual examples each time, and others each time.
settings.register_profile("any machine", deadline=None, max_examples=50)
settings.load_profile("any machine")


@pytest.fixture(autouse=True)
def same_numbers_each_time() -> None:
    torch.manual_seed(0)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in this process: exit code, standard output, standard error."""
    from recombine.cli import main

    def invoke(*arguments: object, stdin: str = "") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(ended.value.code, captured.out, captured.err)

    return invoke


@pytest.fixture(scope="module")
def chromium() -> Iterator[Page]:
    with browser() as page:
        yield page


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with two_nodes() as nodes:
        yield nodes
