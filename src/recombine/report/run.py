"""The records of ``run.json``, what ``recombine compare`` found: written there, and checked when they are read."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, NoReturn

from recombine.data.output import read_whole, replacing
from recombine.data.store import sealed, unseal
from recombine.data.untrusted import typed
from recombine.errors import RecombineError
from recombine.example import Tokens

RUN_FILE = "run.json"
"""The file of a run's folder that holds what the report shows."""

_SOURCE = re.compile(r"written|(own|[1-9][0-9]{0,5}):([1-9][0-9]{0,5})", re.ASCII)

PerSeed = tuple[float, ...]
Points = tuple[tuple[float | None, ...], ...]
"""For each point of a curve the value of each seed; None if unknown."""


@dataclass(frozen=True, slots=True)
class Data:
    """What was compared on.

    Attributes:
        train: How many training examples there are.
        test: How many test examples.
        rare_test: How many of them have something rare in them.
        held_out: Whether the test examples were split off the user's file.
        phenomena: What is rare.
    """

    train: int
    test: int
    rare_test: int
    held_out: bool
    phenomena: Tokens


@dataclass(frozen=True, slots=True)
class Scores:
    """Of all test examples, those with something rare, and the others: one score a seed."""

    all: PerSeed
    rare: PerSeed
    other: PerSeed


@dataclass(frozen=True, slots=True)
class Significance:
    """The p-values of the differences from the plain predictor, None where there is nothing to tell."""

    all: float | None
    rare: float | None
    other: float | None


@dataclass(frozen=True, slots=True)
class Compared:
    """A method's row of the comparison; new_examples has one count a seed."""

    method: str
    new_examples: tuple[int, ...]
    scores: Scores
    p: Significance


@dataclass(frozen=True, slots=True)
class Curve:
    """How a method's predictors learned: the steps at which they were measured, loss and held-out score there."""

    method: str
    steps: tuple[int, ...]
    loss: Points
    held_out: Points


@dataclass(frozen=True, slots=True)
class Pair:
    """A prototype."""

    x: Tokens
    y: Tokens


@dataclass(frozen=True, slots=True)
class Sample:
    """A new example; sources are those of `recombine.example.Provenance`, and empty if the method does not tell."""

    x: Tokens
    y: Tokens
    method: str
    log_probability: float | None
    prototypes: tuple[Pair, ...]
    sources: Tokens


@dataclass(frozen=True, slots=True)
class Attention:
    """Where a network looked: for each prototype and each token it produced, a weight for each prototype token."""

    tokens: Tokens
    prototypes: tuple[Tokens, ...]
    weights: tuple[tuple[tuple[float, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class TurnedDown:
    """A sample that was rejected."""

    x: Tokens
    y: Tokens
    reason: str


@dataclass(frozen=True, slots=True)
class Rarity:
    """How many training examples hold a token, before augmentation and after."""

    token: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Run:
    """All that a comparison tells; attention has an entry for each sample, and rejected counts samples by reason.

    ``network`` says which network predictors have and what else was tried; it is empty in older files.
    """

    format: Literal[1]
    title: str
    command: str
    provenance: dict[str, str]
    data: Data
    comparison: tuple[Compared, ...]
    verdict: str
    curves: tuple[Curve, ...]
    samples: tuple[Sample, ...]
    attention: tuple[Attention | None, ...]
    rejected: dict[str, int]
    turned_down: tuple[TurnedDown, ...]
    rarity: tuple[Rarity, ...]
    network: str = ""


def write_run(run: Run, folder: str | Path, *, force: bool = False) -> Path:
    """Writes ``run.json`` with a checksum, whole or not at all, and returns its path.

    Args:
        run: What a comparison found.
        folder: Where the file goes.
        force: Whether an existing file may be replaced.

    Raises:
        RecombineError: If the file exists already or cannot be written.
    """
    path = Path(folder) / RUN_FILE
    with replacing(path, force=force) as stream:
        stream.write(json.dumps(sealed(asdict(run)), ensure_ascii=False, allow_nan=False).encode())
    return path


def read_run(folder: str | Path) -> Run:
    """Returns what a comparison found.

    Args:
        folder: What ``recombine compare -o`` wrote.

    Raises:
        RecombineError: If there is no such file, or it is not what ``recombine compare`` wrote.
    """
    path = Path(folder) / RUN_FILE
    try:
        content = read_whole(path)
    except OSError as error:
        raise RecombineError(
            f"the run cannot be read: {error.strerror or error}.",
            place=str(path),
            hint="Name a folder that recombine compare -o wrote.",
        ) from error
    try:
        document = _parse(content, str(path))
        if isinstance(document, dict):
            unseal(document, place=str(path), hint="Get it again, or compare again.")
        run: Run = typed(document, Run)
        _check(run)
    except RecombineError as error:
        raise RecombineError(error.message, place=error.place or str(path), hint=error.hint) from error
    return run


def _parse(content: bytes, place: str) -> object:
    try:
        return json.loads(content.decode(), parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise RecombineError(f"this is not JSON: {error.msg}.", place=f"{place}:{error.lineno}") from error
    except UnicodeDecodeError as error:
        raise RecombineError("this is not UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise RecombineError(f"this is not JSON that can be read: {error}.") from error


def _refuse(constant: str) -> NoReturn:
    raise RecombineError(f"{constant} is not a number of JSON; expected null for an unknown value.")


def _check(run: Run) -> None:
    """Checks what goes together between the values, whose types are right."""
    for number, curve in enumerate(run.curves):
        for name, points in (("loss", curve.loss), ("held_out", curve.held_out)):
            _check_count(points, len(curve.steps), f"curves[{number}].{name}", "one for each of its steps")
    for number, sample in enumerate(run.samples):
        _check_sources(sample, f"samples[{number}]")
    _check_count(run.attention, len(run.samples), "attention", "one for each sample")
    for number, attention in enumerate(run.attention):
        if attention is not None:
            _check_attention(attention, f"attention[{number}]")


def _check_sources(sample: Sample, where: str) -> None:
    tokens = len(sample.x) + len(sample.y)
    if sample.sources:
        _check_count(sample.sources, tokens, f"{where}.sources", "one for each token of x and y")
    lengths = {str(number): len(each.x) + len(each.y) for number, each in enumerate(sample.prototypes, start=1)}
    lengths["own"] = tokens
    for number, source in enumerate(sample.sources):
        found = _SOURCE.fullmatch(source)
        if not found:
            raise RecombineError(f'{where}.sources[{number}] is {source!r}; expected "written", "own:I" or "K:J".')
        kind, position = found.groups()
        if kind and int(position) > lengths.get(kind, 0):
            raise RecombineError(f"{where}.sources[{number}] is {source!r}, but there is no such token.")


def _check_attention(attention: Attention, where: str) -> None:
    _check_count(attention.weights, len(attention.prototypes), f"{where}.weights", "one for each prototype")
    for k, (steps, prototype) in enumerate(zip(attention.weights, attention.prototypes, strict=True)):
        _check_count(steps, len(attention.tokens), f"{where}.weights[{k}]", "one for each of its tokens")
        for t, weights in enumerate(steps):
            _check_count(weights, len(prototype), f"{where}.weights[{k}][{t}]", "one for each token of the prototype")


def _check_count(entries: Sequence[object], count: int, where: str, what: str) -> None:
    if len(entries) != count:
        raise RecombineError(f"{where} has {len(entries):,} entries; expected {count:,}, {what}.")
