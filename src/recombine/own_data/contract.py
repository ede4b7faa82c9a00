"""What the augmenters for one's own data have in common: any data in, samples out, and an account of it all."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from recombine.augmentation import protocol
from recombine.augmentation.drawing import check_request, unfitted
from recombine.augmentation.protocol import Samples, Validator
from recombine.example import Example
from recombine.own_data.accounts import Account
from recombine.own_data.choices import Choice
from recombine.own_data.inputs import Column, Data, as_examples, extended
from recombine.own_data.settings import Settings
from recombine.own_data.validators import Judge, all_of, check_function, judged, kept


class Learned(NamedTuple):
    """What an augmenter learned from examples.

    Attributes:
        augmenter: What gives samples.
        accept: Which are kept, whatever else a user asks for.
        choices: What was chosen from the data.
    """

    augmenter: protocol.Augmenter
    accept: Validator | None
    choices: Mapping[str, Choice[object]]


@dataclass(eq=False, kw_only=True)
class OwnDataAugmenter(Settings, ABC):
    """Learns from data of any kind, then gives new examples.

    Attributes:
        seed: Same seed, same samples.
        n: How many samples ``sample`` returns unless told, and ``fit_resample`` adds.
        tokens: What a token of a string is: ``"words"`` or ``"characters"``.
        validator: A function that tells which samples are kept, by True or False, or by None or the reason why not; see
            ``validators.Judge``. None: all are kept.
        agreement: Whether samples that must have something rare are turned down if their output leaves it out; see
            ``validators.agreement``.
        examples_: The examples it was fitted to.
        report_: What was chosen, and what was tried, kept and rejected by the last call of ``sample``.
    """

    seed: int = 0
    n: int = 400
    tokens: str = "words"
    validator: Judge | None = None
    agreement: bool = True
    examples_: tuple[Example, ...] = field(default=(), init=False, repr=False)
    report_: Account | None = field(default=None, init=False, repr=False)
    _learned: Learned | None = field(default=None, init=False, repr=False)
    _keep: Validator | None = field(default=None, init=False, repr=False)

    @abstractmethod
    def _learn(self, examples: Sequence[Example]) -> Learned:
        """Learns from examples."""

    def fit(self, X: Data, y: Column | None = None) -> Self:
        """Learns from training data.

        Args:
            X: Examples, pairs, a data frame or a data set (see ``inputs.Data``); or the inputs.
            y: The outputs, if X are the inputs.

        Raises:
            RecombineError: If there is too little to learn from, the data are none, or a setting makes no sense.
        """
        self._check()
        return self._remember(as_examples(X, y, tokens=self.tokens))

    def _check(self) -> None:
        """Raises the error for settings that make no sense, before any work."""
        check_function("validator", self.validator)
        check_request(1, self.seed)

    def _remember(self, examples: Sequence[Example], learned: Learned | None = None) -> Self:
        self._learned = learned or self._learn(examples)
        self._keep = kept(examples, self._learned.accept, agree=self.agreement)
        self.examples_ = tuple(examples)
        self.report_ = Account(len(dict.fromkeys(examples)), self._learned.choices)
        return self

    def sample(self, n: int | None = None, seed: int | None = None, accept: Judge | None = None) -> Samples:
        """Returns n new examples with their provenance, or fewer with an account of why.

        Args:
            n: How many to return, at least 1; None: the augmenter's own.
            seed: Same seed, same samples; None: the augmenter's own.
            accept: Turns candidates down, besides the augmenter's own validator and in the same manner.

        Raises:
            RecombineError: If it was not fitted, n is below 1, the seed below 0, or a function of the user's own fails.
        """
        if self._learned is None or self.report_ is None:
            raise unfitted(type(self).__name__)
        check_function("accept", accept)
        own = judged(self.validator, "validator"), judged(accept, "accept")
        keep = all_of(self._keep, *own)
        samples = self._learned.augmenter.sample(self.n if n is None else n, self.seed if seed is None else seed, keep)
        self.report_ = replace(self.report_, samples=samples)
        return samples

    def fit_resample(self, X: Column, y: Column) -> tuple[Column, Column]:
        """Learns from two columns and returns them with up to ``n`` new examples at their ends, in the types they had.

        Args:
            X: The inputs: strings, or sequences of tokens, in a list, a tuple, an array or a pandas series.
            y: The outputs, likewise.

        Where fewer than ``n`` can be made, a warning says why.
        """
        check_request(self.n, self.seed)
        X, y = (list(column) if isinstance(column, Iterator) else column for column in (X, y))  # gone through twice
        samples = self.fit(X, y).sample()
        if len(samples) < self.n:
            warnings.warn(samples.account, RuntimeWarning, stacklevel=2)
        return (
            extended(X, [sample.x for sample in samples], tokens=self.tokens),
            extended(y, [sample.y for sample in samples], tokens=self.tokens),
        )
