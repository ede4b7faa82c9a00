"""What several seeds give together, and which systems differ by more than chance, as in the paper's tables.

Items are what tests count: an item's score is its mean over seeds, so that several seeds do not pass for several times
the items.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from recombine.errors import RecombineError

ALPHA = 0.05
"""The level of significance in the paper's tables."""

Scores = Sequence[float] | np.ndarray
"""The score of one system on each item."""

_COINS = 1000
"""For more coins than these, chances are no smaller: they would end up as 0."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The mean of the scores of one system over n seeds, and their population deviation (ddof 0), the paper's ±."""

    mean: float
    deviation: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.2f} ± {self.deviation:.2f}"


def summarize(scores: Sequence[float]) -> Summary:
    """Returns mean and population standard deviation of the scores of one system, one for each seed."""
    if not scores:
        raise RecombineError("there are no scores to summarize; expected at least one seed.")
    return Summary(mean=statistics.fmean(scores), deviation=statistics.pstdev(scores), n=len(scores))


def combined(*parts: Summary) -> Summary:
    """Returns the average over test sets, e.g. FUT+PST: the mean of the means, with the deviations propagated.

    The test sets count as independent: of k deviations s, the root of the sum of s² divided by k.
    """
    if len({part.n for part in parts}) != 1:
        counts = ", ".join(str(part.n) for part in parts) or "none"
        raise RecombineError(f"cannot combine scores over different numbers of seeds: {counts}.")
    return Summary(
        mean=statistics.fmean(part.mean for part in parts),
        deviation=math.hypot(*(part.deviation for part in parts)) / len(parts),
        n=parts[0].n,
    )


def item_means(scores: Sequence[Sequence[float]] | Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Returns the mean score of each item over seeds, all of which were tested on the same items."""
    means: np.ndarray = np.asarray(scores, dtype=float).mean(axis=0)
    return means


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on the same items: the mean score of the first minus that of the second, and the two-sided p-value.

    The corrected p-value is that times the number of comparisons, at most 1 (Bonferroni).
    """

    first: str
    second: str
    difference: float
    p: float
    corrected_p: float

    @property
    def is_significant(self) -> bool:
        """Whether the difference holds at the level `ALPHA` after correction."""
        return self.corrected_p < ALPHA


def paired_p(first: Scores, second: Scores) -> float:
    """Returns the two-sided p-value of the paired t-test.

    Where every item differs by the same amount, the t-test is not defined, for want of variance: p is 1 if that amount
    is zero, else that of the sign test, the chance that as many fair coins all fall alike.

    Scores are those of two systems on the same items, at least two, in the same order; of several seeds their
    ``item_means``.
    """
    if len(first) != len(second):
        raise RecombineError(
            f"a paired test needs the same items on both sides; found {len(first)} and {len(second)} scores."
        )
    if len(first) < 2:
        raise RecombineError(f"a paired test needs at least 2 items; found {len(first)}.")
    one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    differences = one - other
    if np.allclose(differences, differences[0], rtol=1e-9, atol=1e-12):
        alike = 2.0 ** (1 - min(len(differences), _COINS))
        return 1.0 if math.isclose(differences[0], 0.0, abs_tol=1e-12) else alike
    from scipy.stats import ttest_rel  # takes seconds to import

    return float(ttest_rel(one, other).pvalue)


def compare(scores: Mapping[str, Scores]) -> tuple[Comparison, ...]:
    """Compares every two systems, by the scores of each on the same items, corrected for the number of pairs."""
    return _compared(scores, list(combinations(scores, 2)))


def best(scores: Mapping[str, Scores]) -> tuple[str, ...]:
    """Returns the systems that the paper prints in bold: those not significantly worse than the one with the best mean.

    Nothing is bold if no system is. Each system is compared with the best only, so the correction is for one
    comparison less than there are systems; the paper does not tell its own number.
    """
    if not scores:
        raise RecombineError("there are no systems to compare; expected at least one.")
    top = max(scores, key=lambda name: float(np.mean(scores[name])))
    compared = _compared(scores, [(top, name) for name in scores if name != top])
    worse = {each.second for each in compared if each.is_significant}
    return tuple(name for name in scores if name not in worse) if worse else ()


def _compared(scores: Mapping[str, Scores], pairs: Sequence[tuple[str, str]]) -> tuple[Comparison, ...]:
    found = []
    for first, second in pairs:
        p, difference = paired_p(scores[first], scores[second]), np.mean(scores[first]) - np.mean(scores[second])
        found.append(Comparison(first, second, float(difference), p, min(1.0, p * len(pairs))))
    return tuple(found)
