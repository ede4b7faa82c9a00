r"""From a rule to its Omega, the set of compatible prototypes that a model is sampled with.

D for one prototype, D × D for long–short and swap, {|d1 Δ d2| = 1} for long–long, {d1_tags != d2_tags} for tagged.
"""

from collections.abc import Sequence

import numpy as np

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods.index import Index
from recombine.neighborhoods.neighborhood import Neighborhoods
from recombine.neighborhoods.omega import Accepted, Omega, OneApart, Product, lacking_one
from recombine.neighborhoods.ragged import Integers
from recombine.neighborhoods.tagged_omega import TagPairs


def compatible(neighborhoods: Neighborhoods, examples: Sequence[Example], *, deviations: float | None = 1.0) -> Omega:
    """Returns the set that goes with the rule of the neighborhoods.

    Args:
        neighborhoods: What the model was trained on, with one prototype or two.
        examples: The examples that the neighborhoods speak of.
        deviations: Prototypes are not longer than the mean length of those in the same place in the neighborhoods, plus
            so many standard deviations; the authors' code has 0. None for any length; word forms are never bounded.

    Raises:
        RecombineError: If the set is empty, or there is nothing to draw since there are no prototypes.
    """
    if neighborhoods.prototypes == 0:
        raise RecombineError("neighborhoods without prototypes have no compatible prototypes.")
    index = Index.of(examples)
    tagged = neighborhoods.rule == "tagged"
    bounds = [
        np.inf if tagged or deviations is None else _bound(examples, column, deviations)
        for column in neighborhoods.rows.T[1:]
    ]
    pools = [np.flatnonzero(index.lengths <= bound).astype(np.int32) for bound in bounds]
    whole = Product([index.originals[pool] for pool in pools])
    if len(pools) == 1 or neighborhoods.rule in ("long-short", "swap"):
        return whole
    if tagged:
        return TagPairs(examples)
    if neighborhoods.settings.get("difference") == "one-sided":
        return Accepted(whole, lacking_one(index))
    return OneApart(index, *pools)


def _bound(examples: Sequence[Example], prototypes: Integers, deviations: float) -> float:
    """Returns the mean length of the prototypes plus so many standard deviations."""
    lengths = np.fromiter((len(example.d) for example in examples), np.float64, len(examples))[prototypes]
    return float(lengths.mean() + deviations * lengths.std()) if len(lengths) else -np.inf
