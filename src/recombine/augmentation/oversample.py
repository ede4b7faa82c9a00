"""Oversampling, the paper's "baseline + resampling" (section 5): rare originals again, instead of new examples."""

from collections.abc import Iterator, Sequence
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
        resampler: Says what is rare. It is itself left as it is: ``fit`` fits a copy.
    """

    resampler: Resampler = field(default_factory=Resampler)
    _fitted: Resampler | None = field(default=None, init=False, repr=False)
    _rare: tuple[Example, ...] = field(default=(), init=False, repr=False)

    def fit(self, examples: Sequence[Example]) -> Self:
        """Finds the rare originals; equal ones count once.

        Raises:
            RecombineError: If there is no example, or the resampler's settings make no sense.
        """
        fitted = replace(self.resampler).fit(examples)
        originals = distinct_examples(examples, least=1, who="oversampling")
        self._rare = tuple(original for original in originals if fitted(original) is None)
        self._fitted = fitted
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
        if self._fitted is None:
            raise unfitted("Oversampler")
        check_request(n, seed)
        usable, rejected = keep(self._copies(), len(self._rare), accept)
        order = np.random.default_rng(seed).permutation(len(usable)).tolist()
        examples = tuple(usable[place] for place in islice(cycle(order), n))
        return Samples(examples, requested=n, rejected=rejected, shortfall="" if examples else self._shortfall())

    def _copies(self) -> Iterator[Example]:
        for original in self._rare:
            plain = original.with_provenance(None)
            yield original.with_provenance(Provenance(method="oversample", prototypes=(plain,)))

    def _shortfall(self) -> str:
        if self._rare:
            return f"All {len(self._rare):,} rare originals were turned down."
        return f"No original is rare at epsilon = {self.resampler.epsilon}; a larger epsilon makes more of them rare."
