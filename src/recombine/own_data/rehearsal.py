"""Rehearsal: what is frequent is made rare, so that training examples alone tell how many samples will be right.

A token that is used like a rare one, but often, is taken out of all examples but a few. An augmenter that is fitted to
what is left makes samples with this token, as it will for what is truly rare, and the examples that were taken out
judge them: two or three neighboring tokens that are new to the augmenter, but stand in one of these, speak for a
sample, and an input that is among them has a known output.

Samples with neighbors that one would have seen, if anything went with anything, are judged by themselves: that "the"
and "two" are often seen, but never "the two", may be because it is wrong.

Where no token is rare, and for samples with nothing rare in them, examples are taken out at random. Of word forms,
tags are made rare, and the forms that were taken out judge those that are made.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from time import process_time
from typing import NamedTuple

import numpy as np

from recombine.augmentation.paradigms import Paradigms
from recombine.augmentation.protocol import Augmenter, Validator
from recombine.augmentation.resample import PAIRS, Rare
from recombine.example import Example, Tokens
from recombine.execution.progress import Report
from recombine.inflection import is_tag, split_analysis

ITEMS, SAMPLES = 10, 40
"""How many tokens are made rare, one after the other, and how many samples an augmenter makes with each."""

PARTS, OF_A_PART = 4, 100
"""At random, one of so many parts of the examples is taken out after the other; an augmenter makes so many samples."""

OFTEN, EXCEPTION = 8, 0.5
"""What is made rare is in at least OFTEN examples, and in at most a share EXCEPTION of them."""

MANY = 2000
"""Of more examples than this, as many are drawn for rehearsal, with all that have something rare."""

DRAWS, INTERVAL = 4000, (2.5, 97.5)
"""How often the shares that are not known are drawn to see what they can be, and the percentiles that are told."""

FAMILIAR = (100, 1)
"""The share of right samples among those without anything new, as a beta distribution."""

DOUBTED = 1.5
"""What is expected of samples in which something is missing counts as much as so many samples."""

LIKELY = 0.5
"""A sample that is right with a smaller probability is not worth having."""

LIKE_EXAMPLES, LUCKY = 6, (1, 3)
"""Right samples are confirmed as often as examples, as if at most so many were seen, since samples are not quite like
them; wrong ones this many times as often as right ones, as a beta distribution."""

RARER = 0.6
"""Where examples are taken out at random, right samples are confirmed this many times as often as examples."""

TOGETHER = 0.15
"""Samples with one item are right or wrong together to this degree (the correlation within an item)."""

BASE = 10
"""The estimate for samples like one item counts its own samples, and this many of all items."""

LENGTHS = (2, 3)
"""How many neighboring tokens are looked at: pairs or, in samples without a new pair, triples."""

MISSED = (0.3, 1.5)
"""A new pair, or triple, was to be expected if it would be in the examples so many times by chance."""

MISSING, NEW_OUTPUT, NEW_PAIR, NEW_TRIPLE, NOTHING_NEW = LEVELS = range(5)
"""How new samples are: by a pair or triple that was to be expected; by others of the output, which tells best what does
not go together ("wife . lock"); by other pairs of the input, by other triples of the input, or not at all."""

Piece = tuple[str, ...]
"""Neighboring tokens, after the name of the side that they are on."""

JOINED, APART = "y, joined", frozenset(",;)]}")
"""The name of the side for words of outputs across marks that join them, and the marks that do not."""

BOUNDS = (0.5, 0.8, 0.95)
"""Forms count as alike if what speaks for them (`likely`) is between the same two of these bounds."""

ALIKE_FORMS = 10
"""The estimate for forms that are alike counts these, and so many of all."""


class Neighbors:
    """How often tokens stand side by side in examples.

    Args:
        examples: The examples.
        times: How many times as many examples there are, if these are a part of them. So much more is to be expected.
    """

    def __init__(self, examples: Iterable[Example], times: float = 1.0) -> None:
        self._counts = Counter(
            piece for each in examples for length in range(max(LENGTHS) + 1) for piece in _pieces(each, length)
        )
        self._times = times

    def __contains__(self, piece: Piece) -> bool:
        return piece in self._counts

    def new(self, example: Example) -> tuple[int, list[Piece]]:
        """Returns how new an example is (a place among `LEVELS`), and its new pairs or, if it has none, triples."""
        found = [[piece for piece in _pieces(example, length) if piece not in self._counts] for length in LENGTHS]
        for new, missed in zip(found, MISSED, strict=True):
            if any(self._by_chance(piece) >= missed for piece in new):
                return MISSING, new
            if new:
                break
        for new in found:
            if of_output := [piece for piece in new if piece[0] != "x"]:
                return NEW_OUTPUT, of_output
        for level, new in zip((NEW_PAIR, NEW_TRIPLE), found, strict=True):
            if new:
                return level, new
        return NOTHING_NEW, []

    def is_elsewhere(self, piece: Piece, example: Example) -> bool:
        """Tells whether one of these examples has a piece, besides one that is among them."""
        return self._counts[piece] > _pieces(example, len(piece) - 1).count(piece)

    def _by_chance(self, piece: Piece) -> float:
        """Returns how often a piece would be there, if what it begins with were followed by anything alike."""
        side, *tokens = piece
        first, last, shared = ((side, *some) for some in (tokens[:-1], tokens[1:], tokens[1:-1]))
        return self._times * self._counts[first] * self._counts[last] / max(1, self._counts[shared])


@dataclass(frozen=True)
class Item:
    """What is made rare.

    Attributes:
        ngram: A token of inputs, or two that stand side by side; none if examples were taken out at random.
        left: The examples that are left: all without it, and as many with it as a rare one has.
        taken: The examples that were taken out.
    """

    ngram: Tokens
    left: tuple[Example, ...]
    taken: tuple[Example, ...]


@dataclass(frozen=True)
class Count:
    """How the samples with one item were judged.

    Attributes:
        item: What was made rare.
        samples: How many are as new to the augmenter as each of `LEVELS` says.
        confirmed: In how many of them all that is new is in examples that were taken out; nothing new needs that.
        known: Samples that were confirmed and have an input that was taken out.
        right: Those of them that were taken out with their output.
    """

    item: Tokens
    samples: tuple[int, ...]
    confirmed: tuple[int, ...]
    known: int
    right: int


class Expected(NamedTuple):
    """The shares of right samples that are expected of a rule, as beta distributions.

    Of those that are new in inputs only, and of those that are new in outputs.
    """

    inputs: tuple[float, float]
    outputs: tuple[float, float]


@dataclass(frozen=True)
class Rehearsed:
    """What the rehearsal of an augmenter showed.

    What is not known is drawn: the share of right samples, as expected before rehearsal, and how often right and wrong
    ones are confirmed. Draws count the more, the better they agree with the samples that were confirmed.

    Attributes:
        counts: How the samples with each item were judged.
        examples: Of the examples that were taken out, which are right: how many are confirmed, and how many there are,
            for each of `LEVELS`.
        expected: The share of an augmenter's samples that is right before anything is known of the data.
        of_rare: What was shown of samples with something rare, if other samples were judged. It tells whether what is
            missing, or new in outputs, is wrong: examples that were taken out at random confirm next to nothing of it.
    """

    counts: tuple[Count, ...]
    examples: tuple[tuple[float, int], ...]
    expected: Expected
    of_rare: "Rehearsed | None" = None

    @property
    def samples(self) -> int:
        """How many samples were judged, without those that are likelier wrong than right."""
        return int(self._levels.sum())

    @property
    def share(self) -> float:
        """The estimated share of right samples among those that are likelier right than wrong."""
        shares = [self.share_like(None, level) for level in LEVELS]
        return float(self._levels @ shares / max(1, self.samples))

    @property
    def interval(self) -> tuple[float, float]:
        """Where the share of right samples is in 95 of 100 cases."""
        return self.interval_of(self._levels, self.share) if self.samples else (0.0, 1.0)

    def interval_of(self, levels: np.ndarray, mean: float) -> tuple[float, float]:
        """Returns where the share of right samples is in 95 of 100 cases.

        Args:
            levels: How many samples are as new as each of `LEVELS` says.
            mean: The estimated share.
        """
        rng = np.random.default_rng(0)
        each = (rng.choice(right, DRAWS, p=weights) for right, weights in map(self._drawn, LEVELS))
        shares = sum(part * share for part, share in zip(levels / levels.sum(), each, strict=True)) * self._outputs
        found = rng.binomial(levels.sum(), np.clip(shares - np.mean(shares) + mean, 0, 1)) / levels.sum()
        low, high = np.percentile(found, INTERVAL)
        return float(low), float(high)

    def share_like(self, item: Tokens | None, level: int) -> float:
        """Returns the estimated probability that a sample with something like an item, and as new, is right."""
        item = item if any(count.item == item for count in self.counts) else None
        if (item, level) not in self._found:
            right, weights = self._drawn(level, item)
            self._found[item, level] = float(right @ weights * self._outputs)
        return self._found[item, level]

    @cached_property
    def _found(self) -> dict[tuple[Tokens | None, int], float]:
        return {}

    @cached_property
    def _levels(self) -> np.ndarray:
        made = [sum(count.samples[level] for count in self.counts) for level in LEVELS]
        return np.array([some * (self.share_like(None, level) >= LIKELY) for level, some in enumerate(made)])

    @cached_property
    def _outputs(self) -> float:
        """The share of the known inputs that had the right output."""
        known, right = (sum(getattr(count, of) for count in self.counts) for of in ("known", "right"))
        return float((right + 1) / (known + 1))

    def _drawn(self, level: int, item: Tokens | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Returns shares of right samples, and how probable each is, by all items or for what is like one of them.

        A sample is confirmed with the chance `right * if_right + (1 - right) * if_wrong`, so the number of confirmed
        ones has a binomial likelihood; each draw from what is expected has that as its weight.
        """
        if level in (MISSING, NEW_OUTPUT) and self.of_rare is not None:
            return self.of_rare._drawn(level)
        rng = np.random.default_rng(level)
        right = rng.beta(*self._expected(level), DRAWS)
        if level == NOTHING_NEW:
            return right, np.full(DRAWS, 1 / DRAWS)
        often, of = self.examples[level]
        scale = min(1, LIKE_EXAMPLES / max(1, of))
        if_right = rng.beta(0.5 + scale * often, 0.5 + scale * (of - often), DRAWS).clip(0.001, 0.999)
        if_wrong = if_right * rng.beta(*LUCKY, DRAWS)
        chance = right * if_right + (1 - right) * if_wrong
        made, confirmed = self._independent(level, self.counts)
        if item is not None:
            base = min(1, BASE / made) if made else 1
            own = self._independent(level, [count for count in self.counts if count.item == item])
            made, confirmed = (some + base * every for some, every in zip(own, (made, confirmed), strict=True))
        likely = confirmed * np.log(chance) + (made - confirmed) * np.log1p(-chance)
        weights = np.exp(likely - likely.max())
        return right, weights / weights.sum()

    def _expected(self, level: int) -> tuple[float, float]:
        """Returns the share of right samples that is expected, as a beta distribution.

        Right samples have something missing as often as examples, wrong ones always.
        """
        if level == NOTHING_NEW:
            return FAMILIAR
        if level in (NEW_PAIR, NEW_TRIPLE):
            return self.expected.inputs
        right, wrong = self.expected.outputs
        if level == NEW_OUTPUT:
            return right, wrong
        counts = [of for _, of in self.examples]
        odds = right / wrong * (counts[MISSING] + 0.5) / (sum(counts) + 1)
        return DOUBTED * odds / (1 + odds), DOUBTED / (1 + odds)

    def _independent(self, level: int, counts: Iterable[Count]) -> tuple[float, float]:
        """Returns to how many independent samples those of some items amount, and to how many confirmed ones."""
        found = [(1 + (count.samples[level] - 1) * TOGETHER, count) for count in counts if count.samples[level]]
        made = sum(count.samples[level] / alike for alike, count in found)
        return made, sum(count.confirmed[level] / alike for alike, count in found)

    def __str__(self) -> str:
        low, high = self.interval
        if not self.samples:
            return f"no samples{' that are likelier right than wrong' * any(any(each.samples) for each in self.counts)}"
        return f"about {self.share:.0%} right ({low:.0%} to {high:.0%})"


class Rehearsal:
    """Makes something rare, again and again, and judges augmenters by it.

    Args:
        examples: The training examples, all different.
        rare: What is rare among them; None: examples are taken out at random, and nothing is made rare.
        seed: For what is made rare, or taken out.

    Attributes:
        items: What is made rare, one after the other; empty if nothing is frequent and used like what is rare.
    """

    def __init__(self, examples: Sequence[Example], rare: Rare | None, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self._seen = Neighbors(examples)
        self._times = len(examples) / min(len(examples), MANY)
        if len(examples) > MANY:
            order = rng.permutation(len(examples))
            rarest_first = sorted(order, key=lambda place: rare is not None and not rare(examples[place]))
            examples = [examples[place] for place in sorted(rarest_first[:MANY])]
        self._rare = rare
        self._around: dict[Tokens, set[tuple[str, str]]] = defaultdict(set)
        self._alike: dict[Tokens, Tokens | None] = {}
        self.items = _parts(examples, rng) if rare is None else self._made_rare(examples, rare, rng)

    @property
    def what(self) -> str:
        """What was done, in words."""
        if self._rare is None:
            return f"on {len(self.items)} parts of the examples, left out"
        words = [" ".join(item.ngram) for item in self.items]
        if not words:
            return "on nothing, since nothing is frequent and used like what is rare"
        named = f"{', '.join(words[:3])}{', …' if len(words) > 3 else ''}"
        kind = "pair" if self._rare.kind == PAIRS else "tag" if all(map(is_tag, words)) else "token"
        noun = f"{kind}{'' if len(words) == 1 else 's'}"
        return f"on {len(words)} frequent {noun} made rare ({named})"

    def _made_rare(self, examples: Sequence[Example], rare: Rare, rng: np.random.Generator) -> list[Item]:
        length = 2 if rare.kind == PAIRS else 1
        relevant = (rare.resampler and rare.resampler.relevant) or bool  # of word forms, only tags count
        holders: dict[Tokens, list[Example]] = defaultdict(list)
        for example in examples:
            for ngram, context in _in_context(example, length):
                if not all(map(relevant, ngram)):
                    continue
                self._around[ngram].add(context)
                if not holders[ngram] or holders[ngram][-1] is not example:
                    holders[ngram].append(example)
        items = []
        counts = {ngram: len(having) for ngram, having in holders.items()}
        for ngram, count in self._frequent(counts, rare, len(examples), rng):
            kept = rng.choice(len(holders[ngram]), count, replace=False)
            taken = tuple(example for place, example in enumerate(holders[ngram]) if place not in kept)
            out = {*taken}
            items.append(Item(ngram, tuple(example for example in examples if example not in out), taken))
        return items

    def rehearse(
        self,
        fit: Callable[[Sequence[Example]], Augmenter],
        keep: Callable[[Sequence[Example]], Validator | None],
        *,
        expected: Expected,
        seconds: float,
        report: Report | None = None,
    ) -> Rehearsed:
        """Judges an augmenter.

        Args:
            fit: Fits it to examples.
            keep: Returns which samples would be kept of those that examples give.
            expected: See `Rehearsed`.
            seconds: No further item is taken after this time of computing, so that a busy machine changes nothing.
            report: Is told, after every item, how many were made rare, of how many.
        """
        began, counts, examples = process_time(), list[Count](), np.zeros((len(LEVELS), 2))  # confirmed, and all
        for item in self.items:
            known = Neighbors(item.left, self._times)
            for example in item.taken:
                level, new = known.new(example)
                examples[level] += all(self._seen.is_elsewhere(piece, example) for piece in new), 1
            wanted = SAMPLES if item.ngram else OF_A_PART
            samples = fit(item.left).sample(wanted, 0, _with(item.ngram, keep(item.left)))
            counts.append(self._count(item, known, samples))
            _tell(report, len(counts), len(self.items))
            if process_time() - began > seconds:
                break
        rarer = RARER if self._rare is None else 1.0
        return Rehearsed(tuple(counts), tuple((rarer * often, int(of)) for often, of in examples), expected)

    def level(self, sample: Example) -> int:
        """Returns how new a sample is to all examples, as a place among `LEVELS`."""
        return self._seen.new(sample)[0]

    def like(self, sample: Example) -> Tokens | None:
        """Returns the item that is used most like what is rare in a sample; None: none is, or nothing was made rare."""
        resampler = None if self._rare is None else self._rare.resampler
        rarest = None if resampler is None else resampler.rarest(Example(sample.x, ()))
        if rarest is None:
            return None
        if rarest.ngram not in self._alike:
            self._alike[rarest.ngram] = self._most_alike(rarest.ngram, [item.ngram for item in self.items])
        return self._alike[rarest.ngram]

    def _frequent(
        self, counts: dict[Tokens, int], rare: Rare, examples: int, rng: np.random.Generator
    ) -> list[tuple[Tokens, int]]:
        """Returns what to make rare, and in how many examples to leave it: what is used most like each rare thing."""
        seen = [rarity for rarity in rare.seen if rarity.ngram in counts]
        least = max([OFTEN, *(2 * counts[rarity.ngram] for rarity in seen)])
        often = [ngram for ngram, count in counts.items() if least <= count <= EXCEPTION * examples]
        chosen: dict[Tokens, int] = {}
        wanted = [seen[place] for place in rng.permutation(len(seen))]
        while wanted and len(chosen) < ITEMS:
            rarity = wanted.pop(0)
            alike = self._most_alike(rarity.ngram, [ngram for ngram in often if ngram not in chosen])
            if alike is not None:
                chosen[alike] = counts[rarity.ngram]
                wanted.append(rarity)  # has its turn again, after the others
        if not seen:  # pairs that were never seen are rare, or nothing is
            few = 0 if rare.kind == PAIRS else 1
            chosen = {often[place]: few for place in rng.permutation(len(often))[:ITEMS]}
        return list(chosen.items())

    def _most_alike(self, ngram: Tokens, others: Sequence[Tokens]) -> Tokens | None:
        """Returns which of others is used most like an n-gram: between the same tokens, or at least beside one."""
        one = self._around.get(ngram, set())

        def likeness(other: Tokens) -> float:
            its = self._around[other]
            before, after = ({context[side] for context in one} & {context[side] for context in its} for side in (0, 1))
            return len(one & its) + 0.3 * (len(before) + len(after))

        best = max(others, key=likeness, default=None)
        return best if best is not None and likeness(best) else None

    def _count(self, item: Item, known: Neighbors, samples: Iterable[Example]) -> Count:
        taken, inputs = {*item.taken}, {example.x for example in item.taken}
        made, confirmed, of_known, right = [0 for _ in LEVELS], [0 for _ in LEVELS], 0, 0
        for sample in samples:
            level, new = known.new(sample)
            made[level] += 1
            if all(piece in self._seen for piece in new):
                confirmed[level] += 1
                of_known += sample.x in inputs
                right += sample in taken
        return Count(item.ngram, tuple(made), tuple(confirmed), of_known, right)


def _parts(examples: Sequence[Example], rng: np.random.Generator) -> list[Item]:
    part = rng.permutation(len(examples)) % PARTS
    return [
        Item(
            (),
            tuple(example for example, its in zip(examples, part, strict=True) if its != out),
            tuple(example for example, its in zip(examples, part, strict=True) if its == out),
        )
        for out in range(PARTS)
    ]


def _in_context(example: Example, length: int) -> Iterable[tuple[Tokens, tuple[str, str]]]:
    padded = ("", *example.x, "")
    for start in range(1, len(padded) - length):
        yield padded[start : start + length], (padded[start - 1], padded[start + length])


def _with(ngram: Tokens, keep: Validator | None) -> Validator | None:
    """Returns what keeps only samples that have an n-gram in their input, of those that are kept otherwise."""
    if not ngram:
        return keep

    def accept(sample: Example) -> str | None:
        if ngram not in zip(*(sample.x[start:] for start in range(len(ngram))), strict=False):
            return "without what was made rare"
        return None if keep is None else keep(sample)

    return accept


def _pieces(example: Example, length: int) -> list[Piece]:
    """Returns what stands side by side on either side of an example, beginnings and ends included.

    In outputs, words are also side by side across marks that join them: `city = ' Oslo '` has city beside Oslo.
    """
    padded = (("x", ("", *example.x, "")), ("y", ("", *example.y, "")))
    pieces: list[Piece] = [
        (side, *tokens[start : start + length]) for side, tokens in padded for start in range(len(tokens) - length + 1)
    ]
    return pieces + [(JOINED, *tokens) for pair in _joined(example.y) for tokens in combinations(pair, length)]


def _joined(y: Tokens) -> list[tuple[str, str]]:
    """Returns pairs of words with two marks or more between them, none of which ends or separates anything."""
    words = [place for place, token in enumerate(y) if any(map(str.isalnum, token))]
    return [(y[one], y[other]) for one, other in pairwise(words) if other - one > 2 and APART.isdisjoint(y[one:other])]


@dataclass(frozen=True)
class RehearsedForms:
    """What the rehearsal of `Paradigms` showed.

    Attributes:
        what: What was made rare, in words.
        judged: Of each form that was made of an input that was taken out: the place of what was made rare, what speaks
            for the form, and whether it is right.
        sets: Forms were made of so many sets of tags that were left; of so many others; and of so many of these there
            were forms that were taken out.
        known: The sets of tags of the examples.
    """

    what: str
    judged: tuple[tuple[int, float, bool], ...]
    sets: tuple[int, int, int]
    known: frozenset[frozenset[str]]

    @property
    def samples(self) -> int:
        """How many forms were judged."""
        return len(self.judged)

    @property
    def share(self) -> float:
        """The estimated share of forms that are right."""
        left, others, taken = self.sets
        valid = (left + taken + 1) / (left + others + 1)
        return valid * self._right if self.judged else 0.0

    @property
    def _right(self) -> float:
        return float(np.mean([right for *_, right in self.judged]))

    def probability(self, sample: Example) -> float:
        """Returns the estimated probability that a sample is right."""
        assert sample.provenance is not None
        level = np.searchsorted(BOUNDS, sample.provenance.details["likely"])
        alike = [right for _, likely, right in self.judged if np.searchsorted(BOUNDS, likely) == level]
        _, others, taken = self.sets
        valid = 1.0 if _set_of(sample) in self.known else (taken + 1) / (others + 2)
        return valid * (sum(alike) + ALIKE_FORMS * self._right) / (len(alike) + ALIKE_FORMS)

    def limits(self, mean: float, samples: int) -> tuple[float, float]:
        """Returns between which shares of so many samples are right, of whom a share `mean` is expected to be."""
        rng = np.random.default_rng(0)
        counts = np.bincount([item for item, *_ in self.judged])
        known = float(sum(count / (1 + (count - 1) * TOGETHER) for count in counts if count))
        shares = rng.beta(0.5 + mean * known, 0.5 + (1 - mean) * known, DRAWS)
        low, high = np.percentile(rng.binomial(samples, shares) / samples, INTERVAL)
        return float(low), float(high)

    def __str__(self) -> str:
        if not self.judged:
            return f"rehearsed {self.what}: no form could be judged"
        low, high = self.limits(self.share, self.samples)
        return f"rehearsed {self.what}: about {self.share:.0%} right ({low:.0%} to {high:.0%})"


def rehearse_forms(
    examples: Sequence[Example],
    rehearsal: Rehearsal,
    keep: Callable[[Sequence[Example], Tokens], Validator | None],
    *,
    seconds: float,
    report: Report | None = None,
) -> RehearsedForms:
    """Judges `Paradigms`.

    Args:
        examples: The training examples, all different.
        rehearsal: Has what is made rare in them.
        keep: Returns which samples with a tag would be kept if it were rare in examples.
        seconds: Nothing further is made rare after this time of computing.
        report: Is told, after every item, how many were made rare, of how many.
    """
    began, judged, sets = process_time(), list[tuple[int, float, bool]](), np.zeros(3, dtype=int)
    for place, item in enumerate(rehearsal.items):
        outputs: dict[Tokens, set[Tokens]] = {}
        for example in item.taken:
            outputs.setdefault(example.x, set()).add(example.y)
        shows = _with(item.ngram, keep(item.left, item.ngram))
        answers, made = Paradigms(shows).fit(item.left).answers(outputs)
        for answer in answers:
            if answer.provenance is not None and (shows is None or shows(answer) is None):
                judged.append(
                    (place, float(answer.provenance.details["likely"]), answer.y in outputs.get(answer.x, ()))
                )
        of_left, of_taken = ({*map(_set_of, part)} for part in (item.left, item.taken))
        others = {*made} - of_left
        sets += len(made) - len(others), len(others), len(others & of_taken)
        _tell(report, place + 1, len(rehearsal.items))
        if process_time() - began > seconds:
            break
    left, others, taken = sets.tolist()
    return RehearsedForms(rehearsal.what, tuple(judged), (left, others, taken), frozenset(map(_set_of, examples)))


def _tell(report: Report | None, done: int, total: int) -> None:
    if report is not None:
        report(done, total, f"{done} of {total}")


def _set_of(example: Example) -> frozenset[str]:
    return frozenset(split_analysis(example.x)[1])
