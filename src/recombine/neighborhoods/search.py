"""What all neighborhood rules share: distances, the search for rows, and the checks of settings.

A sequence is a string here, one code point a token (``recombine.neighborhoods.index`` does the renaming): rapidfuzz
compares strings fastest, and whether a sequence holds a token is whether a string holds a character.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.execution.executor import SERIAL, Executor, in_order
from recombine.execution.progress import Report
from recombine.neighborhoods.index import Index, Integers, Strings
from recombine.neighborhoods.neighborhood import Neighborhoods

BUDGET = 1024
"""How many candidates one search compares at most by default: what keeps the cost linear in the size of the data."""

SHARD = 1 << 15
"""About how many targets are searched for together: enough to profit from what is remembered from one to the next."""

TRIAL = 1 << 10
"""How many targets, at most, tell well enough how many of very many have neighborhoods: within some 3 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How a search is carried out.

    Attributes:
        executor: Who searches the parts; the rows are the same for all.
        report: Is told how it goes, after every 32,768 examples or so.
        trial: Whether to see what a rule finds, of more than 16,384 examples, for about 1,024 of them only, evenly
            spread; all examples can be their prototypes.
    """

    executor: Executor = SERIAL
    report: Report | None = None
    trial: bool = False


ALONE = Effort()
"""One process that goes through all examples."""


class Rule(Protocol):
    """The settings of a neighborhood function N, and the search for its members."""

    name: ClassVar[str]

    def build(self, examples: Sequence[Example], seed: int = 0, effort: Effort = ALONE) -> Neighborhoods:
        """Returns the neighborhoods of the examples; same seed, same rows."""
        ...


def check_delta(delta: float) -> None:
    """Raises the error for a bound on normalised distances that is not in (0, 1]."""
    if not 0 < delta <= 1:
        raise RecombineError(f"delta is {delta}, expected more than 0 and at most 1.", hint="The paper's is 0.5.")


def check_choice(setting: str, value: str, options: Sequence[str]) -> None:
    """Raises the error for a setting that is none of its options."""
    if value not in options:
        raise RecombineError(f"{setting} is {value!r}, expected {' or '.join(map(repr, options))}.")


def check_counts(**counts: int | None) -> None:
    """Raises the error for the first count that is below 1; None stands for no limit."""
    for setting, count in counts.items():
        if count is not None and count < 1:
            raise RecombineError(f"{setting} is {count}, expected at least 1.")


def lev(a: str, b: str) -> float:
    """Returns the edit distance divided by the length of the longer sequence; 0 between empty ones."""
    return Levenshtein.distance(a, b) / max(len(a), len(b), 1)


def near(
    sequence: str, candidates: Iterable[Integers], *, strings: Strings, lengths: Integers, delta: float
) -> Iterator[Integers]:
    """Yields the candidates with lev < delta, in their order, batch by batch.

    Whoever wants only the first few hits pays for little more: batches are drawn, and distances computed, as needed.

    Args:
        sequence: The sequence to be near to.
        candidates: Positions in ``strings``, in batches.
        strings: All sequences.
        lengths: Their lengths.
        delta: The bound, itself excluded.
    """
    for batch in filter(len, candidates):
        others = strings[batch]
        longer = np.maximum(lengths[batch], max(len(sequence), 1))
        worst = int(delta * longer.max()) + 1
        edits = cdist([sequence], others, scorer=Levenshtein.distance, score_cutoff=worst, dtype=np.int32)[0]
        yield batch[edits / longer < delta]


def remainder(sequence: str, other: str) -> str:
    r"""Returns [a \ b]: the sequence without all tokens that the other one has."""
    return "".join([token for token in sequence if token not in other])


def distinct(sequence: str) -> str:
    """Returns the tokens of the sequence, each once, in the order in which they first come."""
    return "".join(dict.fromkeys(sequence))


def covers(sequence: str, tokens: str) -> bool:
    """Tells whether the sequence has all of the tokens."""
    return all(token in sequence for token in tokens)


def symmetric_difference(a: str, b: str) -> int:
    """Returns |a Δ b|: how many distinct tokens are in one sequence only."""
    return len(set(a) ^ set(b))


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
        """Yields the candidates with lev < delta from a sequence, batch by batch; see ``near``."""
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
        """Returns the data, or a random choice of as many as the limit allows; None stands for no limit."""
        chosen = data if limit is None or len(data) <= limit else self.rng.permutation(data)[:limit]
        return list(chosen.tolist())

    def found(self) -> Found:
        """Returns what was found so far."""
        return Found(np.frombuffer(self._rows, np.int32).reshape(-1, self._width), self._passed)


@dataclass(frozen=True, slots=True)
class Plan:
    """A rule as the search needs it.

    Attributes:
        rule: The rule, whose fields are its settings.
        look: Goes through some targets and adds their rows to the search.
        conditions: The rule's conditions, in order, as phrases that can follow a number of examples.
        prototypes: How many prototypes a row has.
    """

    rule: Any
    look: Callable[[Search, range], None]
    conditions: Sequence[str]
    prototypes: int

    def carry_out(self, index: Index, seed: int, effort: Effort) -> Neighborhoods:
        """Returns the neighborhoods of the data of an index; same seed, same rows, whoever searches.

        Args:
            index: The examples, prepared.
            seed: Same seed, same random choices.
            effort: Who searches, who is told how it goes, and whether this is only a trial.
        """
        # A shard is every k-th target, so that each is like the whole, and has a generator of its own.
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
        targets, of = len(index), "distinct examples"
        if effort.trial and step > 1:
            targets, of = len(range(0, len(index), step)), f"of {len(index):,} distinct examples"
        return Neighborhoods(
            rows=rows[np.lexsort(rows.T[::-1])],
            rule=self.rule.name,
            settings={**asdict(self.rule), "seed": seed},
            passed={of: targets, **passed},
        )


def trial_step(data: int) -> int:
    """Returns how many distinct examples there are for each one that a trial looks at: 1 where there are not many."""
    return 1 if data <= SHARD // 2 else -(-data // TRIAL)
