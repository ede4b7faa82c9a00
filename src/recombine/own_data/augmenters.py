"""The augmenters for one's own data: learned, by rule, both, or whichever suits; and which samples they keep."""

import warnings
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from recombine.augmentation import geca, paradigms, protocol, resample, spans
from recombine.augmentation.agreement import Agreement, Calls, Doubtful, Exponents
from recombine.augmentation.frames import RULES
from recombine.augmentation.protocol import (
    Novelty,
    Samples,
    Validator,
    check_request,
    distinct_examples,
    together,
    unfitted,
)
from recombine.augmentation.recombination import Recombination
from recombine.augmentation.resample import NGRAMS, NOTHING, TOKENS, Rare, Resampler, find_rare, what_is_rare
from recombine.augmentation.sampler import SamplingSettings, Validators
from recombine.data.files import read, write
from recombine.data.store import read_model, writing_model
from recombine.data.text import shown as shortened
from recombine.data.untrusted import fitting
from recombine.errors import NoNeighborhood, NothingMade, RecombineError, unknown
from recombine.example import Example, Tokens
from recombine.execution.executor import SERIAL, Executor
from recombine.execution.progress import Report, Say
from recombine.inflection import are_inflections, are_word_forms, is_inflection, is_tag
from recombine.models.device import resolve
from recombine.neighborhoods import Effort, LongShort, Neighborhoods, OnePrototype, Rule
from recombine.own_data import choices, networks
from recombine.own_data.checks import Check
from recombine.own_data.choices import Choice, tokens_chosen
from recombine.own_data.inputs import Column, Data, as_examples, extended
from recombine.own_data.rehearsal import LEVELS, LIKELY, Expected, Rehearsal, Rehearsed, RehearsedForms, rehearse_forms
from recombine.own_data.settings import (
    CHOICES,
    Account,
    Display,
    Settings,
    check_function,
    choices_from_json,
    shown,
    training,
)
from recombine.training.fitted import History
from recombine.training.presets import SMALL_GENERATOR
from recombine.training.recipe import Recipe
from recombine.training.stored import TOKENS as KIND_OF_TOKENS

EXAMPLES = "examples.jsonl"

NAMED = 10
"""How many rare tokens without a sample are named."""

AUTO: Literal["auto"] = "auto"

MUCH_WORSE, LEAST_JUDGED = 0.1, 20
"""A rule is trusted if by rehearsal the share of its samples that are right is not that much less than another's, and
so many samples could be judged."""

UNSURE, KNOWN = "with a chance of being right below", "with the input of an example that was left out"

DRAWING = 60.0
"""Where time is bounded, seconds for drawing samples from networks, if training has no more."""

FEW_DOUBTFUL = 0.1
"""Doubtful examples are left out if they are at most this share: what is more frequent is how the data are."""

SURPLUS, MOST_SURPLUS = 4, 2000
"""Rules make so many times the samples that are asked for, and at most so many more, to choose from."""

EXPECTED = {"geca": Expected(inputs=(12.0, 0.25), outputs=(6.0, 0.25)), "spans": Expected((4.0, 0.2), (1.4, 0.6))}
"""What is expected of rules before rehearsal, so wide that results/calibration.txt agrees."""

Judge = Callable[[Example], str | bool | None]
"""A user's own function that looks at a sample: True or None keeps it; False or a string, the reason, rejects it. So a
function that returns nothing keeps all. The reason that False stands for is the function's name."""

Rarity = Literal["auto"] | Judge | None
"""Which samples are rare and so are kept: ``"auto"`` (see `find_rare`); a resampler, which is fitted to the examples;
any ``Judge``, which keeps the rare ones; None: all samples are kept."""

NeighborhoodFunction = Callable[[Sequence[Example]], Iterable[Sequence[int]]]
"""Gives, for the different examples, rows (target, prototype) or (target, first, second prototype): their positions."""


def sample_filter(examples: Sequence[Example], rare: Validator | None, *, agreement: bool = True) -> Validator | None:
    """Returns what samples must satisfy: word forms give word forms; if only rare samples are kept, they must agree.

    If `rare` is None, all samples are kept; see `agreement_filter` for agreement, and `Calls`. Where outputs are JSON,
    so are those of samples.
    """
    form = _word_form if are_inflections(examples) else _json(examples)
    if not agreement or rare is None:
        return all_of(form, rare)
    calls = None if are_inflections(examples) else Calls.of(examples)
    return all_of(form, agreement_filter(examples, rare), calls, rare)


def _json(examples: Sequence[Example]) -> Validator | None:
    """Returns what rejects outputs that are not JSON, if those of examples are objects or lists of JSON."""
    if any(example.y[:1] == () or example.y[0][0] not in "{[" for example in examples):
        return None
    checks = (Check("json", kind) for kind in ("code", "words"))
    return next((check for check in checks if all(check(example) is None for example in examples)), None)


def agreement_filter(examples: Sequence[Example], rare: Validator) -> Validator | None:
    """Returns what rejects samples whose output leaves out, or makes up, what is rare in their input.

    Only a resampler (`rare`, fitted to the examples) says which tags of word forms are rare; else there is no filter.
    """
    if not are_inflections(examples):
        return Agreement.of(examples)
    if not isinstance(rare, Resampler):
        return None
    return Exponents.of(examples, {token for found in rare.rare_ for token in found.ngram if is_tag(token)})


def _anything(sample: Example) -> str | None:
    """Is satisfied with whatever a sample has."""
    return None


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


def rarity_rule(
    rarity: Rarity, examples: Sequence[Example], found: Rare | None = None, say: Say = lambda _: None
) -> Choice[Validator | None]:
    """Returns what tells rare from common, as a user asked for it; `say` is told what is rare where it was found out.

    What is rare among the training examples need not be looked for again where it was `found` already.
    """
    if rarity is None:
        return Choice(NOTHING, None, "as given: all samples are kept")
    if isinstance(rarity, Resampler):
        fitted = replace(rarity).fit(examples)
        return Choice(TOKENS if fitted.ngram == 1 else NGRAMS, fitted, what_is_rare(fitted))
    if rarity == AUTO:
        found = found or find_rare(examples)
        say(f"Rare: {found.reason}.")
        return Choice(found.kind, found.resampler, found.reason)
    if not callable(rarity):
        raise RecombineError(f"the rarity is {rarity!r}, expected 'auto', a Resampler, a function or None.")
    return Choice("your own", judged(rarity, "rarity"), "as given")


class Learned(NamedTuple):
    """What an augmenter learned: what gives samples, which are kept in any case, what was chosen, how training went.

    If it learned from some of the examples only, also from which.
    """

    augmenter: protocol.Sampling
    accept: Validator | None
    choices: Mapping[str, Choice[object]]
    history: History | None = None
    examples: Sequence[Example] | None = None


@dataclass(eq=False, kw_only=True)
class OwnDataAugmenter(Settings, ABC):
    """Learns from data of any kind, then gives new examples.

    Attributes:
        seed: The same seed gives the same samples.
        seeds: How many sets of samples ``sample_each`` returns: for ``seed``, ``seed + 1`` and so on. A learned
            augmenter trains one network for each.
        n: How many samples ``sample`` returns by default, and ``fit_resample`` adds; default: 400, or as many as suit
            the data (`choices.how_many`) if GECA or spans make them.
        tokens: What a token of a string is: ``"words"``, ``"characters"`` or ``"code"`` (words, numbers and marks);
            default: as in the file that ``read`` gave; else code where that suits the examples, or words.
        validator: A function that tells which samples are kept (see ``Judge``), or a `Check`. None: all are.
        agreement: Whether samples that must have something rare are rejected if their output leaves it out; see
            `agreement_filter`.
        progress: Shows how work goes; a function is told, after every epoch, how training goes. None: shown to people
            at a terminal or notebook; False: not shown.
        examples_: The examples it was fitted to.
        tokens_: What a token of a string was in them.
        report_: What was chosen, how training went, and what was tried, kept and rejected by the last call of
            ``sample``.
    """

    seed: int = 0
    seeds: int = 1
    n: int | None = None
    tokens: str | None = None
    validator: Judge | None = None
    agreement: bool = True
    progress: Report | Display | bool | None = None
    examples_: tuple[Example, ...] = field(default=(), init=False, repr=False)
    tokens_: str = field(default="words", init=False, repr=False)
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
        """
        check_function("validator", self.validator)
        shown(self.progress)  # an error that comes before the work costs none
        check_request(1 if self.n is None else self.n, self.seed)
        if not isinstance(self.seeds, int) or self.seeds < 1:
            raise RecombineError(f"seeds is {self.seeds!r}, expected a whole number, at least 1.")
        examples = as_examples(X, y, tokens=self.tokens)
        if isinstance(self.validator, Check):
            self.validator.fitted(examples, examples.tokens)
        self.tokens_ = examples.tokens
        return self._remember(examples, self._learn(examples, checkpoint))

    def _remember(self, examples: Sequence[Example], learned: Learned) -> Self:
        self._learned = learned
        self._keep = sample_filter(learned.examples or examples, learned.accept, agreement=self.agreement)
        self.examples_ = tuple(examples)
        chosen = {} if self.tokens else tokens_chosen(examples, self.tokens_)
        self.report_ = Account(len(dict.fromkeys(examples)), {**chosen, **learned.choices}, learned.history)
        return self

    def sample(self, n: int | None = None, seed: int | None = None, accept: Judge | None = None) -> Samples:
        """Returns n new examples with their provenance, or fewer with an account of why.

        Args:
            n: How many to return, at least 1; default: the augmenter's own.
            seed: The same seed gives the same samples; default: the augmenter's own.
            accept: Rejects candidates, besides the augmenter's own validator and in the same manner.
        """
        return self.sample_each(n, seed, accept)[0]

    def sample_each(self, n: int | None = None, seed: int | None = None, accept: Judge | None = None) -> list[Samples]:
        """Returns n new examples for each of ``seeds`` seeds; arguments as for `sample`."""
        if self._learned is None or self.report_ is None:
            raise unfitted(type(self).__name__)
        check_function("accept", accept)
        n, seed = self._usual if n is None else n, self.seed if seed is None else seed
        check_request(n, seed)
        asked = {"validator": self.validator, "accept": accept}
        for name, judge in asked.items():
            if isinstance(judge, Check):
                asked[name] = judge.fitted(self.examples_, self.tokens_)
        keep = all_of(self._keep, *(judged(judge, name) for name, judge in asked.items()))
        rarity = self._learned.choices.get("rarity")
        every = [
            replace(_with_warning(samples, rarity and rarity.value), tokens=self.tokens_)
            for samples in self._draw(self._learned, n, seed, keep)
        ]
        self.report_ = replace(self.report_, samples=every[0])
        return every

    @property
    def _usual(self) -> int:
        """How many samples there are by default."""
        assert self._learned is not None
        if self.n is not None:
            return self.n
        exchanging = isinstance(self._learned.augmenter, geca.GECA | spans.Spans | _TakingTurns)
        return choices.how_many(len({*self.examples_})) if exchanging else choices.SAMPLES

    def _draw(self, learned: Learned, n: int, seed: int, keep: Validator | None) -> list[Samples]:
        return [learned.augmenter.sample(n, each, keep) for each in range(seed, seed + self.seeds)]

    def fit_resample(self, X: Column, y: Column) -> tuple[Column, Column]:
        """Learns from two columns and returns them with up to ``n`` new examples at their ends, in the types they had.

        Columns are lists, tuples, arrays or pandas series of strings, or of sequences of tokens. If fewer than ``n``
        can be made, a warning says why.
        """
        X, y = (list(column) if isinstance(column, Iterator) else column for column in (X, y))  # gone through twice
        samples = self.fit(X, y).sample()
        if len(samples) < samples.requested:
            warnings.warn(samples.account, RuntimeWarning, stacklevel=2)
        return (
            extended(X, [sample.x for sample in samples], tokens=self.tokens_),
            extended(y, [sample.y for sample in samples], tokens=self.tokens_),
        )


@dataclass(eq=False, kw_only=True)
class _ByRule(OwnDataAugmenter):
    """Is learned again from the examples when it is loaded, since that takes no training."""

    kind: ClassVar[str]

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Writes the examples and the settings, except for functions, to a folder; `force` replaces what is there."""
        if self._learned is None:
            raise unfitted(type(self).__name__)
        saved = {**self._saved(), KIND_OF_TOKENS: self.tokens_}
        with writing_model(Path(path), self.kind, saved, force=force) as folder:
            write(self.examples_, folder / EXAMPLES, tokens=self.tokens_)

    @classmethod
    def load(cls, path: str | Path, **settings: Any) -> Self:  # noqa: ANN401
        """Reads what ``save`` wrote; settings can be given instead of the saved ones.

        Functions are not saved: give them again, or a warning says what is there instead.
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
class Spans(_ByRule):
    """Pieces of inputs, with what they stand for in outputs, take each other's place in pairs that fit them.

    Attributes:
        novel: What must be new: the ``"input"``, ``"both"`` sides, or the ``"pair"``.
        rarity: Which samples are rare and so are kept; see ``Rarity``. None keeps all.
    """

    kind: ClassVar[str] = "spans"
    novel: Novelty = "input"
    rarity: Rarity = "auto"

    def _learn(self, examples: Sequence[Example], checkpoint: Path | None) -> Learned:
        distinct = distinct_examples(examples, least=2, who="Spans")
        if are_inflections(distinct):
            raise NoNeighborhood("spans do not suit word forms: no character of a form stands for a tag.")
        rule = rarity_rule(self.rarity, distinct, say=shown(self.progress).say)
        return Learned(spans.Spans(self.novel).fit(distinct), rule.value, {"rarity": rule})


@dataclass(eq=False, kw_only=True)
class Paradigms(_ByRule):
    """Word forms by rule: lemmas take what other lemmas' forms with rare tags have, and what follows by analogy.

    Attributes:
        rarity: Which samples are rare and so are kept; see ``Rarity``. None keeps all.
    """

    kind: ClassVar[str] = "paradigms"
    rarity: Rarity = AUTO

    def _learn(self, examples: Sequence[Example], checkpoint: Path | None) -> Learned:
        distinct = distinct_examples(examples, least=2, who="Paradigms")
        if not are_inflections(distinct):
            raise RecombineError(paradigms.NO_WORD_FORMS, hint=paradigms.WORD_FORMS_ARE)
        rule = rarity_rule(self.rarity, distinct, say=shown(self.progress).say)
        shows = sample_filter(distinct, rule.value, agreement=self.agreement)
        return Learned(paradigms.Paradigms(shows).fit(distinct), rule.value, {"rarity": rule})


@dataclass(eq=False, kw_only=True)
class Oversampler(_ByRule):
    """Repeats the training examples that have something rare in them: what resampling alone gives.

    Attributes:
        rarity: Which examples are rare; see ``Rarity``. ``"auto"``: those with something that `find_rare` finds or, if
            no example has any, those with a token in fewer than 2 % of the examples. If there are none either, there is
            nothing to repeat, and no samples. None repeats all.
    """

    kind: ClassVar[str] = "oversampler"
    rarity: Rarity = AUTO

    def _learn(self, examples: Sequence[Example], checkpoint: Path | None) -> Learned:
        distinct = distinct_examples(examples, least=1, who="an Oversampler")
        found = find_rare(distinct)
        choice = rarity_rule(self.rarity, distinct, found)
        if self.rarity == AUTO and not found.seen:
            usual = Resampler(relevant=is_tag if are_inflections(distinct) else None).fit(distinct)
            choice = Choice(TOKENS if usual.rare_ else NOTHING, usual, what_is_rare(usual))
        rule = choice.value
        # A function is asked about the examples one by one; until then, any may be rare.
        resampler, accept = (rule, None) if isinstance(rule, Resampler) else (None, rule)
        return Learned(resample.Oversampler(resampler).fit(distinct), accept, {"rarity": choice})


@dataclass(eq=False, kw_only=True)
class Augmenter(OwnDataAugmenter):
    """Recombine and resample: learns to make examples of other examples, and keeps new ones with something rare.

    What is ``"auto"`` is chosen from the data; ``report_.choices`` says how and why.

    Attributes:
        neighborhood: Which examples can give which: the name of a rule, a rule, or a function (see
            ``NeighborhoodFunction``). With a function, samples are made of any prototypes, as with the long-short rule,
            and the model is saved under the name of that rule (or of one-prototype).
        prototypes: How many examples each sample is made of: 0, 1 or 2; default: as many as the neighborhoods have.
        rarity: Which samples are rare and so are kept; see ``Rarity``. None keeps all, as
            ``recombine augment --no-resample`` does.
        network: ``"small"``, ``"paper"``, or a recipe.
        epochs: How many passes over the data; default: chosen.
        max_time: Seconds of training at most, then as many of drawing samples, at least a minute; default: no bound.
        sampling: How samples are drawn; default: see ``recombination.DEFAULT_SAMPLING``.
        device: ``auto``, ``cpu`` or ``cuda``.
        executor: Who searches for neighborhoods and draws samples; default: this process.
    """

    neighborhood: str | Rule | NeighborhoodFunction = AUTO
    prototypes: int | None = None
    rarity: Rarity = AUTO
    network: str | Recipe = AUTO
    epochs: int | None = None
    max_time: float | None = None
    sampling: SamplingSettings | None = None
    device: str = AUTO
    executor: Executor | None = None

    def _learn(self, examples: Sequence[Example], checkpoint: Path | None) -> Learned:
        distinct = distinct_examples(examples, least=2, who="an Augmenter")
        resolve(self.device)
        networks.length(SMALL_GENERATOR, epochs=self.epochs, max_time=self.max_time)
        display, rare = shown(self.progress), find_rare(distinct)
        kept = rarity_rule(self.rarity, distinct, rare, display.say)
        with display.searching("Looking for neighborhoods", len(distinct), self.executor) as effort:
            rule, found = self._neighborhoods(distinct, rare, effort)
        if len(found.value):
            ways = f"{len(found.value):,} ways to rebuild one of the examples from others"
            display.say(f"Neighborhood {found.value.rule}: {ways}.")
        prototypes = found.value.prototypes if self.prototypes is None else self.prototypes
        made: dict[str, Choice[Any]] = {"rarity": kept, "neighborhood": found}
        most = None
        if isinstance(self.network, Recipe):
            made["network"] = Choice("your own", self.network, "as given")
        else:
            made["size"] = networks.size(self.network, distinct, self.device)
            most = networks.GENERATOR_STEPS
            made["network"] = networks.generator(
                distinct, made["size"].value, rare=rare.kind, prototypes=prototypes, rule=found.value.rule
            )
        made["length"] = networks.length(made["network"].value, most=most, epochs=self.epochs, max_time=self.max_time)
        augmenter = Recombination(
            rule,
            made["length"].value,
            sampling=self.sampling,
            prototypes=prototypes,
            focus=kept.value,
            seeds=range(self.seed, self.seed + self.seeds),
            device=self.device,
        )
        what = "the recombination network" if self.seeds == 1 else f"{self.seeds} recombination networks"
        with training(what, display, checkpoint) as report:
            augmenter.fit_on(distinct, found.value, report=report, checkpoint=checkpoint)
        history = augmenter.fitted_.history
        made["length"] = networks.taken_length(made["length"], history)
        return Learned(augmenter, kept.value, made, history)

    def _neighborhoods(
        self, distinct: Sequence[Example], rare: Rare, effort: Effort
    ) -> tuple[Rule, Choice[Neighborhoods]]:
        asked = self.neighborhood
        if isinstance(asked, str):
            if asked not in (AUTO, *RULES):
                raise unknown("neighborhood", asked, (AUTO, *RULES))
            rules = list(map(choices.rule_named, choices.rule_names(distinct, rare) if asked == AUTO else (asked,)))
        elif callable(asked):
            with naming(asked, "neighborhood"):
                given = asked(distinct)
            rows = _checked(given, len(distinct))
            rule: Rule = OnePrototype() if rows.shape[1] == 2 else LongShort()
            reason = f"as given, {len(rows):,} ways to rebuild one of the examples from others"
            return rule, Choice("your own", Neighborhoods(rows, rule.name), reason)
        elif hasattr(asked, "build"):
            rules = [asked]
        else:
            raise RecombineError(f"the neighborhood is {asked!r}, expected a name, a rule or a function.")
        if self.prototypes == 0:  # nothing is rebuilt from anything
            nothing = Neighborhoods(np.empty((0, 1), dtype=np.int32), rules[0].name)
            return rules[0], Choice(nothing.rule, nothing, "as given, no prototypes")
        found = choices.neighborhoods(distinct, rules, prototypes=self.prototypes, seed=self.seed, effort=effort)
        rule = next(rule for rule in rules if rule.name == found.name)
        return rule, found if asked == AUTO else replace(found, reason=f"as given; {found.reason}")

    def _draw(self, learned: Learned, n: int, seed: int, keep: Validators) -> list[Samples]:
        times = f"{self.seeds} x " if self.seeds > 1 else ""
        with shown(self.progress).progress(f"Drawing candidates for {times}{n:,} samples") as report:
            return self.networks_.sample_each(
                n, seed, keep, seconds=self._for_drawing, report=report, executor=self.executor or SERIAL
            )

    @property
    def _for_drawing(self) -> float | None:
        return None if self.max_time is None else max(self.max_time, DRAWING)

    @property
    def has_networks(self) -> bool:
        """Whether networks were trained."""
        return self._learned is not None and isinstance(self._learned.augmenter, Recombination)

    @property
    def networks_(self) -> Recombination:
        """The trained networks; an error, if rules were trusted and none were trained."""
        if self._learned is None:
            raise unfitted(type(self).__name__)
        if not isinstance(self._learned.augmenter, Recombination):
            hint = "To train networks use Augmenter."
            raise RecombineError("no networks were trained: rules make the samples.", hint=hint)
        return self._learned.augmenter

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Writes what was learned to a folder, from which ``recombine augment --model`` can draw, too.

        With `force`, a model that is there is replaced.
        """
        found = self.networks_
        assert self._learned is not None
        told = {what: [choice.name, choice.reason] for what, choice in self._learned.choices.items()}
        found.notes = {**self._saved(), KIND_OF_TOKENS: self.tokens_, CHOICES: told}
        found.save(path, force=force)

    @classmethod
    def load(cls, path: str | Path, **settings: Any) -> Self:  # noqa: ANN401
        """Reads what ``save`` or ``recombine augment --model`` wrote.

        Settings can be given instead of the saved ones, such as ``device``, ``rarity`` or ``validator``. Functions are
        not saved: give them again, or a warning says what is there instead. ``max_time`` is
        not kept: given to ``load``, it bounds the drawing alone.
        """
        cls._check_names(settings)
        found = Recombination.load(path, device=settings.get("device", AUTO))
        examples = found.examples_ or ()
        known = {
            "seed": found.seeds[0],
            "seeds": len(found.seeds),
            "neighborhood": found.rule,
            "network": found.recipe,
            "sampling": found.sampling,
        }
        with fitting(Path(path)):
            names = {setting.name for setting in fields(cls)} - {"max_time"}  # which bounded training
            saved = {name: value for name, value in found.notes.items() if name in names}
            others = {name: value for name, value in known.items() if name not in saved}
            augmenter = cls._restored(saved, place=Path(path), given={**others, **settings})
            values = {"neighborhood": found.neighborhoods_, "network": found.recipe, "length": found.recipe}
            made = choices_from_json(found.notes.get(CHOICES, {}), values)
        augmenter.tokens_ = augmenter.tokens or augmenter.tokens_
        kept = rarity_rule(augmenter.rarity, examples, say=shown(augmenter.progress).say)
        found.focus = kept.value
        if augmenter.sampling is not None:
            found.sampling = augmenter.sampling
        return augmenter._remember(examples, Learned(found, kept.value, {**made, "rarity": kept}))


@dataclass(eq=False, kw_only=True)
class Both(Augmenter):
    """Half of the samples are GECA's, or as many as it can make; networks make the others, with other inputs.

    Attributes:
        gaps: See `GECA`.
        fewest_gaps_first: See `GECA`.
    """

    gaps: int | None = None
    fewest_gaps_first: bool = False

    @property
    def learned(self) -> Augmenter:
        """The networks alone."""
        names = {setting.name for setting in fields(Augmenter)}
        alone = Augmenter(**{name: value for name, value in self.get_params().items() if name in names})  # type: ignore[arg-type]
        assert self._learned is not None
        alone.tokens_ = self.tokens_
        return alone._remember(self.examples_, self._learned)

    def _draw(self, learned: Learned, n: int, seed: int, keep: Validators) -> list[Samples]:
        if n < 2:
            raise RecombineError("one sample cannot be made by both methods.", hint="Ask for at least 2.")
        assert keep is None or callable(keep)
        geca = GECA(gaps=self.gaps, fewest_gaps_first=self.fewest_gaps_first, seeds=self.seeds).fit(self.examples_)
        by_rule = geca.sample_each(n // 2, seed, keep)
        shown(self.progress).say(f"geca: {by_rule[0].account}")
        rest = n - len(by_rule[0])  # alike for every seed: half of n, or all that can be made
        accept = [all_of(keep, _no_input_of(samples)) for samples in by_rule]
        every = map(together, zip(by_rule, super()._draw(learned, rest, seed, accept), strict=True))
        # Networks were asked for what GECA fell short of.
        return [replace(found, requested=n, shortfall=found.shortfall if len(found) < n else "") for found in every]


@dataclass(frozen=True, eq=False)
class _Source:
    """A fitted rule that gives samples, those of them that are wanted, and what rehearsal showed of these."""

    rule: str
    fitted: protocol.Augmenter
    wanted: Validator | None
    rehearsal: Rehearsal
    verdict: Rehearsed

    def rarest(self, sample: Example) -> Tokens | None:
        """Returns what is rarest in the input of a sample; None if nothing rare is in it or asked for."""
        if not isinstance(self.wanted, Resampler):
            return None
        rarest = self.wanted.rarest(Example(sample.x, ()))
        return rarest.ngram if rarest and rarest.probability < self.wanted.epsilon else None

    def probability(self, sample: Example) -> float:
        """Returns the estimated probability that a sample is right."""
        return self.verdict.share_like(self.rehearsal.like(sample), self.rehearsal.level(sample))

    @property
    def surest(self) -> float:
        """The highest probability that a sample can have."""
        items = [None, *(count.item for count in self.verdict.counts)]
        return max(self.verdict.share_like(item, level) for item in items for level in LEVELS)

    def limits(self, samples: Sequence[Example]) -> tuple[float, float]:
        """Returns between which shares of samples are right."""
        levels = np.bincount([self.rehearsal.level(sample) for sample in samples], minlength=len(LEVELS))
        return self.verdict.interval_of(levels, sum(map(self.probability, samples)) / len(samples))


@dataclass(eq=False)
class _Rules:
    """GECA and spans, fitted to examples, and what rehearsal showed of their samples.

    Attributes:
        tried: What was rehearsed: the rules for any samples (True) or for rare ones (False).
        unable: Why a rule makes no sample.
    """

    examples: Sequence[Example]
    rare: Rare
    settings: "Auto"
    tried: dict[bool, list[_Source]] = field(default_factory=dict)
    unable: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        rules: dict[str, protocol.Augmenter] = {"geca": choices.geca(self.examples).value, "spans": spans.Spans()}
        self.fitted = {name: rule.fit(self.examples) for name, rule in rules.items()}

    @property
    def told(self) -> str:
        """What was rehearsed, what was found, and which rules are not taken."""
        return "; ".join(map(_told, filter(None, self.tried.values())))

    def trusted(self, wanted: Validator | None) -> list[_Source]:
        """Returns the rules that can be trusted with samples that are rare (`wanted`), or any; rehearsed once."""
        if (anything := wanted is None) not in self.tried:
            self.tried[anything] = self._rehearsed(wanted)
        return _trusted(self.tried[anything])

    def _rehearsed(self, wanted: Validator | None) -> list[_Source]:
        settings, accept = self.settings, partial(sample_filter, rare=_anything, agreement=self.settings.agreement)
        keep = all_of(accept(self.examples), wanted)
        drawn = {name: rule.sample(1, settings.seed, keep) for name, rule in self.fitted.items()}
        self.unable += [samples.shortfall for samples in drawn.values() if not samples]
        if not any(drawn.values()):
            return []  # there is nothing to rehearse
        rehearsal = Rehearsal(self.examples, None if wanted is None else self.rare, settings.seed)
        tried = list[_Source]()
        of_rare = {each.rule: each.verdict for each in self.tried.get(False, ()) if each.verdict.counts}
        for name in (name for name, samples in drawn.items() if samples):
            fit, expected = copy(self.fitted[name]).fit, EXPECTED[name]
            with shown(settings.progress).progress(f"Rehearsing {name}") as report:
                verdict = rehearsal.rehearse(fit, accept, expected=expected, seconds=settings.rehearse, report=report)
            verdict = replace(verdict, of_rare=of_rare.get(name))
            tried.append(_Source(name, self.fitted[name], wanted, rehearsal, verdict))
        return tried


def _told(tried: Sequence[_Source]) -> str:
    """Returns what was rehearsed, what was found, and which rules are not taken."""
    taken = _trusted(tried)
    counts = {each: each.verdict.samples for each in tried}
    few = {each: f" (only {count} judged)" * (0 < count < LEAST_JUDGED) for each, count in counts.items()}
    found = [f"{each.rule} {each.verdict}" + f", not taken{few[each]}" * (each not in taken) for each in tried]
    return f"{tried[0].rehearsal.what}: {'; '.join(found)}"


@dataclass(frozen=True, eq=False)
class _TakingTurns:
    """Sources that take turns; if they give too few samples, others go on, which are asked for only then.

    Samples that are right with a smaller probability than `precision` are turned down; if it is None, those that are
    likelier wrong than right.
    """

    sources: Sequence[_Source]
    others: _Rules | None
    precision: float | None

    def sample(self, n: int, seed: int = 0, accept: Validator | None = None) -> Samples:
        """Returns up to n samples of the sources in turn, each input once, with the probability that each is right."""
        found, parts = self._in_turn(self.sources, n, seed, accept)
        few = ""
        if self.others and len(found) < n and (others := self.others.trusted(None)):
            rare = len(found)
            for source in others:  # the surest first
                if len(found) < n:
                    further, theirs = self._in_turn([source], n, seed, accept)
                    found, parts = found | further | found, parts | theirs  # found before: stays, and comes first
            if 0 < rare < len(found):
                few = f"The first {rare:,} have a rare token, all that trusted rules make of these. "
                few += f"Others are any new ones; rehearsed {_told(self.others.tried[True])}."
        kept, right = list[Example](), list[float]()
        of_source: dict[_Source, list[Example]] = {source: [] for source in parts}
        for source, sample in islice(found.values(), n):
            right.append(source.probability(sample))
            of_source[source].append(sample)
            kept.append(_with_right(sample, right[-1]))
        estimate = None
        if kept:
            limits = [(len(own), source.limits(own)) for source, own in of_source.items() if own]
            low, high = (sum(count * limit[side] for count, limit in limits) / len(kept) for side in (0, 1))
            mean = sum(right) / len(kept)
            estimate = min(low, mean), mean, max(high, mean)
        # A rule that makes rare samples, and then any, is told of once.
        short = {source.rule: part.shortfall for source, part in parts.items()}
        shortfall = " ".join(filter(None, short.values())) if len(kept) < n else ""
        if not kept and self.precision:
            surest = max(source.surest for source in parts)
            shortfall += (
                f" The surest would be right with a probability of {surest:.2f}, for a precision of {self.precision:g}."
            )
        made = together([*parts.values()])
        warning = " ".join(filter(None, (made.warning, few, _none_unsure(made, self.precision))))
        return replace(made, examples=tuple(kept), requested=n, shortfall=shortfall, warning=warning, estimate=estimate)

    def _part(self, source: _Source, n: int, seed: int, accept: Validator | None) -> Samples:
        """Returns up to n samples of a source: of some more, as many with each rare thing, as far as there are."""
        inputs: set[Tokens] = set()

        def once(sample: Example) -> str | None:
            if sample.x in inputs:
                return "with an input that has a sample"
            inputs.add(sample.x)
            return None

        keep = all_of(accept, source.wanted, partial(self._unsure, source), once)
        samples = source.fitted.sample(min(SURPLUS * n, n + MOST_SURPLUS), seed, keep)
        alike: dict[Tokens | None, list[Example]] = defaultdict(list)
        for sample in samples:
            alike[source.rarest(sample)].append(sample)
        in_turn = (sample for turn in zip_longest(*alike.values()) for sample in turn if sample is not None)
        short = samples.shortfall if len(samples) < n else ""
        return replace(samples, examples=tuple(islice(in_turn, n)), requested=n, shortfall=short)

    def _in_turn(
        self, sources: Sequence[_Source], n: int, seed: int, accept: Validator | None
    ) -> tuple[dict[Tokens, tuple[_Source, Example]], dict[_Source, Samples]]:
        """Returns samples of sources in turn, with their sources, by their inputs; and all that each source gave."""
        share = min(n, 2 * n // len(sources) + 1)
        parts = {source: self._part(source, share, seed, accept) for source in sources}
        found = _by_input(parts)
        if len(found) < n and share < n:  # some fell short of their share, so the others are to give more
            for source, part in parts.items():
                parts[source] = part if len(part) < share else self._part(source, n, seed, accept)
            found = _by_input(parts)
        return found, parts

    def _unsure(self, source: _Source, sample: Example) -> str | None:
        return _unsure(source.probability(sample), LIKELY if self.precision is None else self.precision)


def _by_input(parts: Mapping[_Source, Samples]) -> dict[Tokens, tuple[_Source, Example]]:
    """Returns the samples of sources in turn, with their sources, by their inputs."""
    found: dict[Tokens, tuple[_Source, Example]] = {}
    for turn in zip_longest(*parts.values()):
        for source, sample in zip(parts, turn, strict=True):
            if sample is not None:
                found.setdefault(sample.x, (source, sample))
    return found


@dataclass(frozen=True, eq=False)
class _Estimated:
    """Paradigms, whose samples are told how likely they are right; those below a `precision` are turned down."""

    fitted: paradigms.Paradigms
    verdict: RehearsedForms
    precision: float | None

    def sample(self, n: int, seed: int = 0, accept: Validator | None = None) -> Samples:
        """Returns up to n samples with the probability that each is right, and an estimate for all of them."""
        samples = self.fitted.sample(n, seed, all_of(accept, self._unsure))
        right = list(map(self.verdict.probability, samples))
        examples = tuple(_with_right(*each) for each in zip(samples, right, strict=True))
        estimate = None
        if examples:
            mean = sum(right) / len(right)
            low, high = self.verdict.limits(mean, len(right))
            estimate = min(low, mean), mean, max(high, mean)
        warning = " ".join(filter(None, (samples.warning, _none_unsure(samples, self.precision))))
        return replace(samples, examples=examples, estimate=estimate, warning=warning)

    def _unsure(self, sample: Example) -> str | None:
        return _unsure(self.verdict.probability(sample), self.precision or 0.0)


def _with_right(sample: Example, right: float) -> Example:
    """Returns a sample that says how likely it is right."""
    assert sample.provenance is not None
    details = {**sample.provenance.details, "right": round(right, 2)}
    return sample.with_provenance(replace(sample.provenance, details=details))


def _unsure(right: float, precision: float) -> str | None:
    return f"{UNSURE} {precision:g}" if right < precision else None


def _none_unsure(samples: Samples, precision: float | None) -> str:
    none = precision is not None and _unsure(0, precision) not in samples.rejected
    return f"A precision of {precision:g} turned none down." if none else ""


@dataclass(eq=False, kw_only=True)
class Auto(Augmenter):
    """Finds out which methods can be trusted with the data, and takes these.

    GECA and spans are rehearsed: tokens that are used like the rare ones, but often, are made rare, and the examples
    that were taken out judge the samples with them. The rules whose samples come out right take turns; every sample
    carries the estimated probability that it is right, as ``details["right"]`` of its provenance. If no rule can be
    trusted, ``fit`` raises ``NothingMade``.

    Word forms are made by `Paradigms`, rehearsed on frequent tags made rare, however many are right: also a wrong form
    of a rare tag may show a predictor what the tag looks like. Where it makes none, networks are trained, as by
    `Augmenter`, which have no estimate.

    With the default ``rarity="auto"``, samples with rare tokens come first; if there are too few, any others that are
    new follow. If no token is rare, or none that new samples could have, it is not known what is missing: samples with
    rare pairs of tokens take turns with any others. These are rehearsed on examples that were taken out at random.

    Attributes:
        rehearse: Seconds of computing that the rehearsal of a rule may take; 0: networks are trained without any.
        precision: Keeps only samples that are right with at least this probability; default: 0.5, which is the least,
            but all word forms.
    """

    rehearse: float = 30.0
    precision: float | None = None

    def _learn(self, examples: Sequence[Example], checkpoint: Path | None) -> Learned:
        distinct = distinct_examples(examples, least=2, who="an augmenter")
        if self.precision is not None and not (isinstance(self.precision, float | int) and 0 < self.precision <= 1):
            message = f"precision is {self.precision!r}, expected a number above 0 and at most 1."
            raise RecombineError(message, hint="90 % is 0.9.")
        if self.precision is not None and self.precision < LIKELY and not are_inflections(distinct):
            message = f"precision is {self.precision}, expected at least {LIKELY}."
            raise RecombineError(message, hint="Rules whose samples are likelier wrong than right are never trusted.")
        if not isinstance(self.rehearse, float | int) or self.rehearse < 0:
            raise RecombineError(f"rehearse is {self.rehearse!r}, expected seconds, 0 or more.")
        display = shown(self.progress)
        if self.rehearse == 0:
            return self._by_networks(examples, checkpoint, "no rehearsal was asked for")
        left_out = _left_out(distinct)
        if left_out is not None:
            display.say(f"Left out: {left_out}.")
            distinct = tuple(example for example in distinct if example not in left_out.value)
        rare = find_rare(distinct)
        kept = rarity_rule(self.rarity, distinct, rare, display.say)
        if self.rarity != AUTO and isinstance(kept.value, Resampler):  # as a user asked for it
            rare = Rare(kept.name, kept.value, kept.reason)
        if are_inflections(distinct):
            found = self._by_paradigms(distinct, kept, rare)
            return found or self._by_networks(examples, checkpoint, "no form follows by rule from those with rare tags")
        rules = _Rules(distinct, rare, self)
        sources, others = rules.trusted(kept.value), None
        if kept.value and self.rarity == AUTO:
            if sources and rare.kind == TOKENS:
                others = rules
            else:
                sources = [*sources, *rules.trusted(None)]
        if not sources:
            why = f"no rule can be trusted with these data: rehearsed {rules.told}."
            if not rules.told:
                sides = {"inputs": {example.x for example in distinct}, "outputs": {example.y for example in distinct}}
                alike = "".join(f": all {side} are the same" for side, found in sides.items() if len(found) == 1)
                why = f"no rule makes a sample of these data{alike}."
            raise NothingMade(
                " ".join([why, *dict.fromkeys(rules.unable)]),
                hint="More examples help, or other `tokens`. Other methods, such as `method=learned`, make samples "
                "without an estimate: look at them.",
            )
        names = tuple(dict.fromkeys(source.rule for source in sources))
        reason = f"rehearsed {rules.told}"
        display.say(f"Method {' and '.join(names)}: {reason}.")
        method = Choice(" and ".join(names), names, reason)
        augmenter = _TakingTurns(sources, others, self.precision)
        made: dict[str, Choice[object]] = {"method": method, "rarity": kept}
        if left_out is None:
            return Learned(augmenter, _anything, made)
        accept = partial(_known, {example.x for example in left_out.value})
        return Learned(augmenter, accept, {"left out": left_out, **made}, examples=distinct)

    def _by_paradigms(self, distinct: Sequence[Example], kept: Choice[Validator | None], rare: Rare) -> Learned | None:
        """Returns paradigms for word forms, with an estimate if enough forms could be judged; None if it makes none."""
        shows = sample_filter(distinct, kept.value, agreement=self.agreement)
        fitted = paradigms.Paradigms(shows).fit(distinct)
        if not fitted.sample(1, self.seed, shows):
            return None
        display = shown(self.progress)
        with display.progress("Rehearsing paradigms") as report:
            rehearsal = Rehearsal(distinct, None if kept.value is None else rare, self.seed)
            verdict = rehearse_forms(distinct, rehearsal, self._tag_made_rare, seconds=self.rehearse, report=report)
        source: protocol.Sampling = fitted
        if verdict.samples >= LEAST_JUDGED:
            source, why = _Estimated(fitted, verdict, self.precision), str(verdict)
        elif self.precision is None:
            why = f"word forms; no estimate, since rehearsal could judge only {verdict.samples} of them"
        else:
            raise _no_estimate(f"rehearsal could judge only {verdict.samples} word forms")
        display.say(f"Method paradigms: {why}.")
        method = Choice("paradigms", ("paradigms",), why)
        return Learned(source, kept.value, {"method": method, "rarity": kept})

    def _tag_made_rare(self, examples: Sequence[Example], tags: Tokens) -> Validator | None:
        return all_of(_word_form, Exponents.of(examples, tags) if self.agreement else None)

    def _by_networks(self, examples: Sequence[Example], checkpoint: Path | None, why: str) -> Learned:
        if self.precision is not None:
            raise _no_estimate(why)
        shown(self.progress).say(f"Method learned: {why}.")
        learned = super()._learn(examples, checkpoint)
        return learned._replace(choices={"method": Choice("learned", ("learned",), why), **learned.choices})

    def _draw(self, learned: Learned, n: int, seed: int, keep: Validators) -> list[Samples]:
        if self.has_networks:
            return super()._draw(learned, n, seed, keep)
        assert keep is None or callable(keep)
        return OwnDataAugmenter._draw(self, learned, n, seed, keep)


def _left_out(examples: Sequence[Example]) -> Choice[set[Example]] | None:
    """Returns the doubtful ones of different examples, if there are any and they are few."""
    if are_word_forms(examples):
        return None
    doubtful = Doubtful.of(examples)
    found = doubtful.examples
    if not 0 < len(found) <= FEW_DOUBTFUL * len(examples):
        return None
    told = [f"{len(doubtful.contradictory)} contradict others"] if doubtful.contradictory else []
    if doubtful.misspelled:
        told.append(f"{len(doubtful.misspelled)} may have typing errors: {doubtful.typing_errors}")
    return Choice(f"{len(found)} doubtful examples", found, "; ".join(told))


def _known(inputs: Container[Tokens], sample: Example) -> str | None:
    return KNOWN if sample.x in inputs else None


def _no_estimate(why: str) -> RecombineError:
    hint = "Leave out `precision`, or give more data."
    return RecombineError(f"nobody can say how many samples would be right: {why}.", hint=hint)


def _trusted(able: Sequence[_Source]) -> list[_Source]:
    """Returns the sources of which enough samples are likelier right than wrong, the surest first.

    What is rare has few samples, so a rule is left out that seems much worse; else only one that surely is.
    """
    able = [source for source in able if source.verdict.samples >= LEAST_JUDGED]
    best = max((source.verdict.share for source in able), default=0.0)
    return sorted(
        (
            source
            for source in able
            if (source.verdict.share if source.wanted else source.verdict.interval[1]) >= best - MUCH_WORSE
        ),
        key=lambda source: -source.verdict.share,
    )


METHODS: dict[str, type[Augmenter | GECA | Spans | Paradigms | Oversampler]] = {
    AUTO: Auto,
    "learned": Augmenter,
    "geca": GECA,
    "spans": Spans,
    "paradigms": Paradigms,
    "both": Both,
    "oversample": Oversampler,
}
"""The ways to make examples, by the names that all commands have for them."""


def _with_warning(samples: Samples, rarity: object) -> Samples:
    """Returns samples that say which rare tokens none of them has."""
    if not samples or not isinstance(rarity, Resampler) or rarity.ngram > 1:
        return samples
    made = {token for sample in samples for token in (*sample.x, *sample.y)}
    rare = [each.ngram[0] for each in rarity.rare_]
    lacking = [token for token in rare if token not in made]
    named = f"{', '.join(lacking[:NAMED])}{', …' if len(lacking) > NAMED else ''}"
    warning = f"In no sample are {len(lacking):,} of the {len(rare):,} rare tokens: {named}." if lacking else ""
    return replace(samples, warning=f"{samples.warning} {warning}".strip())


def _no_input_of(samples: Samples) -> Validator:
    inputs = {sample.x for sample in samples}
    return lambda sample: "with an input that GECA has an output for" if sample.x in inputs else None


def _checked(given: object, examples: int) -> np.ndarray:
    """Returns the rows that a user's neighborhood function gave as a table, sorted and each once."""
    kinds = "Expected rows (target, prototype) or (target, first prototype, second prototype)."
    try:
        rows = [tuple(row) for row in given]  # type: ignore[attr-defined]
    except TypeError:
        raise RecombineError(f"the neighborhood function gave {shortened(repr(given))}.", hint=kinds) from None
    widths = sorted({len(row) for row in rows})
    if widths not in ([2], [3]):
        raise RecombineError(
            f"the neighborhood function gave {len(rows)} rows of {', '.join(map(str, widths)) or 'no'} positions.",
            hint=kinds,
        )
    for row in rows:
        error, hint = "", "Expected prototypes other than the target, which comes first."
        if row[0] in row[1:]:
            error = ", in which an example is its own prototype"
        elif all(isinstance(place, int | np.integer) and 0 <= place < examples for place in row):
            continue
        else:
            hint = f"Expected positions from 0 to {examples - 1} of the examples that it was given."
        raise RecombineError(f"the neighborhood function gave the row {row}{error}.", hint=hint)
    return np.unique(np.array(rows, dtype=np.int32), axis=0)
