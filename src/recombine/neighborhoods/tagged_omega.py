"""Sets of compatible prototypes among word forms: pairs by their tags, and pairs around rare tags."""

from collections.abc import Collection, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import split_analysis
from recombine.neighborhoods.index import Index
from recombine.neighborhoods.omega import Accepted, Product
from recombine.neighborhoods.ragged import Integers
from recombine.neighborhoods.word_forms import WordForms


class TagPairs:
    """The pairs with d1_tags != d2_tags, or only those whose tags differ by little.

    Args:
        examples: Examples in generation order.
        farthest: The most tags that may be in only one of d1_tags and d2_tags; None for any number. The authors' code
            has 2.
    """

    def __init__(self, examples: Sequence[Example], *, farthest: int | None = None) -> None:
        self._tags = [frozenset(split_analysis(example.x)[1]) for example in examples]
        self._farthest = farthest
        originals = Index.of(examples).originals
        self._pairs = Accepted(Product([originals, originals]), self._differ)

    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Returns n rows of prototypes, as indices into the sequence of examples, drawn with replacement."""
        return self._pairs.draw(n, rng)

    def _differ(self, rows: Integers) -> NDArray[np.bool_]:
        distances = np.array([len(self._tags[d1] ^ self._tags[d2]) for d1, d2 in rows.tolist()], np.int32)
        near = True if self._farthest is None else distances <= self._farthest
        return (distances > 0) & near


class RareFocused:
    """Pairs of an example with a rare tag and one of the two most like it by tags, in both orders: the authors' rule.

    Draws come in fours around one random rare example. Those with the most tags in common are the most like it, save
    that in every second four those with exactly the same tags come before; ties go to the examples that come first.

    Args:
        examples: Examples in generation order.
        rare: The rare tags, as tokens, e.g. ``"[PST]"``.

    Raises:
        RecombineError: If no example has a rare tag, or there are fewer than three distinct examples.
    """

    def __init__(self, examples: Sequence[Example], *, rare: Collection[str]) -> None:
        self._originals = Index.of(examples).originals
        self._words = WordForms.of([examples[place] for place in self._originals.tolist()])
        wanted = frozenset(rare)
        self._rare = [number for number in range(len(self._words)) if self._words.tags(number) & wanted]
        if not self._rare or len(self._words) < 3:
            raise RecombineError(f"there are {len(self._rare)} examples with a rare tag among {len(self._words)}.")
        self._alike = lru_cache(maxsize=None)(self._two_most_alike)

    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Returns n rows of prototypes, as indices into the sequence of examples, drawn with replacement."""
        rows: list[tuple[int, int]] = []
        for repetition in range(-(-n // 4)):
            i1 = self._rare[rng.integers(len(self._rare))]
            i2, i3 = self._alike(i1, repetition % 2 == 1)
            rows += [(i1, i2), (i1, i3), (i2, i1), (i3, i1)]
        return self._originals[np.array(rows, np.int32).reshape(-1, 2)[:n]]

    def _two_most_alike(self, number: int, same_first: bool) -> tuple[int, int]:
        words = self._words
        own = words.tags(number)
        levels: dict[tuple[bool, int], list[int]] = {}
        for place, tags in enumerate(words.tag_sets):
            levels.setdefault((not (same_first and tags == own), -len(tags & own)), []).append(place)
        found: list[int] = []
        for level in sorted(levels):
            members = np.sort(words.members.together(levels[level]))
            found += members[members != number][:2].tolist()
            if len(found) >= 2:
                break
        return found[0], found[1]
