"""What several seeds give together, and which systems differ by more than chance, as in the paper's tables.

One test serves both tables, `recombine compare` and the benchmark: `paired`, over networks and test items at once.
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

Scores = Sequence[np.ndarray]
"""The scores of one system: for each split, an array of its networks (rows) by its test items (columns)."""

_COINS = 1000
"""For more coins than these, chances are no smaller: they would end up as 0."""

_NO_VARIANCE = 1e-24
"""What is below this is rounding."""


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


@dataclass(frozen=True, slots=True)
class Paired:
    """How two systems differ, and how far that is by chance.

    Attributes:
        difference: The mean score of the first minus that of the second.
        by_networks: The part of the variance of the difference that other networks (or splits) would make.
        by_items: The part that other test items would make.
        p: The two-sided p-value.
    """

    difference: float
    by_networks: float
    by_items: float
    p: float

    @property
    def error(self) -> float:
        """The standard error of the difference."""
        return math.sqrt(self.by_networks + self.by_items)


def paired(first: Scores, second: Scores) -> Paired:
    """Compares two systems that have networks of the same seeds, tested on the same items, in the same order.

    Both the networks and the items are drawn by chance, so a score is no draw of its own: ten seeds on a hundred items
    are not a thousand draws. The variance of the mean difference is that between networks, each with its mean over
    items, plus that between items, each with its mean over networks; the test is min F' (Clark 1973), with the degrees
    of freedom of Satterthwaite. A single network does not show how much networks vary; then only items count, and the
    test is the paired t-test over items. Where there are several splits, each has items and networks of its own, and
    splits take the place of networks. What varies between splits has a part of the items' variance in it already, so
    this errs on the safe side; a t-test over five splits, corrected for twenty rows, could tell nothing apart.

    Where every item differs by the same amount there is no variance: p is 1 if that amount is zero, else that of the
    sign test, the chance that as many fair coins all fall alike.
    """
    if [each.shape for each in first] != [each.shape for each in second]:
        raise RecombineError("a paired test needs the same networks and the same items on both sides.")
    differences = [one.astype(float) - other for one, other in zip(first, second, strict=True) if one.size]
    of_items = [each.mean(axis=0) for each in differences]
    items, splits = sum(map(len, of_items)), len(of_items)
    if items <= splits:
        raise RecombineError(f"a paired test needs at least 2 items; found {items}.")
    of_networks = differences[0].mean(axis=1) if splits == 1 else np.array([each.mean() for each in of_items])
    difference = float(of_networks.mean())
    # Splits count alike, and the items of one split vary as much as those of another.
    within = sum(float(((each - each.mean()) ** 2).sum()) for each in of_items) / (items - splits)
    by_items = within * sum(1 / len(each) for each in of_items) / splits**2
    by_networks = float(of_networks.var(ddof=1)) / len(of_networks) if len(of_networks) > 1 else 0.0
    if by_items + by_networks < _NO_VARIANCE:
        alike = 2.0 ** (1 - min(items, _COINS))
        return Paired(difference, 0.0, 0.0, 1.0 if math.isclose(difference, 0.0, abs_tol=1e-12) else alike)
    from scipy.stats import t  # takes seconds to import

    freedom = (by_networks + by_items) ** 2 / (
        by_networks**2 / max(1, len(of_networks) - 1) + by_items**2 / (items - splits)
    )
    p = 2 * float(t.sf(abs(difference) / math.sqrt(by_networks + by_items), freedom))
    return Paired(difference, by_networks, by_items, p)


def compare(scores: Mapping[str, Scores]) -> tuple[Comparison, ...]:
    """Compares every two systems, by the scores of each on the same items, corrected for the number of pairs."""
    return _compared(scores, list(combinations(scores, 2)))


def against_best(scores: Mapping[str, Scores]) -> tuple[Comparison, ...]:
    """Compares the system with the best mean with each other one; the paper prints those in bold that are not worse.

    The correction is for one comparison less than there are systems; the paper does not tell its own number.
    """
    top = max(scores, key=lambda name: _mean(scores[name]), default="")
    return _compared(scores, [(top, name) for name in scores if name != top])


def _mean(scores: Scores) -> float:
    return statistics.fmean(float(each.mean()) for each in scores if each.size)


def _compared(scores: Mapping[str, Scores], pairs: Sequence[tuple[str, str]]) -> tuple[Comparison, ...]:
    found = []
    for first, second in pairs:
        test = paired(scores[first], scores[second])
        found.append(Comparison(first, second, test.difference, test.p, min(1.0, test.p * len(pairs))))
    return tuple(found)
