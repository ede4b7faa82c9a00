"""Rehearsal: what is frequent is made rare, so that training examples alone tell how many samples will be right.

A token that is used like a rare one, but often, is taken out of all examples but a few. An augmenter that is fitted to
what is left makes samples with this token, as it will for what is truly rare, and the examples that were taken out
judge them: two or three neighboring tokens that are new to the augmenter, but stand in one of these, speak for a
sample, and an input that is among them has a known output.

Where no token is rare, and for samples with nothing rare in them, examples are taken out at random.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import process_time

import numpy as np

from recombine.augmentation.protocol import Augmenter, Validator
from recombine.augmentation.resample import PAIRS, Rare
from recombine.example import Example, Tokens

ITEMS, SAMPLES = 10, 40
"""How many tokens are made rare, one after the other, and how many samples an augmenter makes with each."""

PARTS, OF_A_PART = 4, 100
"""At random, one of so many parts of the examples is taken out after the other; an augmenter makes so many samples."""

OFTEN, EXCEPTION = 8, 0.5
"""What is made rare is in at least OFTEN examples, and in at most a share EXCEPTION of them."""

MANY = 2000
"""Of more examples than this, as many are drawn for rehearsal, with all that have something rare."""

ANEW, INTERVAL = 1000, (2.5, 97.5)
"""How often the items are drawn anew to see how far the estimate would differ, and the percentiles that are told."""

PRIOR = 10
"""The estimate for samples like one item counts its own samples, and this many of the average over all items."""

LENGTHS = (2, 3)
"""How many neighboring tokens are looked at: pairs or, in samples without a new pair, triples."""

Piece = tuple[str, ...]
"""Neighboring tokens, after the name of the side that they are on."""


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
        familiar: Samples whose neighboring tokens the augmenter knew, pairs and triples.
        confirmed: Samples with new pairs, all of them in examples that were taken out; and, of the samples without new
            pairs, those with new triples likewise.
        doubtful: Samples with new pairs, and with new triples, of which one is in no example.
        known: Samples, not doubtful, whose input was taken out.
        right: Those of them that were taken out with their output.
    """

    item: Tokens
    familiar: int
    confirmed: tuple[int, ...]
    doubtful: tuple[int, ...]
    known: int
    right: int

    @property
    def samples(self) -> int:
        """How many there were."""
        return self.familiar + sum(self.confirmed) + sum(self.doubtful)

    def of_language(self, sensitivity: Sequence[float]) -> float:
        """Returns how many samples have a right input, if such shares of right ones can be confirmed."""
        judged = zip(self.confirmed, self.doubtful, sensitivity, strict=True)
        return self.familiar + sum(min(confirmed / share, confirmed + not_so) for confirmed, not_so, share in judged)


@dataclass(frozen=True)
class Rehearsed:
    """What the rehearsal of an augmenter showed.

    Attributes:
        counts: How the samples with each item were judged.
        sensitivity: The share of the new pairs, and of the new triples, of right examples that further ones confirm.
    """

    counts: tuple[Count, ...]
    sensitivity: tuple[float, ...]

    @property
    def samples(self) -> int:
        """How many samples were judged."""
        return sum(count.samples for count in self.counts)

    @property
    def share(self) -> float:
        """The estimated share of the samples that is right."""
        return self._share(self.counts)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Where 95 of 100 estimates are if the items are drawn anew from those that there are."""
        counts = [count for count in self.counts if count.samples]
        if not counts:
            return 0.0, 1.0
        drawn = np.random.default_rng(0).integers(0, len(counts), (ANEW, len(counts)))
        low, high = np.percentile([self._share([counts[place] for place in places]) for places in drawn], INTERVAL)
        return float(low), float(high)

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
        rare: What is rare among them; None: examples are taken out at random, and nothing is made rare.
        seed: For what is made rare, or taken out.

    Attributes:
        items: What is made rare, one after the other; empty if nothing is frequent and used like what is rare.
    """

    def __init__(self, examples: Sequence[Example], rare: Rare | None, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        if len(examples) > MANY:
            order = rng.permutation(len(examples))
            rarest_first = sorted(order, key=lambda place: rare is not None and not rare(examples[place]))
            examples = [examples[place] for place in sorted(rarest_first[:MANY])]
        self._rare = rare
        self._around: dict[Tokens, set[tuple[str, str]]] = defaultdict(set)
        self._seen = [Counter(piece for each in examples for piece in _pieces(each, length)) for length in LENGTHS]
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
        noun = f"{'pair' if self._rare.kind == PAIRS else 'token'}{'' if len(words) == 1 else 's'}"
        return f"on {len(words)} frequent {noun} made rare ({named})"

    def _made_rare(self, examples: Sequence[Example], rare: Rare, rng: np.random.Generator) -> list[Item]:
        length = 2 if rare.kind == PAIRS else 1
        holders: dict[Tokens, list[Example]] = defaultdict(list)
        for example in examples:
            for ngram, context in _in_context(example, length):
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
        seconds: float,
    ) -> Rehearsed:
        """Judges an augmenter.

        Args:
            fit: Fits it to examples.
            keep: Returns which samples would be kept of those that examples give.
            seconds: No further item is taken after this time of computing, so that a busy machine changes nothing.
        """
        began, counts, confirmed = process_time(), list[Count](), [Counter[bool]() for _ in LENGTHS]
        for item in self.items:
            known = [{piece for each in item.left for piece in _pieces(each, length)} for length in LENGTHS]
            for tally, seen, old, length in zip(confirmed, self._seen, known, LENGTHS, strict=True):
                new = {piece for example in item.taken for piece in _pieces(example, length)} - old
                tally.update(seen[piece] > 1 for piece in new)
            wanted = SAMPLES if item.ngram else OF_A_PART
            samples = fit(item.left).sample(wanted, 0, _with(item.ngram, keep(item.left)))
            counts.append(self._count(item, known, samples))
            if process_time() - began > seconds:
                break
        sensitivity = tuple(tally[True] / tally.total() if tally[True] else 1.0 for tally in confirmed)
        return Rehearsed(tuple(counts), sensitivity)

    def like(self, sample: Example) -> Tokens | None:
        """Returns the item that is used most like what is rare in a sample; None: none is."""
        if self._rare is None:
            return ()
        rarest = None if self._rare.resampler is None else self._rare.resampler.rarest(Example(sample.x, ()))
        return None if rarest is None else self._most_alike(rarest.ngram, [item.ngram for item in self.items])

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

    def _count(self, item: Item, known: Sequence[set[Piece]], samples: Iterable[Example]) -> Count:
        taken, inputs = {*item.taken}, {example.x for example in item.taken}
        familiar = of_known = right = 0
        confirmed, doubtful = [0] * len(LENGTHS), [0] * len(LENGTHS)
        for sample in samples:
            unseen = [_pieces(sample, length) - old for length, old in zip(LENGTHS, known, strict=True)]
            level = next((level for level, new in enumerate(unseen) if new), None)
            if level is None:
                familiar += 1
            elif unseen[level] <= self._seen[level].keys():
                confirmed[level] += 1
            else:
                doubtful[level] += 1
                continue
            of_known += sample.x in inputs
            right += sample in taken
        return Count(item.ngram, familiar, tuple(confirmed), tuple(doubtful), of_known, right)


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


def _pieces(example: Example, length: int) -> set[Piece]:
    """Returns what stands side by side on either side of an example, beginnings and ends included."""
    padded = (("x", ("", *example.x, "")), ("y", ("", *example.y, "")))
    return {
        (side, *tokens[start : start + length]) for side, tokens in padded for start in range(len(tokens) - length + 1)
    }
