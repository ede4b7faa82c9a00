"""Oversampling, the paper's "baseline + resampling" (section 5): rare originals again, instead of new examples."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from typing import Self

import numpy as np

from recombine.augmentation.drawing import check_request, distinct_examples, keep, unfitted
from recombine.augmentation.protocol import Samples, Validator
from recombine.augmentation.resample import Resampler
from recombine.example import Example, Provenance


@dataclass(eq=False)
class Oversampler:
    """Repeats the training examples that have something rare in them, all equally often (give or take one).

    It keeps the augmenters' contract but for one clause: its samples are neither novel nor unique. It shows what
    reweighting alone gives, without recombination. Keep the copies: training code that removes duplicates undoes it.

    Attributes:
        resampler: Says what is rare. It is itself left as it is: ``fit`` fits a copy. None: all originals are repeated.
    """

    resampler: Resampler | None = field(default_factory=Resampler)
    _usable: tuple[Example, ...] | None = field(default=None, init=False, repr=False)
    _if_none: str = field(default="", init=False, repr=False)

    def fit(self, examples: Sequence[Example]) -> Self:
        """Finds the rare originals; equal ones count once.

        Raises:
            RecombineError: If there is no example, or the resampler's settings make no sense.
        """
        originals = distinct_examples(examples, least=1, who="oversampling")
        if self.resampler is None:
            self._usable = originals
            return self
        fitted = replace(self.resampler).fit(originals)
        self._usable = tuple(original for original in originals if fitted(original) is None)
        self._if_none = "" if self._usable else _nothing_rare(fitted, originals)
        return self

    def sample(self, n: int, seed: int = 0, accept: Validator | None = None) -> Samples:
        """Returns exactly n copies of rare originals, or none if there is no rare original to copy.

        Args:
            n: How many to return, at least 1.
            seed: Decides the order, and which originals come once more than the others.
            accept: Turns rare originals down; each counts once.

        Raises:
            RecombineError: If it was not fitted, n is below 1, or the seed below 0.
        """
        if self._usable is None:
            raise unfitted("Oversampler")
        check_request(n, seed)
        usable, rejected = keep(map(_copy, self._usable), len(self._usable), accept)
        if not usable:
            kind = "originals" if self.resampler is None else "rare originals"
            all_turned_down = f"All {len(self._usable):,} {kind} were turned down."
            return Samples((), n, rejected, shortfall=all_turned_down if self._usable else self._if_none)
        order = np.random.default_rng(seed).permutation(len(usable)).tolist()
        return Samples(tuple(usable[place] for place in islice(cycle(order), n)), n, rejected)


def _copy(original: Example) -> Example:
    plain = original.with_provenance(None)
    return original.with_provenance(Provenance(method="oversample", prototypes=(plain,)))


def _nothing_rare(fitted: Resampler, originals: Sequence[Example]) -> str:
    """Says that no original is rare, and how far from it they are."""
    found = (rarest for original in originals if (rarest := fitted.rarest(original)) is not None)
    rarest = min(found, key=lambda rarity: rarity.count, default=None)
    nearest = f": what is rarest is in {rarest.probability:.2%} of the examples" if rarest else ""
    return f"No original is rare at epsilon = {fitted.epsilon}{nearest}; a larger epsilon makes more of them rare."
