"""A test set rich in rare things, split off in such a way that they can still be learned."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import compress, pairwise

import numpy as np

from recombine.augmentation.protocol import distinct_examples
from recombine.augmentation.resample import Rare, find_rare
from recombine.comparison.verdict import TELLING
from recombine.data.vocabulary import are_unlike
from recombine.errors import RecombineError
from recombine.example import Example, Tokens
from recombine.inflection import are_inflections, directed

SHARE = 0.1
"""At most this share of the examples is held out from among those with something rare, and as many from the others."""

MOST = 1_000  # and at most this many

KEPT = 0.5
"""Of the examples with something rare in them, and of those with any one thing, at least this share, and one at least,
stays in training."""

LEAST = 10  # fewer different examples cannot be split


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Training examples, all different, and test examples, which nothing but the final scores sees.

    Test examples and samples are judged alike by what is rare (`rarity`) among the training examples. `held_out` tells
    whether the test examples were split off.
    """

    train: tuple[Example, ...]
    test: tuple[Example, ...]
    rarity: Rare
    held_out: bool

    @property
    def rare(self) -> tuple[bool, ...]:
        """Tells for each test example whether there is something rare in it."""
        return tuple(map(self.rarity, self.test))

    @property
    def phenomena(self) -> tuple[Tokens, ...]:
        """What is rare and was seen in training, the rarest first: tokens, or pairs of them."""
        return tuple(found.ngram for found in self.rarity.seen)

    @property
    def shortfall(self) -> str:
        """Why nothing can be told of the rare although something is rare, and what to do about it; else empty."""
        count = sum(self.rare)
        if self.rarity.resampler is None or count >= TELLING:
            return ""
        few = f"Test examples with something rare in them: {count}; a verdict on the rare takes {TELLING} or more."
        if not self.held_out:
            return f"{few} Add some to the test examples."
        if not self.phenomena:
            return f"{few} No example has any of what is rare. Give test examples of it (--test FILE)."
        return (
            f"{few} Half of what is rare stays in training, and what occurs once or has several outputs is not held "
            "out. Give test examples of it (--test FILE), or more data with it."
        )

    def questions(self, examples: Sequence[Example], direction: str) -> list[Example]:
        """Returns examples in the order in which predictors of a direction see them, if they are word forms."""
        return directed(examples, direction) if are_inflections(self.train) else list(examples)


def given(train: Sequence[Example], test: Sequence[Example], *, epsilon: float | None = None) -> Split:
    """Takes test examples as they are; what is rare is decided by the training examples alone.

    Repetitions of training examples count once; `epsilon` is as for `find_rare`.
    """
    distinct = distinct_examples(train, least=2, who="a comparison")
    if are_inflections(distinct) and not are_inflections(test):
        raise RecombineError("the training examples are word forms and the test examples are not.")
    return Split(train=distinct, test=tuple(test), rarity=find_rare(distinct, epsilon=epsilon), held_out=False)


def hold_out(examples: Sequence[Example], *, seed: int = 0, epsilon: float | None = None) -> Split:
    """Splits a test set off: examples with something rare in them, and about as many of the others at random.

    Whatever an example has in it (tokens, and pairs if pairs are rare), half of the examples with it stay in training,
    so that nothing is tested that cannot be learned; what only one example has is never tested. Inputs that have
    several outputs are not tested either: no prediction could be right for all. Repetitions count once; `epsilon` is as
    for `find_rare`.
    """
    distinct = distinct_examples(examples, least=LEAST, who="a comparison without a test set")
    rarity = find_rare(distinct, epsilon=epsilon)
    pairs = {found.ngram for found in rarity.seen if len(found.ngram) > 1}
    every = [contents(example, pairs) for example in distinct]
    total = Counter(part for parts in every for part in parts)
    left = Counter(total)
    word_forms = are_inflections(distinct)
    inputs = [example.y if word_forms else example.x for example in distinct]
    outputs = Counter(inputs)
    rare = list(map(rarity, distinct))
    share = min(MOST, SHARE * len(distinct))
    budget = {True: max(1, int(min(share, (1 - KEPT) * sum(rare)))), False: max(1, int(share))}
    tested = [False] * len(distinct)
    for place in np.random.default_rng(seed).permutation(len(distinct)).tolist():
        parts = every[place]
        learnable = all(left[part] - 1 >= max(1, KEPT * total[part]) for part in parts)
        if budget[rare[place]] and learnable and outputs[inputs[place]] == 1:
            left.subtract(parts)
            budget[rare[place]] -= 1
            tested[place] = True
    if not any(tested):
        raise RecombineError(
            "no example can be held out: each has something in it that no other has, or its input has several outputs.",
            hint="Give a test set: `test`."
            + (" Or take outputs apart: `tokens='characters'`." if are_unlike(distinct) else ""),
        )
    train = tuple(example for example, out in zip(distinct, tested, strict=True) if not out)
    return Split(
        train=train,
        test=tuple(compress(distinct, tested)),
        rarity=find_rare(train, epsilon=epsilon),
        held_out=True,
    )


def contents(example: Example, pairs: Set[Tokens]) -> list[Tokens]:
    """Returns the different tokens of an example, and those pairs in a row in its input that are of interest."""
    tokens = ((token,) for token in (*example.x, *example.y))
    return list(dict.fromkeys([*tokens, *(pair for pair in pairwise(example.x) if pair in pairs)]))
