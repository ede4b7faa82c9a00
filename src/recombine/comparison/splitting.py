"""A held-out set rich in rare phenomena, split off examples in such a way that the rare can still be learned."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import compress, pairwise

import numpy as np

from recombine.augmentation.drawing import distinct_examples
from recombine.augmentation.resample import Resampler
from recombine.data.vocabulary import are_unlike
from recombine.errors import RecombineError
from recombine.example import Example, Tokens
from recombine.inflection import are_inflections, directed, is_tag
from recombine.own_data import choices

SHARE = 0.1
"""At most this share of the examples is held out from among those with something rare, and as many from the others."""

MOST = 1_000
"""And at most so many."""

KEPT = 0.5
"""Of the examples with something rare in them, and of those with any one thing, at least this share, and one at least,
stays in training."""

LEAST = 10
"""Fewer different examples cannot be split."""

TELLING = 8
"""On fewer test examples nothing can be told: even if all of them went from wrong to right, that could be chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """What is trained on and what is tested on.

    Attributes:
        train: Training examples, all different.
        test: Test examples, which nothing but the final scores sees.
        rare: Tells of each test example whether there is something rare in it.
        phenomena: What is rare, the rarest first: tokens, or pairs of them.
        held_out: Whether the test examples were split off.
    """

    train: tuple[Example, ...]
    test: tuple[Example, ...]
    rare: tuple[bool, ...]
    phenomena: tuple[Tokens, ...]
    held_out: bool

    @property
    def shortfall(self) -> str:
        """Why nothing can be told of the rare although something is rare, and what to do about it; else empty."""
        count = sum(self.rare)
        if not self.phenomena or count >= TELLING:
            return ""
        if self.held_out and not count:
            return (
                "No example with something rare in it could be held out: too little of what is in it would be left, "
                "as of a token that occurs once, or its input has several outputs. Give test examples of it "
                "(--test FILE)."
            )
        few = f"Test examples with something rare in them: {count}; a verdict on the rare takes {TELLING} or more."
        if self.held_out:
            return f"{few} Give test examples of it (--test FILE), or more data with it: half of it stays in training."
        return f"{few} Add some to the test examples."

    def questions(self, examples: Sequence[Example], direction: str) -> list[Example]:
        """Returns examples in the order in which predictors of a direction see them, if they are word forms."""
        return directed(examples, direction) if are_inflections(self.train) else list(examples)


def rare_in(examples: Sequence[Example], epsilon: float | None = None) -> Resampler:
    """Returns what tells rare from common, fitted: rare tokens if there are any, else rare pairs in inputs.

    Of word forms only tags count.

    Args:
        examples: The examples.
        epsilon: Tokens in fewer than this share of the examples are rare; None: as suits the examples.
    """
    relevant = is_tag if are_inflections(examples) else None
    if epsilon is not None:
        return Resampler(epsilon, relevant=relevant).fit(examples)
    chosen = choices.rarity(examples)
    if chosen.name == choices.TOKENS and chosen.value is not None:
        return chosen.value
    return Resampler(ngram=2, side="x", relevant=relevant).fit(examples)


def given(train: Sequence[Example], test: Sequence[Example], *, epsilon: float | None = None) -> Split:
    """Returns the split that the user made; what is rare is told by the training examples alone.

    Args:
        train: The training examples; repetitions count once.
        test: The test examples.
        epsilon: As for ``rare_in``.

    Raises:
        RecombineError: If there are fewer than two training examples, or only they are word forms.
    """
    distinct = distinct_examples(train, least=2, who="a comparison")
    if are_inflections(distinct) and not are_inflections(test):
        raise RecombineError("the training examples are word forms and the test examples are not.")
    resampler = rare_in(distinct, epsilon)
    rare = tuple(resampler(example) is None for example in test)
    return Split(train=distinct, test=tuple(test), rare=rare, phenomena=_phenomena(resampler), held_out=False)


def hold_out(examples: Sequence[Example], *, seed: int = 0, epsilon: float | None = None) -> Split:
    """Splits a test set off: examples with something rare in them, and about as many of the others at random.

    Whatever an example has in it (tokens, and pairs if it is pairs that are rare), half of the examples with it stay in
    training, so that nothing is tested that cannot be learned; what only one example has is never tested. Inputs that
    have several outputs are not tested either: no prediction could be right for all.

    Args:
        examples: The examples; repetitions count once.
        seed: Same seed, same split.
        epsilon: As for ``rare_in``.

    Raises:
        RecombineError: If there are too few examples.
    """
    distinct = distinct_examples(examples, least=LEAST, who="a comparison without a test set")
    resampler = rare_in(distinct, epsilon)
    tested = _held_out(distinct, resampler, np.random.default_rng(seed).permutation(len(distinct)).tolist())
    if not any(tested):
        raise RecombineError(
            "no example can be held out: each has something in it that no other has.",
            hint="Give a test set: `test`."
            + (" Or take outputs apart: `tokens='characters'`." if are_unlike(distinct) else ""),
        )
    test = tuple(compress(distinct, tested))
    return Split(
        train=tuple(example for example, out in zip(distinct, tested, strict=True) if not out),
        test=test,
        rare=tuple(resampler(example) is None for example in test),
        phenomena=_phenomena(resampler),
        held_out=True,
    )


def _held_out(examples: Sequence[Example], resampler: Resampler, order: Sequence[int]) -> list[bool]:
    """Tells of each example whether it is held out."""
    pairs = {rarity.ngram for rarity in resampler.rare_ if len(rarity.ngram) > 1}
    every = [contents(example, pairs) for example in examples]
    total = Counter(part for parts in every for part in parts)
    left = Counter(total)
    word_forms = are_inflections(examples)
    inputs = [example.y if word_forms else example.x for example in examples]
    outputs = Counter(inputs)
    rare = [resampler(example) is None for example in examples]
    share = min(MOST, SHARE * len(examples))
    budget = {True: max(1, int(min(share, (1 - KEPT) * sum(rare)))), False: max(1, int(share))}
    tested = [False] * len(examples)
    for place in order:
        parts = every[place]
        learnable = all(left[part] - 1 >= max(1, KEPT * total[part]) for part in parts)
        if budget[rare[place]] and learnable and outputs[inputs[place]] == 1:
            left.subtract(parts)
            budget[rare[place]] -= 1
            tested[place] = True
    return tested


def contents(example: Example, pairs: Set[Tokens]) -> list[Tokens]:
    """Returns the different tokens of an example, and those pairs in a row in its input that are of interest."""
    tokens = ((token,) for token in (*example.x, *example.y))
    return list(dict.fromkeys([*tokens, *(pair for pair in pairwise(example.x) if pair in pairs)]))


def _phenomena(resampler: Resampler) -> tuple[Tokens, ...]:
    return tuple(rarity.ngram for rarity in resampler.rare_)
