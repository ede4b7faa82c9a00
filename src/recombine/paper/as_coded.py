"""What only the rows "as coded" need: where the authors' code departs from the text of the paper.

Rows name these rules for neighborhoods as ``long-short as coded`` and so on. What they find is recorded under the name
of the rule of the text, whose compatible prototypes they share.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recombine.augmentation import frames
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods import LongLong, LongShort, Omega, Rule, Tagged
from recombine.neighborhoods.index import NOTHING, Index, Integers, WordForms, covers, distinct, lev, remainder
from recombine.neighborhoods.rules import Levels
from recombine.neighborhoods.search import Search, check_counts


@dataclass(frozen=True)
class LongShortAsCoded(LongShort):
    """Second prototypes need not hold all that the first one lacks, and first ones may be without a second.

    A first prototype without a second takes one of the ``first`` places. A target without a near first prototype gets a
    random one.
    """

    first: int | None = 5
    second: int | None = None
    removal: Literal["all", "distinct"] = "distinct"

    def _firsts(self, search: Search, target: int) -> Iterator[int]:
        alone = True
        for first in islice(super()._firsts(search, target), self.first):
            alone = False
            yield first
        if alone and len(search.index) > 1:
            other = int(search.rng.integers(len(search.index) - 1, size=1, dtype=np.int32)[0])
            yield other + (other >= target)

    def _seconds(self, search: Search, rest: str) -> Integers:
        sequence = rest if self.removal == "all" else distinct(rest)
        near = search.index.similar(sequence, delta=self.delta, budget=self.budget, rng=search.rng)
        return np.concatenate([NOTHING, *near])


@dataclass(frozen=True)
class LongLongAsCoded(LongLong):
    """First and second prototypes are the nearest of a few random candidates near to the target that lack one token."""

    first: int | None = 3
    difference: Literal["symmetric", "one-sided"] = "one-sided"
    candidates: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_counts(candidates=self.candidates)

    def _pairs(self, search: Search, target: int) -> Iterator[tuple[int, list[int]]]:
        strings: Sequence[str] = search.index.strings.tolist()
        d = strings[target]
        firsts = islice(self._firsts(search, target), self.candidates)
        candidates = sorted(firsts, key=lambda d1: (lev(d, strings[d1]), d1))
        for d1 in candidates[: self.first]:
            lack = distinct(remainder(d, strings[d1]))
            seconds = [d2 for d2 in candidates if d2 != d1 and covers(strings[d2], lack)][: self.second]
            if seconds:
                yield d1, seconds


@dataclass(frozen=True)
class TaggedAsCoded(Tagged):
    """The least similar lemmas come first among equal tags, and no second prototype has the target's tags.

    Every second target, from the very first, does without first prototypes that have its own tags. A first prototype
    without a second is paired, in random order, with the best other first one.
    """

    second: int = 1

    def _ranked(self, search: Search, words: WordForms, level: Sequence[int], target: int) -> list[int]:
        if search.index.originals[target] % 2 == 0:
            level = [tags for tags in level if tags != words.tags_of[target]]
        return super()._ranked(search, words, level, target)

    def _lemma_scores(self, words: WordForms, target: int, members: Integers) -> NDArray[np.float64]:
        return -super()._lemma_scores(words, target, members)

    def _second_levels(self, levels: Levels, tags: int, tags_1: int) -> list[list[int]]:
        return super()._second_levels(levels, tags, tags_1)[1:]

    def _pairs(self, search: Search, d1: int, seconds: list[int], ranked: list[int]) -> list[tuple[int, int]]:
        others = [d2 for d2 in ranked if d2 != d1]
        if seconds or not others:
            return super()._pairs(search, d1, seconds, ranked)
        return [(d1, others[0]) if search.rng.integers(2) else (others[0], d1)]


RULES: Mapping[str, type[Rule]] = {
    **frames.RULES,
    **{f"{rule.name} as coded": rule for rule in (LongShortAsCoded, LongLongAsCoded, TaggedAsCoded)},
}
"""The rules for neighborhoods that rows can name."""


def rare_focused(examples: Sequence[Example], *, rare: Collection[str]) -> Omega:
    """Pairs an example with a rare tag and one of the two most like it by tags, in both orders: the authors' rule.

    Draws come in fours around one random rare example. Those with the most tags in common are the most like it, save
    that in every second four those with exactly the same tags come before; ties go to the examples that come first.
    Rare tags are tokens, e.g. ``"[PST]"``.
    """
    index = Index(examples)
    words = index.words
    with_rare = [number for number, tags in enumerate(words.tags_of) if not words.tag_sets[tags].isdisjoint(rare)]
    if not with_rare or len(index) < 3:
        raise RecombineError(f"there are {len(with_rare)} examples with a rare tag among {len(index)}.")

    @cache
    def two_most_alike(number: int, same_first: bool) -> tuple[int, int]:
        own = words.tag_sets[words.tags_of[number]]
        levels: dict[tuple[bool, int], list[int]] = {}
        for place, tags in enumerate(words.tag_sets):
            levels.setdefault((not (same_first and tags == own), -len(tags & own)), []).append(place)
        found: list[int] = []
        for level in sorted(levels):
            members = np.sort(np.concatenate([words.members[tags] for tags in levels[level]]))
            found += members[members != number][:2].tolist()
            if len(found) >= 2:
                break
        return found[0], found[1]

    def draw(n: int, rng: np.random.Generator) -> Integers:
        rows: list[tuple[int, int]] = []
        for repetition in range(-(-n // 4)):
            i1 = with_rare[rng.integers(len(with_rare))]
            i2, i3 = two_most_alike(i1, repetition % 2 == 1)
            rows += [(i1, i2), (i1, i3), (i2, i1), (i3, i1)]
        return index.originals[np.array(rows, np.int32).reshape(-1, 2)[:n]]

    return draw
