"""What all neighborhood rules share: the search for rows, who carries it out, and the checks of settings."""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import chain
from typing import ClassVar, Literal, get_args, get_origin, get_type_hints

import numpy as np

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.execution.executor import SERIAL, Executor, in_order
from recombine.execution.progress import Report
from recombine.neighborhoods.index import Index, Integers
from recombine.neighborhoods.neighborhood import Neighborhoods

BUDGET = 1024
"""How many candidates one search compares at most by default: what keeps the cost linear in the size of the data."""

SHARD = 1 << 15
"""About how many targets are searched for together: enough to profit from what is remembered from one to the next."""

TRIAL = 1 << 10
"""How many targets, at most, tell well enough how many of very many have neighborhoods: within some 3 %."""

REMEMBERED = 1 << 14
"""How many searches for second prototypes are remembered: they recur from target to target."""


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


def check_delta(delta: float) -> None:
    """Raises the error for a bound on normalised distances that is not in (0, 1]."""
    if not 0 < delta <= 1:
        raise RecombineError(f"delta is {delta}, expected more than 0 and at most 1.", hint="The paper's is 0.5.")


def check_counts(**counts: int | None) -> None:
    """Raises the error for the first count that is below 1; None stands for no limit."""
    for setting, count in counts.items():
        if count is not None and count < 1:
            raise RecombineError(f"{setting} is {count}, expected at least 1.")


class Search:
    """What a rule holds while it goes through some of the targets; data are numbered as in the index.

    Attributes:
        rows: The rows (target, prototypes) found so far, one after the other.
        counts: How many targets met each condition.
        remembered: Calls a function with this search and other arguments, or returns what it gave the last time.
    """

    def __init__(self, index: Index, rng: np.random.Generator, conditions: Sequence[str]) -> None:
        self.index, self.rng, self.rows = index, rng, array("i")
        self.counts, self._last = dict.fromkeys(conditions, 0), dict.fromkeys(conditions, -1)
        self.remembered = lru_cache(REMEMBERED)(lambda function, *arguments: function(self, *arguments))

    def passed(self, target: int, condition: str) -> None:
        """Notes that a target met a condition; all notes on a target come before those on the next."""
        if self._last[condition] != target:
            self._last[condition] = target
            self.counts[condition] += 1

    def pick(self, data: Integers, limit: int | None, *but: int) -> list[int]:
        """Returns the data less some, or a random choice of as many as the limit allows; None stands for no limit."""
        for other in but:
            data = data[data != other]
        chosen = data if limit is None or len(data) <= limit else self.rng.permutation(data)[:limit]
        return list(chosen.tolist())


class Rule(ABC):
    """A neighborhood function N: a frozen dataclass whose fields are its settings."""

    name: ClassVar[str]

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(type(self)).items():
            known = get_args(kind) if get_origin(kind) is Literal else ()
            if known and (value := getattr(self, name)) not in known:
                raise RecombineError(f"{name} is {value!r}, expected {' or '.join(map(repr, known))}.")
        check_counts(**{name: getattr(self, name, None) for name in ("first", "second", "budget")})

    @property
    def prototypes(self) -> int:
        """How many prototypes a row has."""
        return 2

    @abstractmethod
    def build(self, examples: Sequence[Example], seed: int = 0, effort: Effort = ALONE) -> Neighborhoods:
        """Returns the neighborhoods of the examples; same seed, same rows, whoever searches (`effort`)."""


class SearchRule(Rule):
    """A rule that looks for the prototypes of each target among the other examples."""

    @property
    @abstractmethod
    def conditions(self) -> Sequence[str]:
        """What targets must meet, in order, as phrases that can follow a number of examples."""

    def build(self, examples: Sequence[Example], seed: int = 0, effort: Effort = ALONE) -> Neighborhoods:
        """Returns the neighborhoods of the examples; same seed, same rows, whoever searches (`effort`)."""
        index = Index(examples)
        # A shard is every k-th target, so that each is like the whole, and has a generator of its own.
        shards = -(-len(index) // SHARD)
        wanted, step = (1, trial_step(len(index))) if effort.trial else (shards, shards)

        def one(number: int) -> tuple[Integers, dict[str, int]]:
            rng = np.random.default_rng([seed, number] if number else seed)
            search = Search(index, rng, self.conditions)
            self._look(search, range(number, len(index), step))
            return np.frombuffer(search.rows, np.int32).reshape(-1, 1 + self.prototypes), search.counts

        parts = []
        # The first is searched here, so that tables which the index makes when they are first needed are made once.
        for part in chain(map(one, range(1)), in_order(effort.executor, one, range(1, wanted))):
            parts.append(part)
            if effort.report is not None:
                effort.report(len(parts), wanted, f"{len(parts)} of {wanted} parts")
        rows = index.originals[np.concatenate([rows for rows, _ in parts])]
        targets, of = len(index), "distinct examples"
        if effort.trial and step > 1:
            targets, of = len(range(0, len(index), step)), f"of {len(index):,} distinct examples"
        return Neighborhoods(
            rows=rows[np.lexsort(rows.T[::-1])],
            rule=self.name,
            settings={**asdict(self), "seed": seed},  # type: ignore[call-overload]
            passed={of: targets} | {met: sum(counts[met] for _, counts in parts) for met in self.conditions},
        )

    @abstractmethod
    def _look(self, search: Search, targets: range) -> None:
        """Goes through some targets and adds their rows to the search."""


def trial_step(data: int) -> int:
    """Returns how many distinct examples there are for each one that a trial looks at: 1 where there are not many."""
    return 1 if data <= SHARD // 2 else -(-data // TRIAL)
