r"""One-prototype neighborhoods: N(d) = {d1 : alpha * |d Δ d1| + beta * lev(d, d1) < delta}."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import ClassVar

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods.distance import lev, symmetric_difference
from recombine.neighborhoods.effort import ALONE, Effort
from recombine.neighborhoods.index import Index
from recombine.neighborhoods.neighborhood import Neighborhoods
from recombine.neighborhoods.rule import BUDGET, check_counts
from recombine.neighborhoods.search import Plan, Search

NEAR = "with a near prototype"

ROUNDING = 1e-9
ANYWHERE = 2.0
"""More than any lev."""


@dataclass(frozen=True, slots=True)
class OnePrototype:
    """Prototypes that are near to the target by a weighted sum of token-set difference and edit distance.

    Attributes:
        alpha: The weight of the number of tokens not in common.
        beta: The weight of the normalised edit distance.
        delta: The bound on the sum, itself excluded.
        first: How many prototypes a target has at most, chosen at random; None for no limit.
        budget: How many candidates are compared with a target at most, chosen at random.
    """

    name: ClassVar[str] = "one-prototype"

    alpha: float = 0.0
    beta: float = 1.0
    delta: float = 0.5
    first: int | None = 10
    budget: int = BUDGET

    def __post_init__(self) -> None:
        if self.alpha < 0 or self.beta < 0 or self.delta <= 0:
            raise RecombineError("alpha and beta may not be negative, and delta must be positive.")
        check_counts(first=self.first, budget=self.budget)

    def build(self, examples: Sequence[Example], seed: int = 0, effort: Effort = ALONE) -> Neighborhoods:
        """Returns the neighborhoods of the examples; same seed, same rows."""
        plan = Plan(
            rule=self.name,
            settings=asdict(self),
            conditions=[NEAR],
            prototypes=1,
            look=self._look,
        )
        return plan.carry_out(Index.of(examples), seed, effort)

    def _look(self, search: Search, targets: range) -> None:
        reach = min(self.delta / self.beta + ROUNDING, ANYWHERE) if self.beta else ANYWHERE
        strings = search.index.strings
        for target in targets:
            d = strings[target]
            candidates = search.index.similar(d, delta=min(reach, 1.0), budget=self.budget, rng=search.rng)
            valid = (
                d1
                for hits in search.near(d, candidates, delta=reach)
                for d1 in hits.tolist()
                if d1 != target and self._distance(d, strings[d1]) < self.delta
            )
            for d1 in islice(valid, self.first):
                search.passed(target, NEAR)
                search.add(target, d1)

    def _distance(self, d: str, d1: str) -> float:
        return self.alpha * symmetric_difference(d, d1) + self.beta * lev(d, d1)
