"""What augmenters for one's own data have in common, and those that train nothing: GECA and oversampling."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from recombine.augmentation import protocol, resample
from recombine.augmentation.agreement import Agreement, Exponents
from recombine.augmentation.protocol import Novelty, Samples, Validator, check_request, distinct_examples, unfitted
from recombine.augmentation.resample import NGRAMS, NOTHING, TOKENS, Rare, Resampler, find_rare, what_is_rare
from recombine.data.files import read, write
from recombine.data.store import read_model, writing_model
from recombine.data.text import shown as shortened
from recombine.data.untrusted import fitting
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.execution.progress import Report, Say
from recombine.inflection import are_inflections, is_inflection, is_tag
from recombine.own_data import choices
from recombine.own_data.choices import Choice
from recombine.own_data.inputs import Column, Data, as_examples, extended
from recombine.own_data.settings import Account, Display, Settings, shown
from recombine.training.fitted import History

EXAMPLES = "examples.jsonl"

Judge = Callable[[Example], str | bool | None]
"""A user's own function that looks at a sample: True or None keeps it; False or a string, the reason, rejects it. So a
function that returns nothing keeps all. The reason that False stands for is the function's name."""

Rarity = Literal["auto"] | Judge | None
"""Which samples are rare and so are kept: ``"auto"`` (see `find_rare`); a resampler, which is fitted to the examples;
any ``Judge``, which keeps the rare ones; None: all samples are kept."""


def sample_filter(examples: Sequence[Example], rare: Validator | None, *, agreement: bool = True) -> Validator | None:
    """Returns what samples must satisfy: word forms give word forms; if only rare samples are kept, they must agree.

    If `rare` is None, all samples are kept; see `agreement_filter` for agreement.
    """
    word_form = _word_form if are_inflections(examples) else None
    return all_of(word_form, agreement_filter(examples, rare) if agreement and rare is not None else None, rare)


def agreement_filter(examples: Sequence[Example], rare: Validator) -> Validator | None:
    """Returns what rejects samples whose output leaves out, or makes up, what is rare in their input.

    Only a resampler (`rare`, fitted to the examples) says which tags of word forms are rare; else there is no filter.
    """
    if not are_inflections(examples):
        return Agreement.of(examples)
    if not isinstance(rare, Resampler):
        return None
    return Exponents.of(examples, {token for found in rare.rare_ for token in found.ngram if is_tag(token)})


def _word_form(sample: Example) -> str | None:
    return None if is_inflection(sample) else "no word form"


def all_of(*validators: Validator | None) -> Validator | None:
    """Returns the validator that asks others in turn and gives the first reason; None if there are none."""
    asked = tuple(validator for validator in validators if validator is not None)
    return _All(asked) if asked else None


@dataclass(frozen=True, eq=False)
class _All:
    asked: tuple[Validator, ...]

    def __call__(self, sample: Example) -> str | None:
        return next((reason for validator in self.asked if (reason := validator(sample)) is not None), None)

    @property
    def common(self) -> frozenset[str] | None:
        """Tokens that are not enough for one of them, and so not for all together."""
        return next((found for validator in self.asked if (found := getattr(validator, "common", None))), None)


def judged(judge: Judge | None, setting: str) -> Validator | None:
    """Returns the validator that a user's own function stands for; messages call a lambda by its setting."""
    return None if judge is None else partial(_reason, judge, setting)


def _reason(judge: Judge, setting: str, sample: Example) -> str | None:
    with naming(judge, setting, f", for the sample {shortened(str(sample))}") as (who, name):
        said = judge(sample)
    if isinstance(said, bool | np.bool_):
        return None if said else name or setting
    if said is None or isinstance(said, str):
        return said
    raise RecombineError(
        f"{who} returned {shortened(repr(said))}, "
        "expected True or None for what is kept, or else False or the reason, a string."
    )


@contextmanager
def naming(function: object, setting: str, given: str = "") -> Iterator[tuple[str, str]]:
    """Turns whatever a user's own function raises into an error that names the function and what it was given.

    Gives the words for the function and its name, which is empty for a lambda.
    """
    name = getattr(function, "__name__", "<lambda>").replace("<lambda>", "")
    who = f"the {setting} function {name}".rstrip()
    try:
        yield who, name
    except RecombineError:
        raise
    except Exception as error:
        raise RecombineError(f"{who} raised {type(error).__name__}: {error}{given}.") from error


def check_function(name: str, value: object) -> None:
    """Raises the error for a setting that is neither a function nor None."""
    if value is not None and not callable(value):
        raise RecombineError(f"the {name} is {value!r}, expected a function or None.")


def rarity_rule(
    rarity: Rarity, examples: Sequence[Example], found: Rare | None = None, say: Say = lambda _: None
) -> Choice[Validator | None]:
    """Returns what tells rare from common.

    Args:
        rarity: What a user asked for.
        examples: The training examples.
        found: What is rare among them, if that is known already.
        say: Is told what is rare where that was found out.

    Raises:
        RecombineError: If `rarity` is none of the types that it can be.
    """
    choice: Choice[Validator | None]
    if rarity is None:
        return Choice(NOTHING, None, "as given: all samples are kept")
    if isinstance(rarity, Resampler):
        fitted = replace(rarity).fit(examples)
        choice = Choice(TOKENS if fitted.ngram == 1 else NGRAMS, fitted, what_is_rare(fitted))
    elif rarity == "auto":
        found = found or find_rare(examples)
        choice = Choice(found.kind, found.resampler, found.reason)
        say(f"Rare: {choice.reason}.")
    elif callable(rarity):
        choice = Choice("your own", judged(rarity, "rarity"), "as given")
    else:
        raise RecombineError(f"the rarity is {rarity!r}, expected 'auto', a Resampler, a function or None.")
    return choice


class Learned(NamedTuple):
    """What an augmenter learned: what gives samples, which are kept in any case, what was chosen, how training went."""

    augmenter: protocol.Augmenter
    accept: Validator | None
    choices: Mapping[str, Choice[object]]
    history: History | None = None


@dataclass(eq=False, kw_only=True)
class OwnDataAugmenter(Settings, ABC):
    """Learns from data of any kind, then gives new examples.

    Attributes:
        seed: The same seed gives the same samples.
        seeds: How many sets of samples ``sample_each`` returns: for ``seed``, ``seed + 1`` and so on. A learned
            augmenter trains one network for each.
        n: How many samples ``sample`` returns by default, and ``fit_resample`` adds.
        tokens: What a token of a string is: ``"words"`` or ``"characters"``.
        validator: A function that tells which samples are kept; see ``Judge``. None: all are.
        agreement: Whether samples that must have something rare are rejected if their output leaves it out; see
            `agreement_filter`.
        progress: Shows how work goes; a function is told, after every epoch, how training goes.
        examples_: The examples it was fitted to.
        report_: What was chosen, how training went, and what was tried, kept and rejected by the last call of
            ``sample``.
    """

    seed: int = 0
    seeds: int = 1
    n: int = 400
    tokens: str = "words"
    validator: Judge | None = None
    agreement: bool = True
    progress: Report | Display | None = None
    examples_: tuple[Example, ...] = field(default=(), init=False, repr=False)
    report_: Account | None = field(default=None, init=False, repr=False)
    _learned: Learned | None = field(default=None, init=False, repr=False)
    _keep: Validator | None = field(default=None, init=False, repr=False)

    @abstractmethod
    def _learn(self, examples: Sequence[Example], checkpoint: Path | None) -> Learned:
        """Learns from examples."""

    def fit(self, X: Data, y: Column | None = None, *, checkpoint: Path | None = None) -> Self:
        """Learns from training data.

        Args:
            X: Examples, pairs, a data frame or a data set (see ``inputs.Data``); or the inputs.
            y: The outputs, if X are the inputs.
            checkpoint: A file to save the state of training to now and then, and to go on from. Methods that train
                nothing leave it alone.

        Raises:
            RecombineError: If there is too little to learn from, these are no data, or a setting makes no sense.
        """
        check_function("validator", self.validator)
        if not isinstance(self.progress, Display):
            check_function("progress", self.progress)
        check_request(1, self.seed)
        if not isinstance(self.seeds, int) or self.seeds < 1:
            raise RecombineError(f"seeds is {self.seeds!r}, expected a whole number, at least 1.")
        examples = as_examples(X, y, tokens=self.tokens)
        return self._remember(examples, self._learn(examples, checkpoint))

    def _remember(self, examples: Sequence[Example], learned: Learned) -> Self:
        self._learned = learned
        self._keep = sample_filter(examples, learned.accept, agreement=self.agreement)
        self.examples_ = tuple(examples)
        self.report_ = Account(len(dict.fromkeys(examples)), learned.choices, learned.history)
        return self

    def sample(self, n: int | None = None, seed: int | None = None, accept: Judge | None = None) -> Samples:
        """Returns n new examples with their provenance, or fewer with an account of why.

        Args:
            n: How many to return, at least 1; default: the augmenter's own.
            seed: The same seed gives the same samples; default: the augmenter's own.
            accept: Rejects candidates, besides the augmenter's own validator and in the same manner.

        Raises:
            RecombineError: If it was not fitted, n is below 1, the seed below 0, or a function of the user's own fails.
        """
        return self.sample_each(n, seed, accept)[0]

    def sample_each(self, n: int | None = None, seed: int | None = None, accept: Judge | None = None) -> list[Samples]:
        """Returns n new examples for each of ``seeds`` seeds; arguments as for `sample`."""
        if self._learned is None or self.report_ is None:
            raise unfitted(type(self).__name__)
        check_function("accept", accept)
        n, seed = self.n if n is None else n, self.seed if seed is None else seed
        check_request(n, seed)
        keep = all_of(self._keep, judged(self.validator, "validator"), judged(accept, "accept"))
        every = self._draw(self._learned, n, seed, keep)
        self.report_ = replace(self.report_, samples=every[0])
        return every

    def _draw(self, learned: Learned, n: int, seed: int, keep: Validator | None) -> list[Samples]:
        return [learned.augmenter.sample(n, each, keep) for each in range(seed, seed + self.seeds)]

    def fit_resample(self, X: Column, y: Column) -> tuple[Column, Column]:
        """Learns from two columns and returns them with up to ``n`` new examples at their ends, in the types they had.

        Args:
            X: The inputs: strings, or sequences of tokens, in a list, a tuple, an array or a pandas series.
            y: The outputs, likewise.

        If fewer than ``n`` can be made, a warning says why.
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


@dataclass(eq=False, kw_only=True)
class _ByRule(OwnDataAugmenter):
    """Is learned again from the examples when it is loaded, since that takes no training."""

    kind: ClassVar[str]

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Writes the examples and the settings, except for functions, to a folder.

        Args:
            path: The folder.
            force: Whether what was saved there before may be replaced.
        """
        if self._learned is None:
            raise unfitted(type(self).__name__)
        with writing_model(Path(path), self.kind, self._saved(), force=force) as folder:
            write(self.examples_, folder / EXAMPLES)

    @classmethod
    def load(cls, path: str | Path, **settings: Any) -> Self:  # noqa: ANN401
        """Reads what ``save`` wrote. Functions are not saved: give them again, or a warning says what is there instead.

        Args:
            path: The folder.
            settings: Settings to have instead of the saved ones.
        """
        cls._check_names(settings)
        saved = read_model(Path(path), cls.kind, needed=[EXAMPLES])
        with fitting(Path(path)):
            return cls._restored(saved, place=Path(path), given=settings).fit(read(Path(path) / EXAMPLES))


@dataclass(eq=False, kw_only=True)
class GECA(_ByRule):
    """Good-enough compositional augmentation: fragments that were seen in one context take each other's place.

    Attributes:
        fragment_size: The most tokens in a fragment; default: 4 for word forms, 1 for other data.
        gaps: The most fragments that change together; default: 1 for word forms, 2 for other data.
        fewest_gaps_first: Whether more fragments change together only if fewer do not give enough samples.
        novel: What must be new: ``"both"`` sides, the ``"input"`` or the ``"pair"``.
        rarity: Which samples are rare and so are kept; see ``Rarity``. Default: all are kept.
    """

    kind: ClassVar[str] = "geca"
    fragment_size: int | None = None
    gaps: int | None = None
    fewest_gaps_first: bool = False
    novel: Novelty = "both"
    rarity: Rarity = None

    def _learn(self, examples: Sequence[Example], checkpoint: Path | None) -> Learned:
        distinct = distinct_examples(examples, least=2, who="GECA")
        suited = choices.geca(distinct)
        asked = {"fragment_size": self.fragment_size, "gaps": self.gaps}
        given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
        augmenter = replace(suited.value, fewest_gaps_first=self.fewest_gaps_first, novel=self.novel, **given)
        if given:
            suited = Choice(f"gaps={augmenter.gaps}, fragment_size={augmenter.fragment_size}", augmenter, "as given")
        rule = rarity_rule(self.rarity, distinct, say=shown(self.progress).say)
        return Learned(augmenter.fit(distinct), rule.value, {"fragments": suited, "rarity": rule})


@dataclass(eq=False, kw_only=True)
class Oversampler(_ByRule):
    """Repeats the training examples that have something rare in them: what resampling alone gives.

    Attributes:
        rarity: Which examples are rare; see ``Rarity``. ``"auto"``: those that `find_rare` finds or, if it finds none,
            those with a token in fewer than 2 % of the examples. If there are none either, there is nothing to repeat,
            and no samples. None repeats all.
    """

    kind: ClassVar[str] = "oversampler"
    rarity: Rarity = "auto"

    def _learn(self, examples: Sequence[Example], checkpoint: Path | None) -> Learned:
        distinct = distinct_examples(examples, least=1, who="an Oversampler")
        choice = rarity_rule(self.rarity, distinct, find_rare(distinct, seen=True))
        if self.rarity == "auto" and choice.value is None:
            usual = Resampler(relevant=is_tag if are_inflections(distinct) else None).fit(distinct)
            choice = Choice(TOKENS if usual.rare_ else NOTHING, usual, what_is_rare(usual))
        rule = choice.value
        # A function is asked about the examples one by one; until then, any may be rare.
        resampler, accept = (rule, None) if isinstance(rule, Resampler) else (None, rule)
        return Learned(resample.Oversampler(resampler).fit(distinct), accept, {"rarity": choice})
