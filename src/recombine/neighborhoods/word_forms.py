"""Word forms prepared for comparison by tags and lemma: who has which set of tags, and which sets are alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cdist

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import split_analysis
from recombine.neighborhoods.index import Integers, Ragged, Strings

Tags = frozenset[str]


@dataclass(frozen=True, eq=False)
class WordForms:
    """Examples in generation order (lemma, tags ▷ form), grouped by their sets of tags.

    Attributes:
        lemmas: Each lemma's characters in sorted order: two share, as bags, their common subsequence.
        tag_sets: The distinct sets of tags.
        tags_of: The number of each example's set of tags.
        members: The examples with each set of tags, in order.
    """

    lemmas: Strings
    tag_sets: list[Tags]
    tags_of: Integers
    members: Ragged

    @classmethod
    def of(cls, examples: Sequence[Example]) -> Self:
        """Prepares examples for comparison.

        Raises:
            RecombineError: If an example's input does not end in tags.
        """
        names: dict[str, str] = {}
        numbers: dict[Tags, int] = {}
        lemmas, tags_of = [], []
        for example in examples:
            lemma, tags = split_analysis(example.x)
            if not tags:
                raise RecombineError(
                    f"{str(example)!r} has no tags at the end of its input.",
                    hint="Tagged neighborhoods need inputs of lemma characters, then tags such as [PST].",
                )
            lemmas.append("".join(sorted(names.setdefault(token, chr(len(names))) for token in lemma)))
            tags_of.append(numbers.setdefault(frozenset(tags), len(numbers)))
        rows = np.array(tags_of, np.int32)
        members = Ragged.grouped(rows, np.arange(len(rows), dtype=np.int32), size=len(numbers))
        return cls(np.array(lemmas, np.object_), list(numbers), rows, members)

    def __len__(self) -> int:
        return len(self.lemmas)

    def tags(self, number: int) -> Tags:
        """Returns the set of tags of an example."""
        return self.tag_sets[int(self.tags_of[number])]

    def jaccard(self, number: int, others: Integers) -> NDArray[np.float64]:
        """Returns the Jaccard distances of an example's lemma from others, as bags of characters."""
        lemma = self.lemmas[number]
        common = cdist([lemma], self.lemmas[others], scorer=LCSseq.similarity, dtype=np.int32)[0]
        sizes = np.fromiter(map(len, self.lemmas[others]), np.int32, len(others))
        jaccard: NDArray[np.float64] = 1 - common / np.maximum(len(lemma) + sizes - common, 1)
        return jaccard


class TagLevels:
    """The sets of tags, from like to unlike: level by level, as seen from any of them.

    Args:
        tag_sets: The distinct sets of tags.
        budget: How many of them are compared at most, chosen at random.
        rng: Where randomness comes from.
    """

    REMEMBERED = 1 << 10

    def __init__(self, tag_sets: Sequence[Tags], *, budget: int, rng: np.random.Generator) -> None:
        self._tag_sets = tag_sets
        self._budget = budget
        self._rng = rng
        self.around = lru_cache(self.REMEMBERED)(self._around)

    def _around(self, center: int) -> list[list[int]]:
        """Returns the sets with the fewest tags not in common with the center, then those with more, and so on."""
        compared: Sequence[int] = range(len(self._tag_sets))
        if len(compared) > self._budget:
            chosen = self._rng.choice(len(compared), self._budget, replace=False).tolist()
            compared = sorted({center, *chosen})
        levels: dict[int, list[int]] = {}
        for number in compared:
            levels.setdefault(len(self._tag_sets[center] ^ self._tag_sets[number]), []).append(number)
        return [levels[distance] for distance in sorted(levels)]
