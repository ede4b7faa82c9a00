"""Paradigms: lemmas take the exponents of other lemmas' forms, and exponents that no form has follow by analogy."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, islice, permutations, product
from typing import NamedTuple, Self

import numpy as np

from recombine.augmentation.agreement import Change, change
from recombine.augmentation.protocol import (
    Samples,
    Validator,
    check_request,
    distinct_examples,
    in_random_order,
    samples_by_rule,
    turned_down,
    unfitted,
)
from recombine.errors import RecombineError
from recombine.example import Example, Provenance, Tokens
from recombine.inflection import are_inflections, split_analysis

CONTEXT = 2
"""So many characters beside those that change are looked at."""

STEM_CONTEXT, STEM = 4, 3
"""The same where forms are read from the stem; which is up to so many characters shorter than what a form shares."""

ALIKE = 2
"""Lemmas that end (or begin) with the same so many characters are alike there."""

MOST_TAGS = 2
"""So many tags leave at once, and so many come, at most."""

MOST_WORDS, MOST_SETS, MOST_COMPARED = 20, 500, 2_000_000
"""Of each set of tags so many words are compared with those of others; so many sets, those with most words; and so many
pairs of words in all: if there are more, fewer words of each set."""

MOST_EXPONENTS = 100
"""A set of tags that has so many exponents is given no more by analogy. They start from so many, of MOST_SETS sets."""

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

BORDER = "\0"
"""Where the stem ends; no file has it in a word."""

NO_WORD_FORMS = "paradigms needs word forms: lemmas with tags, and their forms."
WORD_FORMS_ARE = "In a file: lemma, tab, form, tab, tags with ; between them. For other data take --method auto."
"""The error for other data, and what to do."""

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
        """Returns what the form has instead of so many of the lemma's last characters, at least those of its own."""
        return self.form[len(self.form) - len(self.new) + len(self.old) - cut :]

    def mark(self, cut: int) -> str:
        """Returns so many of the lemma's last characters, with what marks where they begin."""
        return BORDER + self.lemma[len(self.lemma) - cut :]


class Word(NamedTuple):
    """A word form, and how it differs from its lemma."""

    lemma: str
    tags: Tokens
    form: str
    change: Change
    kind: str
    """The part of speech, such as V; see `_kinds`."""

    @classmethod
    def of(cls, example: Example, kind: str) -> "Word":
        """Takes an example apart that is in the generator's order."""
        lemma, tags = split_analysis(example.x)
        return cls("".join(lemma), tags, "".join(example.y), change(example), kind)

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

    def similar(self) -> tuple[Change, str, str]:
        """Returns what decides which lemmas take its exponent: its change, and the ends of its lemma that matter."""
        beginning, end = (each.lemma[-len(each.old) - ALIKE :] if each.old != each.new else "" for each in self.ends)
        return self.change, beginning, end


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
    """What makes forms with some tags: a word that has it, how likely that is right, and the word that shows it.

    The latter is of the training data; the former is the same word, or by analogy another form of its lemma.
    """

    word: Word
    likely: float
    shown_by: Word

    def of(self, lemma: str) -> tuple[str, float] | None:
        """Returns the form of a lemma with this exponent and what speaks for it; None if the lemma ends otherwise."""
        weight = self.likely
        for end, name in zip(self.word.ends, (lemma[::-1], lemma), strict=True):
            shared = _shared(end.lemma[::-1], name[::-1])
            if shared < len(end.old) or (end.old and shared < ALIKE):
                return None
            if end.old != end.new:
                weight *= NEARER ** min(shared, len(end.old) + ALIKE)
        old_before, old_after, before, after = self.word.change
        stem = lemma[len(old_before) : len(lemma) - len(old_after)]
        return (before + stem + after, weight) if stem else None


class Changed(NamedTuple):
    """What an end of a form was and becomes, and how likely that is."""

    old: str
    new: str
    likely: float


View = tuple[int, bool | None]
"""Beginnings (0) or ends (1), and whether only of words whose lemmas end alike; None: read from the stem."""

Table = dict[str, dict[int, Counter[str]]]
"""What ends of forms become, and how often, beside each other set of tags."""


class Analogies:
    """How forms change when some tags replace others: as beside two other sets of tags, so beside a third."""

    def __init__(self, words: Iterable[Word]) -> None:
        cells: dict[Tags, list[Word]] = defaultdict(list)
        self._words = tuple(words)
        self._order: set[tuple[str, str, str]] = set()  # kinds of words, and two tags of theirs, one behind the other
        for word in self._words:
            cells[frozenset(word.tags)].append(word)
            self._order.update((word.kind, *two) for two in combinations(word.tags, 2))
        pairs: dict[Delta, list[tuple[Sequence[Word], Sequence[Word]]]] = defaultdict(list)
        most_words_first = sorted(cells, key=lambda tags: -len(cells[tags]))
        compared = {*most_words_first[:MOST_SETS]}
        for old, new in permutations((tags for tags in cells if tags in compared), 2):
            words_before, words_after = cells[old], cells[new]
            kinds = words_before[0].kind, words_after[0].kind
            if kinds[0] == kinds[1] and all(0 < len(tags) <= MOST_TAGS for tags in (old - new, new - old)):
                pairs[Delta(old - new, new - old, kinds[0])].append((words_before, words_after))
        self._pairs = {delta: found for delta, found in pairs.items() if len(found) > 1}
        self._shown, self._conditions = dict[Delta, int](), dict[Delta, Tags]()
        for delta, found in self._pairs.items():
            held_by = Counter(tag for pair in found for held in pair for word in held for tag in word.tags)
            self._shown[delta] = sum(len(held) for pair in found for held in pair)
            nearly_all = {tag for tag, number in held_by.items() if number >= NEARLY_ALL * self._shown[delta]}
            self._conditions[delta] = frozenset(nearly_all)
        sizes = np.array([[len(held) for held in pair] for found in self._pairs.values() for pair in found], dtype=int)
        self._most = MOST_WORDS
        while self._most > 1 and sizes.clip(max=self._most).prod(axis=-1).sum() > MOST_COMPARED:
            self._most //= 2
        self._deltas, self._tables, self._likeliest = cache(self._applying), cache(self._read), cache(self._found)

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[Word, ...]]]:
        """Says how to make it again, in another process: what it remembers does not travel."""
        return type(self), (self._words,)

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
                    if len(held) <= MOST_EXPONENTS and len(found) <= MOST_SETS:
                        further.append(exponent)
            if step < STEPS:
                counts = Counter({tags: len(held) for tags, held in found.items()})
                following = (made for exponent in further for made in self._following(exponent, counts))
                latest = [made for made in following if accept(made.word)]
        return {tags: [*held.values()] for tags, held in found.items()}

    def _following(self, exponent: Exponent, counts: Counter[Tags]) -> Iterator[Exponent]:
        """Yields what follows from an exponent by one analogy each, and counts the exponents of sets of tags."""
        word, tags = exponent.word, frozenset(exponent.word.tags)
        for delta in self._deltas(word.kind, tags):
            after = tags - delta.leaving | delta.coming
            if counts[after] >= MOST_EXPONENTS:
                continue
            beginning, end = (self._changed(delta, side, each) for side, each in enumerate(word.ends))
            if beginning is None or end is None or len(beginning.old) + len(end.old) > len(word.form):
                continue
            middle = word.form[len(beginning.old) : len(word.form) - len(end.old)]
            form = beginning.new[::-1] + middle + end.new
            counts[after] += 1
            made = Word.of(_example(word.lemma, self._arranged(word.tags, delta), form), word.kind)
            yield Exponent(made, exponent.likely * beginning.likely * end.likely, exponent.shown_by)

    def _applying(self, kind: str, tags: Tags) -> list[Delta]:
        """Returns how the tags of a word may change.

        Moods that only the present has tell nothing of the past. So where enough examples of changes have no tag in
        common that the word lacks, only these changes are made; else those that have one, too.
        """
        lacking = {delta: len(self._conditions[delta] - tags) for delta in self._pairs if delta.applies(kind, tags)}
        shown = [sum(self._shown[delta] for delta, number in lacking.items() if number <= most) for most in (0, 1)]
        most = 0 if shown[0] > ENOUGH * shown[1] else 1
        found = [delta for delta, number in lacking.items() if number <= most]
        return [delta for delta in found if not any(map(delta.is_more_than, found))]

    def _changed(self, delta: Delta, side: int, end: End) -> Changed | None:
        """Returns what becomes of an end of a form, read from outside or, if that tells nothing, from the stem."""
        text = end.after(min(len(end.old) + CONTEXT, len(end.lemma)))
        if (found := self._likeliest(delta, ((side, True), (side, False)), text)) is not None:
            return Changed(text, *found)
        for cut in range(len(end.old), min(len(end.old) + STEM, len(end.lemma))):
            text = end.after(cut)
            found = self._likeliest(delta, ((side, None),), text[::-1] + end.mark(cut))
            if found is not None:
                return Changed(text, found[0].partition(BORDER)[0][::-1], found[1])
        return None

    def _found(self, delta: Delta, views: tuple[View, ...], text: str) -> tuple[str, float] | None:
        """Returns what a text becomes by the first view that tells, and how likely that is."""
        tables = self._tables(delta)
        return next(filter(None, (_likeliest(tables[view], text) for view in views)), None)

    def _read(self, delta: Delta) -> dict[View, Table]:
        """Returns how ends of words become ends of others, beside each set of other tags."""
        tables: dict[View, Table] = defaultdict(lambda: defaultdict(lambda: defaultdict(Counter)))
        for beside, pair in enumerate(self._pairs[delta]):
            changes: Counter[tuple[int, bool, str, str, str]] = Counter()
            for one, other in product(*([word.ends for word in held[: self._most]] for held in pair)):
                alike = one[1].lemma[-ALIKE:] == other[1].lemma[-ALIKE:]
                for side, (end, after) in enumerate(zip(one, other, strict=True)):
                    cut = max(len(end.old), len(after.old))
                    if (mark := end.mark(cut)) == after.mark(cut):
                        changes[side, alike, mark, end.after(cut), after.after(cut)] += 1
            for (side, alike, mark, *texts), times in changes.items():
                for kind in {alike, False}:
                    _note(tables[side, kind], beside, texts, CONTEXT, times)
                _note(tables[side, None], beside, [text[::-1] + mark for text in texts], STEM_CONTEXT, times)
        return tables

    def _arranged(self, tags: Tokens, delta: Delta) -> Tokens:
        """Returns tags after a change: those that come stand where others leave, as far as they do so elsewhere."""
        found = [tag for tag in tags if tag not in delta.leaving]
        for tag in sorted(delta.coming):
            behind = [place + 1 for place, other in enumerate(found) if (delta.kind, other, tag) in self._order]
            before = [place for place, other in enumerate(found) if (delta.kind, tag, other) in self._order]
            first = min(map(tags.index, delta.leaving))
            found.insert(max([min([first, *before]), *behind]), tag)
        return tuple(found)


def _shared(one: str, other: str) -> int:
    """Returns how many of their first characters two texts share."""
    return next((place for place, char in enumerate(one) if other[place : place + 1] != char), len(one))


def _note(table: Table, beside: int, texts: Sequence[str], context: int, times: int) -> None:
    """Notes that one text became another, with as many characters of what they share before that as is asked for."""
    old, new = texts
    shared = _shared(old, new)
    for start in range(max(shared - context, 0), shared + 1):
        table[old[start:]][beside][new[start:]] += times


def _kinds(examples: Sequence[Example]) -> list[str]:
    """Returns parts of speech: first tags (V of ``[V.PTCP]``).

    Those are one that most lemmas of the rarer have both, counting lemmas with several forms: then they are no parts of
    speech, but tenses, for example.
    """
    analyses = [split_analysis(example.x) for example in examples]
    firsts = [tags[0].strip("[]").partition(".")[0] for _, tags in analyses]
    forms = Counter(lemma for lemma, _ in analyses)
    lemmas: dict[str, set[Tokens]] = {first: set() for first in firsts}
    for (lemma, _), first in zip(analyses, firsts, strict=True):
        if forms[lemma] > 1:
            lemmas[first].add(lemma)
    most_first = sorted(lemmas, key=lambda first: -len(lemmas[first]))[:MOST_SETS]
    kinds = {first: first for first in firsts}
    for one, other in combinations(most_first, 2):
        if 2 * len(lemmas[one] & lemmas[other]) > len(lemmas[other]):
            old, new = kinds[other], kinds[one]
            kinds = {first: new if kind == old else kind for first, kind in kinds.items()}
    return [kinds[first] for first in firsts]


def _summed(exponents: Iterable[Exponent]) -> list[Exponent]:
    """Returns exponents, those of words that are alike as one."""
    found: dict[tuple[Change, str, str], Exponent] = {}
    for exponent in exponents:
        key = exponent.word.similar()
        found[key] = exponent._replace(likely=exponent.likely + found[key].likely) if key in found else exponent
    return [*found.values()]


def _example(lemma: str, tags: Tokens, form: str) -> Example:
    return Example(x=(*lemma, *tags), y=tuple(form))


def _likeliest(table: Table, text: str) -> tuple[str, float] | None:
    """Returns what a text becomes if its end changes as in a table, and how likely, beside any other tags, that is."""
    for start in range(len(text) + 1):
        seen = table.get(text[start:], {})
        shares: dict[str, float] = defaultdict(float)
        for counts in seen.values():
            total = counts.total()
            for new, number in counts.items():
                shares[new] += number / total
        new, share = max(shares.items(), key=lambda item: item[1], default=("", 0.0))
        if len(seen) > 1 and share > LIKELY * (len(seen) + 0.5):
            return text[:start] + new, share / (len(seen) + 0.5)
    return None


@dataclass(eq=False)
class Paradigms:
    """Makes new word forms by rule: an exponent is what a form has and its lemma lacks, and other lemmas take it.

    From ``hablar [V] [FUT] [1] [SG] ▷ hablaré`` and any form of ``cantar`` it makes ``cantaré``. Where a set of tags
    has no example, analogy gives exponents: if persons change beside two other sets of tags in one way, they do so
    beside a third, so that ``cantaba [1] [SG]`` gives ``cantaban [3] [PL]`` because of ``cantaría`` and ``cantarían``.

    All sets of tags have equal shares of the samples. The exponents that are put to use are those of examples that
    `accept` lets pass: with a resampler, those of the few examples with rare tags.

    Attributes:
        shows: Lets those examples pass whose exponents are put to use; None: `accept` does.
    """

    shows: Validator | None = None
    _words: tuple[Word, ...] = field(default=(), init=False, repr=False)
    _known: dict[Tags, set[str]] = field(default_factory=dict, init=False, repr=False)
    _lemmas: dict[str, dict[str, Word]] = field(default_factory=dict, init=False, repr=False)
    _analogies: Analogies = field(default_factory=lambda: Analogies(()), init=False, repr=False)

    def fit(self, examples: Sequence[Example]) -> Self:
        """Compares forms with their lemmas, and sets of tags with each other.

        Raises:
            RecombineError: If the examples are no word forms, or fewer than two.
        """
        distinct = distinct_examples(examples, least=2, who="Paradigms")
        if not are_inflections(distinct):
            raise RecombineError(NO_WORD_FORMS, hint=WORD_FORMS_ARE)
        self._words = tuple(map(Word.of, distinct, _kinds(distinct)))
        self._known, self._lemmas = defaultdict(set), defaultdict(dict)
        for word in self._words:
            self._known[frozenset(word.tags)].add(word.lemma)
            self._lemmas[word.kind][word.lemma] = word
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
        candidates = self._candidates(np.random.default_rng(seed), self.shows or accept)
        return samples_by_rule("Paradigms", len(self._words), candidates, n, accept)

    def answers(self, inputs: Iterable[Tokens]) -> tuple[list[Example], list[Tags]]:
        """Returns what it makes of those inputs that it can make something of; and all sets of tags that it has."""
        wanted: dict[Tags, list[str]] = defaultdict(list)
        for x in inputs:
            lemma, tags = split_analysis(x)
            wanted[frozenset(tags)].append("".join(lemma))
        found = self._exponents(self.shows)
        made = (self._made(lemma, _summed(held)) for tags, held in found.items() for lemma in wanted[tags])
        return [example for example in made if example is not None], [*found]

    def _exponents(self, shows: Validator | None) -> dict[Tags, list[Exponent]]:
        def accept(word: Word) -> bool:
            return not turned_down(word.example, shows)

        return self._analogies.exponents(filter(accept, self._words), accept)

    def _candidates(self, rng: np.random.Generator, shows: Validator | None) -> Iterator[Example]:
        """Yields new forms, one for each set of tags in turn."""
        cells = [self._of_cell(tags, held, rng) for tags, held in self._exponents(shows).items()]
        while cells:
            going_on = []
            for place in rng.permutation(len(cells)):
                for candidate in islice(cells[place], 1):
                    going_on.append(cells[place])
                    yield candidate
            cells = going_on

    def _of_cell(self, tags: Tags, exponents: Sequence[Exponent], rng: np.random.Generator) -> Iterator[Example]:
        """Yields forms of all lemmas for a set of tags."""
        known = self._known.get(tags, set())
        lemmas = [lemma for lemma in self._lemmas[exponents[0].word.kind] if lemma not in known]
        exponents = _summed(exponents)
        for place in in_random_order(len(lemmas), rng):
            if (made := self._made(lemmas[place], exponents)) is not None:
                yield made

    def _made(self, lemma: str, exponents: Sequence[Exponent]) -> Example | None:
        """Returns the form of a lemma for which most speaks; None if there is none, or the lemma is not known."""
        word = self._lemmas[exponents[0].word.kind].get(lemma)
        votes: dict[str, float] = defaultdict(float)
        best: dict[str, tuple[float, Exponent]] = {}
        for exponent in exponents:
            if (found := exponent.of(lemma)) is not None:
                form, weight = found
                votes[form] += weight
                if form not in best or best[form][0] < weight:
                    best[form] = weight, exponent
        if word is None or not votes:
            return None
        form = max(votes, key=votes.__getitem__)
        exponent = best[form][1]
        provenance = Provenance(
            method="paradigms",
            prototypes=(exponent.shown_by.example, word.example),
            details={"likely": round(votes[form] / sum(votes.values()), 3)},
        )
        return _example(lemma, exponent.word.tags, form).with_provenance(provenance)
