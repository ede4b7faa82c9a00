"""What tests of the command line run commands with, and what they get."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def ok(self) -> "Outcome":
        """Itself, if the command ended well."""
        assert self.code == 0, self.err
        return self

    @property
    def document(self) -> Any:  # noqa: ANN401
        """What a command that ended well printed for machines."""
        return json.loads(self.ok.out)

    @property
    def last(self) -> str:
        """What it said last."""
        return self.err.splitlines()[-1]


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


def failing(error: BaseException) -> Callable[..., None]:
    """A function that raises an error, whatever it is called with."""

    def fail(*_: object, **__: object) -> None:
        raise error

    return fail
