r"""Long–long neighborhoods: d1 and d2 are both near to d, and together hold all of its tokens.

N(d) = {(d1, d2) in Omega : lev(d, d1) < delta, lev(d, d2) < delta, |d Δ d1| = 1, |d\d1\d2| = 0}, where Omega is all
pairs with |d1 Δ d2| = 1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from typing import ClassVar, Literal

import numpy as np

from recombine.example import Example
from recombine.neighborhoods.distance import covers, distinct, lev, remainder
from recombine.neighborhoods.effort import ALONE, Effort
from recombine.neighborhoods.index import NOTHING, Index, in_batches, sampled
from recombine.neighborhoods.neighborhood import Neighborhoods
from recombine.neighborhoods.ragged import Integers
from recombine.neighborhoods.rule import BUDGET, check_choice, check_counts, check_delta
from recombine.neighborhoods.search import Plan, Search

ANY = -1
"""Stands for any token set, where it does not matter."""

NEAR, SECOND = "with a near first prototype that differs by one token", "with a second prototype for it"


@dataclass(frozen=True, slots=True)
class LongLong:
    r"""Pairs of prototypes that are both near to the target.

    The defaults are the paper's. The authors' code: ``difference="one-sided", candidates=10, first=3``.

    Attributes:
        delta: The bound on both distances, itself excluded.
        first: How many first prototypes a target has at most, chosen at random; None for no limit.
        second: How many second prototypes each first prototype has at most, chosen at random; None for no limit.
        difference: Whether exactly one token is in only one of d and d1, and of d1 and d2 ("symmetric"); or exactly one
            is in d but not in d1, and d1 and d2 may differ in any way ("one-sided").
        candidates: If given, first and second prototypes are the best by similarity among so many random data near to d
            that differ from it by one token, rather than random ones among all.
        budget: How many candidates one search compares at most, chosen at random. Every row is valid whatever the
            budget; a small one may miss some.
    """

    name: ClassVar[str] = "long-long"

    delta: float = 0.5
    first: int | None = 10
    second: int | None = 3
    difference: Literal["symmetric", "one-sided"] = "symmetric"
    candidates: int | None = None
    budget: int = BUDGET

    def __post_init__(self) -> None:
        check_delta(self.delta)
        check_choice("difference", self.difference, ["symmetric", "one-sided"])
        check_counts(first=self.first, second=self.second, candidates=self.candidates, budget=self.budget)

    def build(self, examples: Sequence[Example], seed: int = 0, effort: Effort = ALONE) -> Neighborhoods:
        """Returns the neighborhoods of the examples; same seed, same rows."""
        plan = Plan(
            rule=self.name,
            settings=asdict(self),
            conditions=[NEAR, SECOND],
            prototypes=2,
            look=self._look,
        )
        return plan.carry_out(Index.of(examples), seed, effort)

    def _look(self, search: Search, targets: range) -> None:
        for target in targets:
            firsts = self._firsts(search, target)
            pairs = (
                self._pairs(search, target, firsts) if self.candidates is None else self._best(search, target, firsts)
            )
            for d1, seconds in islice(pairs, self.first):
                search.passed(target, SECOND)
                for d2 in seconds:
                    search.add(target, d1, d2)

    def _firsts(self, search: Search, target: int) -> Iterator[int]:
        """Yields the data near to the target that differ from it by one token, in random order."""
        index = search.index
        d = index.strings[target]
        symmetric = self.difference == "symmetric"
        batches = self._one_apart(search, int(index.set_of[target])) if symmetric else self._similar(search, target)
        for d1 in chain.from_iterable(hits.tolist() for hits in search.near(d, batches, delta=self.delta)):
            if symmetric or len(distinct(remainder(d, index.strings[d1]))) == 1:
                search.passed(target, NEAR)
                yield d1

    def _pairs(self, search: Search, target: int, firsts: Iterator[int]) -> Iterator[tuple[int, list[int]]]:
        """Yields first prototypes, each with its second ones, at random among all that are valid."""
        index = search.index
        d = index.strings[target]
        near: dict[int, Integers] = {}
        for d1 in firsts:
            tokens = int(index.set_of[d1]) if self.difference == "symmetric" else ANY
            lack = distinct(remainder(d, index.strings[d1]))
            if tokens not in near:
                batches = (
                    self._similar(search, target) if tokens == ANY else self._one_apart(search, tokens, holding=lack)
                )
                near[tokens] = np.concatenate([NOTHING, *search.near(d, batches, delta=self.delta)])
            others = near[tokens][(near[tokens] != target) & (near[tokens] != d1)]
            if self.difference == "one-sided":
                others = others[[covers(d2, lack) for d2 in index.strings[others]]]
            seconds = search.pick(others, self.second)
            if seconds:
                yield d1, seconds

    def _similar(self, search: Search, target: int) -> Iterator[Integers]:
        d = search.index.strings[target]
        return search.index.similar(d, delta=self.delta, budget=self.budget, rng=search.rng)

    def _one_apart(self, search: Search, tokens: int, *, holding: str = "") -> Iterator[Integers]:
        """Yields the data whose token sets differ by one token from the given one and hold certain tokens."""
        index = search.index
        sets = sampled([index.one_apart[tokens]], self.budget, search.rng).tolist()
        shelves = [index.members[number] for number in sets if covers(index.sets[number], holding)]
        return in_batches(sampled([NOTHING, *shelves], self.budget, search.rng), search.rng)

    def _best(self, search: Search, target: int, firsts: Iterator[int]) -> Iterator[tuple[int, list[int]]]:
        """Yields first prototypes, each with its second ones, nearest first, among a few random candidates."""
        strings: Sequence[str] = search.index.strings.tolist()
        d = strings[target]
        candidates = sorted(islice(firsts, self.candidates), key=lambda d1: (lev(d, strings[d1]), d1))
        for d1 in candidates[: self.first]:
            lack = distinct(remainder(d, strings[d1]))
            seconds = [d2 for d2 in candidates if d2 != d1 and covers(strings[d2], lack)][: self.second]
            if seconds:
                yield d1, seconds
