"""What several seeds give together: a mean and a deviation, as the paper's tables print them."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from recombine.errors import RecombineError


@dataclass(frozen=True, slots=True)
class Summary:
    """The scores of one system over seeds.

    Attributes:
        mean: Their mean.
        deviation: Their population standard deviation (ddof 0), as behind the paper's ±.
        n: How many seeds.
    """

    mean: float
    deviation: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.2f} ± {self.deviation:.2f}"


def summarize(scores: Sequence[float]) -> Summary:
    """Returns mean and population standard deviation of the scores of one system, one for each seed.

    Raises:
        RecombineError: If there are no scores.
    """
    if not scores:
        raise RecombineError("there are no scores to summarize; expected at least one seed.")
    return Summary(mean=statistics.fmean(scores), deviation=statistics.pstdev(scores), n=len(scores))


def combined(*parts: Summary) -> Summary:
    """Returns the average over test sets, e.g. FUT+PST: the mean of the means, with the deviations propagated.

    The test sets count as independent: of k deviations s, the root of the sum of s² divided by k.

    Raises:
        RecombineError: If there is no part, or if they rest on different numbers of seeds.
    """
    if len({part.n for part in parts}) != 1:
        counts = ", ".join(str(part.n) for part in parts) or "none"
        raise RecombineError(f"cannot combine scores over different numbers of seeds: {counts}.")
    return Summary(
        mean=statistics.fmean(part.mean for part in parts),
        deviation=math.hypot(*(part.deviation for part in parts)) / len(parts),
        n=parts[0].n,
    )
