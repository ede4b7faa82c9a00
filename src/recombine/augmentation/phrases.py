"""Phrases: parts of inputs, with their parts of outputs, that take each other's place where the data show it.

A *cut* takes a phrase out of an example: what is left of the input and of the output is its *frame*. Two phrases that
were cut out of equal frames may be exchanged, and two whose frames have equal inputs and different outputs may not. So
pairs of training examples tell for every two kinds of phrases how often an exchange would be right.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple, Protocol

import numpy as np

from recombine.augmentation.alignment import Alignment
from recombine.augmentation.logical import Parts, pointers
from recombine.augmentation.nested import Text
from recombine.augmentation.protocol import Novelty
from recombine.augmentation.sentences import Cut, Key, Sentence
from recombine.example import Example, Provenance, Tokens
from recombine.neighborhoods import HOLE

LONGEST_INPUT, LONGEST_OUTPUT, LONGEST_PHRASE = 60, 300, 24
"""Longer sequences are not cut, and no longer phrases are cut out of them, in tokens."""

VOCABULARY = 5000
"""If inputs have more different words than this, nothing is cut: few words are seen often enough to be compared."""

WORK = 30_000_000
"""How much is cut at the most: phrases, each as much work as its example is long."""

CROWD = 100
"""Of the kinds of phrases that were cut out of one frame, so many, the most frequent, are compared with all others."""

MANY, ALIKE = 2000, 3
"""How many training examples are cut at the most; how many that differ only in words of one class, unless a word is in
fewer of them. Those with rare words come first."""

EXCEPTIONS = 0.1
"""An exchange that would be wrong in more than this share of the frames that show it is no rule."""

SHARE = 0.1
"""Phrases of two kinds may be exchanged if they share so many frames, as a share of those that either shares with the
kind that it shares most with. So more is asked for where data are dense: there, what can be exchanged is seen in many
frames."""

TWICE = 2
"""How many frames they share is enough for words of two classes, each with what stands around it in outputs."""

DENSE = 5
"""Where so many words may take a word's place by the frames that they share, others may not."""

GENERATIONS, PER_GENERATION, CUT_ANEW = 8, 1500, 800
"""How often samples become material for further ones, after how many, and how many of them."""

STALE = 1000
"""So many draws in a row that make nothing new end the search."""

CAPITAL = 0.9
"""First words are written small inside of sentences if more than this share of the inputs begins with a capital."""

LONGER = 3
"""Samples are at most so many times as long as the longest training input and output."""


class View(Protocol):
    """How outputs fall apart: as text, perhaps with brackets, or as a list of statements about words."""

    def sentence(self, x: Tokens, y: Tokens) -> Sentence | None:
        """Returns a pair made ready for cutting, or None if its output does not fall apart like that."""

    def learn(self, sentences: Sequence[Sentence]) -> None:
        """Learns what cutting needs to know of all examples."""

    def cuts(self, sentence: Sentence, start: int, stop: int) -> Iterator[Cut]:
        """Yields the ways to take words start to stop - 1 out of an input, with their part of the output."""

    def exchange(self, one: Sentence, cut: Cut, other: Sentence, coming: Cut) -> tuple[Tokens, list[tuple[int, int]]]:
        """Returns the output of one example with another's phrase in the place of its own, and its tokens' sources."""

    def apart(self, sentence: Sentence, cut: Cut) -> tuple[Tokens, Tokens] | None:
        """Returns what is left of an output, and a phrase's part, with holes; None if parts change when they move."""


class Site(NamedTuple):
    """A phrase in its example."""

    sentence: Sentence
    cut: Cut

    def kept(self) -> "Site":
        """Returns it without its frame, which is only looked at once."""
        return Site(self.sentence, self.cut._replace(frame_x=((), ()), frame_y=None))

    @property
    def words(self) -> Tokens:
        """The phrase itself."""
        return self.sentence.x[self.cut.start : self.cut.stop]

    @property
    def place(self) -> tuple[str, str]:
        """What stands before and after it."""
        return self.sentence.neighbors(self.cut.start, self.cut.stop)


class Part(NamedTuple):
    """A part of an example, with holes where others were, and the number of the example."""

    pair: Example
    number: int


@dataclass
class _Evidence:
    """What pairs of frames say about exchanges of one kind of phrase for another."""

    right: Counter[tuple[Key, Key]] = field(default_factory=Counter)
    wrong: Counter[tuple[Key, Key]] = field(default_factory=Counter)
    places: dict[tuple[Key, Key], set[Hashable]] = field(default_factory=lambda: defaultdict(set))  # and roles

    def shows(self, leaving: Site, coming: Site) -> bool:
        """Whether such phrases were exchanged between such neighbors, or where the output says the same of them."""
        places = self.places[leaving.cut.key, coming.cut.key]
        return leaving.place in places or (leaving.cut.role is not None and leaving.cut.role in places)

    def refuted(self) -> set[tuple[str, str]]:
        """Returns words that cannot take another's place: (leaving, coming)."""
        right, wrong = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for counts, pairs in ((self.right, right), (self.wrong, wrong)):
            for (leaving, coming), count in counts.items():
                if leaving.is_word and coming.is_word:
                    pairs[leaving.x[0], coming.x[0]] += count
        return {pair for pair, count in wrong.items() if count > EXCEPTIONS * right[pair]}

    def rules(self, often: Mapping[Key, int]) -> list[tuple[Key, Key]]:
        """Returns which kinds of phrases may take the place of which, given how often each was cut out."""
        most: Counter[Key] = Counter()
        for (leaving, _), right in self.right.items():
            most[leaving] = max(most[leaving], right)
        counts = [count for key, count in most.items() if not key.is_word for _ in range(often.get(key, 0))]
        usual = SHARE * float(np.median(counts)) if counts else 0.0
        found = []
        for (leaving, coming), right in self.right.items():
            words = leaving.is_word and coming.is_word
            singles = leaving.is_single and coming.is_single
            enough = right >= (TWICE if singles else max(SHARE * most[leaving], SHARE * most[coming], usual))
            cut_out = often.get(leaving) and often.get(coming)
            if cut_out and self.wrong[leaving, coming] <= EXCEPTIONS * right and (words or enough):
                found.append((leaving, coming))
        return found


class _Frames:
    """Which kinds of phrases were cut out of which frames."""

    def __init__(self) -> None:
        self._kinds: dict[Hashable, dict[Key, set[Hashable]]] = defaultdict(lambda: defaultdict(set))
        self._places: dict[Hashable, set[Hashable]] = defaultdict(set)
        self._often: Counter[Key] = Counter()

    def add(self, site: Site) -> None:
        """Remembers the frame that a phrase was cut out of."""
        self._kinds[site.cut.frame_x][site.cut.key].add(site.cut.frame_y)
        self._often[site.cut.key] += 1
        self._places[site.cut.frame_x] |= {site.place, site.cut.role}

    def compared(self) -> _Evidence:
        """Compares all phrases that were cut out of frames with the same input."""
        evidence = _Evidence()
        for frame, kinds in self._kinds.items():
            readings: dict[Tokens, list[set[Hashable]]] = defaultdict(list)
            for key, outputs in kinds.items():
                readings[key.x].append(outputs)
            crowd = sorted(kinds, key=lambda key: -self._often[key])[:CROWD]
            for leaving in crowd:
                outputs = kinds[leaving]
                for coming, others in kinds.items():
                    if leaving == coming or (leaving.x == coming.x and not leaving.is_class):
                        continue
                    if not outputs.isdisjoint(others):
                        evidence.right[leaving, coming] += 1
                        evidence.places[leaving, coming] |= self._places[frame]
                    elif all(outputs.isdisjoint(reading) for reading in readings[coming.x]):
                        evidence.wrong[leaving, coming] += 1
        return evidence


class Phrases:
    """Finds phrases in examples, and which of them may take whose place.

    Args:
        examples: The training examples, all different.

    Attributes:
        rules: Which kinds of phrases may take the place of which.
        refuted: Words that cannot take another's place, although their neighbors are alike: (leaving, coming).
    """

    def __init__(self, examples: Sequence[Example]) -> None:
        self._examples = examples
        fitting = [
            number
            for number, example in enumerate(examples)
            if len(example.x) <= LONGEST_INPUT and len(example.y) <= LONGEST_OUTPUT
        ]
        if len({word for number in fitting for word in examples[number].x}) > VOCABULARY:
            fitting = []
        self._initial = _sentence_case([examples[number].x for number in fitting])
        self._raised = {lower: upper for upper, lower in self._initial.items()}
        known = [Example(self._lower(examples[number].x), examples[number].y) for number in fitting]
        numbers = pointers(known)
        self._alignment = Alignment(known, frozenset() if numbers is None else numbers.digits)
        self._view: View = Text(self._alignment, known) if numbers is None else Parts(self._alignment, numbers, known)
        self._templates: set[tuple[Tokens, Tokens]] = set()
        frames = _Frames()
        self._known = {(self._lower(example.x), example.y) for example in examples}
        sentences = self._sentences(fitting, known, frames)
        self._view.learn(sentences)
        self._sites: dict[Key, list[Site]] = defaultdict(list)
        for sentence in sentences:
            for site in self._cut(sentence):
                frames.add(site)
                self._sites[site.cut.key].append(site.kept())
        self._known_places = {key: {site.place for site in sites} for key, sites in self._sites.items()}
        self._evidence = frames.compared()
        self.refuted = self._evidence.refuted()
        self.rules = self._evidence.rules({key: len(sites) for key, sites in self._sites.items()})
        self._words_for: dict[str, set[str]] = defaultdict(set)
        for one, other in self.rules:
            if one.is_word and other.is_word:
                self._words_for[one.x[0]].add(other.x[0])
        self._longest = [
            LONGER * max((len(side) for side in sides), default=0)
            for sides in ([example.x for example in known], [example.y for example in known])
        ]

    def _lower(self, x: Tokens) -> Tokens:
        return (self._initial.get(x[0], x[0]), *x[1:])

    def _as_written(self, x: Tokens) -> Tokens:
        return (self._raised.get(x[0], x[0]), *x[1:])

    def _sentences(self, numbers: Sequence[int], known: Sequence[Example], frames: "_Frames") -> list[Sentence]:
        """Returns examples ready for cutting: of those that differ in words of a class, a few, in random order.

        Frames of single words are taken from all.
        """
        found: list[Sentence] = []
        work = 0
        alike, shown = Counter[tuple[Tokens, Tokens]](), Counter[str]()
        often = self._often = Counter(word for example in known for word in {*example.x})
        order = np.random.default_rng(0).permutation(len(known))
        # Rare words first.
        for place in sorted(order, key=lambda place: min(often[word] for word in known[place].x) > ALIKE):
            sentence = self._view.sentence(known[place].x, known[place].y)
            if sentence is None:
                continue
            template = sentence.template
            self._templates.add(template)
            for start in range(len(sentence.x)):
                for cut in self._view.cuts(sentence, start, start + 1):
                    frames.add(Site(sentence, cut))
            alike[template] += 1
            rare = any(shown[word] < ALIKE for word in sentence.called)
            if (rare or alike[template] <= ALIKE) and len(found) < MANY and work < WORK:
                length = len(sentence.x)
                work += length * min(length, LONGEST_PHRASE) * (length + len(sentence.y))
                shown.update(sentence.called)
                sentence.origins = tuple(
                    (numbers[place], offset) for offset in range(len(sentence.x) + len(sentence.y))
                )
                found.append(sentence)
        return found

    def _cut(self, sentence: Sentence) -> Iterator[Site]:
        length = len(sentence.x)
        for start in range(length):
            for stop in range(start + 1, min(length, start + LONGEST_PHRASE) + 1):
                for cut in self._view.cuts(sentence, start, stop):
                    if stop - start < length or cut.key.is_word:
                        yield Site(sentence, cut)

    def _draw(
        self, rule: tuple[Key, Key], sites: Mapping[Key, Sequence[Site]], rng: np.random.Generator
    ) -> tuple[Tokens, Site, Site] | None:
        """Draws an exchange by a rule: the new input, and both phrases; None if what came does not suit its place."""
        one, other = rule
        site, coming = (sites[key][int(rng.integers(len(sites[key])))] for key in rule)
        is_known = one.is_class and other.is_class and site.place in self._known_places[other]
        if not (is_known or self._evidence.shows(site, coming) or _begin_and_end_alike(one, other, site, coming)):
            return None
        x = (*site.sentence.x[: site.cut.start], *coming.words, *site.sentence.x[site.cut.stop :])
        return x, site, coming

    def suits(self, leaving: str, coming: str) -> bool:
        """Whether a word may take another's place as far as frames tell: if many may, it has to be one of them."""
        known = self._words_for.get(leaving, set())
        return (leaving, coming) not in self.refuted and (len(known) < DENSE or coming in known)

    def cuts(self) -> Iterator[tuple[Part, Part]]:
        """Yields frames and phrases of the training examples."""
        for sites in self._sites.values():
            for site in sites:
                if site.cut.stop - site.cut.start < len(site.sentence.x) and (parts := self._apart(site)):
                    yield parts

    def offers(self, n: int, rng: np.random.Generator) -> Iterator[tuple[Part, Part]]:
        """Yields the frames and phrases of training examples that make up to n new inputs."""
        for _, site, coming in islice(self._exchanges("input", rng), n):
            if all(len({number for number, _ in each.sentence.origins}) == 1 for each in (site, coming)):
                frame, phrase = self._apart(site), self._apart(coming)
                if frame and phrase:
                    x = self._as_written(coming.words) if site.cut.start == 0 else coming.words
                    span = replace(phrase[1].pair, x=x)
                    yield frame[0], phrase[1]._replace(pair=span)

    def _apart(self, site: Site) -> tuple[Part, Part] | None:
        sentence, cut = site
        number = sentence.origins[0][0]
        outputs = self._view.apart(sentence, cut)
        if outputs is None:
            return None
        x = self._as_written(sentence.x)
        frame = Example((*x[: cut.start], HOLE, *x[cut.stop :]), outputs[0])
        return Part(frame, number), Part(Example(x[cut.start : cut.stop], outputs[1]), number)

    def novel_pairs(self, novel: Novelty, rng: np.random.Generator) -> Iterator[Example]:
        """Yields new pairs, each input once and only what is novel."""
        return (self._example(*exchange) for exchange in self._exchanges(novel, rng))

    def _exchanges(self, novel: Novelty, rng: np.random.Generator) -> Iterator[tuple[Sentence, Site, Site]]:
        """Yields new pairs, each input once and only what is novel: with the phrase that left and the one that came.

        If there are so many, a third of them has a word in the place of another, a third a phrase in a place where such
        phrases were seen, a third one in a place where none was; and the latter two have a new arrangement of words.
        """
        words = [rule for rule in self.rules if rule[0].is_single and rule[1].is_single]
        phrases = [rule for rule in self.rules if not (rule[0].is_single and rule[1].is_single)]
        kinds = [(rules, place) for rules, place in ((words, None), (phrases, True), (phrases, False)) if rules]
        ends = [np.cumsum(self._weights(rules)).tolist() for rules, _ in kinds]
        known_places = self._known_places
        sites = {key: [*found] for key, found in self._sites.items()}  # sampling leaves no trace
        inputs, outputs = {x for x, _ in self._known}, {y for _, y in self._known}
        made, seen, fresh, generation = set[Tokens](), set(self._templates), list[Sentence](), 0
        new, stale = [0] * len(kinds), [0] * len(kinds)
        while True:
            going_on = [number for number in range(len(kinds)) if stale[number] < STALE]
            if len(fresh) >= PER_GENERATION or not going_on:
                if not fresh or generation == GENERATIONS:
                    return
                for place in rng.permutation(len(fresh))[:CUT_ANEW]:
                    for site in self._cut(fresh[place]):
                        if site.cut.key in sites:
                            sites[site.cut.key].append(site.kept())
                generation, fresh, stale = generation + 1, [], [0] * len(kinds)
                continue
            which = min(going_on, key=lambda number: new[number])
            stale[which] += 1
            rules, known_place = kinds[which]
            rule = rules[bisect_right(ends[which], rng.random() * ends[which][-1])]
            drawn = self._draw(rule, sites, rng)
            if drawn is None:
                continue
            x, site, coming = drawn
            if known_place not in (None, site.place in known_places[coming.cut.key]):
                continue
            if (x in inputs and novel != "pair") or x in made or len(x) > self._longest[0]:
                continue
            y, sources = self._view.exchange(site.sentence, site.cut, coming.sentence, coming.cut)
            if (x, y) in self._known or (y in outputs and novel == "both"):
                continue
            sentence = self._view.sentence(x, y) if len(y) <= self._longest[1] else None
            if sentence is None or bool(sentence.parsed) != bool(site.sentence.parsed):
                continue
            if known_place is not None and sentence.template in seen:
                continue
            sentence.origins = (
                *site.sentence.origins[: site.cut.start],
                *coming.sentence.origins[coming.cut.start : coming.cut.stop],
                *site.sentence.origins[site.cut.stop : len(site.sentence.x)],
                *((site, coming)[whose].sentence.output_origins[position] for whose, position in sources),
            )
            seen.add(sentence.template)
            made.add(x)
            new[which] += 1
            stale[which] = 0
            if len(x) <= LONGEST_INPUT and len(y) <= LONGEST_OUTPUT:
                fresh.append(sentence)
            yield sentence, site, coming

    def _weights(self, rules: Sequence[tuple[Key, Key]]) -> list[float]:
        """Returns how often to draw by each rule: rare words more often, phrases by what speaks for them."""
        coming = Counter(other for one, other in rules if one.is_single and other.is_single)
        rarity = {
            key: sum(1 / self._often[word] for (word,) in {site.words for site in self._sites[key]}) for key in coming
        }
        return [
            rarity[other] / coming[other]
            if one.is_single and other.is_single
            else self._evidence.right[one, other] ** 0.5
            for one, other in rules
        ]

    def _example(self, sentence: Sentence, site: Site, coming: Site) -> Example:
        numbers = list(dict.fromkeys(number for number, _ in sentence.origins if number >= 0))
        tokens = {number: self._examples[number].x + self._examples[number].y for number in numbers}
        place = {number: rank for rank, number in enumerate(numbers, 1)}
        x = self._as_written(sentence.x)
        provenance = Provenance(
            "spans",
            tuple(self._examples[number] for number in numbers),
            # What was changed on its way, as are numbers that are places, is no copy.
            sources=tuple(
                f"{place[number]}:{offset + 1}" if number >= 0 and tokens[number][offset] == token else "written"
                for token, (number, offset) in zip((*x, *sentence.y), sentence.origins, strict=True)
            ),
            details={
                "replaced": " ".join(site.words),
                "fragments": " ".join(coming.words),
                "support": self._evidence.right[site.cut.key, coming.cut.key],
            },
        )
        return Example(x, sentence.y, provenance)


def _begin_and_end_alike(one: Key, other: Key, site: Site, coming: Site) -> bool:
    """Whether two phrases begin with words of a class and end with words of a class."""
    return all(
        site.sentence.neighbor(site.cut.start if at == 0 else site.cut.stop - 1)
        == coming.sentence.neighbor(coming.cut.start if at == 0 else coming.cut.stop - 1)
        for at in (0, -1)
    )


def _sentence_case(inputs: Sequence[Tokens]) -> dict[str, str]:
    """Returns first words of sentences with what they are elsewhere: "The" is "the"."""
    elsewhere = {word for x in inputs for word in x[1:]}
    first = {x[0] for x in inputs}
    capital = sum(x[0] != x[0].lower() for x in inputs) > CAPITAL * len(inputs)
    words = sorted(first - elsewhere) if capital else []
    return {word: word.lower() for word in words if word != word.lower() and word.lower() in elsewhere - first}
