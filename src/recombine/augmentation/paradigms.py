"""Paradigms: lemmas take the exponents of other lemmas' forms, and exponents that no form has follow by analogy."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice, permutations, product
from os.path import commonprefix
from typing import NamedTuple, Self

import numpy as np

from recombine.augmentation.agreement import Change, change
from recombine.augmentation.protocol import (
    Samples,
    Validator,
    all_there_are,
    check_request,
    distinct_examples,
    in_random_order,
    take_accepted,
    turned_down,
    unfitted,
)
from recombine.errors import RecombineError
from recombine.example import Example, Provenance, Tokens
from recombine.inflection import are_inflections, split_analysis

CONTEXT = 2
"""So many characters beside those that change are looked at."""

ALIKE = 2
"""Lemmas that end (or begin) with the same so many characters are alike there."""

MOST_TAGS = 2
"""So many tags leave at once, and so many come, at most."""

MOST_WORDS = 20
"""Of each set of tags so many words are compared with those of others."""

STEPS = 2
"""So many analogies follow each other at most."""

NEARLY_ALL = 0.9
"""What this share of the examples of a change have in common is a condition of it."""

ENOUGH = 0.25
"""Changes on a condition that does not hold are made, too, where others have not this share of the examples."""

LIKELY = 0.3
"""What is less likely than that does not follow."""

NEARER = 4
"""For each further character that two lemmas share, so many times as much speaks for an exponent of the one."""

Tags = frozenset[str]


class End(NamedTuple):
    """The end of a lemma and of its form: both words, and what stands there of theirs alone.

    Beginnings are ends, too, of words that are read backwards.
    """

    lemma: str
    form: str
    old: str
    new: str

    def after(self, cut: int) -> str:
        """Returns what the form has after all of the lemma but so many of its last characters, at least those of its own."""
        return self.form[len(self.form) - len(self.new) + len(self.old) - cut :]


class Word(NamedTuple):
    """A word form, and how it differs from its lemma."""

    lemma: str
    tags: Tokens
    form: str
    change: Change

    @classmethod
    def of(cls, example: Example) -> "Word":
        """Takes an example apart that is in the generator's order."""
        lemma, tags = split_analysis(example.x)
        return cls("".join(lemma), tags, "".join(example.y), change(example))

    @property
    def example(self) -> Example:
        """The word form in the generator's order."""
        return _example(self.lemma, self.tags, self.form)

    @property
    def ends(self) -> tuple[End, End]:
        """Its beginning and its end."""
        old_before, old_after, before, after = self.change
        backwards = End(self.lemma[::-1], self.form[::-1], old_before[::-1], before[::-1])
        return backwards, End(self.lemma, self.form, old_after, after)

    @property
    def kind(self) -> str:
        """The part of speech: V of ``[V.PTCP]``."""
        return self.tags[0].strip("[]").partition(".")[0]


class Delta(NamedTuple):
    """Tags that others replace, in words of a kind."""

    leaving: Tags
    coming: Tags
    kind: str

    def applies(self, kind: str, tags: Tags) -> bool:
        """Tells whether they can be replaced in a set of tags."""
        return kind == self.kind and self.leaving <= tags and not self.coming & tags

    def is_more_than(self, other: "Delta") -> bool:
        """Tells whether a tag comes or goes besides what another replaces."""
        more = other.leaving <= self.leaving and other.coming <= self.coming and other != self
        return more and len(self.leaving) != len(self.coming)


class Exponent(NamedTuple):
    """What makes forms with some tags: a word that has it, how likely that is right, and the word of the training data.

    The word is that of the training data itself, or another form of its lemma, by analogy.
    """

    word: Word
    likely: float
    shown_by: Word

    def of(self, lemma: str) -> tuple[str, float] | None:
        """Returns the form of a lemma with this exponent and what speaks for it; None if the lemma is of another class."""
        weight = self.likely
        for end, name in zip(self.word.ends, (lemma[::-1], lemma), strict=True):
            shared = len(commonprefix((end.lemma[::-1], name[::-1])))
            if shared < len(end.old) or (end.old and shared < ALIKE):
                return None
            if end.old != end.new:
                weight *= NEARER ** min(shared, len(end.old) + ALIKE)
        old_before, old_after, before, after = self.word.change
        stem = lemma[len(old_before) : len(lemma) - len(old_after)]
        return (before + stem + after, weight) if stem else None


class Analogies:
    """How the ends of forms change when some tags replace others: as beside two other sets of tags, so beside a third."""

    def __init__(self, words: Iterable[Word]) -> None:
        cells: dict[Tags, list[Word]] = defaultdict(list)
        self._before: set[tuple[str, str, str]] = set()  # kinds of words, and tags that stand before others in them
        for word in words:
            cells[frozenset(word.tags)].append(word)
            self._before.update((word.kind, *two) for two in combinations(word.tags, 2))
        self._cells = {tags: held[:MOST_WORDS] for tags, held in cells.items()}
        pairs: dict[Delta, list[tuple[Tags, Tags]]] = defaultdict(list)
        for old, new in permutations(cells, 2):
            kind = cells[old][0].kind
            if 0 < len(old - new) <= MOST_TAGS and 0 < len(new - old) <= MOST_TAGS and cells[new][0].kind == kind:
                pairs[Delta(old - new, new - old, kind)].append((old, new))
        self._pairs = {delta: found for delta, found in pairs.items() if len(found) > 1}
        self._shown: dict[Delta, int] = {}  # by so many words
        self._common: dict[Delta, Tags] = {}  # the tags that nearly all words have that show a change
        for delta, found in self._pairs.items():
            held_by: Counter[str] = Counter()
            for old, new in found:
                held_by.update(dict.fromkeys(old & new, len(cells[old]) + len(cells[new])))
            self._shown[delta] = sum(len(cells[tags]) for pair in found for tags in pair)
            limit = NEARLY_ALL * self._shown[delta]
            self._common[delta] = frozenset(tag for tag, number in held_by.items() if number >= limit)
        self._tables: dict[Delta, list[Table]] = {}
        self._known: dict[tuple[Delta, int, str], tuple[str, float] | None] = {}

    def exponents(self, words: Iterable[Word], accept: Callable[[Word], bool]) -> dict[Tags, list[Exponent]]:
        """Returns the exponents of some words, and of those accepted that follow from these, by tags."""
        latest = [Exponent(word, 1.0, word) for word in words]
        found: dict[Tags, dict[tuple[Change, str], Exponent]] = defaultdict(dict)
        for step in range(STEPS + 1):
            further = []
            for exponent in latest:
                held, key = found[frozenset(exponent.word.tags)], (exponent.word.change, exponent.word.lemma)
                if key not in held or held[key].likely < exponent.likely:
                    held[key] = exponent
                    further.append(exponent)
            if step < STEPS:
                latest = [made for exponent in further for made in self._following(exponent) if accept(made.word)]
        return {tags: [*held.values()] for tags, held in found.items()}

    def _following(self, exponent: Exponent) -> Iterator[Exponent]:
        """Yields what follows from an exponent by one analogy each."""
        word = exponent.word
        tags = frozenset(word.tags)
        applying = [delta for delta in self._pairs if delta.applies(word.kind, tags)]
        # Moods that only the present has may tell nothing of the past, where persons change alike in several tenses.
        unconditional = [delta for delta in applying if self._common[delta] <= tags]
        nearly = [delta for delta in applying if len(self._common[delta] - tags) <= 1]
        enough = sum(map(self._shown.__getitem__, unconditional)) > ENOUGH * sum(map(self._shown.__getitem__, nearly))
        usual = unconditional if enough else nearly
        for delta in (delta for delta in usual if not any(map(delta.is_more_than, usual))):
            ends, likely = [], exponent.likely
            for side, end in enumerate(word.ends):
                text = end.after(min(len(end.old) + CONTEXT, len(end.lemma)))
                changed = self._changed(delta, side, text)
                if changed is None:
                    break
                ends.append((text, changed[0]))
                likely *= changed[1]
            else:
                (start, before), (stop, after) = ends
                if len(start) + len(stop) <= len(word.form):
                    form = before[::-1] + word.form[len(start) : len(word.form) - len(stop)] + after
                    made = Word.of(_example(word.lemma, self._arranged(word.tags, delta), form))
                    yield Exponent(made, likely, exponent.shown_by)

    def _changed(self, delta: Delta, side: int, text: str) -> tuple[str, float] | None:
        """Returns what an end of a form becomes, and how likely; the longest part of it that was seen decides."""
        key = delta, side, text
        if key not in self._known:
            if delta not in self._tables:
                self._tables[delta] = self._table(delta)
            tables = self._tables[delta][side::2]
            self._known[key] = next(filter(None, (_likeliest(table, text) for table in tables)), None)
        return self._known[key]

    def _table(self, delta: Delta) -> list["Table"]:
        """Returns what ends become: beginnings and ends of words whose lemmas end alike, then of all words."""
        tables: list[Table] = [defaultdict(lambda: defaultdict(Counter)) for _ in range(4)]
        for number, (old, new) in enumerate(self._pairs[delta]):
            for one, other in product(self._cells[old], self._cells[new]):
                for side, (end, other_end) in enumerate(zip(one.ends, other.ends, strict=True)):
                    cut = max(len(end.old), len(other_end.old))
                    if cut and end.lemma[-cut:] != other_end.lemma[-cut:]:
                        continue
                    ends = end.after(cut), other_end.after(cut)
                    shared = len(commonprefix(ends))
                    for start in range(max(shared - CONTEXT, 0), shared + 1):
                        for table in tables[side :: 2] if one.lemma[-ALIKE:] == other.lemma[-ALIKE:] else tables[side + 2 :: 2]:
                            table[ends[0][start:]][number][ends[1][start:]] += 1
        return tables

    def _arranged(self, tags: Tokens, delta: Delta) -> Tokens:
        """Returns tags after a change: those that come stand where others leave, as far as they do so elsewhere."""
        found = [tag for tag in tags if tag not in delta.leaving]
        for tag in sorted(delta.coming):
            behind = [place + 1 for place, other in enumerate(found) if (delta.kind, other, tag) in self._before]
            before = [place for place, other in enumerate(found) if (delta.kind, tag, other) in self._before]
            first = min(map(tags.index, delta.leaving))
            found.insert(max([min([first, *before]), *behind]), tag)
        return tuple(found)


Table = dict[str, dict[int, Counter[str]]]
"""What ends of forms become, and how often, beside each other set of tags."""


def _example(lemma: str, tags: Tokens, form: str) -> Example:
    return Example(x=(*lemma, *tags), y=tuple(form))


def _likeliest(table: Table, text: str) -> tuple[str, float] | None:
    """Returns what a text becomes if its end changes as in a table, and how likely, beside any other tags, that is."""
    for start in range(len(text) + 1):
        seen = table.get(text[start:], {})
        shares: Counter[str] = Counter()
        for counts in seen.values():
            for new, number in counts.items():
                shares[new] += number / counts.total()
        new, share = max(shares.items(), key=lambda item: item[1], default=("", 0.0))
        if len(seen) > 1 and share > LIKELY * (len(seen) + 0.5):
            return text[:start] + new, share / (len(seen) + 0.5)
    return None


@dataclass(eq=False)
class Paradigms:
    """Makes new word forms by rule: an exponent is what a form has and its lemma has not, and other lemmas take it.

    From ``hablar [V] [FUT] [1] [SG] ▷ hablaré`` and any form of ``cantar`` it makes ``cantaré``. Where a set of tags
    has no example, analogy gives exponents: if persons change beside two other sets of tags in one way, they do so
    beside a third, so that ``cantaba [1] [SG]`` gives ``cantaban [3] [PL]`` because of ``cantaría`` and ``cantarían``.

    All sets of tags have equal shares of the samples. The exponents that are put to use are those of examples that
    `accept` lets pass: with a resampler, those of the few examples with rare tags.
    """

    _words: tuple[Word, ...] = field(default=(), init=False, repr=False)
    _analogies: Analogies = field(default_factory=lambda: Analogies(()), init=False, repr=False)

    def fit(self, examples: Sequence[Example]) -> Self:
        """Compares forms with their lemmas, and sets of tags with each other.

        Raises:
            RecombineError: If the examples are no word forms, or fewer than two.
        """
        distinct = distinct_examples(examples, least=2, who="Paradigms")
        if not are_inflections(distinct):
            raise RecombineError("Paradigms needs word forms: lemma and tags ▷ form.", hint="`format='sigmorphon'`.")
        self._words = tuple(map(Word.of, distinct))
        self._analogies = Analogies(self._words)
        return self

    def sample(self, n: int, seed: int = 0, accept: Validator | None = None) -> Samples:
        """Returns n word forms, or all there are: at most one of each lemma for a set of tags, and none that is known.

        The provenance names the example that shows the exponent and one of the lemma, and has as details what speaks
        for this form among all that other exponents would give (``likely``).
        """
        if not self._words:
            raise unfitted("Paradigms")
        check_request(n, seed)
        candidates = self._candidates(np.random.default_rng(seed), lambda word: not turned_down(word.example, accept))
        examples, rejected = take_accepted(candidates, n, accept)
        shortfall = ""
        if len(examples) < n:
            shortfall = f"{all_there_are('Paradigms', len(self._words), len(examples), rejected)}."
        return Samples(examples=examples, requested=n, rejected=rejected, shortfall=shortfall)

    def _candidates(self, rng: np.random.Generator, accept: Callable[[Word], bool]) -> Iterator[Example]:
        """Yields new forms, one for each set of tags in turn."""
        exponents = self._analogies.exponents(filter(accept, self._words), accept)
        cells = [self._of_cell(tags, held, rng) for tags, held in exponents.items()]
        while cells:
            going_on = []
            for place in rng.permutation(len(cells)):
                for candidate in islice(cells[place], 1):
                    going_on.append(cells[place])
                    yield candidate
            cells = going_on

    def _of_cell(self, tags: Tags, exponents: Sequence[Exponent], rng: np.random.Generator) -> Iterator[Example]:
        """Yields forms of all lemmas for a set of tags."""
        known = {word.lemma for word in self._words if tags == frozenset(word.tags)}
        kind = exponents[0].word.kind
        lemmas = {word.lemma: word for word in self._words if word.kind == kind and word.lemma not in known}
        for place in in_random_order(len(lemmas), rng):
            lemma, word = [*lemmas.items()][place]
            votes: Counter[str] = Counter()
            best: dict[str, tuple[float, Exponent]] = {}
            for exponent in exponents:
                if (found := exponent.of(lemma)) is not None:
                    form, weight = found
                    votes[form] += weight  # type: ignore[assignment]
                    best[form] = max(best.get(form, (0.0, exponent)), (weight, exponent), key=lambda each: each[0])
            if votes:
                form, weight = votes.most_common(1)[0]
                exponent = best[form][1]
                provenance = Provenance(
                    method="paradigms",
                    prototypes=(exponent.shown_by.example, word.example),
                    details={"likely": round(weight / votes.total(), 3)},
                )
                yield _example(lemma, exponent.word.tags, form).with_provenance(provenance)
