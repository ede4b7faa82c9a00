"""Outputs as lists of statements about words, which they name by their places: ``girl ( x _ 1 ) AND run ( x _ 2 …``."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from recombine.augmentation.alignment import Alignment
from recombine.augmentation.sentences import Cut, Key, Sentence, inner_and_outer_names, renamed
from recombine.example import Example, Tokens
from recombine.neighborhoods import HOLE

AGREEMENT = 0.95
"""Numbers are places if this share of the words are always, or never, pointed at."""

PLACES = frozenset(map(str, range(1000)))
"""Numbers as places are written: longer ones are none, and ``01`` and ``٣`` would be written otherwise after a move."""

SPAN = "⟨here⟩"
"""Stands in a frame for the word of the phrase that the rest of the output speaks of."""


class Numbers(NamedTuple):
    """The numbers in outputs that are places of words.

    Attributes:
        digits: The tokens, also those that are first needed in longer examples.
        first: The number of the first word.
    """

    digits: frozenset[str]
    first: int


def pointers(examples: Sequence[Example]) -> Numbers | None:
    """Returns the numbers in outputs if they are places of words: some words are pointed at wherever they are."""
    digits = frozenset(token for example in examples for token in example.y if token.isdecimal())
    if not digits or not digits <= PLACES:
        return None
    with_numbers = [example for example in examples if not digits.isdisjoint(example.y)]
    for first in (0, 1):
        pointed, seen = Counter[str](), Counter[str]()
        at: dict[str, set[int]] = defaultdict(set)
        inside = 0
        for example in with_numbers:
            places = {int(token) - first for token in example.y if token in digits}
            inside += all(0 <= place < len(example.x) for place in places)
            seen.update(example.x)
            for place in places & {*range(len(example.x))}:
                pointed[example.x[place]] += 1
                at[example.x[place]].add(place)
        occurring = sum(seen[word] for word in pointed)
        varying = any(len(places) > 1 for places in at.values())
        agreeing = pointed.total() >= AGREEMENT * occurring
        if inside == len(with_numbers) and varying and agreeing and 0 < occurring < seen.total():
            return Numbers(PLACES, first)
    return None


class Statement(NamedTuple):
    """A statement: what it says, and of which words.

    Attributes:
        head: The positions of the tokens before the bracket.
        arguments: The positions of the tokens of each argument.
        about: The place of the word that each argument names.
        ending: The token that ends statements like this one, before the next.
    """

    head: tuple[int, ...]
    arguments: tuple[tuple[int, ...], ...]
    about: tuple[int, ...]
    ending: str


class Called(NamedTuple):
    """The positions of the tokens that a single word calls for."""

    positions: tuple[int, ...]


class Parts:
    """Outputs as lists of statements, in the order of the words that they speak of first.

    Args:
        alignment: Which words call for which tokens.
        numbers: The numbers that are places.
        examples: The training examples.
    """

    def __init__(self, alignment: Alignment, numbers: Numbers, examples: Sequence[Example]) -> None:
        self._alignment, self._numbers = alignment, numbers
        endings: dict[str, Counter[str]] = defaultdict(Counter)
        before: Counter[tuple[str, str]] = Counter()
        for example in examples:
            statements = _statements(example.y) or []
            for head, _, ending in statements:
                endings[example.y[head.start]][ending] += 1
            before.update(pairwise(ending for *_, ending in statements))
        for counts in endings.values():
            del counts[""]
        self._endings = {first: counts.most_common(1)[0][0] for first, counts in endings.items() if counts}
        kinds = Counter(self._endings.values())
        self._usual = kinds.most_common(1)[0][0] if kinds else ""
        self._ranks = {one: sum(before[other, one] > before[one, other] for other in kinds) for one in kinds}

    def sentence(self, x: Tokens, y: Tokens) -> Sentence | None:
        """Returns a pair made ready for cutting; if its output is no list of statements, only words can be cut out."""
        pairs = self._alignment.pairs(x, y)
        words = tuple(pairs.get(token) for token in y)
        return Sentence(x, y, self._alignment, words, (), self._parsed(x, y, pairs))

    def _parsed(self, x: Tokens, y: Tokens, pairs: Mapping[str, str]) -> list[Statement]:
        """Returns the statements of an output; none if it is no list of statements in the usual order."""
        statements: list[Statement] = []
        for head, arguments, _ in _statements(y) or ():
            named = (self._named_by(y[each.start : each.stop], x, pairs) for each in arguments)
            about = tuple(place for place in named if place is not None)
            if len(about) < len(arguments):
                return []
            ending = self._endings.get(y[head.start], self._usual)
            statements.append(Statement(tuple(head), tuple(map(tuple, arguments)), about, ending))
        return statements if statements == sorted(statements, key=self._order) else []

    def _order(self, statement: Statement) -> tuple[int, int]:
        return self._ranks.get(statement.ending, 0), statement.about[0]

    def _named_by(self, argument: Tokens, x: Tokens, pairs: Mapping[str, str]) -> int | None:
        """Returns the place of the word that an argument names by a number or, if it is there once, by a name."""
        if argument and argument[-1] in self._numbers.digits:
            place = int(argument[-1]) - self._numbers.first
            return place if 0 <= place < len(x) else None
        word = pairs.get(argument[0]) if len(argument) == 1 else None
        return x.index(word) if word is not None and x.count(word) == 1 else None

    def learn(self, sentences: Sequence[Sentence]) -> None:
        """Needs to know nothing more."""

    def cuts(self, sentence: Sentence, start: int, stop: int) -> Iterator[Cut]:
        """Yields words start to stop - 1 with the statements about them, if the others speak of one of them at most."""
        if stop - start == 1:
            yield from self._word(sentence, start)
        if not sentence.parsed:
            return
        cut_out = range(start, stop)
        ours = [statement for statement in sentence.parsed if statement.about[0] in cut_out]
        others = [statement for statement in sentence.parsed if statement.about[0] not in cut_out]
        if any(place not in cut_out for statement in ours for place in statement.about):
            return
        inside, outside = set(sentence.x[start:stop]), {*sentence.x[:start], *sentence.x[stop:]}
        if not (self._called(sentence, ours) <= inside and self._called(sentence, others) <= outside):
            return
        spoken_of, roles = dict[int, tuple[int, ...]](), set[tuple[int | str, ...]]()
        for statement in others:
            said = [sentence.y[at] for at in statement.head if sentence.words[at] is None]
            for number, (place, argument) in enumerate(zip(statement.about, statement.arguments, strict=True)):
                if place in cut_out:
                    spoken_of[place] = argument
                    roles.add((number, *said))
        if len(spoken_of) > 1 or not (ours or spoken_of):
            return
        inner, outer = inner_and_outer_names(sentence, start, stop)
        head = next(iter(spoken_of.items()), None)
        meaning = (
            tuple(self._abstract(sentence, statement, inner, cut_out) for statement in ours),
            None if head is None else self._argument(sentence, *head, inner, cut_out),
        )
        frame = tuple(sorted(self._abstract(sentence, each, outer, cut_out, outside=True) for each in others))
        yield Cut(
            start,
            stop,
            Key(renamed(sentence.x[start:stop], inner), meaning, is_word=stop - start == 1),
            sentence.frame_of_input(start, stop, outer),
            frame if others else (sentence.y if len(sentence.x) > 1 else ()),
            (ours, others, head),
            roles.pop() if len(roles) == 1 else None,
        )

    @staticmethod
    def _word(sentence: Sentence, place: int) -> Iterator[Cut]:
        """Yields a word with the tokens that it calls for, if it is there once; the statements stay as they are."""
        word = sentence.x[place]
        positions = tuple(position for position, caller in enumerate(sentence.words) if caller == word)
        if not positions or sentence.x.count(word) > 1:
            return
        _, outer = inner_and_outer_names(sentence, place, place + 1)
        frame = renamed((SPAN if caller == word else caller or "" for caller in sentence.words), outer)
        tokens = tuple(one or token for one, token in zip(frame, sentence.y, strict=True))
        key = Key((word,), sentence.y[positions[0]], is_word=True)
        yield Cut(place, place + 1, key, sentence.frame_of_input(place, place + 1, outer), tokens, Called(positions))

    @staticmethod
    def _called(sentence: Sentence, statements: Sequence[Statement]) -> set[str]:
        """Returns the words that call for what statements say."""
        words = {sentence.words[position] for statement in statements for position in statement.head}
        return {word for word in words if word is not None}

    def _abstract(
        self, sentence: Sentence, statement: Statement, names: Mapping[str, str], cut_out: range, outside: bool = False
    ) -> tuple[Tokens, ...]:
        head = self._tokens(sentence, statement.head, names)
        arguments = [
            (SPAN,) if outside and place in cut_out else self._argument(sentence, place, argument, names, cut_out)
            for place, argument in zip(statement.about, statement.arguments, strict=True)
        ]
        return (head, *arguments, (statement.ending,))

    def _argument(
        self, sentence: Sentence, place: int, argument: tuple[int, ...], names: Mapping[str, str], cut_out: range
    ) -> Tokens:
        """Returns an argument with its place counted from the phrase's beginning or, after it, from its end."""
        tokens, start, stop = self._tokens(sentence, argument, names), cut_out.start, cut_out.stop
        relative = f"-{start - place}" if place < start else f"+{place - stop}" if place >= stop else f"{place - start}"
        return (*tokens[:-1], relative) if sentence.y[argument[-1]] in self._numbers.digits else (*tokens, relative)

    @staticmethod
    def _tokens(sentence: Sentence, positions: Sequence[int], names: Mapping[str, str]) -> Tokens:
        return tuple(names.get(sentence.words[place] or "", sentence.y[place]) for place in positions)

    def exchange(self, one: Sentence, cut: Cut, other: Sentence, coming: Cut) -> tuple[Tokens, list[tuple[int, int]]]:
        """Returns the output of one example with another's phrase in the place of its own, and its tokens' sources."""
        if isinstance(cut.pieces, Called):
            mine, its = set(cut.pieces.positions), coming.pieces.positions[0]
            sources = [(1, its) if position in mine else (0, position) for position in range(len(one.y))]
            return tuple((one.y, other.y)[whose][position] for whose, position in sources), sources
        _, others, head = cut.pieces
        entering, _, its_head = coming.pieces
        longer = (coming.stop - coming.start) - (cut.stop - cut.start)
        found: list[tuple[tuple[int, int], list[tuple[str, tuple[int, int]]], str]] = []
        for whose, statements in ((0, others), (1, entering)):
            for statement in statements:
                named = []
                about = []
                for place, argument in zip(statement.about, statement.arguments, strict=True):
                    source, at, new = whose, argument, place
                    if whose:
                        new = place - coming.start + cut.start
                    elif head is not None and place == head[0] and its_head is not None:
                        source, at, new = 1, its_head[1], its_head[0] - coming.start + cut.start
                    elif place >= cut.stop:
                        new = place + longer
                    about.append(new)
                    named.append(
                        [(self._moved((one, other)[source].y[position], new), (source, position)) for position in at]
                    )
                tokens = [((one, other)[whose].y[position], (whose, position)) for position in statement.head]
                tokens += _bracketed(named)
                found.append((self._order(statement._replace(about=tuple(about))), tokens, statement.ending))
        found.sort(key=lambda each: each[0])
        joined: list[tuple[str, tuple[int, int]]] = []
        for number, (_, tokens, ending) in enumerate(found):
            joined += tokens
            if number + 1 < len(found):
                joined.append((ending, (0, -1)))
        return tuple(token for token, _ in joined), [source for _, source in joined]

    def apart(self, sentence: Sentence, cut: Cut) -> tuple[Tokens, Tokens] | None:
        """Returns what is left of an output, and a word's part; None for statements, which name words by places."""
        if not isinstance(cut.pieces, Called):
            return None
        positions = cut.pieces.positions
        frame = tuple(HOLE if place in positions else token for place, token in enumerate(sentence.y))
        return frame, (sentence.y[positions[0]],)

    def _moved(self, token: str, place: int) -> str:
        return str(place + self._numbers.first) if token in self._numbers.digits else token


def _bracketed(arguments: Sequence[list[tuple[str, tuple[int, int]]]]) -> list[tuple[str, tuple[int, int]]]:
    found = [("(", (0, -1))]
    for number, argument in enumerate(arguments):
        found += [(",", (0, -1)), *argument] if number else argument
    return [*found, (")", (0, -1))]


def _statements(y: Tokens) -> list[tuple[range, list[range], str]] | None:
    """Returns where the statements of an output are, (head, arguments), with what ends each; None if it is no list.

    The last one ends without a token.
    """
    found: list[tuple[range, list[range], str]] = []
    position = 0
    while position < len(y):
        try:
            opened = y.index("(", position)
            closed = y.index(")", opened)
        except ValueError:
            return None
        borders = [place for place in range(opened, closed + 1) if place in (opened, closed) or y[place] == ","]
        arguments = [range(one + 1, other) for one, other in pairwise(borders)]
        if opened == position or "(" in y[opened + 1 : closed] or not all(arguments) or closed + 2 == len(y):
            return None
        found.append((range(position, opened), arguments, y[closed + 1] if closed + 1 < len(y) else ""))
        position = closed + 2
    return found
