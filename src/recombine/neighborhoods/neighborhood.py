"""The record that a neighborhood rule leaves behind: rows (target, prototypes), how they came about, and its file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, Self

import numpy as np

from recombine.data.store import read_rows, write_rows
from recombine.data.untrusted import typed
from recombine.errors import RecombineError
from recombine.example import Example, Provenance, Tokens
from recombine.neighborhoods.index import Integers

Setting = str | int | float | bool | None

HOLE = "⎵"
"""Stands in a part, on both sides, where something was taken out."""

CUT = "cut"
"""The method by which parts were made."""


def filled(frame: Example, span: Example) -> Example:
    """Returns a frame with a span in its holes; a span with a hole of its own has its halves in the frame's in turn."""

    def side(tokens: Tokens, part: Tokens) -> Tokens:
        halves = [part[: part.index(HOLE)], part[part.index(HOLE) + 1 :]] if HOLE in part else [part]
        holes = count()
        return tuple(
            one for token in tokens for one in (halves[next(holes) % len(halves)] if token == HOLE else (token,))
        )

    return Example(side(frame.x, span.x), side(frame.y, span.y))


@dataclass(frozen=True, slots=True, eq=False)
class Neighborhoods:
    """For each target d, prototypes (d1, ...) that could have given it.

    Attributes:
        rows: One row (target, first prototype, ...) per member of N(target): indices into the sequence of examples,
            sorted. Of identical examples only the first occurs.
        rule: The name of the rule.
        settings: The settings of the rule, and the seed.
        passed: How many distinct examples there were, and how many met each condition of the rule, in the rule's order.
        parts: Prototypes that are no examples but parts of some; rows count them on after the last example.
        origins: The example that each part was cut out of.
        offered: Rows (first prototype, ...) to sample with, where the rule itself says which suit each other.
    """

    rows: Integers
    rule: str
    settings: Mapping[str, Setting] = field(default_factory=dict)
    passed: Mapping[str, int] = field(default_factory=dict)
    parts: tuple[Example, ...] = ()
    origins: tuple[int, ...] = ()
    offered: Integers | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def prototypes(self) -> int:
        """How many prototypes a target has in each row: the paper's n."""
        return int(self.rows.shape[1]) - 1

    @property
    def account(self) -> str:
        """How many examples met each condition, for people to see where a search ended."""
        return ", ".join(f"{count} {condition}" for condition, count in self.passed.items())

    def material(self, examples: Sequence[Example]) -> tuple[Example, ...]:
        """Returns all that rows can name: the examples, and parts that know what they were cut out of."""
        cut = (Provenance(CUT, (examples[origin],)) for origin in self.origins)
        return (*examples, *map(Example.with_provenance, self.parts, cut))

    @property
    def _can_be_sampled(self) -> bool:
        return self.offered is None or len(self.offered) > 0

    def coverage(self, examples: Sequence[Example]) -> float:
        """Returns the share of distinct examples that have at least one row; 0 if there is nothing to sample with."""
        distinct = len(dict.fromkeys(examples)) if self._can_be_sampled else 0
        return len(np.unique(self.rows[:, 0])) / distinct if distinct else 0.0

    def with_prototypes(self, n: int) -> Self:
        """Returns the neighborhoods for models with fewer prototypes: distinct rows of the target and the first n."""
        if not 0 <= n <= self.prototypes:
            raise RecombineError(f"{n} prototypes asked of neighborhoods that have {self.prototypes}.")
        rows = self.rows[:, : n + 1]
        first = np.ones(len(rows), np.bool_)  # of equal ones, which are neighbors, since rows are sorted
        first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
        if n == self.prototypes or not self.parts:
            return replace(self, rows=rows[first])
        if n:
            hint = "Choose another neighborhood."
            raise RecombineError(f"prototypes of a {self.rule} neighborhood belong together; asked for {n}.", hint=hint)
        return replace(self, rows=rows[first], parts=(), origins=(), offered=None)

    def require_rows(self) -> Self:
        """Returns the neighborhoods; if there are none, raises an error with an account of where the search ended."""
        if len(self) and self._can_be_sampled:
            return self
        hint = "Try another rule, a larger delta, or more data."
        raise RecombineError(f"no example has a {self.rule} neighborhood: {self.account}.", hint=hint)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Writes one file, in numpy's npz format, which appears once it is complete; `force` replaces one."""
        description: dict[str, Any] = {"rule": self.rule, "settings": dict(self.settings), "passed": dict(self.passed)}
        if self.offered is not None:  # as all rules with parts have it
            parts = [(part.x, part.y) for part in self.parts]
            description |= {"parts": parts, "origins": self.origins, "offered": self.offered.tolist()}
        write_rows(path, self.rows, description, force=force)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Reads what ``save`` wrote."""
        hint = "Compute the neighborhoods again and save them."
        damaged = RecombineError("not an intact file of neighborhoods.", place=str(path), hint=hint)
        rows, description = read_rows(path, damaged)
        try:
            if description.keys() & {"parts", "origins", "offered"}:
                parts = typed(description["parts"], list[tuple[Tokens, Tokens]])
                description["parts"] = tuple(Example(x, y) for x, y in parts)
                description["origins"] = typed(description["origins"], tuple[int, ...])
                offered = typed(description["offered"], list[tuple[int, int]])
                description["offered"] = np.array(offered, np.int32).reshape(-1, 2)
                if len(parts) != len(description["origins"]):
                    raise damaged
            return cls(rows, **description)
        except (TypeError, ValueError, LookupError, ArithmeticError, RecombineError) as error:  # whole, but not ours
            raise damaged from error
