"""Resampling (section 4.1 of the paper): of what an augmenter makes, only the examples with something rare in them."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Self, get_args

from recombine.augmentation.drawing import distinct_examples, unfitted
from recombine.augmentation.protocol import NOTHING_RARE
from recombine.errors import RecombineError, unknown
from recombine.example import Example, Tokens

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

    p is the probability that a token appears in an example: the share of the different training examples that have
    it. Repetitions count once; otherwise SCAN's ``jump``, whose one example stands 1,467 times in the file, would be a
    tenth of the data and not rare. What was never seen has p = 0 and so is rare, as the equation says.

    A fitted resampler is a validator: ``augmenter.sample(400, accept=resampler)``.

    The default epsilon calls a token rare that is in fewer than 2 % of the examples. On SCAN's jump split these are
    ``jump`` and ``I_JUMP`` (p = 1 / 13,204) and no other; among 1,000 word forms with up to 16 of a tense, that tense
    has p = .016 (the authors drew the line at 20 of 1,000).

    Departures from the paper, all of them off by default: ``ngram`` extends the rule from tokens to sequences of
    tokens, for what is rare only in combination. On SCAN's around-right split no token is rare, and all pairs that
    were seen have p > .005; so ``Resampler(epsilon=0.005, ngram=2, side="x")`` keeps what has an unseen pair, such as
    ``around right``. ``relevant`` leaves out tokens whose rarity is of no interest: in word forms take ``is_tag``, or
    else the letter k makes a Spanish word rare.

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
    _common: set[str] = field(default_factory=set, init=False, repr=False)  # seen, and not rare or of no interest
    _common_at: float = field(default=0.0, init=False, repr=False)  # for this epsilon

    def fit(self, examples: Sequence[Example]) -> Self:
        """Counts in how many different examples each n-gram appears.

        Raises:
            RecombineError: If a setting makes no sense, or there is no example.
        """
        self._check_settings()
        distinct = distinct_examples(examples, least=1, who="resampling")
        self._counts = Counter(ngram for example in distinct for ngram in self._ngrams(example))
        self._total = len(distinct)
        tokens = {token for example in distinct for side in self._sides(example) for token in side}
        self._common = tokens - {token for rarity in self.rare_ for token in rarity.ngram}
        self._common_at = self.epsilon
        return self

    def __call__(self, example: Example) -> str | None:
        """Returns why the example is turned down, or None if there is something rare in it."""
        return None if self.weight(example) else NOTHING_RARE if self.ngram == 1 else "without a rare n-gram"

    @property
    def common(self) -> frozenset[str] | None:
        """Tokens that make nothing rare: an example that has no others is turned down. None: it takes a look."""
        return frozenset(self._common) if self.ngram == 1 and self.epsilon == self._common_at else None

    def weight(self, example: Example) -> float:
        """Returns u(d), 1 or 0."""
        settled = self.ngram == 1 and self.epsilon == self._common_at
        if settled and all(map(self._common.issuperset, self._sides(example))):  # as in most examples
            return 0.0
        rarest = self.rarest(example)
        return float(rarest is not None and rarest.probability < self.epsilon)

    def rarest(self, example: Example) -> Rarity | None:
        """Returns the rarest n-gram of an example, the first of several; None if the example has none that counts."""
        self._check_fitted()
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

    def _check_settings(self) -> None:
        if not 0 < self.epsilon <= 1:
            raise RecombineError(f"epsilon is {self.epsilon}.", hint="It is a probability: above 0 and at most 1.")
        if self.ngram < 1:
            raise RecombineError(f"ngram is {self.ngram}.", hint="It has to be at least 1.")
        if self.side not in get_args(Side):
            raise unknown("side", self.side, get_args(Side))
