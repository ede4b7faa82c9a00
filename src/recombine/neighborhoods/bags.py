"""Bit masks of bags of tokens: a cheap bound on edit distances that spares most of them from being computed."""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recombine.neighborhoods.ragged import Integers

WORDS = 2
BITS = 64 * WORDS


class Bags:
    """A mask per sequence, with a bit for each token and its first, second, ... occurrence.

    Bits may be shared, so masks may look more alike than their bags are, never less: where they differ in k bits on one
    side, at least k tokens are without a partner, and the edit distance is at least k.

    Args:
        sequences: The sequences.
        lengths: Their lengths.
    """

    def __init__(self, sequences: Iterable[str], lengths: Integers) -> None:
        masks = b"".join([_mask(sequence).to_bytes(8 * WORDS, "little") for sequence in sequences])
        bags = np.frombuffer(masks, np.uint64).reshape(-1, WORDS)
        # Mask, number of ones and length stand side by side: what is looked up together is found in one place.
        self._table: NDArray[np.uint64] = np.column_stack([bags, _ones(bags), lengths.astype(np.uint64)])

    def plausible(self, sequence: str, data: Integers, *, delta: float) -> Integers:
        """Returns the data, by number, whose bags do not rule out lev < delta from a sequence."""
        mask = _mask(sequence)
        found: NDArray[np.uint64] = self._table.take(data, axis=0)
        common = _ones(found[:, :WORDS] & np.frombuffer(mask.to_bytes(8 * WORDS, "little"), np.uint64))
        larger = np.maximum(found[:, WORDS], np.uint64(mask.bit_count()))
        longer = np.maximum(found[:, WORDS + 1], np.uint64(max(len(sequence), 1)))
        plausible: Integers = data[(larger - common) / longer < delta]
        return plausible


def _ones(masks: NDArray[np.uint64]) -> NDArray[np.uint8]:
    counts = np.bitwise_count(masks)
    ones: NDArray[np.uint8] = counts[:, 0] + counts[:, 1]
    return ones


def _mask(sequence: str) -> int:
    mask = 0
    for token, count in Counter(sequence).items():
        mask |= _occurrences(ord(token), count)
    return mask


@lru_cache(maxsize=1 << 16)
def _occurrences(token: int, count: int) -> int:
    """The bits of the first so many occurrences of a token: consecutive ones, from a place that is the token's own."""
    start = token * 0x9E3779B1 % 2**32 % BITS
    mask = 0
    for place in range(count):
        mask |= 1 << (start + place) % BITS
    return mask
