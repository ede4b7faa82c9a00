"""The neighborhood rules: N(d), the prototypes that each training example could be rebuilt from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods.index import NOTHING, Index, Integers, in_batches, sampled
from recombine.neighborhoods.neighborhood import Neighborhoods
from recombine.neighborhoods.search import (
    ALONE,
    BUDGET,
    Effort,
    Plan,
    Rule,
    Search,
    check_choice,
    check_counts,
    check_delta,
    covers,
    distinct,
    lev,
    remainder,
    symmetric_difference,
)
from recombine.neighborhoods.word_forms import TagLevels, WordForms

ANY = -1
"""Stands for any token set, where it does not matter."""

ROUNDING = 1e-9
FARTHER = 2.0
"""More than any lev."""

REMEMBERED = 1 << 14
"""How many second prototypes' lists are kept at hand: they recur from target to target."""


@dataclass(frozen=True, slots=True)
class OnePrototype:
    r"""Prototypes that are near to the target by a weighted sum of token-set difference and edit distance.

    N(d) = {d1 : alpha * |d Δ d1| + beta * lev(d, d1) < delta}.

    Attributes:
        alpha: The weight of the number of tokens not in common.
        beta: The weight of the normalised edit distance.
        delta: The bound on the sum, itself excluded.
        first: How many prototypes a target has at most, chosen at random; None for no limit.
        budget: How many candidates are compared with a target at most, chosen at random.
    """

    name: ClassVar[str] = "one-prototype"
    NEAR: ClassVar[str] = "with a near prototype"

    alpha: float = 0.0
    beta: float = 1.0
    delta: float = 0.5
    first: int | None = 10
    budget: int = BUDGET

    def __post_init__(self) -> None:
        if self.alpha < 0 or self.beta < 0 or self.delta <= 0:
            raise RecombineError("alpha and beta may not be negative, and delta must be positive.")
        check_counts(first=self.first, budget=self.budget)

    def build(self, examples: Sequence[Example], seed: int = 0, effort: Effort = ALONE) -> Neighborhoods:
        """Returns the neighborhoods of the examples; same seed, same rows."""
        plan = Plan(self, self._look, conditions=[self.NEAR], prototypes=1)
        return plan.carry_out(Index.of(examples), seed, effort)

    def _look(self, search: Search, targets: range) -> None:
        reach = min(self.delta / self.beta + ROUNDING, FARTHER) if self.beta else FARTHER
        strings = search.index.strings
        for target in targets:
            d = strings[target]
            candidates = search.index.similar(d, delta=min(reach, 1.0), budget=self.budget, rng=search.rng)
            valid = (
                d1
                for hits in search.near(d, candidates, delta=reach)
                for d1 in hits.tolist()
                if d1 != target and self._distance(d, strings[d1]) < self.delta
            )
            for d1 in islice(valid, self.first):
                search.passed(target, self.NEAR)
                search.add(target, d1)

    def _distance(self, d: str, d1: str) -> float:
        return self.alpha * symmetric_difference(d, d1) + self.beta * lev(d, d1)


@dataclass(frozen=True, slots=True)
class LongShort:
    r"""Pairs of a prototype near to the target and a mostly shorter one that supplies what is missing.

    N(d) = {(d1, d2) : lev(d, d1) < delta, lev([d\d1], d2) < delta, |d\d1| > 0, |d\d1\d2| = 0}.

    Attributes:
        delta: The bound on both distances, itself excluded.
        first: How many first prototypes a target has at most, chosen at random; None for no limit.
        second: How many second prototypes each first prototype has at most, chosen at random; None for no limit.
        removal: Whether [d\d1] is the sequence of all that is left over, as in the paper, or of its distinct tokens.
        budget: How many candidates one search compares at most, chosen at random: per target for first prototypes, per
            remainder for second ones. Every row is valid whatever the budget; a small one may miss some.
    """

    name: ClassVar[str] = "long-short"
    NEAR: ClassVar[str] = "with a near first prototype"
    REMAINDER: ClassVar[str] = "with tokens left over"
    SECOND: ClassVar[str] = "with a second prototype for these"

    delta: float = 0.5
    first: int | None = 10
    second: int | None = 3
    removal: Literal["all", "distinct"] = "all"
    budget: int = BUDGET

    def __post_init__(self) -> None:
        check_delta(self.delta)
        check_choice("removal", self.removal, ["all", "distinct"])
        check_counts(first=self.first, second=self.second, budget=self.budget)

    def build(self, examples: Sequence[Example], seed: int = 0, effort: Effort = ALONE) -> Neighborhoods:
        """Returns the neighborhoods of the examples; same seed, same rows."""
        plan = Plan(self, self._look, conditions=[self.NEAR, self.REMAINDER, self.SECOND], prototypes=2)
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
                    supply[lack] = seconds(rest) if rest else NOTHING
                    if rest:
                        search.passed(target, self.REMAINDER)
                taken += len(supply[lack]) > 0 and self._add_pairs(search, target, d1, supply[lack])
                if taken == self.first:
                    break

    def _firsts(self, search: Search, target: int) -> Iterator[tuple[int, int]]:
        """Yields data near to the target, in random order, each with a key to what it lacks."""
        d = search.index.strings[target]
        candidates = search.index.similar(d, delta=self.delta, budget=self.budget, rng=search.rng)
        for hits in search.near(d, candidates, delta=self.delta):
            others = hits[hits != target]
            if len(others):
                search.passed(target, self.NEAR)
                yield from zip(others.tolist(), search.index.lacks(target, others), strict=True)

    def _seconds(self, search: Search, rest: str) -> Integers:
        """Returns the data near to a remainder that hold all of it."""
        sequence = self._sequence(rest)
        candidates = search.index.covering(sequence, delta=self.delta, budget=self.budget, rng=search.rng)
        hits = np.concatenate([NOTHING, *search.near(sequence, candidates, delta=self.delta)])
        return hits[[covers(d2, rest) for d2 in search.index.strings[hits]]]

    def _sequence(self, rest: str) -> str:
        return rest if self.removal == "all" else distinct(rest)

    def _add_pairs(self, search: Search, target: int, d1: int, supply: Integers) -> bool:
        """Adds the rows of one target and first prototype; returns whether there are any."""
        found = search.pick(supply[(supply != target) & (supply != d1)], self.second)
        for d2 in found:
            search.add(target, d1, d2)
        if found:
            search.passed(target, self.SECOND)
        return bool(found)


@dataclass(frozen=True, slots=True)
class LongLong:
    r"""Pairs of prototypes that are both near to the target and together hold all of its tokens.

    N(d) = {(d1, d2) in Omega : lev(d, d1) < delta, lev(d, d2) < delta, |d Δ d1| = 1, |d\d1\d2| = 0}, where Omega is all
    pairs with |d1 Δ d2| = 1.

    Attributes:
        delta: The bound on both distances, itself excluded.
        first: How many first prototypes a target has at most, chosen at random; None for no limit.
        second: How many second prototypes each first prototype has at most, chosen at random; None for no limit.
        difference: Whether exactly one token is in only one of d and d1, and of d1 and d2 ("symmetric", as in the
            paper); or exactly one is in d but not in d1, and d1 and d2 may differ in any way ("one-sided").
        budget: How many candidates one search compares at most, chosen at random. Every row is valid whatever the
            budget; a small one may miss some.
    """

    name: ClassVar[str] = "long-long"
    NEAR: ClassVar[str] = "with a near first prototype that differs by one token"
    SECOND: ClassVar[str] = "with a second prototype for it"

    delta: float = 0.5
    first: int | None = 10
    second: int | None = 3
    difference: Literal["symmetric", "one-sided"] = "symmetric"
    budget: int = BUDGET

    def __post_init__(self) -> None:
        check_delta(self.delta)
        check_choice("difference", self.difference, ["symmetric", "one-sided"])
        check_counts(first=self.first, second=self.second, budget=self.budget)

    def build(self, examples: Sequence[Example], seed: int = 0, effort: Effort = ALONE) -> Neighborhoods:
        """Returns the neighborhoods of the examples; same seed, same rows."""
        plan = Plan(self, self._look, conditions=[self.NEAR, self.SECOND], prototypes=2)
        return plan.carry_out(Index.of(examples), seed, effort)

    def _look(self, search: Search, targets: range) -> None:
        for target in targets:
            for d1, seconds in islice(self._pairs(search, target), self.first):
                search.passed(target, self.SECOND)
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
                search.passed(target, self.NEAR)
                yield d1

    def _pairs(self, search: Search, target: int) -> Iterator[tuple[int, list[int]]]:
        """Yields first prototypes, each with its second ones, at random among all that are valid."""
        index = search.index
        d = index.strings[target]
        near: dict[int, Integers] = {}
        for d1 in self._firsts(search, target):
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


@dataclass(frozen=True, slots=True)
class Swap:
    r"""Pairs of a prototype that lacks as little of the target as any, and one that has what is lacking.

    N(d) = {(d1, d2) : lev(d, d1) < delta, |d\d1| > 0 and as small as can be, |d\d1\d2| = 0}. Not in the paper. It is
    for data where every example is long and shares most of its words with all others ("weld the red plate ▷ WELD (
    PLATE RED )"). There no example is near to what another lacks, as long–short demands of d2, and no two differ by one
    token, as long–long demands: a word and its meaning are two. Examples that differ in one word abound, and so do
    those that have it.

    Attributes:
        delta: The bound on the distance of the first prototype, itself excluded.
        first: How many first prototypes a target has at most: those that lack the fewest tokens, then the nearest; None
            for no limit.
        second: How many second prototypes each first prototype has at most, chosen at random; None for no limit.
        budget: How many candidates one search compares at most, chosen at random.
    """

    name: ClassVar[str] = "swap"
    NEAR: ClassVar[str] = "with a near first prototype that lacks something"
    SECOND: ClassVar[str] = "with a second prototype for it"

    delta: float = 0.5
    first: int | None = 10
    second: int | None = 3
    budget: int = BUDGET

    def __post_init__(self) -> None:
        check_delta(self.delta)
        check_counts(first=self.first, second=self.second, budget=self.budget)

    def build(self, examples: Sequence[Example], seed: int = 0, effort: Effort = ALONE) -> Neighborhoods:
        """Returns the neighborhoods of the examples; same seed, same rows."""
        plan = Plan(self, self._look, conditions=[self.NEAR, self.SECOND], prototypes=2)
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
                    search.passed(target, self.SECOND)
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
            search.passed(target, self.NEAR)
        found.sort(key=lambda each: each[:2])  # equals stay in random order
        return [(d1, lack) for _, _, d1, lack in found]

    def _seconds(self, search: Search, lack: str) -> Integers:
        """Returns data that hold all of some tokens; d1, which lacks them, is none of these."""
        hits = np.concatenate([NOTHING, *search.index.covering(lack, delta=1.0, budget=self.budget, rng=search.rng)])
        return hits[[covers(d2, lack) for d2 in search.index.strings[hits]]]


@dataclass(frozen=True, slots=True)
class Tagged:
    r"""The best prototypes by tags and lemma, for word forms in generation order (lemma, tags ▷ form).

    After appendix B: score_1(d, d1) = (|d_tags Δ d1_tags|, jaccard(d_lemma, d1_lemma)), score_2(d, d1, d2) = (d_tags !=
    d2_tags, |d1_tags Δ d2_tags|), the smallest first; pairs are those with d1_tags != d2_tags and d_tags \ d1_tags \
    d2_tags = 0. Ties go to the examples that come first.

    Attributes:
        prototypes: How many prototypes a row has: 1 or 2.
        first: How many first prototypes a target has at most.
        second: How many second prototypes each first prototype has at most.
        budget: How many sets of tags, and how many lemmas among equals, are compared with a target at most, chosen at
            random.
    """

    name: ClassVar[str] = "tagged"
    FIRST: ClassVar[str] = "with a first prototype"
    SECOND: ClassVar[str] = "with a second prototype"

    prototypes: Literal[1, 2] = 2
    first: int = 4
    second: int = 4
    budget: int = BUDGET

    def __post_init__(self) -> None:
        if self.prototypes not in (1, 2):
            raise RecombineError(f"prototypes is {self.prototypes}, expected 1 or 2.")
        check_counts(first=self.first, second=self.second, budget=self.budget)

    def build(self, examples: Sequence[Example], seed: int = 0, effort: Effort = ALONE) -> Neighborhoods:
        """Returns the neighborhoods of the examples; same seed, same rows.

        Raises:
            RecombineError: If an example's input has no tags.
        """
        index = Index.of(examples)
        words = WordForms.of([examples[place] for place in index.originals.tolist()])
        conditions = [self.FIRST, self.SECOND][: self.prototypes]
        plan = Plan(
            self,
            lambda search, targets: self._look(search, targets, words),
            conditions=conditions,
            prototypes=self.prototypes,
        )
        return plan.carry_out(index, seed, effort)

    def _look(self, search: Search, targets: range, words: WordForms) -> None:
        levels = TagLevels(words.tag_sets, budget=self.budget, rng=search.rng)
        seconds = lru_cache(REMEMBERED)(lambda tags, tags_1: self._seconds(words, levels, tags, tags_1))
        for target in targets:
            own = int(words.tags_of[target])
            in_order = chain.from_iterable(self._ranked(search, words, level, target) for level in levels.around(own))
            ranked = list(islice(in_order, self.first + 1))  # one more, for rules that pair first prototypes
            for d1 in ranked[: self.first]:
                search.passed(target, self.FIRST)
                if self.prototypes == 1:
                    search.add(target, d1)
                    continue
                choice = seconds(own, int(words.tags_of[d1]))
                found = [d2 for d2 in choice if d2 not in (target, d1)][: self.second]
                for pair in self._pairs(search, d1, found, ranked):
                    search.passed(target, self.SECOND)
                    search.add(target, *pair)

    def _ranked(self, search: Search, words: WordForms, level: Sequence[int], target: int) -> list[int]:
        """Returns the other examples with tags of one level, by how similar their lemmas are to the target's."""
        shelves = [words.members[tags] for tags in level]
        members = np.sort(sampled([NOTHING, *shelves], self.budget, search.rng))
        members = members[members != target]
        return list(members[np.argsort(self._lemma_scores(words, target, members), kind="stable")].tolist())

    def _lemma_scores(self, words: WordForms, target: int, members: Integers) -> NDArray[np.float64]:
        return words.jaccard(target, members)

    def _seconds(self, words: WordForms, levels: TagLevels, tags: int, tags_1: int) -> list[int]:
        """Returns second prototypes for sets of tags of target and first prototype, in the order of score_2."""
        lack = words.tag_sets[tags] - words.tag_sets[tags_1]
        enough = self.second + 2  # target and first prototype may be among them
        found: list[int] = []
        for level in self._second_levels(levels, tags, tags_1):
            allowed = [other for other in level if other != tags_1 and lack <= words.tag_sets[other]]
            found += np.sort(np.concatenate([NOTHING, *(words.members[other][:enough] for other in allowed)])).tolist()
            if len(found) >= enough:
                break
        return found[:enough]

    def _second_levels(self, levels: TagLevels, tags: int, tags_1: int) -> list[list[int]]:
        """Returns the sets of tags that second prototypes may have, the best first."""
        return [[tags], *([other for other in level if other != tags] for level in levels.around(tags_1))]

    def _pairs(self, search: Search, d1: int, seconds: list[int], ranked: list[int]) -> list[tuple[int, int]]:
        """Returns the pairs of a first prototype and its second ones."""
        return [(d1, d2) for d2 in seconds]


NEIGHBORHOODS: Mapping[str, type[Rule]] = {
    rule.name: rule for rule in (OnePrototype, LongShort, LongLong, Swap, Tagged)
}
"""The rules: frozen dataclasses whose fields are the settings."""
