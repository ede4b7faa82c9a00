r"""Sets of compatible prototypes (Omega) that a model is sampled with: uniform draws, without listing the sets.

They are D for one prototype, D × D for long–short and swap, {|d1 Δ d2| = 1} for long–long, {d1_tags != d2_tags} for
tagged. Other rules list them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods.index import Index, Integers, Ragged
from recombine.neighborhoods.neighborhood import Neighborhoods

PATIENCE = 100_000
"""How many draws may be rejected for one that is accepted before a set counts as empty."""

BLOCK = 1024

Omega = Callable[[int, np.random.Generator], NDArray[np.integer[Any]]]
"""A set of prototype tuples. It draws n rows of prototypes, as indices into the sequence of examples, with replacement.
"""


def product(pools: Sequence[Integers]) -> Omega:
    """Returns all tuples of one element from each pool (indices of examples): D for one pool, D × D for two."""
    if not all(map(len, pools)):
        raise _empty()
    return lambda n, rng: np.stack([pool[rng.integers(len(pool), size=n)] for pool in pools], axis=1)


def listed(rows: Integers) -> Omega:
    """Returns the rows of a table."""
    if not len(rows):
        raise _empty()
    return lambda n, rng: rows[rng.integers(len(rows), size=n)]


def accepted(whole: Omega, accept: Callable[[NDArray[np.integer[Any]]], NDArray[np.bool_]]) -> Omega:
    """Returns the rows of a set that are accepted, found by trial: for conditions that not too few rows meet."""

    def draw(n: int, rng: np.random.Generator) -> NDArray[np.integer[Any]]:
        found = [whole(0, rng)]
        count = tried = 0
        while count < n:
            if tried > PATIENCE * (count + 1):
                raise _empty()
            rows = whole(BLOCK, rng)
            found.append(rows[accept(rows)])
            count, tried = count + len(found[-1]), tried + BLOCK
        return np.concatenate(found)[:n]

    return draw


def one_apart(index: Index, firsts: Integers, seconds: Integers) -> Omega:
    """Returns the pairs with |d1 Δ d2| = 1, of these first and second prototypes by their numbers in the index.

    Pairs of token sets that differ by one token are few, so these are listed; how many pairs of data each stands for is
    known, and the number of a pair among all says which one it is.
    """
    size = len(index.sets)
    with_set_1, with_set_2 = (Ragged(index.set_of[data], data, size=size) for data in (firsts, seconds))
    sets_1, sets_2 = np.repeat(np.arange(size), index.one_apart.sizes), index.one_apart.values
    pairs = with_set_1.sizes[sets_1] * with_set_2.sizes[sets_2]
    ends = np.cumsum(pairs)
    if not pairs.any():
        raise _empty()

    def draw(n: int, rng: np.random.Generator) -> Integers:
        numbers = rng.integers(ends[-1], size=n)
        edges = np.searchsorted(ends, numbers, side="right")
        set_1, set_2 = sets_1[edges], sets_2[edges]
        width = with_set_2.sizes[set_2]
        from_end = ends[edges] - 1 - numbers
        d1 = with_set_1.values[with_set_1.starts[set_1] + from_end // width]
        d2 = with_set_2.values[with_set_2.starts[set_2] + from_end % width]
        rows: Integers = index.originals[np.stack([d1, d2], axis=1)]
        return rows

    return draw


def focused(whole: Omega, wanted: Sequence[bool]) -> Omega:
    """Returns the rows of a set whose last prototype, which supplies what others lack, is wanted.

    Where there are next to none, it returns the set itself.
    """
    marks = np.array(wanted, np.bool_)
    part = accepted(whole, lambda rows: marks[rows[:, -1]])
    try:
        part(1, np.random.default_rng(0))
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
        return listed(neighborhoods.offered)
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
    whole = product([index.originals[pool] for pool in pools])
    if len(pools) == 1 or neighborhoods.rule in ("long-short", "swap"):
        return whole
    if not tagged and neighborhoods.settings.get("difference") != "one-sided":
        return one_apart(index, *pools)

    def suits(rows: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Tells where tags differ, or the first prototype has one token that the second lacks."""
        numbers = index.originals.searchsorted(rows)
        if tagged:
            tags = index.words.tags_of[numbers]
            return np.not_equal(tags[:, 0], tags[:, 1])
        pairs = index.set_of[numbers].tolist()
        return np.array([len({*index.sets[d1]} - {*index.sets[d2]}) == 1 for d1, d2 in pairs], np.bool_)

    return accepted(whole, suits)


def _empty() -> RecombineError:
    return RecombineError(
        "there are no compatible prototypes to sample with.",
        hint="Try another neighborhood rule, more data, or a looser bound on lengths.",
    )
