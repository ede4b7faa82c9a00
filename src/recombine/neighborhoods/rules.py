"""The neighborhood rules: N(d), the prototypes that each training example could be rebuilt from."""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cdist

from recombine.errors import RecombineError
from recombine.neighborhoods.index import (
    FARTHER,
    NOTHING,
    Integers,
    WordForms,
    covers,
    distinct,
    in_batches,
    lev,
    remainder,
    sampled,
)
from recombine.neighborhoods.search import BUDGET, REMEMBERED, Rule, Search, SearchRule, check_delta

ROUNDING = 1e-9

Levels = Callable[[int], list[list[int]]]
"""Returns the sets of tags, by number, from those most like the given one to those least like it, level by level."""


@dataclass(frozen=True)
class OnePrototype(SearchRule):
    r"""Prototypes that are near to the target by a weighted sum of token-set difference and edit distance.

    N(d) = {d1 : alpha * |d Δ d1| + beta * lev(d, d1) < delta}.

    Attributes:
        alpha: The weight of the number of tokens not in common.
        beta: The weight of the normalised edit distance.
        delta: The bound on the sum, itself excluded.
        first: How many prototypes a target has at most, chosen at random; None for no limit.
        budget: How many candidates are compared with a target at most, chosen at random.
    """

    name = "one-prototype"
    prototypes = 1
    (NEAR,) = conditions = ("with a near prototype",)

    alpha: float = 0.0
    beta: float = 1.0
    delta: float = 0.5
    first: int | None = 10
    budget: int = BUDGET

    def __post_init__(self) -> None:
        if self.alpha < 0 or self.beta < 0 or self.delta <= 0:
            raise RecombineError("alpha and beta may not be negative, and delta must be positive.")
        super().__post_init__()

    def _look(self, search: Search, targets: range) -> None:
        reach = min(self.delta / self.beta + ROUNDING, FARTHER) if self.beta else FARTHER
        strings = search.index.strings

        def distance(d: str, d1: str) -> float:
            return self.alpha * len(set(d) ^ set(d1)) + self.beta * lev(d, d1)

        for target in targets:
            d = strings[target]
            near = search.index.similar(d, delta=reach, budget=self.budget, rng=search.rng)
            others = (d1 for hits in near for d1 in hits.tolist() if d1 != target)
            for d1 in islice((d1 for d1 in others if distance(d, strings[d1]) < self.delta), self.first):
                search.passed(target, self.NEAR)
                search.rows.extend((target, d1))


@dataclass(frozen=True)
class PairRule(SearchRule):
    """A rule for pairs: of a first prototype near to the target, and a second one with what the first lacks.

    Attributes:
        delta: The bound on the distance, or both distances, itself excluded.
        first: How many first prototypes a target has at most; None for no limit.
        second: How many second prototypes each first prototype has at most, chosen at random; None for no limit.
    """

    delta: float = 0.5
    first: int | None = 10
    second: int | None = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_delta(self.delta)

    def _look(self, search: Search, targets: range) -> None:
        for target in targets:
            for d1, seconds in islice(self._pairs(search, target), self.first):
                search.passed(target, self.conditions[-1])
                for d2 in seconds:
                    search.rows.extend((target, d1, d2))

    @abstractmethod
    def _pairs(self, search: Search, target: int) -> Iterator[tuple[int, list[int]]]:
        """Yields first prototypes of a target, each with its second ones, of which there is at least one."""


@dataclass(frozen=True)
class LongShort(PairRule):
    r"""Pairs of a prototype near to the target and a mostly shorter one that supplies what is missing.

    N(d) = {(d1, d2) : lev(d, d1) < delta, lev([d\d1], d2) < delta, |d\d1| > 0, |d\d1\d2| = 0}. First prototypes are
    chosen at random.

    Attributes:
        removal: Whether [d\d1] is the sequence of all that is left over, as in the paper, or of its distinct tokens.
        budget: How many candidates one search compares at most, chosen at random: per target for first prototypes, per
            remainder for second ones. Every row is valid whatever the budget; a small one may miss some.
    """

    name = "long-short"
    NEAR, REMAINDER, SECOND = conditions = (
        "with a near first prototype",
        "with tokens left over",
        "with a second prototype for these",
    )

    removal: Literal["all", "distinct"] = "all"
    budget: int = BUDGET

    def _pairs(self, search: Search, target: int) -> Iterator[tuple[int, list[int]]]:
        strings = search.index.strings
        supply = {"": NOTHING}
        for d1 in self._firsts(search, target):
            rest = remainder(strings[target], strings[d1])
            if rest not in supply:
                search.passed(target, self.REMAINDER)
                supply[rest] = search.remembered(self._seconds, rest)
            if len(supply[rest]) and (seconds := search.pick(supply[rest], self.second, target, d1)):
                yield d1, seconds

    def _firsts(self, search: Search, target: int) -> Iterator[int]:
        """Yields data near to the target, in random order."""
        d = search.index.strings[target]
        for hits in search.index.similar(d, delta=self.delta, budget=self.budget, rng=search.rng):
            others = hits[hits != target]
            if len(others):
                search.passed(target, self.NEAR)
                yield from others.tolist()

    def _seconds(self, search: Search, rest: str) -> Integers:
        """Returns the data near to a remainder that hold all of it."""
        sequence = rest if self.removal == "all" else distinct(rest)
        return search.index.covering(sequence, delta=self.delta, budget=self.budget, rng=search.rng)


@dataclass(frozen=True)
class LongLong(PairRule):
    r"""Pairs of prototypes that are both near to the target and together hold all of its tokens.

    N(d) = {(d1, d2) in Omega : lev(d, d1) < delta, lev(d, d2) < delta, |d Δ d1| = 1, |d\d1\d2| = 0}, where Omega is all
    pairs with |d1 Δ d2| = 1. First prototypes are chosen at random.

    Attributes:
        difference: Whether exactly one token is in only one of d and d1, and of d1 and d2 ("symmetric", as in the
            paper); or exactly one is in d but not in d1, and d1 and d2 may differ in any way ("one-sided").
        budget: How many candidates one search compares at most, chosen at random. Every row is valid whatever the
            budget; a small one may miss some.
    """

    name = "long-long"
    NEAR, SECOND = conditions = (
        "with a near first prototype that differs by one token",
        "with a second prototype for it",
    )

    difference: Literal["symmetric", "one-sided"] = "symmetric"
    budget: int = BUDGET

    def _firsts(self, search: Search, target: int) -> Iterator[int]:
        """Yields the data near to the target that differ from it by one token, in random order."""
        index = search.index
        symmetric = self.difference == "symmetric"
        near = self._near(search, target, int(index.set_of[target]))
        for d1 in chain.from_iterable(hits.tolist() for hits in near):
            if symmetric or len(distinct(remainder(index.strings[target], index.strings[d1]))) == 1:
                search.passed(target, self.NEAR)
                yield d1

    def _pairs(self, search: Search, target: int) -> Iterator[tuple[int, list[int]]]:
        index = search.index
        near: dict[int, Integers] = {}
        for d1 in self._firsts(search, target):
            # Where prototypes may differ in any way, second ones are the same for all first ones.
            tokens = int(index.set_of[d1]) if self.difference == "symmetric" else -1
            lack = distinct(remainder(index.strings[target], index.strings[d1]))
            if tokens not in near:
                near[tokens] = np.concatenate([NOTHING, *self._near(search, target, tokens, holding=lack)])
            others = near[tokens]
            if self.difference == "one-sided":
                others = others[[covers(d2, lack) for d2 in index.strings[others]]]
            if seconds := search.pick(others, self.second, target, d1):
                yield d1, seconds

    def _near(self, search: Search, target: int, tokens: int, *, holding: str = "") -> Iterator[Integers]:
        """Yields data near to the target; if symmetric, with token sets that differ by one from the given one."""
        index = search.index
        d = index.strings[target]
        if self.difference == "one-sided":
            return index.similar(d, delta=self.delta, budget=self.budget, rng=search.rng)
        sets = sampled([index.one_apart[tokens]], self.budget, search.rng).tolist()
        shelves = [index.members[number] for number in sets if covers(index.sets[number], holding)]
        batches = in_batches(sampled([NOTHING, *shelves], self.budget, search.rng), search.rng)
        return index.near(d, batches, delta=self.delta)


@dataclass(frozen=True)
class Swap(PairRule):
    r"""Pairs of a prototype that lacks as little of the target as any, and one that has what is lacking.

    N(d) = {(d1, d2) : lev(d, d1) < delta, |d\d1| > 0 and as small as can be, |d\d1\d2| = 0}. Not in the paper. It is
    for data where every example is long and shares most of its words with all others ("weld the red plate ▷ WELD (
    PLATE RED )"). There no example is near to what another lacks, as long–short demands of d2, and no two differ by one
    token, as long–long demands: a word and its meaning are two. Examples that differ in one word abound, and so do
    those that have it. First prototypes are those that lack the fewest tokens, then the nearest. The budget is that of
    the other rules.
    """

    name = "swap"
    NEAR, SECOND = conditions = (
        "with a near first prototype that lacks something",
        "with a second prototype for it",
    )

    budget: int = BUDGET

    def _pairs(self, search: Search, target: int) -> Iterator[tuple[int, list[int]]]:
        index = search.index
        d = index.strings[target]
        near = np.concatenate([NOTHING, *index.similar(d, delta=self.delta, budget=self.budget, rng=search.rng)])
        tokens, lacking = distinct(d), defaultdict[int, list[tuple[str, int]]](list)
        for d1, held in zip(near.tolist(), index.set_of[near].tolist(), strict=True):
            if lack := remainder(tokens, index.sets[held]):
                search.passed(target, self.NEAR)
                lacking[len(lack)].append((lack, d1))
        vain: list[frozenset[str]] = []  # what nothing else has together, so nothing has more of it
        for _, firsts in sorted(lacking.items()):
            supply: dict[str, Integers] = {}
            for lack in dict.fromkeys(lack for lack, _ in firsts):
                if not any(map(frozenset(lack).issuperset, vain)):
                    found = index.covering(lack, delta=FARTHER, budget=self.budget, rng=search.rng)
                    supply[lack] = found[found != target]  # d1, which lacks them, is none of these
                    if not len(supply[lack]):
                        vain.append(frozenset(lack))
            usable = [(lev(d, index.strings[d1]), d1, lack) for lack, d1 in firsts if len(supply.get(lack, NOTHING))]
            for _, d1, lack in sorted(usable, key=lambda each: each[0]):  # equals stay in random order
                yield d1, search.pick(supply[lack], self.second)


@dataclass(frozen=True)
class Tagged(SearchRule):
    r"""The best prototypes by tags and lemma, for word forms in generation order (lemma, tags ▷ form).

    After appendix B: score_1(d, d1) = (|d_tags Δ d1_tags|, jaccard(d_lemma, d1_lemma)), score_2(d, d1, d2) = (d_tags !=
    d2_tags, |d1_tags Δ d2_tags|), the smallest first; pairs are those with d1_tags != d2_tags and d_tags \ d1_tags \
    d2_tags = 0. Ties go to the examples that come first. All inputs must end in tags.

    Attributes:
        prototypes: How many prototypes a row has: 1 or 2.
        first: How many first prototypes a target has at most.
        second: How many second prototypes each first prototype has at most.
        budget: How many sets of tags, and how many lemmas among equals, are compared with a target at most, chosen at
            random.
    """

    name = "tagged"
    FIRST, SECOND = "with a first prototype", "with a second prototype"

    prototypes: Literal[1, 2] = 2
    first: int = 4
    second: int = 4
    budget: int = BUDGET

    @property
    def conditions(self) -> Sequence[str]:
        """What targets must meet."""
        return (self.FIRST, self.SECOND)[: self.prototypes]

    def _look(self, search: Search, targets: range) -> None:
        words = search.index.words

        @lru_cache(1 << 10)
        def levels(center: int) -> list[list[int]]:
            compared: Sequence[int] = range(len(words.tag_sets))
            if len(compared) > self.budget:
                chosen = search.rng.choice(len(compared), self.budget, replace=False).tolist()
                compared = sorted({center, *chosen})
            found: dict[int, list[int]] = {}
            for number in compared:
                found.setdefault(len(words.tag_sets[center] ^ words.tag_sets[number]), []).append(number)
            return [found[distance] for distance in sorted(found)]

        seconds = lru_cache(REMEMBERED)(lambda tags, tags_1: self._seconds(words, levels, tags, tags_1))
        for target in targets:
            own = int(words.tags_of[target])
            in_order = chain.from_iterable(self._ranked(search, words, level, target) for level in levels(own))
            ranked = list(islice(in_order, self.first + 1))  # one more, for rules that pair first prototypes
            for d1 in ranked[: self.first]:
                search.passed(target, self.FIRST)
                if self.prototypes == 1:
                    search.rows.extend((target, d1))
                    continue
                choice = seconds(own, int(words.tags_of[d1]))
                found = [d2 for d2 in choice if d2 not in (target, d1)][: self.second]
                for pair in self._pairs(search, d1, found, ranked):
                    search.passed(target, self.SECOND)
                    search.rows.extend((target, *pair))

    def _ranked(self, search: Search, words: WordForms, level: Sequence[int], target: int) -> list[int]:
        """Returns the other examples with tags of one level, by how similar their lemmas are to the target's."""
        shelves = [words.members[tags] for tags in level]
        members = np.sort(sampled([NOTHING, *shelves], self.budget, search.rng))
        members = members[members != target]
        return list(members[np.argsort(self._lemma_scores(words, target, members), kind="stable")].tolist())

    def _lemma_scores(self, words: WordForms, target: int, members: Integers) -> NDArray[np.float64]:
        """Returns the Jaccard distances of the target's lemma from others, as bags of characters."""
        lemma, others = words.lemmas[target], words.lemmas[members]
        common = cdist([lemma], others, scorer=LCSseq.similarity, dtype=np.int32)[0]
        sizes = np.fromiter(map(len, others), np.int32, len(others))
        jaccard: NDArray[np.float64] = 1 - common / np.maximum(len(lemma) + sizes - common, 1)
        return jaccard

    def _seconds(self, words: WordForms, levels: Levels, tags: int, tags_1: int) -> list[int]:
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

    def _second_levels(self, levels: Levels, tags: int, tags_1: int) -> list[list[int]]:
        """Returns the sets of tags that second prototypes may have, the best first."""
        return [[tags], *([other for other in level if other != tags] for level in levels(tags_1))]

    def _pairs(self, search: Search, d1: int, seconds: list[int], ranked: list[int]) -> list[tuple[int, int]]:
        """Returns the pairs of a first prototype and its second ones."""
        return [(d1, d2) for d2 in seconds]


NEIGHBORHOODS: Mapping[str, type[Rule]] = {
    rule.name: rule for rule in (OnePrototype, LongShort, LongLong, Swap, Tagged)
}
"""The rules: frozen dataclasses whose fields are the settings."""
