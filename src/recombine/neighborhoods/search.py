"""A search under way: the prepared examples, the source of randomness, and the rows found so far."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from recombine.execution.executor import in_order
from recombine.neighborhoods.distance import near
from recombine.neighborhoods.effort import Effort
from recombine.neighborhoods.index import Index
from recombine.neighborhoods.neighborhood import Neighborhoods, Setting
from recombine.neighborhoods.ragged import Integers

SHARD = 1 << 15
"""About so many targets are searched for together: enough to profit from what is remembered from one to the next."""

TRIAL = 1 << 12
"""So many targets, at most, tell well enough how many of very many have neighborhoods."""


class Found(NamedTuple):
    """What was found for the targets of a shard."""

    rows: Integers
    passed: Mapping[str, int]


class Search:
    """What a rule holds while it goes through its targets; data are numbered as in the index.

    Args:
        index: The examples, prepared.
        rng: Where randomness comes from.
        conditions: The rule's conditions, in order, as phrases that can follow a number of examples.
        prototypes: How many prototypes a row has.

    Attributes:
        index: The examples, prepared.
        rng: Where randomness comes from.
    """

    def __init__(self, index: Index, rng: np.random.Generator, *, conditions: Sequence[str], prototypes: int) -> None:
        self.index = index
        self.rng = rng
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

    def found(self) -> Found:
        """Returns what was found so far."""
        return Found(np.frombuffer(self._rows, np.int32).reshape(-1, self._width), self._passed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A rule as the search needs it.

    Attributes:
        rule: Its name.
        settings: Its settings.
        conditions: Its conditions, in order, as phrases that can follow a number of examples.
        prototypes: How many prototypes a row has.
        look: Goes through some targets and adds their rows to the search.
    """

    rule: str
    settings: Mapping[str, Setting]
    conditions: Sequence[str]
    prototypes: int
    look: Callable[[Search, range], None]

    def carry_out(self, index: Index, seed: int, effort: Effort) -> Neighborhoods:
        """Returns the neighborhoods of the data of an index; same seed, same rows, whoever searches.

        Args:
            index: The examples, prepared.
            seed: Same seed, same random choices.
            effort: Who searches, who is told how it goes, and whether this is but a trial.
        """
        # A shard is every so-manieth target, so that each is like the whole, and has a generator of its own.
        shards = -(-len(index) // SHARD)
        wanted, step = (1, trial_step(len(index))) if effort.trial else (shards, shards)

        def one(number: int) -> Found:
            rng = np.random.default_rng([seed, number] if number else seed)
            search = Search(index, rng, conditions=self.conditions, prototypes=self.prototypes)
            self.look(search, range(number, len(index), step))
            return search.found()

        parts: list[Found] = []
        # The first is searched here, so that tables which the index makes when they are first needed are made once.
        for part in chain(map(one, range(1)), in_order(effort.executor, one, range(1, wanted))):
            parts.append(part)
            if effort.report is not None:
                effort.report(len(parts), wanted, f"{len(parts)} of {wanted} parts")
        rows = index.originals[np.concatenate([part.rows for part in parts])]
        passed = {condition: sum(part.passed[condition] for part in parts) for condition in self.conditions}
        targets = len(range(0, len(index), step)) if effort.trial else len(index)
        return Neighborhoods(
            rows=rows[np.lexsort(rows.T[::-1])],
            rule=self.rule,
            settings={**self.settings, "seed": seed},
            passed={"distinct examples": targets, **passed},
        )


def trial_step(data: int) -> int:
    """Returns how many distinct examples there are for each one that a trial looks at: 1 where there are not many."""
    return 1 if data <= SHARD else -(-data // TRIAL)
