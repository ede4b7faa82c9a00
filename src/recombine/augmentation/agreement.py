"""What finds out samples whose two sides do not belong together, and doubtful training examples, without a grammar.

`Agreement`: input and output tokens that the same training examples hold, such as "kettle" and KETTLE, go together. A
sample that has the one and not the other is wrong, however sure a network is of it. If such tokens come equally often
in all of the data ("two plus two" and + 2 2), they must in samples.

`Calls`: a word calls for what the outputs of all its examples have.

`Exponents`: word forms show their tags. A Spanish past ends in -aste or -aba, a Swahili one begins with ni-li-. A
network that has seen a rare tag a few times likes to write the form of a common one beside it, and is sure of it. Most
such samples have nothing that the tag's own forms have and others do not.

`Doubtful`: training examples that contradict others, or may have typing errors, which samples would multiply.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import Self

from rapidfuzz.distance import OSA
from rapidfuzz.process import extractOne

from recombine.data.vocabulary import Holders, holders
from recombine.example import Example
from recombine.inflection import split_analysis

APART = "with a word whose counterpart is missing on the other side"
UNEVEN = "with a word more or less often than its counterpart"

UNCALLED = "without what a word of the input always calls for"

BY_CHANCE, LEAST = 1e-3, 3
"""A word calls for what the outputs of all its examples have, at least so many, if that is unlikelier by chance."""

USUAL = 0.5
"""What more than this share of all outputs have says nothing of a word."""

MEANT, ONCE, EXPECTED = 10, 2, 3
"""A token in at most ONCE examples may be a typing error if one in MEANT times as many is one letter apart; in outputs,
if a word of the input, as seen in EXPECTED other examples at least, calls for that."""

NAMED = 5  # how many typing errors are named

UNSHOWN = "with a rare tag that the form does not show"

MOST = 0.5
"""What more than this share of its holders have a tag with is an exponent of the tag."""

END = "\0"
"""Where a word ends; no file has it in a word."""

LONGEST = 12
"""Pieces are at most that long, or words that have nothing of their lemmas would have thousands."""

Change = tuple[str, str, str, str]
"""What stands before and after what lemma and form share: both in the lemma, then both in the form."""

Piece = tuple[str | None, ...]
"""Something that a form has and its lemma has not: on which side of what they share, what stood there in the lemma
(None: whatever it was, and not only next to what they share), and the characters. Or a whole change."""


@dataclass(frozen=True)
class Agreement:
    """A validator: of the tokens that the same examples hold, a sample has some on both sides or on neither.

    Attributes:
        x: The holders of each input token that has partners: output tokens that the same examples hold.
        y: Those of each output token that has partners.
        even: The partners of input tokens that must come as often as they.
    """

    x: Mapping[str, Holders]
    y: Mapping[str, Holders]
    even: Mapping[str, str]

    @classmethod
    def of(cls, examples: Sequence[Example]) -> "Agreement":
        """Finds the partners."""
        distinct = list(dict.fromkeys(examples))
        x, y = holders(example.x for example in distinct), holders(example.y for example in distinct)
        shared = {*x.values()} & {*y.values()}
        x, y = ({token: held for token, held in side.items() if held in shared} for side in (x, y))
        # Tokens that are the only ones on their side which the same examples hold may come equally often.
        inputs, outputs = Counter(x.values()), Counter(y.values())
        only = {held: token for token, held in y.items() if outputs[held] == 1}
        pairs = {token: only[held] for token, held in x.items() if inputs[held] == 1 and held in only}
        counts = [
            (example.x.count(token), example.y.count(pairs[token]))
            for example in distinct
            for token in set(example.x) & pairs.keys()
        ]
        even = all(one == other for one, other in counts) and any(one > 1 for one, _ in counts)
        return cls(x, y, pairs if even else {})

    def __call__(self, sample: Example) -> str | None:
        """Returns why a sample is turned down, or None."""
        inputs, outputs = Counter(sample.x), Counter(sample.y)
        if {self.x.get(token) for token in inputs} - {None} != {self.y.get(token) for token in outputs} - {None}:
            return APART
        uneven = any(inputs[token] != outputs[self.even[token]] for token in inputs if token in self.even)
        return UNEVEN if uneven else None


@dataclass(frozen=True)
class Calls:
    """A validator: a sample's output has what the words of its input always call for.

    A rule that swaps "forty" for "seventy" in "seven hundred forty nine" may change the 7 of "seven", too.

    Attributes:
        called_for: By token of inputs, tokens of outputs.
    """

    called_for: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, examples: Sequence[Example]) -> "Calls":
        """Finds what is called for; if "around" was seen with "left" only, it is "left" that calls for I_TURN_LEFT."""
        distinct = [(frozenset(example.x), frozenset(example.y)) for example in dict.fromkeys(examples)]
        holders = Counter(token for x, _ in distinct for token in x)
        often = Counter(token for _, y in distinct for token in y)
        telling = {token for token, count in often.items() if count <= USUAL * len(distinct)}
        beside, always = dict[str, frozenset[str]](), dict[str, frozenset[str]]()
        for x, y in distinct:
            for token in x:
                beside[token] = beside.get(token, x) & x
                always[token] = always.get(token, y) & y
        found = {}
        for token, called in always.items():
            others = frozenset[str]().union(*(always[other] for other in beside[token] if other != token))
            unlikely = {one for one in called & telling if (often[one] / len(distinct)) ** holders[token] < BY_CHANCE}
            if holders[token] >= LEAST and (own := frozenset(unlikely - others)):
                found[token] = own
        return cls(found)

    def __call__(self, sample: Example) -> str | None:
        """Returns why a sample is turned down, or None."""
        called = (self.called_for.get(token, frozenset()) for token in set(sample.x))
        return None if all(map(frozenset(sample.y).issuperset, called)) else UNCALLED


@dataclass(frozen=True)
class Doubtful:
    """Training examples that are likely to have mistakes.

    Attributes:
        contradictory: Those whose input another example has with another output.
        misspelled: By example, tokens that look like typing errors, and what was meant.
    """

    contradictory: frozenset[Example]
    misspelled: Mapping[Example, Mapping[str, str]]

    @classmethod
    def of(cls, examples: Sequence[Example]) -> Self:
        """Finds them among different examples."""
        inputs = Counter(example.x for example in examples)
        found = {example: misspelled for example, misspelled in _misspelled(examples) if misspelled}
        return cls(frozenset(example for example in examples if inputs[example.x] > 1), found)

    @property
    def examples(self) -> set[Example]:
        """All of them."""
        return {*self.contradictory, *self.misspelled}

    @property
    def typing_errors(self) -> str:
        """The typing errors, some of them if they are many, each with what was meant; empty: there are none."""
        found = dict(pair for tokens in self.misspelled.values() for pair in tokens.items())
        return ", ".join(f"{token} ({meant})" for token, meant in islice(found.items(), NAMED)) + (
            ", …" if len(found) > NAMED else ""
        )


def _misspelled(examples: Sequence[Example]) -> Iterator[tuple[Example, dict[str, str]]]:
    """Yields examples, each with the tokens that look like typing errors and what was meant.

    That is far more frequent and one letter apart. What is rare on the other side, too, is no mistake but a word with a
    meaning of its own, or what it calls for; and so is a word if what was meant would have another output.
    """
    often = Counter(token for example in examples for token in {*example.x, *example.y})
    frequent = [word for word, count in often.items() if count >= MEANT and len(word) > 2 and word.isalpha()]
    frequent.sort(key=lambda word: (-often[word], word))  # the first of several that are one letter apart was meant
    meant: dict[str, str] = {}
    for token, count in often.items():
        if count <= ONCE and token.isalpha():
            found = extractOne(token, frequent, scorer=OSA.distance, score_cutoff=1)
            if found is not None and often[found[0]] >= MEANT * count and _is_slip(token, found[0]):
                meant[token] = found[0]
    holders = Counter(word for example in examples for word in {*example.x})
    called = {*meant.values()}
    together = Counter(
        (word, token) for example in examples for token in called.intersection(example.y) for word in {*example.x}
    )
    outputs = {example.x: example.y for example in examples}

    def is_mistake(token: str, x: Sequence[str], y: Sequence[str]) -> bool:
        corrected = tuple(meant[token] if word == token else word for word in x)
        return all(often[other] > often[token] for other in y) and outputs.get(corrected, y) == y

    def is_called_for(token: str, x: Sequence[str]) -> bool:
        least = {word: max(EXPECTED, holders[word] - often[token]) for word in x}
        return any(together[word, meant[token]] >= most for word, most in least.items())

    for example in examples:
        x, y = example.x, example.y
        errors = [token for token in x if token in meant and is_mistake(token, x, y)]
        errors += [
            token
            for token in y
            if token in meant and all(often[word] > often[token] for word in x) and is_called_for(token, x)
        ]
        yield example, {token: meant[token] for token in errors if meant[token] not in (x if token in x else y)}


def _is_slip(token: str, meant: str) -> bool:
    """Whether letters changed places, or one inside is another: at either end, that is mostly another form or word.

    Small and capital letters are no slip.
    """
    inside = (token[0], token[-1]) == (meant[0], meant[-1])
    return token.casefold() != meant.casefold() and (inside or sorted(token) == sorted(meant))


@dataclass(frozen=True)
class Exponents:
    """A validator: the form of a sample with a rare tag has one of the tag's exponents, or changes as one of its forms.

    Attributes:
        by_tag: What shows each rare tag that has exponents: these, and the whole changes of the forms with the tag.
    """

    by_tag: Mapping[str, frozenset[Piece]]

    @classmethod
    def of(cls, examples: Sequence[Example], tags: Iterable[str]) -> "Exponents":
        """Finds the exponents of rare tags (tokens such as ``[PST]``) among word forms."""
        rare = set(tags)
        distinct = {example: change(example) for example in dict.fromkeys(examples)}
        counts: dict[str, Counter[Piece]] = {tag: Counter() for tag in rare}
        changes: dict[str, set[Piece]] = {tag: set() for tag in rare}
        for example, changed in distinct.items():
            for tag in rare.intersection(example.x):
                counts[tag].update(pieces(changed))
                changes[tag].add(changed)
        candidates = {piece for counted in counts.values() for piece in counted}
        holders = Counter(piece for changed in distinct.values() for piece in pieces(changed) & candidates)
        found = {
            tag: {piece for piece, count in counted.items() if count > MOST * holders[piece]}
            for tag, counted in counts.items()
        }
        return cls({tag: frozenset(telling | changes[tag]) for tag, telling in found.items() if telling})

    def __call__(self, sample: Example) -> str | None:
        """Returns why a sample is turned down, or None."""
        asked = [self.by_tag[tag] for tag in set(sample.x) & self.by_tag.keys()]
        if not asked:
            return None
        changed = change(sample)
        shown = pieces(changed) | {changed}
        return UNSHOWN if any(telling.isdisjoint(shown) for telling in asked) else None


def change(example: Example) -> Change:
    """Returns what stands before and after the longest part that lemma and form share, of the lemma and of the form."""
    lemma, form = ("".join(side) for side in (split_analysis(example.x)[0], example.y))
    shared = SequenceMatcher(None, lemma, form, autojunk=False).find_longest_match()
    return lemma[: shared.a], lemma[shared.a + shared.size :], form[: shared.b], form[shared.b + shared.size :]


def pieces(changed: Change) -> set[Piece]:
    """Returns the pieces of what stands in a form before and after the longest part that it shares with its lemma."""
    old_before, old_after, before, after = changed
    found: set[Piece] = set()
    # Beginnings are read backwards, so that both sides start where the shared part stops.
    for side, old, new in (("before", old_before[::-1], before[::-1] + END), ("after", old_after, after + END)):
        found.update((side, old, new[:stop]) for stop in range(1, min(len(new), LONGEST) + 1))
        for start in range(len(new) - 1):
            stops = range(start + 1, min(len(new), start + LONGEST) + 1)
            found.update((side, None, new[start:stop]) for stop in stops)
    return found
