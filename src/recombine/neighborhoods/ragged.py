"""Rows of different lengths in two flat arrays: the storage of every table that the search looks things up in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """A table whose row i is ``values[starts[i]:starts[i + 1]]``.

    Attributes:
        values: All rows, one after the other.
        starts: Where each row starts, and where the last one ends.
    """

    values: Integers
    starts: NDArray[np.int64]

    @classmethod
    def grouped(cls, rows: Integers, values: Integers, *, size: int) -> Self:
        """Collects the values that belong to each row, in the order in which they come.

        Args:
            rows: The row of each value.
            values: The values.
            size: The number of rows.
        """
        starts = np.zeros(size + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=size), out=starts[1:])
        return cls(values[np.argsort(rows, kind="stable")], starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> Integers:
        return self.values[self.starts[row] : self.starts[row + 1]]

    def together(self, rows: Sequence[int] | Integers) -> Integers:
        """Returns the values of several rows, one row after the other."""
        chosen = np.asarray(rows, np.int64)
        starts, ends = self.starts[chosen], self.starts[chosen + 1]
        sizes = ends - starts
        # Where a value is, less its place in the result, is the same all along a row.
        shifts = ends - np.cumsum(sizes)
        together: Integers = self.values[np.arange(sizes.sum()) + np.repeat(shifts, sizes)]
        return together
