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
