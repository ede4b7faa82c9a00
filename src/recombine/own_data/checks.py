"""Checks of samples that need no Python: by name, or by any command."""

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace

from recombine.data.text import join, shown
from recombine.errors import RecombineError
from recombine.example import Example

TIMEOUT = 10.0
"""Seconds that a command may take for one sample."""

TRIED = 5
"""How many training examples are checked first: a check that turns down all of them does not suit the data."""

_PAIRS = {")": "(", "]": "[", "}": "{"}
_NOT_RUN = (126, 127)


@dataclass(frozen=True)
class Check:
    """Tells which samples are kept: a ``validator`` for all augmenters.

    Attributes:
        name: ``"json"``: the output is JSON, with each key once. ``"brackets"``: its brackets and quotes come in pairs.
            Anything else is a command of the shell. It is run once for each sample, reads input, tab, output, and keeps
            the sample by its exit code 0.
        tokens: What a token of the samples is; None: as for the augmenter.
    """

    name: str
    tokens: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise RecombineError(f"the check is {self.name!r}, expected json, brackets or a command.")

    def __call__(self, sample: Example) -> str | None:
        """Returns why a sample is turned down, or None to keep it."""
        return self._judged(sample)[0]

    def fitted(self, examples: Sequence[Example], tokens: str) -> "Check":
        """Returns the check for these tokens; an error if it keeps none of the first training examples."""
        check = self if self.tokens else replace(self, tokens=tokens)
        found = list(map(check._judged, examples[:TRIED]))
        if all(reason for reason, _ in found):
            said, output = found[0][1], join(examples[0].y, check.tokens or "words")
            raise RecombineError(
                f"the check {shown(self.name)} turns down the training examples, too, such as one with the output "
                f"{shown(output)}{said and f' ({said})'}.",
                hint="A command reads input, tab, output, and keeps what is right by exit code 0.",
            )
        return check

    def _judged(self, sample: Example) -> tuple[str | None, str]:
        """Returns why a sample is turned down, if it is, and what a command said about it."""
        x, y = (join(side, self.tokens or "words") for side in (sample.x, sample.y))
        if self.name == "json":
            return None if _is_json(y) else "with an output that is not JSON, or has a key twice", ""
        if self.name == "brackets":
            return None if _is_balanced(y) else "with brackets or quotes that are not in pairs", ""
        code, said = _run(self.name, f"{x}\t{y}\n")
        return f"turned down by {shown(self.name)}" if code else None, said


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_no_json, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        return False
    return True


def _no_json(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON, although Python reads it.")


def _each_once(pairs: list[tuple[str, object]]) -> None:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key comes twice, of which Python keeps the last.")


def _is_balanced(text: str) -> bool:
    """Tells whether brackets, and quotes but for apostrophes, come in pairs; brackets between quotes do not count."""
    opened, quote, before = list[str](), "", ""
    for character in text:
        if quote:
            quote = "" if character == quote and before != "\\" else quote
        elif character == '"' or (character in "'`" and not before.isalnum()):
            quote = character
        elif character in _PAIRS.values():
            opened.append(character)
        elif character in _PAIRS and (not opened or opened.pop() != _PAIRS[character]):
            return False
        before = "" if (before, character) == ("\\", "\\") else character
    return not opened and not quote


def _run(command: str, given: str) -> tuple[int, str]:
    """Returns the exit code of a command, and the last line of its errors; an error if it cannot be run or hangs."""
    with subprocess.Popen(
        command,
        shell=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,  # so that all that it started can be ended with it
    ) as process:
        try:
            _, errors = process.communicate(given, TIMEOUT)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            hint = "It is run once for each sample. Check that it ends when its input does."
            raise RecombineError(
                f"the check {shown(command)} took more than {TIMEOUT:.0f} s for the sample {shown(given)}.", hint=hint
            ) from None
    said = errors.strip().splitlines()[-1:]
    if process.returncode in _NOT_RUN:
        hint = "A check is json, brackets or a command."
        raise RecombineError(f"the check {shown(command)} cannot be run: {''.join(said)}.", hint=hint)
    return process.returncode, "".join(said)
