r"""Long–short neighborhoods: d1 is near to d, d2 is near to what d1 lacks.

N(d) = {(d1, d2) : lev(d, d1) < delta, lev([d\d1], d2) < delta, |d\d1| > 0, |d\d1\d2| = 0}.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from recombine.example import Example
from recombine.neighborhoods.distance import covers, distinct, remainder
from recombine.neighborhoods.effort import ALONE, Effort
from recombine.neighborhoods.index import NOTHING, Index
from recombine.neighborhoods.neighborhood import Neighborhoods
from recombine.neighborhoods.ragged import Integers
from recombine.neighborhoods.rule import BUDGET, check_choice, check_counts, check_delta
from recombine.neighborhoods.search import Plan, Search

NEAR, REMAINDER, SECOND = "with a near first prototype", "with tokens left over", "with a second prototype for these"

REMEMBERED = 1 << 14
"""The remainders whose second prototypes are kept at hand: they recur from target to target."""


@dataclass(frozen=True, slots=True)
class LongShort:
    r"""Pairs of a prototype near to the target and a mostly shorter one that supplies what is missing.

    The defaults are the paper's. The authors' code: ``covering=False, removal="distinct", pairs=False, fallback=True,
    first=5, second=None``.

    Attributes:
        delta: The bound on both distances, itself excluded.
        first: How many first prototypes a target has at most, chosen at random; None for no limit.
        second: How many second prototypes each first prototype has at most, chosen at random; None for no limit.
        covering: Whether the second prototype must hold all tokens that the first one lacks.
        removal: Whether [d\d1] is the sequence of all that is left over, or of its distinct tokens.
        pairs: Whether first prototypes without a second are passed over, rather than take one of the ``first`` places.
        fallback: Whether a target without a near first prototype gets a random one.
        budget: How many candidates one search compares at most, chosen at random: per target for first prototypes, per
            remainder for second ones. Every row is valid whatever the budget; a small one may miss some.
    """

    name: ClassVar[str] = "long-short"

    delta: float = 0.5
    first: int | None = 10
    second: int | None = 3
    covering: bool = True
    removal: Literal["all", "distinct"] = "all"
    pairs: bool = True
    fallback: bool = False
    budget: int = BUDGET

    def __post_init__(self) -> None:
        check_delta(self.delta)
        check_choice("removal", self.removal, ["all", "distinct"])
        check_counts(first=self.first, second=self.second, budget=self.budget)

    def build(self, examples: Sequence[Example], seed: int = 0, effort: Effort = ALONE) -> Neighborhoods:
        """Returns the neighborhoods of the examples; same seed, same rows."""
        plan = Plan(
            rule=self.name,
            settings=asdict(self),
            conditions=[NEAR, REMAINDER, SECOND],
            prototypes=2,
            look=self._look,
        )
        return plan.carry_out(Index.of(examples), seed, effort)

    def _look(self, search: Search, targets: range) -> None:
        seconds = lru_cache(REMEMBERED)(lambda rest: self._seconds(search, rest))
        for target in targets:
            d = search.index.strings[target]
            supply: dict[int, Integers] = {}
            taken = 0
            for d1, lack in self._firsts(search, target):
                if lack not in supply:
                    rest = remainder(d, search.index.strings[d1])
                    supply[lack] = seconds(rest)
                    if rest:
                        search.passed(target, REMAINDER)
                found = len(supply[lack]) > 0 and self._add_pairs(search, target, d1, supply[lack])
                taken += found or not self.pairs
                if taken == self.first:
                    break

    def _firsts(self, search: Search, target: int) -> Iterator[tuple[int, int]]:
        """Yields data near to the target, in random order, each with a key to what it lacks."""
        d = search.index.strings[target]
        candidates = search.index.similar(d, delta=self.delta, budget=self.budget, rng=search.rng)
        alone = True
        for hits in search.near(d, candidates, delta=self.delta):
            others = hits[hits != target]
            if len(others):
                alone = False
                search.passed(target, NEAR)
                yield from zip(others.tolist(), search.index.lacks(target, others), strict=True)
        if alone and self.fallback and len(search.index) > 1:
            other = search.rng.integers(len(search.index) - 1, size=1, dtype=np.int32)
            other += other >= target
            yield int(other[0]), search.index.lacks(target, other)[0]

    def _seconds(self, search: Search, rest: str) -> Integers:
        """Returns the data near to a remainder."""
        if not rest:
            return NOTHING
        index = search.index
        sequence = rest if self.removal == "all" else distinct(rest)
        look_up = index.covering if self.covering else index.similar
        candidates = look_up(sequence, delta=self.delta, budget=self.budget, rng=search.rng)
        hits = np.concatenate([NOTHING, *search.near(sequence, candidates, delta=self.delta)])
        return hits[[covers(d2, rest) for d2 in index.strings[hits]]] if self.covering else hits

    def _add_pairs(self, search: Search, target: int, d1: int, supply: Integers) -> bool:
        """Adds the rows of one target and first prototype; returns whether there are any."""
        found = search.pick(supply[(supply != target) & (supply != d1)], self.second)
        for d2 in found:
            search.add(target, d1, d2)
        if found:
            search.passed(target, SECOND)
        return bool(found)
