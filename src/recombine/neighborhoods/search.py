"""A search under way: the prepared examples, the source of randomness, and the rows found so far."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from recombine.example import Example
from recombine.neighborhoods.distance import near
from recombine.neighborhoods.index import Index
from recombine.neighborhoods.neighborhood import Neighborhoods, Setting
from recombine.neighborhoods.ragged import Integers


class Search:
    """What a rule holds while it goes through its targets; data are numbered as in the index.

    Args:
        examples: The examples, with or without duplicates.
        seed: Same seed, same random choices.
        conditions: The rule's conditions, in order, as phrases that can follow a number of examples.
        prototypes: How many prototypes a row has.

    Attributes:
        index: The examples, prepared.
        rng: Where randomness comes from.
    """

    def __init__(self, examples: Sequence[Example], seed: int, *, conditions: Sequence[str], prototypes: int) -> None:
        self.index = Index.of(examples)
        self.rng = np.random.default_rng(seed)
        self._seed = seed
        self._width = 1 + prototypes
        self._rows = array("i")
        self._passed = dict.fromkeys(conditions, 0)
        self._last = dict.fromkeys(conditions, -1)

    def near(self, sequence: str, candidates: Iterable[Integers], *, delta: float) -> Iterator[Integers]:
        """Yields the candidates with lev < delta from a sequence, batch by batch; see ``distance.near``."""
        return near(sequence, candidates, strings=self.index.strings, lengths=self.index.lengths, delta=delta)

    def add(self, *row: int) -> None:
        """Adds a row (target, prototypes)."""
        self._rows.extend(row)

    def passed(self, target: int, condition: str) -> None:
        """Notes that a target met a condition; all notes on a target come before those on the next."""
        if self._last[condition] != target:
            self._last[condition] = target
            self._passed[condition] += 1

    def pick(self, data: Integers, limit: int | None) -> list[int]:
        """Returns at most so many of the data, chosen at random without replacement; None stands for no limit."""
        chosen = data if limit is None or len(data) <= limit else self.rng.permutation(data)[:limit]
        return list(chosen.tolist())

    def finished(self, rule: str, settings: Mapping[str, Setting]) -> Neighborhoods:
        """Returns the record of what was found."""
        rows = self.index.originals[np.frombuffer(self._rows, np.int32).reshape(-1, self._width)]
        return Neighborhoods(
            rows=rows[np.lexsort(rows.T[::-1])],
            rule=rule,
            settings={**settings, "seed": self._seed},
            passed={"distinct examples": len(self.index), **self._passed},
        )
