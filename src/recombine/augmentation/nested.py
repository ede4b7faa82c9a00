"""Outputs as text, perhaps with brackets: a phrase calls for some tokens, with all that stands between them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import NamedTuple

from recombine.augmentation.alignment import Alignment
from recombine.augmentation.sentences import Cut, Key, Sentence, inner_and_outer_names, names_of, renamed
from recombine.example import Example, Tokens
from recombine.neighborhoods import HOLE

OPENING, CLOSING = frozenset("([{"), frozenset(")]}")
_PAIRS = dict(zip("([{", ")]}", strict=True))

HERE, END_OF_HOLE = "⟨here⟩", "⟨end⟩"
"""In a frame: where the phrase's part was, and where what stood inside of that, after a `HOLE`, ends."""

NESTED = 0.5
"""Outputs are read by their brackets if more than this share of them has some."""

TURNED = 1 / 3
"""Outputs keep the order of inputs if at most this share of the pairs of words call for tokens the other way round."""

UPWARD = 2
"""How many levels of brackets, with heads that no word calls for, a phrase's part may be extended by."""


class Fragment(NamedTuple):
    """The tokens of an output that are a phrase's.

    Attributes:
        runs: Where they are: (first, last + 1), in order; with a hole, before and after it.
        hole: What stands inside and is not the phrase's.
    """

    runs: tuple[tuple[int, int], ...]
    hole: tuple[int, int] | None = None


class Text:
    """Outputs as sequences of tokens.

    Args:
        alignment: Which words call for which tokens.
        examples: The training examples.
    """

    def __init__(self, alignment: Alignment, examples: Sequence[Example]) -> None:
        self._alignment = alignment
        self._nested = sum(bool(_matching(example.y)) for example in examples) > NESTED * len(examples)
        self._shortest: dict[Tokens, Tokens] = {}
        in_order = Counter(chain.from_iterable(_in_order(alignment, each) for each in examples if self._nested))
        self._keeps_order = in_order[False] <= TURNED * in_order.total()

    def sentence(self, x: Tokens, y: Tokens) -> Sentence | None:
        """Returns a pair made ready for cutting; None if its brackets do not match."""
        matches = _matching(y)
        if matches is None:
            return None
        pairs = self._alignment.pairs(x, y)
        if self._nested:
            linked = self._nearest(x, y, pairs)
            words = tuple(x[places[0]] if places else None for places in linked)
        else:
            linked = self._alignment.places(x, y, pairs)
            words = tuple(map(pairs.get, y))
        return Sentence(x, y, self._alignment, words, tuple(linked), matches)

    def _nearest(self, x: Tokens, y: Tokens, pairs: Mapping[str, str]) -> list[tuple[int, ...]]:
        """Links every token with one occurrence of a word at most, and the other way round."""
        scale = len(y) / len(x)
        at: dict[str, list[int]] = defaultdict(list)
        for position, token in enumerate(y):
            at[token].append(position)
        scored = [
            (-scores[token], abs(place * scale - position), place, position)
            for place, scores in enumerate(map(self._alignment.scores, x))
            for token in scores.keys() & at.keys()
            for position in at[token]
        ]
        chosen: dict[int, int] = {}
        taken: set[int] = set()
        for *_, place, position in sorted(scored):
            if place not in taken and position not in chosen:
                chosen[position] = place
                taken.add(place)
        linked: list[tuple[int, ...]] = [()] * len(y)
        for position, place in self._in_their_order(x, y, chosen).items():
            linked[position] = (place,)
        # A word that is there once calls for its token wherever that is.
        for token, word in pairs.items():
            if x.count(word) == 1:
                for position in at[token]:
                    linked[position] = (x.index(word),)
        return linked

    def _in_their_order(self, x: Tokens, y: Tokens, chosen: Mapping[int, int]) -> dict[int, int]:
        """Returns the places of words by the positions of their tokens, of those that are there more than once anew.

        The first goes with the first, or with the last if that brings them nearer to what the words around call for.
        If neither does, the first goes with the first where outputs keep the order of inputs, and else none with any.
        """
        alike: dict[tuple[str, str], list[int]] = defaultdict(list)
        for position in sorted(chosen):
            alike[x[chosen[position]], y[position]].append(position)
        sure = {chosen[found[0]]: found[0] for found in alike.values() if len(found) == 1}
        linked = {position: place for place, position in sure.items()}
        for positions in alike.values():
            if len(positions) > 1:
                places = sorted(chosen[position] for position in positions)
                around = [sure[min(sure, key=lambda other: abs(other - place))] for place in places if sure]
                first, last = (
                    sum(abs(position - near) for position, near in zip(order, around, strict=False))
                    for order in (positions, positions[::-1])
                )
                if first != last or self._keeps_order:
                    linked |= zip(positions if first <= last else positions[::-1], places, strict=True)
        return linked

    def learn(self, sentences: Sequence[Sentence]) -> None:
        """Learns of each kind of phrase its shortest part: "jump left twice" shows that of "jump left" two times."""
        if self._nested:
            return
        for sentence in sentences:
            for start in range(len(sentence.x)):
                for stop in range(start + 1, len(sentence.x) + 1):
                    for fragment in self._apart(sentence, start, stop):
                        inner, _ = inner_and_outer_names(sentence, start, stop)
                        key = renamed(sentence.x[start:stop], inner)
                        first = min(fragment.runs, key=lambda run: run[1] - run[0])
                        part = self._named(sentence, range(*first), inner)
                        if key not in self._shortest or len(part) < len(self._shortest[key]):
                            self._shortest[key] = part

    def cuts(self, sentence: Sentence, start: int, stop: int) -> Iterator[Cut]:
        """Yields the ways to take out words start to stop - 1."""
        found = self._inside(sentence, start, stop) if self._nested else self._apart(sentence, start, stop)
        fragments = [*found]
        if not fragments:  # of most phrases, nothing is in the output
            return
        inner, outer = inner_and_outer_names(sentence, start, stop)
        own_class = names_of(sentence, (start,)) if stop - start == 1 else inner
        frame = sentence.frame_of_input(start, stop, outer)
        for number, fragment in enumerate(fragments):
            # A word is itself with what it calls for, and any of its class with what stands around that.
            names = own_class if number else inner
            x = renamed(sentence.x[start:stop], names)
            if self._nested:
                meaning: Tokens | None = self._meaning(sentence, fragment, names)
                parts: Fragment | None = fragment
            else:
                meaning = self._shortest.get(x)
                parts = None if meaning is None else self._repeated(sentence, fragment, meaning, inner)
            if parts is not None:
                key = Key(x, meaning, is_word=stop - start == 1 and not names)
                yield Cut(start, stop, key, frame, self._rest(sentence, parts, outer), parts)

    def _repeated(
        self, sentence: Sentence, fragment: Fragment, meaning: Tokens, names: Mapping[str, str]
    ) -> Fragment | None:
        """Returns each of the times that a part is in a phrase's runs; None if something else is in them, too."""
        found = []
        for first, last in fragment.runs:
            run = self._named(sentence, range(first, last), names)
            times, left = divmod(len(run), len(meaning))
            if left or run != meaning * times:
                return None
            found += [(first + len(meaning) * time, first + len(meaning) * (time + 1)) for time in range(times)]
        return Fragment(tuple(found))

    def exchange(self, one: Sentence, cut: Cut, other: Sentence, coming: Cut) -> tuple[Tokens, list[tuple[int, int]]]:
        """Returns the output of one example with another's phrase in the place of its own, and its tokens' sources."""
        leaving, entering = cut.pieces, coming.pieces
        sources: list[tuple[int, int]] = []
        position = 0
        runs = leaving.runs if leaving.hole is None else ((leaving.runs[0][0], leaving.runs[1][1]),)
        for first, last in runs:
            sources += [(0, place) for place in range(position, first)]
            sources += [(1, place) for place in range(*entering.runs[0])]
            if entering.hole is not None:
                sources += [(0, place) for place in range(*leaving.hole)]
                sources += [(1, place) for place in range(*entering.runs[1])]
            position = last
        sources += [(0, place) for place in range(position, len(one.y))]
        return tuple((one.y, other.y)[whose][place] for whose, place in sources), sources

    def apart(self, sentence: Sentence, cut: Cut) -> tuple[Tokens, Tokens] | None:
        """Returns what is left of an output, and a phrase's part, with holes where something was or may come."""
        y, (runs, hole) = sentence.y, cut.pieces
        frame: list[str] = []
        position = 0
        for first, last in runs:
            frame += (*y[position:first], HOLE)
            position = last
        part = y[slice(*runs[0])] if hole is None else (*y[slice(*runs[0])], HOLE, *y[slice(*runs[1])])
        return (*frame, *y[position:]), part

    @staticmethod
    def _named(sentence: Sentence, positions: Sequence[int], names: Mapping[str, str]) -> Tokens:
        words = sentence.words
        return tuple([names.get(words[place] or "", sentence.y[place]) for place in positions])

    def _meaning(self, sentence: Sentence, fragment: Fragment, names: Mapping[str, str]) -> Tokens:
        before = self._named(sentence, range(*fragment.runs[0]), names)
        return (
            before
            if fragment.hole is None
            else (*before, HOLE, *self._named(sentence, range(*fragment.runs[1]), names))
        )

    def _rest(self, sentence: Sentence, fragment: Fragment, names: Mapping[str, str]) -> Tokens:
        found: list[str] = []
        position = 0
        for number, (first, last) in enumerate(fragment.runs):
            if fragment.hole is None or number == 0:
                found += (*self._named(sentence, range(position, first), names), HERE)
            else:
                found += (HOLE, *self._named(sentence, range(*fragment.hole), names), END_OF_HOLE)
            position = last
        return (*found, *self._named(sentence, range(position, len(sentence.y)), names))

    @staticmethod
    def _apart(sentence: Sentence, start: int, stop: int) -> Iterator[Fragment]:
        """Yields the runs of tokens that are a phrase's, between tokens that are not, if that is clear."""
        runs: list[tuple[int, int]] = []
        inside = False
        for position, places in enumerate(sentence.links):
            if not places:
                continue
            ours = [start <= place < stop for place in places]
            if any(ours) and not all(ours):
                return
            if ours[0]:
                runs[len(runs) - inside :] = [(runs[-1][0] if inside else position, position + 1)]
            inside = ours[0]
        if runs:
            yield Fragment(tuple(runs))

    def _inside(self, sentence: Sentence, start: int, stop: int) -> Iterator[Fragment]:
        """Yields a phrase's tokens with all that is inside their brackets and not another's, then more around them."""
        y, matches = sentence.y, sentence.parsed
        ours = [place for place, links in enumerate(sentence.links) if links and start <= links[0] < stop]
        if not ours:
            return
        others = {place for place, links in enumerate(sentence.links) if links and not start <= links[0] < stop}
        first, last = ours[0], ours[-1] + 1
        for _ in range(UPWARD + 1):
            fragment = _closed(y, matches, others, first, last)
            if fragment is None:
                return
            yield fragment
            around = _around(y, matches, others, first, fragment.runs[-1][1])
            if around is None:
                return
            first = around


def _in_order(alignment: Alignment, example: Example) -> Iterator[bool]:
    """Tells of any two words, each there once, whether their tokens are in the same order."""
    x, y = example.x, example.y
    called = alignment.pairs(x, y).items()
    links = sorted((x.index(word), y.index(token)) for token, word in called if x.count(word) == y.count(token) == 1)
    return (first < second for (_, first), (_, second) in combinations(links, 2))


def _matching(y: Tokens) -> dict[int, int] | None:
    """Returns for each bracket the place of the other one of its pair; None if one has none."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for place, token in enumerate(y):
        if token in OPENING:
            opened.append(place)
        elif token in CLOSING:
            if not opened or _PAIRS[y[opened[-1]]] != token:
                return None
            found[opened[-1]] = place
            found[place] = opened.pop()
    return None if opened else found


def _around(y: Tokens, matches: Mapping[int, int], others: set[int], first: int, last: int) -> int | None:
    """Returns where the brackets begin that tokens first to last - 1 are in, with their head.

    None if something of another word is in them, or calls for their head, or nothing would be left.
    """
    opening = next((place for place in range(first - 1, -1, -1) if matches.get(place, -1) >= last), None)
    if opening is None:
        return None
    between = (*range(opening + 1, first), *range(last, matches[opening]))
    if not others.isdisjoint(between):
        return None
    has_head = opening > 0 and y[opening - 1] not in OPENING | CLOSING | {","}
    begin = opening - has_head
    return begin if begin > 0 and begin not in others else None


def _closed(y: Tokens, matches: Mapping[int, int], others: set[int], first: int, last: int) -> Fragment | None:
    """Extends tokens first to last - 1 by the ends of what they begin; None if they end what they do not begin."""
    if last < len(y) and y[last] in OPENING:
        last += 1
    if any(first <= place < last for place in others):
        return None
    ends = sorted(matches[place] for place in range(first, last) if y[place] in OPENING and matches[place] >= last)
    if any(y[place] in CLOSING and matches[place] < first for place in range(first, last)):
        return None
    if not ends:
        return Fragment(((first, last),))
    if ends != list(range(ends[0], ends[0] + len(ends))):
        return None
    if not any(last <= place < ends[0] for place in others):
        return Fragment(((first, ends[-1] + 1),))
    return Fragment(((first, last), (ends[0], ends[-1] + 1)), hole=(last, ends[0]))
