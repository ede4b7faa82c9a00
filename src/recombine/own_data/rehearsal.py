"""Rehearsal: what is frequent is made rare, so that training examples alone tell how many samples will be right.

A token that is used like a rare one, but often, is taken out of all examples but a few. An augmenter that is fitted to
what is left makes samples with this token, as it will for what is truly rare, and the examples that were taken out
judge them: a pair of neighboring tokens that is new to the augmenter, but stands in one of them, speaks for a sample,
and an input that is among them has a known output.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import monotonic

import numpy as np

from recombine.augmentation.protocol import Augmenter, Validator
from recombine.augmentation.resample import PAIRS, Rare
from recombine.example import Example, Tokens

ITEMS, SAMPLES = 10, 40
"""How many tokens are made rare, one after the other, and how many samples an augmenter makes with each."""

OFTEN, EXCEPTION = 8, 0.5
"""What is made rare is in at least OFTEN examples, and in at most a share EXCEPTION of them."""

MANY = 2000
"""Of more examples than this, as many are drawn for rehearsal, with all that have something rare."""

ANEW, INTERVAL = 1000, (2.5, 97.5)
"""How often the items are drawn anew to see how far the estimate would differ, and the percentiles that are told."""

PRIOR = 10
"""The estimate for samples like one item counts its own samples, and this many of the average over all items."""


@dataclass(frozen=True)
class Item:
    """What is made rare.

    Attributes:
        ngram: A token of inputs, or two that stand side by side.
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
        familiar: Samples without a pair of neighboring tokens that is new to the augmenter.
        confirmed: Samples whose new pairs are all in examples that were taken out.
        doubtful: The others.
        known: Samples whose input was taken out.
        right: Those of them that have its output, too.
    """

    item: Tokens
    familiar: int = 0
    confirmed: int = 0
    doubtful: int = 0
    known: int = 0
    right: int = 0

    @property
    def samples(self) -> int:
        """How many there were."""
        return self.familiar + self.confirmed + self.doubtful

    def of_language(self, sensitivity: float) -> float:
        """Returns how many samples have a right input, if a share `sensitivity` of right ones can be confirmed."""
        return self.familiar + min(self.confirmed / sensitivity, self.confirmed + self.doubtful)


@dataclass(frozen=True)
class Rehearsed:
    """What the rehearsal of an augmenter showed.

    Attributes:
        counts: How the samples with each item were judged.
        taken: How many examples were taken out in all.
        sensitivity: The share of what right examples bring that further examples confirm.
    """

    counts: tuple[Count, ...]
    taken: int
    sensitivity: float

    @property
    def samples(self) -> int:
        """How many samples were judged."""
        return sum(count.samples for count in self.counts)

    @property
    def share(self) -> float:
        """The estimated share of the samples that is right."""
        return self._share(self.counts)

    @property
    def interval(self) -> tuple[float, float]:
        """Where the estimate would be for 95 of 100 other choices of what is made rare."""
        rng = np.random.default_rng(0)
        drawn = rng.integers(0, max(1, len(self.counts)), (ANEW, len(self.counts)))
        low, high = np.percentile([self._share([self.counts[place] for place in places]) for places in drawn], INTERVAL)
        return float(low), float(high)

    @property
    def found(self) -> float:
        """The share of the examples taken out that it made anew."""
        return sum(count.right for count in self.counts) / max(1, self.taken)

    def share_like(self, item: Tokens | None) -> float:
        """Returns the estimated probability that a sample with something like an item is right."""
        alike = [count for count in self.counts if count.item == item]
        samples = sum(count.samples for count in alike)
        return (self._share(alike) * samples + self.share * PRIOR) / (samples + PRIOR)

    def _share(self, counts: Sequence[Count]) -> float:
        samples, known, right = (sum(getattr(count, of) for count in counts) for of in ("samples", "known", "right"))
        of_language = sum(count.of_language(self.sensitivity) for count in counts)
        return of_language / samples * (right + 1) / (known + 1) if samples else 0.0

    def __str__(self) -> str:
        low, high = self.interval
        return f"about {self.share:.0%} right ({low:.0%} to {high:.0%})" if self.samples else "no samples"


class Rehearsal:
    """Makes something rare, again and again, and judges augmenters by it.

    Args:
        examples: The training examples, all different.
        rare: What is rare among them.
        seed: For what is made rare.

    Attributes:
        items: What is made rare, one after the other; empty if nothing is frequent and used like what is rare.
    """

    def __init__(self, examples: Sequence[Example], rare: Rare, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        if len(examples) > MANY:
            order = rng.permutation(len(examples))
            rarest_first = sorted(order, key=lambda place: not rare(examples[place]))
            examples = [examples[place] for place in sorted(rarest_first[:MANY])]
        self._rare = rare
        self._length = 2 if rare.kind == PAIRS else 1
        self._around: dict[Tokens, set[tuple[str, str]]] = defaultdict(set)
        holders: dict[Tokens, list[Example]] = defaultdict(list)
        for example in examples:
            for ngram, context in self._in_context(example):
                self._around[ngram].add(context)
                if not holders[ngram] or holders[ngram][-1] is not example:
                    holders[ngram].append(example)
        self.items = []
        for ngram, count in self._frequent({ngram: len(having) for ngram, having in holders.items()}, examples, rng):
            kept = rng.choice(len(holders[ngram]), count, replace=False)
            taken = tuple(example for place, example in enumerate(holders[ngram]) if place not in kept)
            self.items.append(Item(ngram, tuple(example for example in examples if example not in {*taken}), taken))
        self._seen = Counter(pair for example in examples for pair in _pairs(example))

    def rehearse(
        self,
        fit: Callable[[Sequence[Example]], Augmenter],
        keep: Callable[[Sequence[Example]], Validator | None],
        *,
        seconds: float,
    ) -> Rehearsed:
        """Judges an augmenter.

        Args:
            fit: Fits it to examples.
            keep: Returns which samples would be kept of those that examples give.
            seconds: No further item is taken after this time.
        """
        began, counts, new = monotonic(), list[Count](), Counter[bool]()
        for item in self.items:
            known = {pair for example in item.left for pair in _pairs(example)}
            new.update(self._seen[pair] > 1 for pair in {p for example in item.taken for p in _pairs(example)} - known)
            samples = fit(item.left).sample(SAMPLES, 0, _with(item.ngram, keep(item.left)))
            counts.append(self._count(item, known, samples))
            if monotonic() - began > seconds:
                break
        taken = sum(len(item.taken) for item in self.items[: len(counts)])
        return Rehearsed(tuple(counts), taken, new[True] / new.total() if new[True] else 1.0)

    def like(self, sample: Example) -> Tokens | None:
        """Returns the item that is used most like what is rare in a sample; None: none is."""
        rarest = None if self._rare.resampler is None else self._rare.resampler.rarest(sample)
        return None if rarest is None else self._most_alike(rarest.ngram, [item.ngram for item in self.items])

    def _in_context(self, example: Example) -> Iterable[tuple[Tokens, tuple[str, str]]]:
        padded, length = ("", *example.x, ""), self._length
        for start in range(1, len(padded) - length):
            yield padded[start : start + length], (padded[start - 1], padded[start + length])

    def _frequent(
        self, counts: dict[Tokens, int], examples: Sequence[Example], rng: np.random.Generator
    ) -> list[tuple[Tokens, int]]:
        """Returns what to make rare, and in how many examples to leave it: what is used most like each rare thing."""
        often = [ngram for ngram, count in counts.items() if OFTEN <= count <= EXCEPTION * len(examples)]
        seen = [rarity for rarity in self._rare.seen if 0 < counts.get(rarity.ngram, 0) < OFTEN]
        chosen: dict[Tokens, int] = {}
        wanted = [seen[place] for place in rng.permutation(len(seen))]
        while wanted and len(chosen) < ITEMS:
            rarity = wanted.pop(0)
            alike = self._most_alike(rarity.ngram, [ngram for ngram in often if ngram not in chosen])
            if alike is not None:
                chosen[alike] = counts[rarity.ngram]
                wanted.append(rarity)  # has its turn again, after the others
        if not seen:  # pairs that were never seen are rare, or nothing is
            few = 0 if self._rare.kind == PAIRS else 1
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

    def _count(self, item: Item, known: set[tuple[str, ...]], samples: Iterable[Example]) -> Count:
        outputs = {example.x: example.y for example in item.taken}
        tally: Counter[str] = Counter()
        for sample in samples:
            new = _pairs(sample) - known
            tally["familiar" if not new else "confirmed" if new <= self._seen.keys() else "doubtful"] += 1
            tally["known"] += sample.x in outputs
            tally["right"] += outputs.get(sample.x) == sample.y
        return Count(item.ngram, **tally)


def _with(ngram: Tokens, keep: Validator | None) -> Validator:
    """Returns what keeps only samples that have an n-gram in their input, of those that are kept otherwise."""

    def accept(sample: Example) -> str | None:
        if ngram not in zip(*(sample.x[start:] for start in range(len(ngram))), strict=False):
            return "without what was made rare"
        return None if keep is None else keep(sample)

    return accept


def _pairs(example: Example) -> set[tuple[str, ...]]:
    """Returns the pairs of neighboring tokens of both sides, their beginnings and ends included."""
    return {
        (side, *pair) for side, tokens in (("x", example.x), ("y", example.y)) for pair in pairwise(("", *tokens, ""))
    }
