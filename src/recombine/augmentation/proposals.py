"""All that GECA can propose, numbered and made on demand: there may be millions, of which a few hundred are wanted."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from recombine.augmentation.fragment_graph import FragmentGraph
from recombine.augmentation.fragments import Fragments, Gapping, Inventory, fill, has_gaps_on_both_sides, take_out
from recombine.augmentation.gappings import Gappings


class Proposal(NamedTuple):
    """Fragments to put in the place of others in a training sequence.

    Attributes:
        base: The sequence that is changed.
        gapping: The fragments that leave it, and the template that is left.
        substitute: The fragments that come in.
    """

    base: str
    gapping: Gapping
    substitute: Fragments

    @property
    def made(self) -> str:
        """The sequence with the substitute in it."""
        return fill(self.gapping.template, self.substitute)


class Proposals:
    """Every way to take fragments out of a sequence that changes both sides, with every substitute for them.

    Proposals are counted from 0. Some change nothing, as fragments are among their own substitutes.

    Args:
        sequences: The training sequences.
        inventory: Their fragments.
        by_gaps: Whether those with one gap come first, then those with two, and so on.

    Attributes:
        graph: Which fragments may stand for which.
        groups: The numbers of those with as many gaps, if they are sorted by them; else of all.
    """

    def __init__(self, sequences: Sequence[str], inventory: Inventory, *, by_gaps: bool = False) -> None:
        gappings = Gappings(sequences, inventory)
        self.graph = FragmentGraph(gappings)
        self._sequences = sequences
        self._members = tuple(self.graph)
        leaving = gappings.among(self._members)
        members = np.flatnonzero(leaving >= 0).tolist()
        usable = [number for number in members if has_gaps_on_both_sides(gappings[number].template)]
        self._bases, self._leaving = gappings.bases[usable], leaving[usable]
        gaps = np.array([len(member) if by_gaps else 0 for member in self._members], dtype=np.int64)[self._leaving]
        order = np.argsort(gaps, kind="stable")
        self._bases, self._leaving, gaps = self._bases[order], self._leaving[order], gaps[order]
        substitutes = np.array([len(self.graph.substitutes(member)) for member in self._members], dtype=np.int64)
        self._ends = np.cumsum(substitutes[self._leaving])
        stops = [int(self._ends[last]) for last in np.searchsorted(gaps, np.unique(gaps), side="right") - 1]
        self.groups = tuple(range(start, stop) for start, stop in pairwise([0, *stops]))

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __getitem__(self, number: int) -> Proposal:
        place = int(np.searchsorted(self._ends, number, side="right"))
        base = self._sequences[self._bases[place]]
        fragments = self._members[self._leaving[place]]
        substitute = self.graph.substitutes(fragments)[number - int(self._ends[place])]  # negative: from the end
        return Proposal(base, Gapping(fragments, take_out(base, fragments)), substitute)
