"""The records of ``run.json``, what ``recombine compare`` found, and the page that shows them.

Records are checked when they are read. The page is one HTML file that carries its data, style and script along and asks
for nothing else.
"""

import base64
import hashlib
import json
import re
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal, NoReturn

from recombine.data.output import read_whole, replacing
from recombine.data.store import sealed, unseal
from recombine.data.untrusted import typed
from recombine.errors import RecombineError
from recombine.example import Tokens

RUN_FILE = "run.json"
"""The file of a run's folder that holds what the report shows."""

SCRIPTS = ("base", "comparison", "curves", "heat", "sample", "browse", "counts", "start")
"""The parts of the script, in the order in which they build on one another."""

_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}

PerSeed = tuple[float, ...]
Points = tuple[tuple[float | None, ...], ...]
"""For each point of a curve the value of each seed; None if unknown."""


@dataclass(frozen=True, slots=True)
class Data:
    """How many examples there are, what is rare (phenomena), and whether the test examples were split off the data."""

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
class Aligned:
    """A training example; links number the tokens of x, then of y: words and what they call for alike, 0: nothing."""

    x: Tokens
    y: Tokens
    links: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """All that a comparison tells; attention has an entry for each sample, and rejected counts samples by reason.

    ``network`` says which network predictors have and what else was tried; it is empty in older files, as is
    ``alignment``, what the words of a few training examples call for.
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
    alignment: tuple[Aligned, ...] = ()


def write_run(run: Run, folder: str | Path, *, force: bool = False) -> Path:
    """Writes ``run.json`` into a folder, with a checksum, whole or not at all, and returns its path."""
    path = Path(folder) / RUN_FILE
    with replacing(path, force=force) as stream:
        stream.write(json.dumps(sealed(asdict(run)), ensure_ascii=False, allow_nan=False).encode())
    return path


def read_run(folder: str | Path) -> Run:
    """Returns what a comparison found, from the folder that ``recombine compare -o`` wrote."""
    path = Path(folder) / RUN_FILE
    try:
        document = json.loads(read_whole(path).decode(), parse_constant=_refuse)
        if isinstance(document, dict):
            unseal(document, place=str(path), hint="Get it again, or compare again.")
        run: Run = typed(document, Run, place=str(path))
    except OSError as error:
        raise RecombineError(
            f"the run cannot be read: {error.strerror or error}.",
            place=str(path),
            hint="Name a folder that recombine compare -o wrote.",
        ) from error
    except json.JSONDecodeError as error:
        raise RecombineError(f"this is not JSON: {error.msg}.", place=f"{path}:{error.lineno}") from error
    except (ValueError, RecursionError) as error:
        raise RecombineError(f"this is not JSON that can be read: {error}.", place=str(path)) from error
    return run


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def render(run: Run) -> str:
    """Returns the page of a run.

    A content security policy lets the browser run only this script, apply only this style and fetch nothing, whatever
    the data hold.
    """
    script = "".join(_part(f"{name}.js") for name in SCRIPTS)
    style = _part("page.css")
    policy = (
        f"default-src 'none'; script-src '{_fingerprint(script)}'; style-src '{_fingerprint(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {"policy": policy, "style": style, "script": script, "run": as_script_data(asdict(run))}
    return re.sub(r"\[\[(\w+)\]\]", lambda place: parts[place[1]], _part("page.html"))


def as_script_data(value: object) -> str:
    """Returns JSON that can stand in a script element: nothing in it can end the element or open a comment."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)


def _part(name: str) -> str:
    return (files("recombine.report") / "assets" / name).read_text(encoding="utf-8")


def _fingerprint(content: str) -> str:
    """Returns the name by which a Content-Security-Policy knows an inline script or style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
