"""What ``recombine compare`` found, as it stands in the file ``run.json``: the record that a report shows."""

from dataclasses import dataclass
from typing import Literal

Tokens = tuple[str, ...]
PerSeed = tuple[float, ...]
Points = tuple[tuple[float | None, ...], ...]
"""For each point of a curve the value of each seed, None where there is none."""


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
