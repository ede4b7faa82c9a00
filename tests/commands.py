"""What tests of the command line run commands with, and what they get."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


class Run(Protocol):
    """Runs a command with these words and this standard input."""

    def __call__(self, *words: object, stdin: str = "") -> Outcome: ...


def assert_is_sentence(done: Outcome, words: list[str]) -> None:
    """The command ended in one line that is an error with all of these words in it."""
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: ")
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err
