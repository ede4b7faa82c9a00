"""What is rare (section 4.1 of the paper): found once by `find_rare`, then asked of samples and test items alike.

Oversampling, the paper's "baseline + resampling" (section 5), gives rare originals again, instead of new examples.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice, pairwise
from typing import Literal, Self, get_args

import numpy as np

from recombine.augmentation.agreement import Doubtful
from recombine.augmentation.protocol import (
    NOTHING_RARE,
    Samples,
    Validator,
    check_request,
    distinct_examples,
    take_accepted,
    unfitted,
)
from recombine.errors import RecombineError, unknown
from recombine.example import Example, Provenance, Tokens
from recombine.inflection import are_inflections, is_tag

TOKENS, PAIRS, NGRAMS, NOTHING = "tokens", "pairs", "n-grams", "nothing"
"""The kinds of things that can be rare."""

EPSILONS = (0.02, 0.01, 0.005, 0.002, 0.001, 5e-4, 2e-4, 1e-4)
"""Shares of the examples below which a token may count as rare, in the order in which they are tried."""

FEW, LARGEST = 5, 0.05
"""A token that at most FEW examples have may count as rare, too, if these are less than a share LARGEST of them."""

UNCOMMON, GAP = 0.1, 3
"""A token in less than a share UNCOMMON of the examples is rare, too, if all others are GAP times as frequent."""

EXCEPTION = 0.25
"""Nothing counts as rare that more than this share of the examples have: the rare is an exception."""

Side = Literal["x", "y", "both"]


@dataclass(frozen=True, slots=True)
class Rarity:
    """How rare an n-gram is.

    Attributes:
        ngram: The tokens.
        count: How many different training examples have it.
        probability: Their share, p in the paper.
    """

    ngram: Tokens
    count: int
    probability: float

    def __str__(self) -> str:
        return f"{' '.join(self.ngram)} ({self.count})"


@dataclass(eq=False)
class Resampler:
    """The weight u(d) = 1[min p < epsilon] over the tokens of d: 1 if something in d is rare, else 0.

    p is the share of the different training examples that have a token. Repetitions count once; otherwise SCAN's
    ``jump``, whose one example stands 1,467 times in the file, would not be rare. What was never seen has p = 0 and so
    is rare. On SCAN's jump split, ``jump`` and ``I_JUMP`` (p = 1 / 13,204) and no others are below the default epsilon.

    A fitted resampler is a validator: ``augmenter.sample(400, accept=resampler)``.

    Departures from the paper, off by default: ``ngram`` looks for what is rare only in combination. On SCAN's
    around-right split all pairs that were seen have p > .005; so ``Resampler(epsilon=0.005, ngram=2, side="x")`` keeps
    what has an unseen pair, such as ``around right``. ``relevant`` leaves out tokens whose rarity is of no interest: in
    word forms take ``is_tag``, or else the letter k makes a Spanish word rare.

    Attributes:
        epsilon: What is rare: anything with p below it.
        ngram: Looks at sequences of up to that many tokens; they never cross the border between x and y.
        side: Where to look: ``"x"``, ``"y"`` or ``"both"``.
        relevant: Tells of a token whether it counts; None counts all. A sequence counts if all its tokens do.
    """

    epsilon: float = 0.02
    ngram: int = 1
    side: Side = "both"
    relevant: Callable[[str], bool] | None = None
    _counts: Counter[Tokens] = field(default_factory=Counter, init=False, repr=False)
    _total: int = field(default=0, init=False, repr=False)
    _tokens: frozenset[str] = field(default=frozenset(), init=False, repr=False)  # all that were seen

    def fit(self, examples: Sequence[Example]) -> Self:
        """Counts in how many different examples each n-gram appears."""
        if not 0 < self.epsilon <= 1:
            raise RecombineError(f"epsilon is {self.epsilon}.", hint="It is a probability: above 0 and at most 1.")
        if self.ngram < 1:
            raise RecombineError(f"ngram is {self.ngram}.", hint="It has to be at least 1.")
        if self.side not in get_args(Side):
            raise unknown("side", self.side, get_args(Side))
        distinct = distinct_examples(examples, least=1, who="resampling")
        self._counts = Counter(ngram for example in distinct for ngram in self._ngrams(example))
        self._total = len(distinct)
        self._tokens = frozenset(token for example in distinct for side in self._sides(example) for token in side)
        return self

    def __call__(self, example: Example) -> str | None:
        """Returns why the example is turned down, or None if there is something rare in it."""
        return None if self.weight(example) else NOTHING_RARE if self.ngram == 1 else "without a rare n-gram"

    @property
    def common(self) -> frozenset[str] | None:
        """Tokens that make nothing rare: an example that has no others is turned down. None: it takes a look."""
        return self._tokens.difference(*(rarity.ngram for rarity in self.rare_)) if self.ngram == 1 else None

    def weight(self, example: Example) -> float:
        """Returns u(d), 1 or 0."""
        rarest = self.rarest(example)
        return float(rarest is not None and rarest.probability < self.epsilon)

    def rarest(self, example: Example) -> Rarity | None:
        """Returns the rarest n-gram of an example, the first of several; None if the example has none that counts."""
        return min(map(self._rarity, self._ngrams(example)), key=lambda rarity: rarity.count, default=None)

    @property
    def rare_(self) -> tuple[Rarity, ...]:
        """What is rare in the training data, the rarest first."""
        self._check_fitted()
        found = map(self._rarity, self._counts)
        rare = (rarity for rarity in found if rarity.probability < self.epsilon)
        return tuple(sorted(rare, key=lambda rarity: (rarity.count, rarity.ngram)))

    def _check_fitted(self) -> None:
        if not self._total:
            raise unfitted("Resampler")

    def _rarity(self, ngram: Tokens) -> Rarity:
        self._check_fitted()
        count = self._counts[ngram]
        return Rarity(ngram=ngram, count=count, probability=count / self._total)

    def _ngrams(self, example: Example) -> list[Tokens]:
        """Returns the n-grams of an example that count, each once, in order of length and place."""
        found = dict.fromkeys(
            side[start : start + length]
            for length in range(1, self.ngram + 1)
            for side in self._sides(example)
            for start in range(len(side) - length + 1)
        )
        relevant = self.relevant
        return list(found) if relevant is None else [ngram for ngram in found if all(map(relevant, ngram))]

    def _sides(self, example: Example) -> tuple[Tokens, ...]:
        return {"x": (example.x,), "y": (example.y,), "both": (example.x, example.y)}[self.side]


@dataclass(frozen=True, slots=True)
class Rare:
    """What is rare among training examples; see `find_rare`.

    Attributes:
        kind: ``"tokens"``, ``"pairs"`` (of neighboring input tokens), ``"n-grams"`` or ``"nothing"``.
        resampler: Fitted to the examples. As a validator it keeps samples with something rare; None if nothing is rare.
        reason: What is rare, in words for people, and what in the data speaks for it.
    """

    kind: str
    resampler: Resampler | None
    reason: str

    def __call__(self, example: Example) -> bool:
        """Tells whether an example has something rare in it."""
        return self.resampler is not None and self.resampler(example) is None

    @property
    def seen(self) -> tuple[Rarity, ...]:
        """The rare things that training examples have, the rarest first."""
        return () if self.resampler is None else self.resampler.rare_


def find_rare(examples: Sequence[Example], *, epsilon: float | None = None, ngram: int = 1) -> Rare:
    """Finds out what is rare among training examples: the only place where that is decided.

    Whoever needs to know calls it once and hands the result on, so that all go by one definition::

        rare = find_rare(train)
        augmenter.sample(400, accept=rare.resampler)  # only samples with something rare, or all if nothing is
        [rare(example) for example in test]           # which test items have something rare

    - ``tokens``: those in fewer than 2 % of the different examples. In small data, where 2 % are next to nothing, also
      those in a single example, or in at most five if these are fewer than 5 % of the examples. The bound is lowered
      until at most a quarter of the examples have a rare token. If no token is rare by this, those in fewer than 10 %
      of the examples are, if all others are at least three times as frequent. Only tags count in word forms.
    - ``pairs``: if no token is rare, two neighboring tokens of an input that no example has, or only a few (at most
      five, if these pairs are in at most a quarter of the examples), whether samples, test items or training examples
      are asked about. Word forms are excepted: their tags have an order,
      so an unseen pair of tags is not a new bundle but a wrong one.
    - ``nothing``: if neither tells examples apart.

    Args:
        examples: The training examples.
        epsilon: Tokens in fewer than this share of the different examples are rare; None: found out.
        ngram: With epsilon, the longest sequences of tokens that can be rare.
    """
    distinct = distinct_examples(examples, least=1, who="resampling")
    relevant = is_tag if are_inflections(distinct) else None
    if epsilon is not None:
        asked = Resampler(epsilon, ngram=ngram, relevant=relevant).fit(distinct)
        if ngram > 1:  # sequences that were never seen are rare, so there is always something
            return Rare(NGRAMS, asked, what_is_rare(asked))
        if asked.rare_:
            return Rare(TOKENS, asked, what_is_rare(asked))
        return Rare(NOTHING, None, f"nothing: no token is in fewer than {epsilon:.2%} of the examples")
    resampler = Resampler(relevant=relevant).fit(distinct)
    rarest = [found.probability for found in map(resampler.rarest, distinct) if found is not None]
    for bound in (*_bounds(len(distinct)), *_gap(rarest, len(distinct))):
        holders = sum(probability < bound for probability in rarest)
        if 0 < holders <= EXCEPTION * len(distinct):
            found = replace(resampler, epsilon=bound).fit(distinct)
            what = f"{what_is_rare(found)}; {holders:,} of {len(distinct):,} examples have one"
            errors = "" if relevant else Doubtful.of(distinct).typing_errors
            return Rare(TOKENS, found, f"{what}; typing errors? {errors}" if errors else what)
    if min(rarest, default=1.0) < max(EPSILONS[0], _share(1, len(distinct))):
        why = f"nothing: more than {EXCEPTION:.0%} of the examples have a token that few others have"
        return Rare(NOTHING, None, why)
    if relevant is not None:
        return Rare(NOTHING, None, "nothing: no tag is rare")
    possible = len({token for example in distinct for token in example.x}) ** 2
    known = len({pair for example in distinct for pair in pairwise(example.x)})
    pairs = Resampler(ngram=2, side="x").fit(distinct)
    rarest = [found.probability for found in map(pairs.rarest, distinct) if found is not None]
    few_enough = (
        count
        for count in range(FEW, 0, -1)
        if _share(count, len(distinct)) <= LARGEST
        and sum(share < _share(count, len(distinct)) for share in rarest) <= EXCEPTION * len(distinct)
    )
    most = next(few_enough, 0)
    found = replace(pairs, epsilon=_share(most, len(distinct))).fit(distinct)
    if not known or (known == possible and not found.rare_):
        return Rare(NOTHING, None, "nothing: no token is rare, nor is any pair of input tokens")
    often = f" in at most {most} example{'' if most == 1 else 's'}" if most else ""
    reason = f"pairs of input tokens{often}, of which {known:,} of {possible:,} were seen; no token is rare"
    return Rare(PAIRS, found, reason)


def what_is_rare(resampler: Resampler) -> str:
    """Returns how many tokens or tags are rare, and below which share."""
    noun = "tag" if resampler.relevant is is_tag else "token" if resampler.ngram == 1 else "n-gram"
    plural = "" if len(resampler.rare_) == 1 else "s"
    return f"{len(resampler.rare_):,} {noun}{plural} in fewer than {resampler.epsilon:.2%} of the examples"


def _bounds(examples: int) -> list[float]:
    """Returns the shares below which a token may count as rare, the largest first."""
    most = max(EPSILONS[0], min(_share(FEW, examples), LARGEST), _share(1, examples))
    by_count = (_share(count, examples) for count in range(1, FEW + 1))
    return sorted({epsilon for epsilon in (most, *EPSILONS, *by_count) if epsilon <= most}, reverse=True)


def _gap(rarest: Sequence[float], examples: int) -> list[float]:
    """Returns the share that separates what is far less frequent from all else, if there is such a gap."""
    counts = sorted({round(share * examples) for share in rarest})
    return [_share(a, examples) for a, b in pairwise(counts) if a < UNCOMMON * examples and b >= GAP * a][-1:]


def _share(count: int, examples: int) -> float:
    """Returns the epsilon by which just those tokens are rare that at most `count` of the examples have."""
    return min(1.0, (count + 0.5) / examples)


@dataclass(eq=False)
class Oversampler:
    """Repeats the training examples that have something rare in them, all equally often (give or take one).

    It keeps the augmenters' contract but for one clause: its samples are neither novel nor unique. It shows what
    reweighting alone gives, without recombination. Keep the copies: training code that removes duplicates undoes it.

    Attributes:
        resampler: Says what is rare. It is itself left as it is: ``fit`` fits a copy. None: all originals are repeated.
    """

    resampler: Resampler | None = field(default_factory=Resampler)
    _usable: tuple[Example, ...] | None = field(default=None, init=False, repr=False)
    _if_none: str = field(default="", init=False, repr=False)

    def fit(self, examples: Sequence[Example]) -> Self:
        """Finds the rare originals; equal ones count once."""
        originals = distinct_examples(examples, least=1, who="oversampling")
        if self.resampler is None:
            self._usable = originals
            return self
        fitted = replace(self.resampler).fit(originals)
        self._usable = tuple(original for original in originals if fitted(original) is None)
        rarest = min((rare.probability for rare in map(fitted.rarest, originals) if rare is not None), default=None)
        nearest = "" if rarest is None else f": what is rarest is in {rarest:.2%} of the examples"
        self._if_none = (
            f"No original is rare at epsilon = {fitted.epsilon}{nearest}; a larger epsilon makes more of them rare."
        )
        return self

    def sample(self, n: int, seed: int = 0, accept: Validator | None = None) -> Samples:
        """Returns exactly n copies of rare originals, or none if there is no rare original to copy.

        The seed decides the order, and which originals come once more than the others.
        """
        if self._usable is None:
            raise unfitted("Oversampler")
        check_request(n, seed)
        originals = (original.with_provenance(None) for original in self._usable)
        copies = (original.with_provenance(Provenance("oversample", (original,))) for original in originals)
        usable, rejected = take_accepted(copies, len(self._usable), accept)
        if not usable:
            kind = "originals" if self.resampler is None else "rare originals"
            all_turned_down = f"All {len(self._usable):,} {kind} were turned down."
            return Samples((), n, rejected, shortfall=all_turned_down if self._usable else self._if_none)
        order = np.random.default_rng(seed).permutation(len(usable)).tolist()
        return Samples(tuple(usable[place] for place in islice(cycle(order), n)), n, rejected)
