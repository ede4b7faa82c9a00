"""Which systems differ by more than chance: paired t-tests with Bonferroni correction, as in the paper's tables."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from recombine.errors import RecombineError

ALPHA = 0.05
"""The level of significance in the paper's tables."""

_COINS = 1000
"""For more coins than these, chances are no smaller: they would end up as 0."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on the same items.

    Attributes:
        first: The name of the one.
        second: The name of the other.
        difference: The mean score of the first minus that of the second.
        p: The p-value of the paired t-test, two-sided.
        corrected_p: The p-value times the number of comparisons, at most 1 (Bonferroni).
    """

    first: str
    second: str
    difference: float
    p: float
    corrected_p: float

    def is_significant(self, alpha: float = ALPHA) -> bool:
        """Tells whether the difference holds at this level after correction."""
        return self.corrected_p < alpha


def paired_p(first: Sequence[float], second: Sequence[float]) -> float:
    """Returns the two-sided p-value of the paired t-test.

    Where every item differs by the same amount, the t-test is not defined, for want of variance: p is 1 if that amount
    is zero, else that of the sign test, the chance that so many fair coins all fall alike.

    Args:
        first: The score of one system on each item, e.g. ``item_f1``, of all seeds and test sets one after another.
        second: The score of the other on the same items in the same order.

    Raises:
        RecombineError: If the two are not of one length, or shorter than 2.
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


def compare(scores: Mapping[str, Sequence[float]], *, comparisons: int | None = None) -> tuple[Comparison, ...]:
    """Compares every two systems, in the order in which they are given.

    Args:
        scores: The scores of each system on the same items in the same order, by the system's name.
        comparisons: By how much to correct; None for the number of pairs compared here.

    Raises:
        RecombineError: If the systems do not have the same number of scores, at least 2.
    """
    pairs = list(combinations(scores, 2))
    return tuple(_comparison(scores, first, second, comparisons=comparisons or len(pairs)) for first, second in pairs)


def best(scores: Mapping[str, Sequence[float]], *, alpha: float = ALPHA) -> tuple[str, ...]:
    """Returns the systems that the paper prints in bold: those not significantly worse than the one with the best mean.

    Nothing is bold if no system is. Each system is compared with the best only, so the correction is for one
    comparison less than there are systems; the paper does not tell its own number.

    Args:
        scores: As for ``compare``.
        alpha: The level of significance.

    Raises:
        RecombineError: If there are no systems, or they do not have the same number of scores, at least 2.
    """
    if not scores:
        raise RecombineError("there are no systems to compare; expected at least one.")
    top = max(scores, key=lambda name: float(np.mean(scores[name])))
    others = [name for name in scores if name != top]
    worse = {name for name in others if _comparison(scores, top, name, comparisons=len(others)).is_significant(alpha)}
    return tuple(name for name in scores if name not in worse) if worse else ()


def _comparison(scores: Mapping[str, Sequence[float]], first: str, second: str, *, comparisons: int) -> Comparison:
    p = paired_p(scores[first], scores[second])
    return Comparison(
        first=first,
        second=second,
        difference=float(np.mean(scores[first]) - np.mean(scores[second])),
        p=p,
        corrected_p=min(1.0, p * comparisons),
    )
