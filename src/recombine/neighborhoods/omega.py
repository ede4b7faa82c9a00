r"""Sets of compatible prototypes (Omega) that a model is sampled with: uniform draws, without listing the sets.

They are D for one prototype, D × D for long–short and swap, {|d1 Δ d2| = 1} for long–long, {d1_tags != d2_tags} for
tagged. Other rules list them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods.index import Index, Integers, Ragged
from recombine.neighborhoods.neighborhood import Neighborhoods

PATIENCE = 100_000
"""How many draws may be rejected for one that is accepted before a set counts as empty."""

BLOCK = 1024


class Omega(Protocol):
    """A set of prototype tuples."""

    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Returns n rows of prototypes, as indices into the sequence of examples, drawn with replacement."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """All tuples of one element from each pool (indices of examples): D for one pool, D × D for two."""

    pools: Sequence[Integers]

    def __post_init__(self) -> None:
        if not all(map(len, self.pools)):
            raise _empty()

    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Returns n rows of prototypes, drawn with replacement."""
        return np.stack([pool[rng.integers(len(pool), size=n)] for pool in self.pools], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """The rows of a table."""

    rows: Integers

    def __post_init__(self) -> None:
        if not len(self.rows):
            raise _empty()

    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Returns n rows of prototypes, drawn with replacement."""
        return self.rows[rng.integers(len(self.rows), size=n)]


@dataclass(frozen=True, slots=True, eq=False)
class Accepted:
    """The rows of a whole set that are accepted, found by trial: for conditions that not too few rows meet."""

    whole: Omega
    accept: Callable[[Integers], NDArray[np.bool_]]

    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Returns n rows of prototypes, drawn with replacement."""
        found: list[Integers] = []
        count = tried = 0
        while count < n:
            if tried > PATIENCE * (count + 1):
                raise _empty()
            rows = self.whole.draw(BLOCK, rng)
            found.append(rows[self.accept(rows)])
            count, tried = count + len(found[-1]), tried + BLOCK
        return np.concatenate(found)[:n] if found else self.whole.draw(0, rng)


class OneApart:
    """The pairs with |d1 Δ d2| = 1.

    Pairs of token sets that differ by one token are few, so these are listed; how many pairs of data each stands for is
    known, and the number of a pair among all says which one it is. What first and second prototypes may be is given by
    their numbers in the index.
    """

    def __init__(self, index: Index, firsts: Integers, seconds: Integers) -> None:
        size = len(index.sets)
        self._originals = index.originals
        self._firsts = Ragged(index.set_of[firsts], firsts, size=size)
        self._seconds = Ragged(index.set_of[seconds], seconds, size=size)
        self._set_1 = np.repeat(np.arange(size), index.one_apart.sizes)
        self._set_2 = index.one_apart.values
        pairs = self._firsts.sizes[self._set_1] * self._seconds.sizes[self._set_2]
        self._ends = np.cumsum(pairs)
        if not pairs.any():
            raise _empty()

    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Returns n rows of prototypes, drawn with replacement."""
        numbers = rng.integers(self._ends[-1], size=n)
        edges = np.searchsorted(self._ends, numbers, side="right")
        set_1, set_2 = self._set_1[edges], self._set_2[edges]
        width = self._seconds.sizes[set_2]
        from_end = self._ends[edges] - 1 - numbers
        d1 = self._firsts.values[self._firsts.starts[set_1] + from_end // width]
        d2 = self._seconds.values[self._seconds.starts[set_2] + from_end % width]
        rows: Integers = self._originals[np.stack([d1, d2], axis=1)]
        return rows


def focused(whole: Omega, wanted: Sequence[bool]) -> Omega:
    """Returns the rows of a set whose last prototype, which supplies what others lack, is wanted.

    Where there are next to none, it returns the set itself.
    """
    marks = np.array(wanted, np.bool_)
    part = Accepted(whole, lambda rows: marks[rows[:, -1]])
    try:
        part.draw(1, np.random.default_rng(0))
    except RecombineError:
        return whole
    return part


def compatible(neighborhoods: Neighborhoods, examples: Sequence[Example], *, deviations: float | None = 1.0) -> Omega:
    """Returns the set that goes with the rule of the neighborhoods that a model was trained on, and their examples.

    Prototypes are not longer than the mean length of those in the same place in the neighborhoods, plus this many
    standard deviations (`deviations`); the authors' code has 0. None for any length; word forms are never bounded.
    """
    if neighborhoods.prototypes == 0:
        raise RecombineError("neighborhoods without prototypes have no compatible prototypes.")
    if neighborhoods.offered is not None:
        return Listed(neighborhoods.offered)
    index = Index(examples)
    tagged = neighborhoods.rule == "tagged"
    lengths = np.fromiter((len(example.d) for example in examples), np.float64, len(examples))
    pools = []
    for prototypes in neighborhoods.rows.T[1:]:
        bound = np.inf
        if not tagged and deviations is not None:
            of = lengths[prototypes]
            bound = of.mean() + deviations * of.std() if len(of) else -np.inf
        pools.append(np.flatnonzero(index.lengths <= bound).astype(np.int32))
    whole = Product([index.originals[pool] for pool in pools])
    if len(pools) == 1 or neighborhoods.rule in ("long-short", "swap"):
        return whole
    if not tagged and neighborhoods.settings.get("difference") != "one-sided":
        return OneApart(index, *pools)

    def suits(rows: Integers) -> NDArray[np.bool_]:
        """Tells where tags differ, or the first prototype has one token that the second lacks."""
        numbers = index.originals.searchsorted(rows)
        if tagged:
            tags = index.words.tags_of[numbers]
            return np.not_equal(tags[:, 0], tags[:, 1])
        pairs = index.set_of[numbers].tolist()
        return np.array([len({*index.sets[d1]} - {*index.sets[d2]}) == 1 for d1, d2 in pairs], np.bool_)

    return Accepted(whole, suits)


def _empty() -> RecombineError:
    return RecombineError(
        "there are no compatible prototypes to sample with.",
        hint="Try another neighborhood rule, more data, or a looser bound on lengths.",
    )
