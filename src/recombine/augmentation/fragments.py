"""Fragments and templates, the raw material of GECA: an example, and what is left when fragments are taken out of it.

A sequence x ▷ y is held as a string with one character per token. ``str.replace`` then is GECA's rule for taking a
fragment out: every occurrence on both sides, leftmost first, without overlaps. Characters for the border and for the
gaps stand for no token, so no token can be mistaken for them, whatever it looks like.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import NamedTuple, Self

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
    def of(cls, sequences: Sequence[str], *, fragment_size: int, gaps: int, limit: int | None) -> Self:
        """Collects the spans of all sequences.

        Args:
            sequences: Encoded examples.
            fragment_size: The most tokens that a fragment has.
            gaps: The most fragments that are taken out together.
            limit: Leaves out spans that occur more often than that.
        """
        counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        for sequence in sequences:
            for count, side in zip(counts, sequence.split(BORDER), strict=True):
                count.update(_spans(side, fragment_size))
        in_x, in_y = counts
        if in_x.keys().isdisjoint(in_y):
            sides = dict.fromkeys(in_x, _IN_X) | dict.fromkeys(in_y, _IN_Y)
        else:
            sides = dict.fromkeys(in_x | in_y, _ON_BOTH_SIDES)
        if limit is not None:
            sides = {span: side for span, side in sides.items() if in_x[span] + in_y[span] <= limit}
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
