r"""Neighborhoods of word forms: prototypes with similar tags, first of all, and lemmas (appendix B of the paper).

score_1(d, d1) = (|d_tags Δ d1_tags|, jaccard(d_lemma, d1_lemma)), score_2(d, d1, d2) = (d_tags != d2_tags,
|d1_tags Δ d2_tags|), the smallest first; pairs are those with d1_tags != d2_tags and d_tags \ d1_tags \ d2_tags = 0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice
from typing import ClassVar, Literal

import numpy as np

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods.effort import ALONE, Effort
from recombine.neighborhoods.index import NOTHING, Index, sampled
from recombine.neighborhoods.neighborhood import Neighborhoods
from recombine.neighborhoods.rule import BUDGET, check_choice, check_counts
from recombine.neighborhoods.search import Plan, Search
from recombine.neighborhoods.word_forms import TagLevels, WordForms

REMEMBERED = 1 << 14
FIRST, SECOND = "with a first prototype", "with a second prototype"


@dataclass(frozen=True, slots=True)
class Tagged:
    r"""The best prototypes by tags and lemma, for examples in generation order (lemma, tags ▷ form).

    Ties go to the examples that come first. The defaults are the paper's. The authors' code: ``second=1,
    lemma="dissimilar", second_tags="other", parity=True, fallback=True``.

    Attributes:
        prototypes: How many prototypes a row has: 1 or 2.
        first: How many first prototypes a target has at most.
        second: How many second prototypes each first prototype has at most.
        lemma: Which lemmas come first among equal tags: the most similar, or the least.
        second_tags: Whether the second prototype may have the target's tags, and then comes first ("any"); or may not
            ("other").
        parity: Whether every second target, from the very first, does without first prototypes that have its own tags.
        fallback: Whether a first prototype without a second is paired, in random order, with the best other first one.
        budget: How many sets of tags, and how many lemmas among equals, are compared with a target at most, chosen at
            random.
    """

    name: ClassVar[str] = "tagged"

    prototypes: Literal[1, 2] = 2
    first: int = 4
    second: int = 4
    lemma: Literal["similar", "dissimilar"] = "similar"
    second_tags: Literal["any", "other"] = "any"
    parity: bool = False
    fallback: bool = False
    budget: int = BUDGET

    def __post_init__(self) -> None:
        if self.prototypes not in (1, 2):
            raise RecombineError(f"prototypes is {self.prototypes}, expected 1 or 2.")
        check_choice("lemma", self.lemma, ["similar", "dissimilar"])
        check_choice("second_tags", self.second_tags, ["any", "other"])
        check_counts(first=self.first, second=self.second, budget=self.budget)

    def build(self, examples: Sequence[Example], seed: int = 0, effort: Effort = ALONE) -> Neighborhoods:
        """Returns the neighborhoods of the examples; same seed, same rows.

        Raises:
            RecombineError: If an example's input has no tags.
        """
        index = Index.of(examples)
        words = WordForms.of([examples[place] for place in index.originals.tolist()])
        plan = Plan(
            rule=self.name,
            settings=asdict(self),
            conditions=[FIRST] if self.prototypes == 1 else [FIRST, SECOND],
            prototypes=self.prototypes,
            look=lambda search, targets: self._look(search, targets, words),
        )
        return plan.carry_out(index, seed, effort)

    def _look(self, search: Search, targets: range, words: WordForms) -> None:
        levels = TagLevels(words.tag_sets, budget=self.budget, rng=search.rng)
        seconds = lru_cache(REMEMBERED)(lambda tags, tags_1: self._seconds(words, levels, tags, tags_1))
        for target in targets:
            # One more than needed: the best other prototype is the last resort for a second one.
            ranked = list(islice(self._firsts(search, words, levels, target), self.first + 1))
            for d1 in ranked[: self.first]:
                search.passed(target, FIRST)
                if self.prototypes == 1:
                    search.add(target, d1)
                    continue
                choice = seconds(int(words.tags_of[target]), int(words.tags_of[d1]))
                found = [d2 for d2 in choice if d2 not in (target, d1)][: self.second]
                pairs = [(d1, d2) for d2 in found] or self._last_resort(search, d1, ranked)
                for pair in pairs:
                    search.passed(target, SECOND)
                    search.add(target, *pair)

    def _firsts(self, search: Search, words: WordForms, levels: TagLevels, target: int) -> Iterator[int]:
        """Yields the other examples in the order of score_1."""
        own = int(words.tags_of[target])
        avoid = own if self.parity and search.index.originals[target] % 2 == 0 else None
        for level in levels.around(own):
            shelves = [words.members[tags] for tags in level if tags != avoid]
            members = np.sort(sampled([NOTHING, *shelves], self.budget, search.rng))
            members = members[members != target]
            distances = words.jaccard(target, members)
            keys = distances if self.lemma == "similar" else -distances
            yield from members[np.argsort(keys, kind="stable")].tolist()

    def _seconds(self, words: WordForms, levels: TagLevels, tags: int, tags_1: int) -> list[int]:
        """Returns second prototypes for sets of tags of target and first prototype, in the order of score_2."""
        lack = words.tag_sets[tags] - words.tag_sets[tags_1]
        order = [[tags], *([other for other in level if other != tags] for level in levels.around(tags_1))]
        if self.second_tags == "other":
            del order[0]
        enough = self.second + 2  # target and first prototype may be among them
        found: list[int] = []
        for level in order:
            allowed = [other for other in level if other != tags_1 and lack <= words.tag_sets[other]]
            found += np.sort(np.concatenate([NOTHING, *(words.members[other][:enough] for other in allowed)])).tolist()
            if len(found) >= enough:
                break
        return found[:enough]

    def _last_resort(self, search: Search, d1: int, ranked: list[int]) -> list[tuple[int, int]]:
        """Returns d1 and the best other first prototype, in random order."""
        others = [d2 for d2 in ranked if d2 != d1]
        if not self.fallback or not others:
            return []
        return [(d1, others[0]) if search.rng.integers(2) else (others[0], d1)]
