"""Fragments and templates, the raw material of GECA: an example, and what is left when fragments are taken out of it.

A sequence x ▷ y is held as a string with one character per token. ``str.replace`` then is GECA's rule for taking a
fragment out: every occurrence on both sides, leftmost first, without overlaps. Characters for the border and for the
gaps stand for no token, so no token can be mistaken for them, whatever it looks like.

All ways to take fragments out of all sequences are held as columns of numbers, and proposals are numbered and made on
demand: there may be millions, of which a few hundred are wanted.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.example import Example

BORDER = chr(0)
GAPS = tuple(map(chr, range(1, 10)))
_ALL_GAPS = frozenset(GAPS)
_FIRST_TOKEN = 1 + len(GAPS)

MAX_FRAGMENT_SIZE = 32
"""The longest fragments that can be asked for: there are as many times more spans than tokens."""

MAX_CHOICES, MAX_TOGETHER = 1_000_000, 20_000_000
"""The most ways to choose fragments of one example, and of all; they grow with length to the power of the gaps. Longer
examples, and the longest if all together have more, are left out."""

Fragments = tuple[str, ...]
"""One fragment per gap, in order of choice. Only fragments taken out together can go in together."""

_IN_X, _IN_Y, _ON_BOTH_SIDES = 1, 2, 3
_CACHED = 4096


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


class Inventory:
    """The fragments of up to `fragment_size` tokens that may be taken out of sequences, up to `gaps` of them together.

    Attributes:
        sides: The fragments, each with the side where it stands; or all with both sides, if x and y have any token in
            common.
    """

    def __init__(self, sequences: Sequence[str], *, fragment_size: int, gaps: int) -> None:
        self.fragment_size, self.gaps = fragment_size, gaps
        in_x, in_y = dict[str, None](), dict[str, None]()
        for sequence in sequences:
            for found, side in zip((in_x, in_y), sequence.split(BORDER), strict=True):
                found.update(dict.fromkeys(_spans(side, fragment_size)))
        if in_x.keys().isdisjoint(in_y):
            self.sides = dict.fromkeys(in_x, _IN_X) | dict.fromkeys(in_y, _IN_Y)
        else:
            self.sides = dict.fromkeys(in_x | in_y, _ON_BOTH_SIDES)

    @property
    def suffices(self) -> bool:
        """Whether fragments of it can be on both sides; if no fragment is, it takes one for each side."""
        return self.gaps > 1 or _ON_BOTH_SIDES in self.sides.values()

    def choices(self, sequence: str) -> int:
        """Returns how many ways there are, at most, to choose fragments of a sequence."""
        spans = len(set(_spans(sequence, self.fragment_size)))
        return sum(comb(spans, gaps) for gaps in range(1, self.gaps + 1))

    def gappings(self, sequence: str) -> list[tuple[Fragments, str]]:
        """Lists the ways to take 1 to ``gaps`` fragments out of a sequence, each with the template that is left.

        The next fragment shares no token with those before it, and starts after the first occurrence of the last one.
        Where x and y have no token in common, fragments of one side only are left out: no template with gaps on both
        sides has them, and no other template is ever filled.
        """
        found: list[tuple[Fragments, str]] = []

        def take_more(chosen: Fragments, rest: str, start: int, sides: int) -> None:
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
                template = rest.replace(fragment, gap)
                if sides_now == _ON_BOTH_SIDES:
                    found.append(((*chosen, fragment), template))
                if not is_last:
                    take_more((*chosen, fragment), template, rest.index(fragment, start) + 1, sides_now)

        take_more((), sequence, 0, 0)
        return found


def _spans(text: str, most: int) -> Iterator[str]:
    if most == 1:
        return iter(text)
    return (text[i : i + length] for length in range(1, most + 1) for i in range(len(text) - length + 1))


class Proposal(NamedTuple):
    """A training sequence, fragments that leave it, what is left, and the fragments that come in."""

    base: str
    fragments: Fragments
    template: str
    substitute: Fragments


class Proposals:
    """Every way to take fragments out of a sequence that changes both sides, with every substitute for them.

    Fragments may stand for others if some template was seen with both. Who may stand for whom is not stored but read
    off the templates, since a template with m fillings makes m² pairs. Proposals are counted from 0. Some change
    nothing, as fragments are among their own substitutes. With `by_gaps`, those with one gap come first, then those
    with two, and so on.

    Attributes:
        fillings: The templates that were seen with more than one filling, each with its fillings.
        templates: The templates that each of these fillings was seen in.
        groups: The numbers of those with as many gaps, if they are sorted by them; else of all.
        left_out: How many sequences nothing is taken out of, since there are too many ways.
    """

    def __init__(self, sequences: Sequence[str], inventory: Inventory, *, by_gaps: bool = False) -> None:
        self.sequences = sequences
        # Of a template its hash is kept: the sequence and the fragments give it back.
        numbers: dict[Fragments, int] = {}
        bases, taken, hashes = array("i"), array("i"), array("q")
        choices = np.array(list(map(inventory.choices, sequences)), float)
        fewest_first = np.argsort(choices, kind="stable")
        ordered = choices[fewest_first]
        used = np.sort(fewest_first[(ordered <= MAX_CHOICES) & (np.cumsum(ordered) <= MAX_TOGETHER)]).tolist()
        self.left_out = len(sequences) - len(used)
        for base in used:
            for fragments, template in inventory.gappings(sequences[base]):
                bases.append(base)
                taken.append(numbers.setdefault(fragments, len(numbers)))
                hashes.append(hash(template))
        every = list(numbers)

        def template_of(gapping: int) -> str:
            return take_out(sequences[bases[gapping]], every[taken[gapping]])

        _, which, counts = np.unique(np.array(hashes, np.int64), return_inverse=True, return_counts=True)
        seen: dict[str, list[Fragments]] = {}
        for gapping in np.flatnonzero(counts[which] > 1).tolist():
            seen.setdefault(template_of(gapping), []).append(every[taken[gapping]])
        self.fillings = {template: tuple(found) for template, found in seen.items() if len(found) > 1}
        self.templates: dict[Fragments, list[str]] = {}
        for template, found in self.fillings.items():
            for fragments in found:
                self.templates.setdefault(fragments, []).append(template)
        self._members = tuple(self.templates)
        self._remembered: dict[Fragments, tuple[Fragments, ...]] = {}
        member_of = np.full(len(every), -1)
        member_of[[numbers[member] for member in self._members]] = np.arange(len(self._members))
        leaving = member_of[np.array(taken, np.int32)]
        members = np.flatnonzero(leaving >= 0).tolist()
        usable = [gapping for gapping in members if _has_gaps_on_both_sides(template_of(gapping))]
        gaps = np.array([len(member) if by_gaps else 0 for member in self._members], np.int64)[leaving[usable]]
        order = np.argsort(gaps, kind="stable")
        self._bases: NDArray[np.int32] = np.array(bases, np.int32)[usable][order]
        self._leaving, gaps = leaving[usable][order], gaps[order]
        substitutes = np.array([len(self.substitutes(member)) for member in self._members], np.int64)
        self._ends = np.cumsum(substitutes[self._leaving])
        stops = [int(self._ends[last]) for last in np.searchsorted(gaps, np.unique(gaps), side="right") - 1]
        self.groups = tuple(range(start, stop) for start, stop in pairwise([0, *stops]))

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __getitem__(self, number: int) -> Proposal:
        place = int(np.searchsorted(self._ends, number, side="right"))
        base = self.sequences[self._bases[place]]
        fragments = self._members[self._leaving[place]]
        substitute = self.substitutes(fragments)[number - int(self._ends[place])]  # negative: from the end
        return Proposal(base, fragments, take_out(base, fragments), substitute)

    def substitutes(self, fragments: Fragments) -> tuple[Fragments, ...]:
        """Returns what may stand for the fragments; among them, harmlessly, themselves."""
        templates = self.templates[fragments]
        if len(templates) == 1:
            return self.fillings[templates[0]]
        if fragments not in self._remembered:
            if len(self._remembered) == _CACHED:
                self._remembered.clear()
            found = dict.fromkeys(other for template in templates for other in self.fillings[template])
            self._remembered[fragments] = tuple(found)
        return self._remembered[fragments]


def _has_gaps_on_both_sides(template: str) -> bool:
    x, _, y = template.partition(BORDER)
    return not (_ALL_GAPS.isdisjoint(x) or _ALL_GAPS.isdisjoint(y))
