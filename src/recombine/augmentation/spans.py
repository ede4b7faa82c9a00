"""Spans: words and phrases of inputs, with their parts of outputs, take each other's place in pairs that fit them."""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain, islice, product, zip_longest
from typing import NamedTuple, Self, get_args

import numpy as np

from recombine.augmentation.phrases import Part, Phrases
from recombine.augmentation.protocol import (
    Novelty,
    Samples,
    Validator,
    check_request,
    distinct_examples,
    in_random_order,
    samples_by_rule,
    unfitted,
)
from recombine.errors import unknown
from recombine.example import Example, Provenance, Tokens
from recombine.neighborhoods import HOLE, filled

Pieces = tuple[Tokens, ...]

EDGE: Tokens = ()
"""Stands before the first and after the last piece."""

EXCEPTIONS = 0.05
"""What a piece stands for may be missing in this share of its examples: data have mistakes."""

COMMON = 0.5
"""What more than this share of the other examples have, too, is not what a piece stands for."""

CROWD = 50
"""Of a context that more pieces were seen in, only the most frequent leave their place; they have places enough."""

PHRASES = 1_000
"""So many exchanges of phrases are offered to networks at most."""

TRIED = 5
"""For n samples so many times n are made of phrases at the most; where hardly any is accepted, more are in vain."""


class Swap(NamedTuple):
    """A piece that may take the place of another, and the number of input contexts that both were seen in."""

    leaving: Tokens
    coming: Tokens
    support: int


@dataclass(eq=False)
class Spans:
    """Makes new pairs by rule: a piece takes another's place, and what it stands for takes its place in the output.

    A piece is a token, or tokens that never occur apart. It stands for the piece of the output that its examples have
    and the fewest others do. Two pieces may take each other's place if the inputs have a context of theirs in common,
    the nearest piece on either side, and so have the outputs for what they stand for. From ``play Yesterday loud``,
    ``play Imagine`` and ``play Yesterday`` it makes ``play Imagine loud``. GECA asks for two whole examples that are
    the same but for the fragments, and so makes fewer pairs.

    Whole phrases are exchanged as well (`Phrases`), and samples become material for further ones, so that there are new
    arrangements of words. Half of the samples are of that kind, if there are so many.

    Attributes:
        novel: What must be new: the ``"input"``, ``"both"`` sides, or the ``"pair"``.
    """

    novel: Novelty = "input"
    _fitted: "Exchanges | None" = field(default=None, init=False, repr=False)

    def fit(self, examples: Sequence[Example]) -> Self:
        """Finds pieces, what they stand for, and which may take whose place.

        Raises:
            RecombineError: If a setting makes no sense, or there are fewer than two different examples.
        """
        if self.novel not in get_args(Novelty):
            raise unknown("kind of novelty", self.novel, get_args(Novelty))
        self._fitted = Exchanges(distinct_examples(examples, least=2, who="Spans"), self.novel)
        return self

    def sample(self, n: int, seed: int = 0, accept: Validator | None = None) -> Samples:
        """Returns n novel pairs, each once, or all there are.

        Args:
            n: How many to return, at least 1.
            seed: Same seed, same samples.
            accept: Turns candidates down beyond novelty and uniqueness.

        Returns:
            Examples whose provenance names the pair that was changed and the pair that shows the new piece (of phrases,
            all pairs that the sample is made of), tells of every token which of them it is from, and has as details
            the pieces or phrases that left (``replaced``) and came (``fragments``), and in how many contexts or frames
            both were seen (``support``).

        Raises:
            RecombineError: If it was not fitted, n is below 1, or the seed below 0.
        """
        if self._fitted is None:
            raise unfitted("Spans")
        check_request(n, seed)
        candidates, known = self._candidates(self._fitted, n, seed), len(self._fitted.examples)
        none = ": no two parts of inputs share contexts and stand for parts of outputs that do"
        return samples_by_rule("Spans", known, candidates, n, accept, none=none)

    def _candidates(self, fitted: "Exchanges", n: int, seed: int) -> Iterator[Example]:
        """Yields new pairs, by pieces and by phrases in turn, each input once."""
        generators = [np.random.default_rng(seed), np.random.default_rng((seed, 1))]
        by_phrases = islice(fitted.phrases.novel_pairs(fitted.novel, generators[1]), TRIED * n)
        sources = [fitted.novel_pairs(generators[0]), by_phrases]
        seen: set[Tokens] = set()
        for candidate in chain.from_iterable(zip_longest(*sources)):
            if candidate is not None and candidate.x not in seen:
                seen.add(candidate.x)
                yield candidate


class Exchanges:
    """Which pieces and phrases of some examples may take whose place.

    Args:
        examples: The training examples, all different.
        novel: What must be new. If known inputs may get another output, known outputs refute no swap.

    Attributes:
        stands_for: The output piece that an input piece stands for.
        swaps: Which pieces may take whose place.
        phrases: The phrases, and which may take whose place.
    """

    def __init__(self, examples: Sequence[Example], novel: Novelty) -> None:
        self.examples, self.novel = examples, novel
        self._x = _in_pieces([example.x for example in examples])
        self._y = _in_pieces([example.y for example in examples])
        self._holders: dict[Tokens, list[int]] = defaultdict(list)
        for number, pieces in enumerate(self._x):
            for piece in dict.fromkeys(pieces):
                self._holders[piece].append(number)
        self.stands_for = self._meanings()
        places = {piece: self._places(piece) for piece in self.stands_for}
        self._sites = {piece: numbers for piece, numbers in places.items() if numbers}
        self.phrases = Phrases(examples)
        self.swaps = self._exchangeable()
        self._ends = list(accumulate(len(self._sites[swap.leaving]) for swap in self.swaps))

    def _meanings(self) -> dict[Tokens, Tokens]:
        """Returns what each piece stands for, of those that stand for something and for one thing only."""
        together: dict[Tokens, Counter[Tokens]] = defaultdict(Counter)
        in_outputs: Counter[Tokens] = Counter()
        for x, y in zip(self._x, self._y, strict=True):
            in_outputs.update(set(y))
            for piece in set(x):
                together[piece].update(set(y))
        in_same = Counter(map(tuple, self._holders.values()))
        found = {}
        for piece, holders in self._holders.items():
            needed = math.ceil(len(holders) * (1 - EXCEPTIONS))
            always = [other for other, count in together[piece].items() if count >= needed]
            fewest = min((in_outputs[other] for other in always), default=0)
            best = [other for other in always if in_outputs[other] == fewest]
            if len(best) > 1 or in_same[tuple(holders)] > 1:  # of two names in one example, which stands for which?
                best = [other for other in best if _is_word(piece) and _letters(other) == _letters(piece)]
            others = len(self.examples) - len(holders)
            if len(best) == 1 and in_outputs[best[0]] - together[piece][best[0]] <= COMMON * others:
                found[piece] = best[0]
        # What all examples of one piece have and no other example has, only this piece stands for.
        owners = {
            meaning: piece
            for piece, meaning in found.items()
            if len(self._holders[piece]) == together[piece][meaning] == in_outputs[meaning]
        }
        return {piece: meaning for piece, meaning in found.items() if owners.get(meaning, piece) == piece}

    def _places(self, piece: Tokens) -> list[int]:
        """Returns the examples in which it is clear what of the output a piece stands for."""
        meaning = self.stands_for[piece]
        return [
            number
            for number in self._holders[piece]
            if self._x[number].count(piece) <= self._y[number].count(meaning)
            and not any(self.stands_for.get(other) == meaning for other in self._x[number] if other != piece)
        ]

    def _exchangeable(self) -> list[Swap]:
        contexts, output_contexts = _contexts(self._x), _contexts(self._y)
        seen_in: dict[tuple[Tokens, Tokens], list[Tokens]] = defaultdict(list)
        for piece in sorted(self._sites, key=lambda piece: (-len(self._holders[piece]), piece)):
            for context in contexts[piece]:
                seen_in[context].append(piece)
        swaps = []
        for coming in self._sites:
            meaning = self.stands_for[coming]
            shared = Counter(piece for context in contexts[coming] for piece in seen_in[context][:CROWD])
            swaps += [
                Swap(leaving, coming, support)
                for leaving, support in sorted(shared.items())
                if self.stands_for[leaving] != meaning
                and (self.novel == "pair" or self.phrases.suits(" ".join(leaving), " ".join(coming)))
                and not output_contexts[meaning].isdisjoint(output_contexts[self.stands_for[leaving]])
            ]
        return swaps

    def novel_pairs(self, rng: np.random.Generator) -> Iterator[Example]:
        """Yields what the swaps make of the examples, in random order, each input once and only what is novel."""
        inputs = {example.x for example in self.examples}
        outputs = {example.y for example in self.examples}
        novel, known, seen = self.novel, {(example.x, example.y) for example in self.examples}, set()
        for number in in_random_order(self._ends[-1] if self._ends else 0, rng):
            site, swap = self._numbered(number)
            if swap.coming in self._x[site]:
                continue
            leaving, coming = self.stands_for[swap.leaving], self.stands_for[swap.coming]
            x = _exchanged(self._x[site], swap.leaving, swap.coming)
            y = _exchanged(self._y[site], leaving, coming)
            is_known = (x, y) in known or (x in inputs and novel != "pair") or (y in outputs and novel == "both")
            if is_known or x in seen:
                continue
            seen.add(x)
            yield Example(x, y, self._provenance(site, swap))

    def cuts(self) -> Iterator[tuple[Part, Part]]:
        """Yields what is left of the examples without a span, their frames, and the spans."""
        for piece, numbers in self._sites.items():
            for number in numbers:
                if len(self._x[number]) > 1:
                    yield self._frame(number, piece), Part(Example(piece, self.stands_for[piece]), number)
        for piece, frames in self._half_frames.items():
            yield from ((frame, Part(Example(piece, self.stands_for[piece]), frame.number)) for frame in frames)
        yield from self.phrases.cuts()

    def offers(self, n: int, rng: np.random.Generator) -> Iterator[tuple[Part, Part]]:
        """Yields up to n frames, each with a piece that may take the place there, and up to 1,000 with phrases.

        Places are drawn at random, equally many for every piece, but only such as make new inputs. Up to n more are
        places in one half of an input.
        """
        places = max(1, n // max(1, len(self._sites)))
        inputs = {example.x for example in self.examples}
        starts = [0, *self._ends]
        by_piece: dict[Tokens, list[int]] = defaultdict(list)
        for number, swap in enumerate(self.swaps):
            by_piece[swap.coming].append(number)
        for coming, swaps in by_piece.items():
            span = Part(Example(coming, self.stands_for[coming]), self._sites[coming][0])
            # The swaps of a piece stand together, and so do their places.
            first, last = starts[swaps[0]], starts[swaps[-1] + 1]
            tried = (self._numbered(first + place) for place in in_random_order(last - first, rng))
            suiting = (
                self._frame(site, swap.leaving)
                for site, swap in islice(tried, TRIED * places)
                if coming not in self._x[site] and _exchanged(self._x[site], swap.leaving, coming) not in inputs
            )
            yield from ((frame, span) for frame in islice(suiting, places))
            inner = [frame for number in swaps for frame in self._half_frames.get(self.swaps[number].leaving, ())]
            new = (
                inner[place]
                for place in rng.permutation(len(inner))
                if filled(inner[place].pair, span.pair).x not in inputs
            )
            yield from ((frame, span) for frame in islice(new, places))
        yield from self.phrases.offers(min(n, PHRASES), rng)

    @cached_property
    def _half_frames(self) -> dict[Tokens, list[Part]]:
        """Frames of words that lack them in one half of an input and have them in the other: walk left and turn ⎵."""
        outputs = {example.x: example.y for example in self.examples}
        repeated: dict[int, list[Tokens]] = defaultdict(list)
        for piece, numbers in self._sites.items():
            if len(piece) == len(self.stands_for[piece]) == 1:
                for number in numbers:
                    if self.examples[number].x.count(*piece) > 1:
                        repeated[number].append(piece)
        found: dict[Tokens, dict[Part, None]] = defaultdict(dict)  # several ways to halve an input give the same
        for number, pieces in sorted(repeated.items()):
            for first, between, last, is_in_order in _halves(self.examples[number], outputs):
                for piece in pieces:
                    if piece[0] in between or piece[0] not in first.x or piece[0] not in last.x:
                        continue
                    for one, other in ((self._holed(first, piece), last), (first, self._holed(last, piece))):
                        y = one.y + other.y if is_in_order else other.y + one.y
                        if HOLE in y:
                            found[piece][Part(Example((*one.x, *between, *other.x), y), number)] = None
        return {piece: list(frames) for piece, frames in found.items()}

    def _holed(self, half: Example, piece: Tokens) -> Example:
        """Returns a half without a word."""
        sides = ((half.x, piece), (half.y, self.stands_for[piece]))
        x, y = (_exchanged(zip(tokens, strict=True), leaving, (HOLE,)) for tokens, leaving in sides)
        return Example(x, y)

    def _numbered(self, number: int) -> tuple[int, Swap]:
        """Returns the place of this number, of all places of all swaps: the example, and the swap."""
        place = bisect_right(self._ends, number)
        swap = self.swaps[place]
        return self._sites[swap.leaving][self._ends[place] - 1 - number], swap

    def _frame(self, number: int, piece: Tokens) -> Part:
        """Returns what is left of an example without a piece."""
        x, y = self._x[number], self._y[number]
        return Part(Example(_exchanged(x, piece, (HOLE,)), _exchanged(y, self.stands_for[piece], (HOLE,))), number)

    def _provenance(self, site: int, swap: Swap) -> Provenance:
        shows = self._sites[swap.coming][0]
        meanings = self.stands_for[swap.leaving], self.stands_for[swap.coming]
        sources = []
        first = second = 1  # the number of the next token of either prototype
        for side, leaving, coming in ((self._x, swap.leaving, swap.coming), (self._y, *meanings)):
            before = side[shows].index(coming)
            shown_at = second + sum(map(len, side[shows][:before]))
            for piece in side[site]:
                kept = piece != leaving
                sources += [
                    f"1:{first + place}" if kept else f"2:{shown_at + place}"
                    for place in range(len(piece if kept else coming))
                ]
                first += len(piece)
            second += sum(map(len, side[shows]))
        details: dict[str, str | int | float] = {
            "replaced": " ".join(swap.leaving),
            "fragments": " ".join(swap.coming),
            "support": swap.support,
        }
        return Provenance("spans", (self.examples[site], self.examples[shows]), sources=tuple(sources), details=details)


def _exchanged(pieces: Iterable[Tokens], leaving: Tokens, coming: Tokens) -> Tokens:
    return tuple(token for piece in pieces for token in (coming if piece == leaving else piece))


def _halves(example: Example, outputs: Mapping[Tokens, Tokens]) -> Iterator[tuple[Example, Tokens, Example, bool]]:
    """Yields first and last words of an input that are examples themselves, with the words between them.

    The output of the whole is both of theirs; whether in their order must be clear from what they are, and is told.
    """
    x, y = example.x, example.y
    ends = [end for end in range(1, len(x)) if x[:end] in outputs]
    starts = [start for start in range(2, len(x)) if x[start:] in outputs]
    for end, start in product(ends, starts):
        first, last = outputs[x[:end]], outputs[x[start:]]
        is_in_order = first + last == y
        if end < start and is_in_order != (last + first == y):
            yield Example(x[:end], first), x[end:start], Example(x[start:], last), is_in_order


def _in_pieces(sequences: Sequence[Tokens]) -> list[Pieces]:
    """Cuts sequences into pieces: words that never occur apart, such as the words of a name, are one piece."""
    after: dict[str, set[str]] = defaultdict(set)
    before: dict[str, set[str]] = defaultdict(set)
    for tokens in sequences:
        for one, next_one in zip(("", *tokens), (*tokens, ""), strict=True):
            after[one].add(next_one)
            before[next_one].add(one)

    def inseparable(one: str, next_one: str) -> bool:
        return len(after[one]) == len(before[next_one]) == 1 and _is_word((one,)) and _is_word((next_one,))

    cut = []
    for tokens in sequences:
        pieces: list[Tokens] = []
        for token in tokens:
            if pieces and inseparable(pieces[-1][-1], token):
                pieces[-1] = (*pieces[-1], token)
            else:
                pieces.append((token,))
        cut.append(tuple(pieces))
    return cut


def _contexts(sequences: Sequence[Pieces]) -> dict[Tokens, set[tuple[Tokens, Tokens]]]:
    """Returns the pieces before and after each piece, wherever it occurs."""
    found: dict[Tokens, set[tuple[Tokens, Tokens]]] = defaultdict(set)
    for pieces in sequences:
        padded = (EDGE, *pieces, EDGE)
        for before, piece, after in zip(padded, padded[1:], padded[2:], strict=False):
            found[piece].add((before, after))
    return found


def _is_word(piece: Tokens) -> bool:
    return any(map(str.isalnum, "".join(piece)))


def _letters(piece: Tokens) -> str:
    """Returns what names are compared by: ``Mary Ann`` in an input may be ``mary_ann`` in an output."""
    return "".join(piece).replace("_", "").casefold()
