"""Fragments and templates, the raw material of GECA: an example, and what is left when fragments are taken out of it.

A sequence x ▷ y is held as a string with one character per token. ``str.replace`` then is GECA's rule for taking a
fragment out: every occurrence on both sides, leftmost first, without overlaps. Characters for the border and for the
gaps stand for no token, so no token can be mistaken for them, whatever it looks like.

All ways to take fragments out of all sequences are held as columns of numbers, and proposals are numbered and made on
demand: there may be millions, of which a few hundred are wanted.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, repeat
from math import comb
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from recombine.errors import RecombineError
from recombine.example import Example

BORDER = chr(0)
GAPS = tuple(map(chr, range(1, 10)))
_ALL_GAPS = frozenset(GAPS)
_FIRST_TOKEN = 1 + len(GAPS)

MAX_FRAGMENT_SIZE = 32
"""The longest fragments that can be asked for: there are as many times more spans than tokens."""

MAX_CHOICES = 1_000_000
"""The most ways to choose fragments of one example: they grow with its length to the power of the gaps."""

Fragments = tuple[str, ...]
"""One fragment per gap, in order of choice. Only fragments taken out together can go in together."""

_IN_X, _IN_Y, _ON_BOTH_SIDES = 1, 2, 3

NONE = -1
"""Stands where there is no fragment, or no member."""

_CACHED = 4096


class Gapping(NamedTuple):
    """One way to take fragments out of a sequence: filling the template with the fragments gives the sequence back."""

    fragments: Fragments
    template: str


def fill(template: str, fragments: Fragments) -> str:
    """Puts each fragment into all holes of its gap."""
    for gap, fragment in zip(GAPS, fragments, strict=False):  # GAPS has room for more
        template = template.replace(gap, fragment)
    return template


def take_out(sequence: str, fragments: Fragments) -> str:
    """Returns the template that is left when the fragments, one after the other, leave their gaps."""
    for gap, fragment in zip(GAPS, fragments, strict=False):
        sequence = sequence.replace(fragment, gap)
    return sequence


def has_gaps_on_both_sides(template: str) -> bool:
    """Tells whether filling the template changes both x and y."""
    x, _, y = template.partition(BORDER)
    return not (_ALL_GAPS.isdisjoint(x) or _ALL_GAPS.isdisjoint(y))


class Code:
    """The one-to-one code between tokens and characters."""

    def __init__(self, examples: Iterable[Example]) -> None:
        tokens = dict.fromkeys(token for example in examples for side in (example.x, example.y) for token in side)
        self._characters = {token: chr(_FIRST_TOKEN + place) for place, token in enumerate(tokens)}
        self._tokens = {character: token for token, character in self._characters.items()}
        self._names = {BORDER: "▷"} | {gap: f"_{place}" for place, gap in enumerate(GAPS, start=1)} | self._tokens

    def encode(self, example: Example) -> str:
        """Returns x ▷ y as a string with one character per token."""
        x, y = ("".join(map(self._characters.__getitem__, side)) for side in (example.x, example.y))
        return x + BORDER + y

    def decode(self, sequence: str) -> Example:
        """Returns the example that a sequence stands for."""
        x, _, y = sequence.partition(BORDER)
        return Example(x=tuple(map(self._tokens.__getitem__, x)), y=tuple(map(self._tokens.__getitem__, y)))

    def show(self, text: str) -> str:
        """Returns a sequence, template or fragment for people: tokens between spaces, the first gap as ``_1``."""
        return " ".join(map(self._names.__getitem__, text))


@dataclass(frozen=True, slots=True)
class Inventory:
    """The fragments that may be taken out.

    Attributes:
        sides: The fragments, each with the side where it stands; or all with both sides, if x and y have any token in
            common.
        fragment_size: The most tokens that a fragment has.
        gaps: The most fragments that are taken out together.
    """

    sides: dict[str, int]
    fragment_size: int
    gaps: int

    @classmethod
    def of(cls, sequences: Sequence[str], *, fragment_size: int, gaps: int) -> Self:
        """Collects the spans of all sequences.

        Args:
            sequences: Encoded examples.
            fragment_size: The most tokens that a fragment has.
            gaps: The most fragments that are taken out together.
        """
        in_x: dict[str, None] = {}
        in_y: dict[str, None] = {}
        for sequence in sequences:
            for found, side in zip((in_x, in_y), sequence.split(BORDER), strict=True):
                found.update(dict.fromkeys(_spans(side, fragment_size)))
        if in_x.keys().isdisjoint(in_y):
            sides = dict.fromkeys(in_x, _IN_X) | dict.fromkeys(in_y, _IN_Y)
        else:
            sides = dict.fromkeys(in_x | in_y, _ON_BOTH_SIDES)
        return cls(sides=sides, fragment_size=fragment_size, gaps=gaps)

    @property
    def suffices(self) -> bool:
        """Whether fragments of it can be on both sides; if no fragment is, it takes one for each side."""
        return self.gaps > 1 or _ON_BOTH_SIDES in self.sides.values()

    def gappings(self, sequence: str) -> list[Gapping]:
        """Lists the ways to take 1 to ``gaps`` fragments out of a sequence.

        The next fragment shares no token with those before it, and starts after the first occurrence of the last one.
        Where x and y have no token in common, fragments of one side only are left out: no template with gaps on both
        sides has them, and no other template is ever filled.

        Raises:
            RecombineError: If there are too many to be listed.
        """
        spans = len(set(_spans(sequence, self.fragment_size)))
        if sum(comb(spans, gaps) for gaps in range(1, self.gaps + 1)) > MAX_CHOICES:
            raise RecombineError(
                f"an example of {len(sequence) - 1:,} tokens has more than {MAX_CHOICES:,} choices of up to "
                f"{self.gaps} fragments with up to {self.fragment_size} tokens.",
                hint="Leave out the longest examples, or take smaller or fewer fragments.",
            )
        found: list[Gapping] = []
        self._take_out_more(found, Gapping((), sequence), start=0, sides=0)
        return found

    def _take_out_more(self, found: list[Gapping], so_far: Gapping, *, start: int, sides: int) -> None:
        chosen, rest = so_far
        gap = GAPS[len(chosen)]
        is_last = len(chosen) + 1 == self.gaps
        taken = set().union(*chosen)
        # Only the first place matters: a later one leaves the same template and fewer fragments to come.
        for fragment in dict.fromkeys(_spans(rest[start:], self.fragment_size)):
            if fragment not in self.sides or not taken.isdisjoint(fragment):
                continue  # whatever holds a gap or the border is in no inventory
            sides_now = sides | self.sides[fragment]
            if is_last and sides_now != _ON_BOTH_SIDES:
                continue
            gapping = Gapping((*chosen, fragment), rest.replace(fragment, gap))
            if sides_now == _ON_BOTH_SIDES:
                found.append(gapping)
            if not is_last:
                self._take_out_more(found, gapping, start=rest.index(fragment, start) + 1, sides=sides_now)


def _spans(text: str, most: int) -> Iterator[str]:
    if most == 1:
        return iter(text)
    return (text[i : i + length] for length in range(1, most + 1) for i in range(len(text) - length + 1))


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


class Evidence(NamedTuple):
    """Why some fragments may stand for others.

    Attributes:
        support: How many templates were seen with both.
        template: The first of them.
    """

    support: int
    template: str


class FragmentGraph:
    """Who may stand for whom: fragments are neighbors if some template was seen with both.

    The edges are not stored but read off the templates, since a template with m fillings makes m² of them.

    Attributes:
        fillings: The templates that were seen with more than one filling, each with its fillings.
    """

    def __init__(self, gappings: Gappings) -> None:
        self._index(_shared_templates(gappings))

    def _index(self, fillings: dict[str, tuple[Fragments, ...]]) -> None:
        self.fillings = fillings
        self._templates: dict[Fragments, list[str]] = {}
        for template, found in fillings.items():
            for fragments in found:
                self._templates.setdefault(fragments, []).append(template)
        self.substitutes = lru_cache(_CACHED)(self._substitutes)
        self.evidence = lru_cache(_CACHED)(self._evidence)

    def __getstate__(self) -> dict[str, tuple[Fragments, ...]]:
        return self.fillings  # caches cannot be copied, and the rest follows

    def __setstate__(self, fillings: dict[str, tuple[Fragments, ...]]) -> None:
        self._index(fillings)

    def __iter__(self) -> Iterator[Fragments]:
        return iter(self._templates)

    def _substitutes(self, fragments: Fragments) -> tuple[Fragments, ...]:
        """Returns what may stand for the fragments; among them, harmlessly, themselves."""
        templates = self._templates[fragments]
        if len(templates) == 1:
            return self.fillings[templates[0]]
        return tuple(dict.fromkeys(other for template in templates for other in self.fillings[template]))

    def _evidence(self, fragments: Fragments, substitute: Fragments) -> Evidence:
        """Returns why the substitute may stand for the fragments."""
        shared = [template for template in self._templates[fragments] if substitute in self.fillings[template]]
        return Evidence(support=len(shared), template=shared[0])

    def overlaps(self, gapping: Gapping, substitute: Fragments) -> bool:
        """Tells whether the substitute has a fragment in common with each filling of the template."""
        fillings = self.fillings.get(gapping.template, (gapping.fragments,))
        return all(not set(substitute).isdisjoint(filling) for filling in fillings)


def _shared_templates(gappings: Gappings) -> dict[str, tuple[Fragments, ...]]:
    """Returns the templates with more than one filling."""
    fillings: dict[str, list[Fragments]] = {}
    for number in gappings.repeated():
        fragments, template = gappings[number]
        fillings.setdefault(template, []).append(fragments)
    return {template: tuple(found) for template, found in fillings.items() if len(found) > 1}


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
