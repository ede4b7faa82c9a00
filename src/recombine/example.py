"""The record that flows through every stage: a frozen pair of token tuples, with where it came from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

Tokens = tuple[str, ...]

SEPARATOR = "\t"
"""Stands between x and y in the sequence d. No token may hold a tab, so no token can be mistaken for it."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a synthetic example came from.

    Attributes:
        method: The augmenter that made it, e.g. ``"geca"``.
        prototypes: The training pairs, or parts of some, that it was made of, in order; themselves without provenance.
        log_probability: The generative model's log-probability of the example, if it has one.
        sources: One entry per token of x, then per token of y: ``"written"``, ``"own:I"`` (copied from token I of the
            example itself), ``"K:J"`` (copied from token J of prototype K); K, I and J count from 1, tokens of x and
            then of y. Empty if the method does not tell.
        details: What else the method has to say, e.g. GECA's template; JSON-friendly values only.
    """

    method: str
    prototypes: tuple["Example", ...] = ()
    log_probability: float | None = None
    sources: Tokens = ()
    details: Mapping[str, str | int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Example:
    """A datum d = (x, y): an input and its output, as token tuples.

    Two examples are equal when x and y are: provenance says where an example is from, not what it is.

    Attributes:
        x: The input tokens; never empty in data that was read or sampled.
        y: The output tokens; never empty either.
        provenance: Where a synthetic example came from; None for an original.
    """

    x: Tokens
    y: Tokens
    provenance: Provenance | None = field(default=None, compare=False)

    @property
    def d(self) -> Tokens:
        """The sequence x ▷ y that generative models rebuild and on which neighborhoods are computed."""
        return (*self.x, SEPARATOR, *self.y)

    def with_provenance(self, provenance: Provenance | None) -> Self:
        """Returns the same pair with another account of its origin."""
        return replace(self, provenance=provenance)

    def __str__(self) -> str:
        return f"{' '.join(self.x)} ▷ {' '.join(self.y)}"


class Examples(list[Example]):
    """Examples, and what a token of their texts is, so that what is learned of them reads and writes texts alike.

    Other lists of them, such as slices and sums, are plain: whoever learns from these is to give ``tokens``.

    Attributes:
        tokens: ``"words"``, ``"characters"`` or ``"code"``.
        from_texts: Whether they were texts on both sides, which other tokens can be made of, too.
    """

    def __init__(self, examples: Iterable[Example], tokens: str, *, from_texts: bool = False) -> None:
        super().__init__(examples)
        self.tokens, self.from_texts = tokens, from_texts
