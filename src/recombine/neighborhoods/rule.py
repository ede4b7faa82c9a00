"""What all neighborhood rules share: their contract and the checks of their settings."""

from collections.abc import Sequence
from typing import ClassVar, Protocol

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods.effort import ALONE, Effort
from recombine.neighborhoods.neighborhood import Neighborhoods

BUDGET = 1024
"""How many candidates one search compares at most, unless told: what keeps the cost linear in the size of the data."""


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
