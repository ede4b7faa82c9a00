"""All ways to take fragments out of all sequences, as columns of numbers: there may be millions, and few are shared."""

from array import array
from collections.abc import Iterable, Sequence
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from recombine.augmentation.fragments import Fragments, Gapping, Inventory, take_out

NONE = -1
"""Stands where there is no fragment, or no member."""


class Gappings:
    """The gappings of all sequences, counted from 0 in the order of `Inventory.gappings`.

    They are enumerated once. Of a template its hash is kept: the sequence and the fragments give it back.

    Args:
        sequences: The training sequences.
        inventory: Their fragments.

    Attributes:
        bases: The number of the sequence of each.
    """

    def __init__(self, sequences: Sequence[str], inventory: Inventory) -> None:
        self._sequences, self._spans = sequences, tuple(inventory.sides)
        self._places = {span: place for place, span in enumerate(self._spans)}
        places = self._places
        bases, hashes = array("i"), array("q")
        columns = [array("i") for _ in range(inventory.gaps)]
        for base, sequence in enumerate(sequences):
            found = inventory.gappings(sequence)
            bases.extend(repeat(base, len(found)))
            hashes.extend(hash(template) for _, template in found)
            for gap, column in enumerate(columns):
                column.extend(places[taken[gap]] if gap < len(taken) else NONE for taken, _ in found)
        self.bases: NDArray[np.int32] = np.array(bases, np.int32)
        self._hashes: NDArray[np.int64] = np.array(hashes, np.int64)
        self._columns = [np.array(column, np.int32) for column in columns]

    def __getitem__(self, number: int) -> Gapping:
        taken = (int(column[number]) for column in self._columns)
        fragments = tuple(self._spans[place] for place in taken if place != NONE)
        return Gapping(fragments, take_out(self._sequences[self.bases[number]], fragments))

    def repeated(self) -> list[int]:
        """Returns those whose templates come up more than once; by chance, others with the same hash as well."""
        _, which, counts = np.unique(self._hashes, return_inverse=True, return_counts=True)
        repeated: list[int] = np.flatnonzero(counts[which] > 1).tolist()
        return repeated

    def among(self, members: Sequence[Fragments]) -> NDArray[np.int64]:
        """Returns where the fragments of each are among the members, -1 where they are not."""
        codes = np.zeros(len(members) + len(self.bases), np.int64)
        for gap, column in enumerate(self._columns):
            own = np.fromiter(self._taken(members, gap), np.int64, len(members))
            codes = codes * (len(self._spans) + 1) + np.concatenate([own, column]) - NONE
            codes = np.unique(codes, return_inverse=True)[1]  # renumbered, so as not to outgrow their type
        numbers = np.full(len(codes), NONE, np.int64)
        numbers[codes[: len(members)]] = np.arange(len(members))
        return numbers[codes[len(members) :]]

    def _taken(self, members: Iterable[Fragments], gap: int) -> Iterable[int]:
        return (self._places[fragments[gap]] if gap < len(fragments) else NONE for fragments in members)
