"""How often training is to see a new example, in the ways in which toolkits can be told."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from recombine.errors import RecombineError

LEAST = 0.001
"""No example is seen less often than this; else thousands of others would be repeated."""
MOST = 4
"""A ratio of repetitions has this or less for its smaller number, so that files do not grow without need."""


@dataclass(frozen=True, slots=True)
class Mix:
    """The same mixture in four ways, for toolkits that take weights, probabilities or nothing at all.

    Attributes:
        share: The probability that a training example is a new one.
        weight: What a new example counts if an original counts 1.
        originals: How often each original is repeated where there are no weights; with `new`, as near as may be.
        new: How often each new example is.
    """

    share: float
    weight: float
    originals: int
    new: int

    @classmethod
    def of(cls, originals: int, new: int, p_aug: float | None = None) -> Self:
        """Works a mixing rate out.

        Args:
            originals: How many original examples there are.
            new: How many new ones.
            p_aug: The probability that a training example is a new one; None: all count alike (concatenation).

        Raises:
            RecombineError: If the rate is not between 0 and 1.
        """
        if p_aug is None:
            return cls(share=new / (originals + new), weight=1.0, originals=1, new=1)
        if not 0 < p_aug < 1:
            raise RecombineError(f"p_aug is {p_aug:g}, expected more than 0 and less than 1.")
        if min(p_aug, 1 - p_aug) < LEAST:
            raise RecombineError(
                f"p_aug is {p_aug:g}: examples would have to be repeated too often.",
                hint=f"Choose a rate between {LEAST:g} and {1 - LEAST:g}.",
            )
        weight = Fraction(p_aug) / (1 - Fraction(p_aug)) * Fraction(originals, new)
        ratio = weight.limit_denominator(MOST) if weight >= 1 else 1 / (1 / weight).limit_denominator(MOST)
        return cls(share=p_aug, weight=float(weight), originals=ratio.denominator, new=ratio.numerator)

    def turns(self) -> tuple[int, int]:
        """Returns the share as whole numbers, e.g. 19 originals, then 1 new example."""
        rough, exact = (Fraction(self.share).limit_denominator(most) for most in (100, 10**9))
        share = rough if 0 < rough < 1 else exact
        return share.denominator - share.numerator, share.numerator
