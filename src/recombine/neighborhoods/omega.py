r"""Sets of compatible prototypes (Omega) that a model is sampled with: uniform draws, without listing the sets.

They are D for one prototype, D × D for long–short and swap, {|d1 Δ d2| = 1} for long–long, {d1_tags != d2_tags} for
tagged.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import split_analysis
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
    """All tuples of one element from each pool: D for one pool, D × D for two.

    Attributes:
        pools: What the first, second, ... prototypes may be, as indices into the sequence of examples.
    """

    pools: Sequence[Integers]

    def __post_init__(self) -> None:
        if not all(map(len, self.pools)):
            raise _empty()

    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Returns n rows of prototypes, drawn with replacement."""
        return np.stack([pool[rng.integers(len(pool), size=n)] for pool in self.pools], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Accepted:
    """The rows of another set that meet a condition, found by trial: for sets that are not too thin.

    Attributes:
        whole: The other set.
        accept: Tells which of a block of rows meet the condition.
    """

    whole: Omega
    accept: Callable[[Integers], NDArray[np.bool_]]

    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Returns n rows of prototypes, drawn with replacement.

        Raises:
            RecombineError: If next to no row of the whole set meets the condition.
        """
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
    known, and the number of a pair among all says which one it is.

    Args:
        index: The prepared examples.
        firsts: What the first prototype may be, as numbers in the index.
        seconds: What the second prototype may be.
    """

    def __init__(self, index: Index, firsts: Integers, seconds: Integers) -> None:
        size = len(index.sets)
        self._originals = index.originals
        self._firsts = Ragged.grouped(index.set_of[firsts], firsts, size=size)
        self._seconds = Ragged.grouped(index.set_of[seconds], seconds, size=size)
        self._set_1 = np.repeat(np.arange(size), np.diff(index.one_apart.starts))
        self._set_2 = index.one_apart.values
        pairs = np.diff(self._firsts.starts)[self._set_1] * np.diff(self._seconds.starts)[self._set_2]
        self._ends = np.cumsum(pairs)
        if not pairs.any():
            raise _empty()

    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Returns n rows of prototypes, drawn with replacement."""
        numbers = rng.integers(self._ends[-1], size=n)
        edges = np.searchsorted(self._ends, numbers, side="right")
        set_1, set_2 = self._set_1[edges], self._set_2[edges]
        width = np.diff(self._seconds.starts)[set_2]
        from_end = self._ends[edges] - 1 - numbers
        d1 = self._firsts.values[self._firsts.starts[set_1] + from_end // width]
        d2 = self._seconds.values[self._seconds.starts[set_2] + from_end % width]
        rows: Integers = self._originals[np.stack([d1, d2], axis=1)]
        return rows


def lacking_one(index: Index) -> Callable[[Integers], NDArray[np.bool_]]:
    r"""Returns the condition |d1 \ d2| = 1 on rows of a set."""
    numbers = np.zeros(index.originals.max(initial=0) + 1, np.int32)  # in the index, of examples
    numbers[index.originals] = np.arange(len(index))
    return lambda rows: index.lack_one(*numbers[rows].T)


def focused(whole: Omega, wanted: Sequence[bool]) -> Omega:
    """Returns the rows of a set whose last prototype, which supplies what others lack, is wanted.

    Where there are next to none, it returns the set itself.

    Args:
        whole: The set.
        wanted: Of each example, whether it is.
    """
    marks = np.array(wanted, np.bool_)
    part = Accepted(whole, lambda rows: marks[rows[:, -1]])
    try:
        part.draw(1, np.random.default_rng(0))
    except RecombineError:
        return whole
    return part


class TagPairs:
    """The pairs of word forms with d1_tags != d2_tags.

    Args:
        examples: Examples in generation order.
    """

    def __init__(self, examples: Sequence[Example]) -> None:
        self._tags = [frozenset(split_analysis(example.x)[1]) for example in examples]
        originals = Index.of(examples).originals
        self._pairs = Accepted(Product([originals, originals]), self._differ)

    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Returns n rows of prototypes, as indices into the sequence of examples, drawn with replacement."""
        return self._pairs.draw(n, rng)

    def _differ(self, rows: Integers) -> NDArray[np.bool_]:
        return np.array([self._tags[d1] != self._tags[d2] for d1, d2 in rows.tolist()], np.bool_)


def compatible(neighborhoods: Neighborhoods, examples: Sequence[Example], *, deviations: float | None = 1.0) -> Omega:
    """Returns the set that goes with the rule of the neighborhoods.

    Args:
        neighborhoods: What the model was trained on, with one prototype or two.
        examples: The examples that the neighborhoods speak of.
        deviations: Prototypes are not longer than the mean length of those in the same place in the neighborhoods, plus
            this many standard deviations; the authors' code has 0. None for any length; word forms are never bounded.

    Raises:
        RecombineError: If the set is empty, or there is nothing to draw since there are no prototypes.
    """
    if neighborhoods.prototypes == 0:
        raise RecombineError("neighborhoods without prototypes have no compatible prototypes.")
    index = Index.of(examples)
    tagged = neighborhoods.rule == "tagged"
    bounds = [
        np.inf if tagged or deviations is None else _bound(examples, column, deviations)
        for column in neighborhoods.rows.T[1:]
    ]
    pools = [np.flatnonzero(index.lengths <= bound).astype(np.int32) for bound in bounds]
    whole = Product([index.originals[pool] for pool in pools])
    if len(pools) == 1 or neighborhoods.rule in ("long-short", "swap"):
        return whole
    if tagged:
        return TagPairs(examples)
    if neighborhoods.settings.get("difference") == "one-sided":
        return Accepted(whole, lacking_one(index))
    return OneApart(index, *pools)


def _bound(examples: Sequence[Example], prototypes: Integers, deviations: float) -> float:
    """Returns the mean length of the prototypes plus some standard deviations."""
    lengths = np.fromiter((len(example.d) for example in examples), np.float64, len(examples))[prototypes]
    return float(lengths.mean() + deviations * lengths.std()) if len(lengths) else -np.inf


def _empty() -> RecombineError:
    return RecombineError(
        "there are no compatible prototypes to sample with.",
        hint="Try another neighborhood rule, more data, or a looser bound on lengths.",
    )
