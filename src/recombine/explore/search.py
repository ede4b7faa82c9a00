"""Finds training examples by what somebody types."""

from collections.abc import Sequence
from dataclasses import dataclass

from recombine.example import Example

SHOWN = 50
"""So many of the examples that were found are given."""


@dataclass(frozen=True, slots=True)
class Found:
    """The first of the examples that were found, and how many there are."""

    examples: tuple[Example, ...]
    total: int


class Search:
    """Looks for words, wherever they stand in an example: within tokens, or across tokens that are characters.

    Args:
        examples: Where to look.
    """

    def __init__(self, examples: Sequence[Example]) -> None:
        self.examples = examples
        self._texts = [f"{example}\n{''.join(example.x)}\n{''.join(example.y)}".casefold() for example in examples]

    def find(self, words: str) -> Found:
        """Returns the examples that hold all of the words, in their order; case does not matter."""
        wanted = words.casefold().split()
        places = [i for i, text in enumerate(self._texts) if all(word in text for word in wanted)]
        return Found(tuple(self.examples[i] for i in places[:SHOWN]), len(places))
