r"""Swap neighborhoods: d1 is d but for a part, d2 is anything that holds this part. Not in the paper.

N(d) = {(d1, d2) : lev(d, d1) < delta, |d\d1| > 0 and as small as can be, |d\d1\d2| = 0}. Where every example is long
and shares most of its words with all others ("weld the red plate ▷ WELD ( PLATE RED )"), none is near to what another
lacks, as long–short demands of d2, nor do two examples differ by one token, as long–long demands: a word and its
meaning are two. Examples that differ in one word abound, and so do those that have it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np

from recombine.example import Example
from recombine.neighborhoods.distance import covers, distinct, lev, remainder
from recombine.neighborhoods.effort import ALONE, Effort
from recombine.neighborhoods.index import NOTHING, Index
from recombine.neighborhoods.neighborhood import Neighborhoods
from recombine.neighborhoods.ragged import Integers
from recombine.neighborhoods.rule import BUDGET, check_counts, check_delta
from recombine.neighborhoods.search import Plan, Search

NEAR, SECOND = "with a near first prototype that lacks something", "with a second prototype for it"

ANYWHERE = 1.0


@dataclass(frozen=True, slots=True)
class Swap:
    """Pairs of a prototype that lacks as little of the target as any, and one that has what is lacking.

    Attributes:
        delta: The bound on the distance of the first prototype, itself excluded.
        first: How many first prototypes a target has at most: those that lack the fewest tokens, then the nearest; None
            for no limit.
        second: How many second prototypes each first prototype has at most, chosen at random; None for no limit.
        budget: How many candidates one search compares at most, chosen at random.
    """

    name: ClassVar[str] = "swap"

    delta: float = 0.5
    first: int | None = 10
    second: int | None = 3
    budget: int = BUDGET

    def __post_init__(self) -> None:
        check_delta(self.delta)
        check_counts(first=self.first, second=self.second, budget=self.budget)

    def build(self, examples: Sequence[Example], seed: int = 0, effort: Effort = ALONE) -> Neighborhoods:
        """Returns the neighborhoods of the examples; same seed, same rows."""
        plan = Plan(rule=self.name, settings=asdict(self), conditions=[NEAR, SECOND], prototypes=2, look=self._look)
        return plan.carry_out(Index.of(examples), seed, effort)

    def _look(self, search: Search, targets: range) -> None:
        for target in targets:
            supply: dict[str, Integers] = {}
            taken = 0
            for d1, lack in self._firsts(search, target):
                if lack not in supply:
                    supply[lack] = self._seconds(search, lack)
                seconds = search.pick(supply[lack][supply[lack] != target], self.second)
                for d2 in seconds:
                    search.add(target, d1, d2)
                if seconds:
                    search.passed(target, SECOND)
                    taken += 1
                if taken == self.first:
                    break

    def _firsts(self, search: Search, target: int) -> list[tuple[int, str]]:
        """Returns the data near to the target that lack something of it, and what; those that lack least come first."""
        strings = search.index.strings
        d = strings[target]
        candidates = search.index.similar(d, delta=self.delta, budget=self.budget, rng=search.rng)
        near = np.concatenate([NOTHING, *search.near(d, candidates, delta=self.delta)])
        lacks: dict[int, str] = {}
        found = []
        for d1, key in zip(near.tolist(), search.index.lacks(target, near), strict=True):
            if key not in lacks:
                lacks[key] = distinct(remainder(d, strings[d1]))
            if lacks[key]:
                found.append((len(lacks[key]), lev(d, strings[d1]), d1, lacks[key]))
        if found:
            search.passed(target, NEAR)
        found.sort(key=lambda each: each[:2])  # equals stay in random order
        return [(d1, lack) for _, _, d1, lack in found]

    def _seconds(self, search: Search, lack: str) -> Integers:
        """Returns data that hold all of some tokens; d1, which lacks them, is none of these."""
        index = search.index
        candidates = index.covering(lack, delta=ANYWHERE, budget=self.budget, rng=search.rng)
        hits = np.concatenate([NOTHING, *candidates])
        return hits[[covers(d2, lack) for d2 in index.strings[hits]]]
