"""What one network's draws have given so far: the samples that are kept, what was turned down, how patient it is."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from recombine.augmentation.protocol import Samples
from recombine.augmentation.settings import SamplingSettings
from recombine.example import Example, Tokens

LEAST = 20
"""Patience is not lost before there were draws enough for so many samples."""

SHOWN = 20
"""At most so many rejected pairs are kept for each reason, to be looked at."""

EVEN = 0.5
"""Of an output with a token that is less probable than all others together, a network is not sure."""

LESS_SURE = "with an input that has a surer output"
SURPLUS = "less sure than those kept"


class Scored(NamedTuple):
    """A sample, how sure of it the network is, and the probability of the least probable token of its output."""

    example: Example
    score: float
    least: float


@dataclass
class Collected:
    """What one replica has so far, and how patient it still is."""

    temperature: float
    kept: dict[Tokens, Scored] = field(default_factory=dict)  # by what may be kept only once
    seen: set[bytes] = field(default_factory=set)
    rejected: Counter[str] = field(default_factory=Counter)
    turned_down: list[Example] = field(default_factory=list)
    drawn: int = 0  # at this temperature, as the next
    kept_before: int = 0
    given_up: bool = False

    def keep(self, key: Tokens, sample: Scored) -> None:
        """Keeps a sample, unless one with the same key has a higher score; the other of the two is turned down."""
        if key in self.kept:
            sample, worse = sorted((self.kept[key], sample), key=lambda scored: -scored.score)
            self.reject(LESS_SURE, worse.example)
        self.kept[key] = sample

    def reject(self, reason: str, example: Example | None) -> None:
        """Counts a candidate that is turned down; some that are pairs are kept to be looked at."""
        self.rejected[reason] += 1
        if example is not None and self.rejected[reason] <= SHOWN:
            self.turned_down.append(_because(example, reason))

    def over(self, n: int, wanted: int, settings: SamplingSettings) -> bool:
        """Tells whether there is nothing more to draw; where patience is lost, raises the temperature first.

        For a surplus beyond n it is not raised: what comes at higher temperatures would hardly be among the best.
        """
        gained = len(self.kept) - self.kept_before
        if len(self.kept) < wanted and self.drawn >= settings.patience * max(LEAST, gained):
            fixed = settings.decoding.strategy in ("greedy", "beam")
            self.given_up = fixed or self.temperature >= settings.warmest or len(self.kept) >= n
            self.temperature = min(settings.warmest, self.temperature + settings.warmer)
            self.drawn, self.kept_before = 0, len(self.kept)
        return self.given_up or len(self.kept) >= wanted

    def samples(self, n: int, settings: SamplingSettings) -> Samples:
        """Returns the n samples of the highest scores, with an account of what was turned down."""
        best = sorted(self.kept.values(), key=lambda scored: -scored.score)[:n]
        shortfall = ""
        if len(best) < n:
            shortfall = (
                f"{_counted(len(self.kept))} had come when it took more than {settings.patience} draws to "
                f"find another, at temperature {self.temperature:g}."
            )
        kept = tuple(scored.example for scored in best)
        warning = _warning([scored.least for scored in best])
        rejected = dict(self.rejected)
        if len(self.kept) > n:
            rejected[SURPLUS] = len(self.kept) - n
        return Samples(kept, n, rejected, shortfall, tuple(self.turned_down), warning)


def _counted(kept: int) -> str:
    return f"Only {kept} new ones" if kept > 1 else "Only one new one" if kept else "No new one"


def _warning(least: Sequence[float]) -> str:
    """Warns if most outputs are such that the network is not sure of them."""
    unsure = sum(probability < EVEN for probability in least)
    if 2 * unsure <= len(least):
        return ""
    return (
        f"The network is not sure of the outputs of {unsure} of these: look at them before you use them. "
        "Longer training may help, and GECA needs none."
    )


def _because(example: Example, reason: str) -> Example:
    """Returns the example with the reason for its rejection among the details of its provenance."""
    assert example.provenance is not None
    return example.with_provenance(replace(example.provenance, details={"rejected": reason}))
