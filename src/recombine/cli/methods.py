"""What ``recombine augment`` can make of examples: its methods by name, and the plan that chooses among them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.cli.learned import Learned, recombination
from recombine.cli.options import chosen_executor
from recombine.cli.printing import progress, say, working
from recombine.cli.training import Training, enough_memory, resumable
from recombine.errors import NothingMade, RecombineError, unknown
from recombine.example import Example
from recombine.inflection import are_inflections, is_tag

if TYPE_CHECKING:
    from recombine.augmentation.protocol import Augmenter, Samples, Validator
    from recombine.augmentation.resample import Resampler

LEARNED, GECA, BOTH, OVERSAMPLE = "learned", "geca", "both", "oversample"


@dataclass(frozen=True, slots=True)
class Plan:
    """What to make.

    Attributes:
        method: One of ``METHODS``.
        n: How many samples.
        epsilon: Below which share of the training examples something is rare; None for no resampling.
        ngram: How many tokens in a row may be what is rare.
        training: Seeds and device; where networks learn, how they are trained.
        learned: What else the learned method is told.
        state: Where the state of training is kept until it is over.
        resample: Whether only samples with something rare are kept; what is rare is found out, unless epsilon says it.
            None: so it is where networks learn, as with ``recombine.Augmenter``, and nowhere else.
        agreement: Whether of those, samples are turned down whose output leaves out what is rare.
        gaps: How many fragments GECA may change together, where fewer do not give enough samples; None: as it suits.
    """

    method: str
    n: int
    epsilon: float | None = None
    ngram: int = 1
    training: Training = field(default_factory=Training)
    learned: Learned = field(default_factory=Learned)
    state: Path | None = None
    resample: bool | None = None
    agreement: bool = True
    gaps: int | None = None

    def check(self) -> None:
        """Raises an error for what cannot be done, before anything is read."""
        if self.method not in METHODS:
            raise unknown("method", self.method, METHODS)
        if self.n < 1:
            raise RecombineError(f"cannot make {self.n} samples.", hint="Ask for at least 1 with -n.")
        if self.n < 2 and self.method == BOTH:
            raise RecombineError("one sample cannot be made by both methods.", hint="Ask for at least 2 with -n.")
        if self.ngram != 1 and self.epsilon is None and self.method != OVERSAMPLE:
            raise RecombineError("--ngram says what may be rare, not how rare.", hint="Give --epsilon too.")
        if self.epsilon is not None and self.resample is False:
            raise RecombineError(
                "--epsilon says what samples must have, --no-resample that they need not.", hint="Give one."
            )
        if self.gaps is not None and self.method not in (GECA, BOTH):
            raise RecombineError(f"--gaps is for --method {GECA} or {BOTH}, not for {self.method}.")
        self.training.check()
        self.learned.check()
        given = [*self.learned.given, *self.training.given]
        if not self.learns and given:
            raise RecombineError(f"{given[0]} is for --method {LEARNED} or {BOTH}, not for {self.method}.")

    @property
    def learns(self) -> bool:
        """Whether there are networks in it."""
        return self.method in (LEARNED, BOTH)

    @property
    def networks(self) -> int:
        """How many sets of samples there will be: one for each network of a model, else one for each seed."""
        trained = self.learns and self.learned.is_trained
        return self.learned.networks if trained else len(self.training.population)

    def resampler(self, examples: Sequence[Example]) -> "Resampler":
        """Returns what tells rare from common; of word forms only the tags count, or else a rare letter would do."""
        from recombine.augmentation.resample import Resampler
        from recombine.own_data import choices

        if self.epsilon is None:
            rare = choices.rarity(examples)
            if rare.name == choices.TOKENS and rare.value is not None:
                return rare.value
        epsilon = Resampler.epsilon if self.epsilon is None else self.epsilon
        return Resampler(epsilon, ngram=self.ngram, relevant=is_tag if are_inflections(examples) else None)

    def rare(self, examples: Sequence[Example]) -> "Validator | None":
        """Returns what samples must have something rare by; None: all will do."""
        from recombine.own_data import choices

        if self.epsilon is not None and self.method != OVERSAMPLE:  # which says itself what it found
            return self._as_rare_as_asked(examples)
        if not (self.learns if self.resample is None else self.resample):
            return None
        rare = choices.rarity(examples)
        say(f"Rare: {rare.reason}.")
        return rare.value

    def _as_rare_as_asked(self, examples: Sequence[Example]) -> "Resampler":
        from recombine.own_data.choices import what_is_rare

        found = self.resampler(examples).fit(examples)
        if self.ngram == 1 and not found.rare_:  # of longer sequences those are rare that were never seen
            rarest = min((each.probability for each in map(found.rarest, examples) if each is not None), default=1.0)
            raise RecombineError(
                f"nothing is in fewer than {self.epsilon:.4%} of the examples, as --epsilon asks.",
                hint=f"The rarest is in {rarest:.4%}. Give more, or --resample instead, which finds out what is rare.",
            )
        say(f"Rare: {what_is_rare(found)}.")
        return found


def augment(examples: Sequence[Example], plan: Plan) -> "list[Samples]":
    """Returns new examples, so many for each seed.

    Args:
        examples: The training examples.
        plan: What to make of them.

    Raises:
        NothingMade: If not even one can be made.
    """
    plan.check()
    if plan.method != OVERSAMPLE and len({*examples}) < 2:
        raise RecombineError(
            f"--method {plan.method} needs at least 2 different examples to learn from; got 1.",
            hint="Give more.",
        )
    every = METHODS[plan.method](examples, plan, plan.rare(examples))
    for samples in every:
        if not samples:
            raise NothingMade(samples.account, hint=f"No file was written.{_advice(samples, plan, examples)}")
    return every


def _advice(samples: "Samples", plan: Plan, examples: Sequence[Example]) -> str:
    """Says how samples could yet be had, and where a trained network is kept."""
    from recombine.augmentation.agreement import APART, UNEVEN
    from recombine.augmentation.exponents import UNSHOWN

    if plan.method == GECA:
        part = "part" if are_inflections(examples) else "word"
        other = ", or try --method learned" if _have_neighborhoods(examples, plan.training.seed) else ""
        return f" Give more examples, above all such as differ in one {part}{other}.{_with_more_gaps(plan, examples)}"
    if not plan.learns:
        return ""
    by_rule = " Or try --method geca, which trains nothing." if plan.method == LEARNED else ""
    torn = not {APART, UNEVEN, UNSHOWN}.isdisjoint(samples.rejected)
    if not torn and not any("rare" in reason for reason in samples.rejected):
        return f" Train longer (--epochs, --max-time).{by_rule}"
    if torn:
        other = "--no-agreement"
    else:
        other = "--no-resample or another --epsilon" if plan.epsilon is None else "--no-resample instead of --epsilon"
    place = plan.learned.model or plan.state
    kept = f" The trained network is kept in {place}: t" if place else " With --model DIR the network is kept, and t"
    again = f"he same command with {other} takes samples from it without training again."
    longer = "" if plan.training.max_time is None else " More time (--max-time) may help."
    return f"{longer}{kept}{again}{by_rule}"


def _with_more_gaps(plan: Plan, examples: Sequence[Example]) -> str:
    """Says so where GECA changes one fragment only, since that suits the examples."""
    one = plan.gaps is None and are_inflections(examples)
    return " With --gaps 2 there are more, of which fewer are right." if one else ""


def _have_neighborhoods(examples: Sequence[Example], seed: int) -> bool:
    from recombine.own_data import choices

    distinct = tuple(dict.fromkeys(examples))
    rules = map(choices.rule_named, choices.rule_names(distinct, choices.rarity(distinct)))
    return any(trial.coverage for trial in choices.trials(distinct, list(rules), seed=seed))


def _learned(
    examples: Sequence[Example], plan: Plan, rare: "Validator | None", *, beside: "Sequence[Samples]" = ()
) -> "list[Samples]":
    """Returns what networks make, each of them no input that the samples beside its own have."""
    from recombine.execution.executor import SERIAL
    from recombine.own_data.validators import all_of, kept

    learned = plan.learned
    executor = learned.executor and chosen_executor(learned.executor, learned.address)
    with enough_memory():
        augmenter = recombination(examples, learned, plan.training, state=plan.state, executor=executor or None)
        augmenter.focus = rare
        keep = kept(examples, rare, agree=plan.agreement)
        accept = [all_of(keep, _no_input_of(samples)) for samples in beside] or keep
        with resumable(plan.state), progress(f"Drawing candidates for {plan.n:,} samples") as report:
            every = augmenter.sample_each(
                plan.n, plan.training.seed, accept, report=report, executor=executor or SERIAL
            )
    advice = "" if plan.method == BOTH else f" With --method {BOTH} GECA makes half of them, or what it can."
    return [_with_advice(samples, advice) for samples in every]


def _no_input_of(samples: "Samples") -> "Validator":
    inputs = {sample.x for sample in samples}
    return lambda sample: "with an input that GECA has an output for" if sample.x in inputs else None


def _both(examples: Sequence[Example], plan: Plan, rare: "Validator | None") -> "list[Samples]":
    """Returns samples half of which are GECA's, or as many as it can make; the others are those of networks."""
    from recombine.augmentation.protocol import together

    training = replace(plan.training, seeds=plan.networks)
    by_rule = _geca(examples, replace(plan, method=GECA, n=plan.n // 2, training=training), rare)
    say(f"{GECA}: {by_rule[0].account}")
    rest = plan.n - len(by_rule[0])  # with every seed alike: half of them are there, or all that can be made are
    learned = _learned(examples, replace(plan, n=rest), rare, beside=by_rule)
    every = [together(parts) for parts in zip(by_rule, learned, strict=True)]
    # What GECA fell short of was asked of networks in its place.
    return [
        replace(found, requested=plan.n, shortfall=found.shortfall if len(found) < plan.n else "") for found in every
    ]


def _by_rule(
    augmenter: "Augmenter", examples: Sequence[Example], plan: Plan, accept: "Validator | None"
) -> "list[Samples]":
    with working(f"Making {plan.n:,} samples by {plan.method}"):
        augmenter.fit(examples)
        return [augmenter.sample(plan.n, seed=seed, accept=accept) for seed in plan.training.population]


def _with_advice(samples: "Samples", advice: str) -> "Samples":
    """Returns samples that, if there are fewer than asked for, also say how more can be had; none say so elsewhere."""
    return replace(samples, shortfall=f"{samples.shortfall}{advice}") if samples and samples.shortfall else samples


def _geca(examples: Sequence[Example], plan: Plan, rare: "Validator | None") -> "list[Samples]":
    from recombine.own_data import choices
    from recombine.own_data.validators import kept

    augmenter = choices.geca(examples).value
    if plan.gaps is not None:
        augmenter = replace(augmenter, gaps=plan.gaps, fewest_gaps_first=True)
    every = _by_rule(augmenter, examples, plan, kept(examples, rare, agree=plan.agreement))
    if plan.method == GECA:
        every = [_with_advice(samples, _with_more_gaps(plan, examples)) for samples in every]
    found = choices.rarity(examples).value if rare is None and plan.resample is None and every[0] else None
    if found is not None:
        count = sum(found(sample) is None for sample in every[0])
        say(f"Of these {len(every[0]):,} samples {count:,} have something rare in them; --resample makes only such.")
    return every


def _oversample(examples: Sequence[Example], plan: Plan, rare: "Validator | None") -> "list[Samples]":
    from recombine.augmentation.oversample import Oversampler

    return _by_rule(Oversampler(plan.resampler(examples)), examples, plan, rare)


METHODS: dict[str, Callable[[Sequence[Example], Plan, "Validator | None"], "list[Samples]"]] = {
    LEARNED: _learned,
    GECA: _geca,
    BOTH: _both,
    OVERSAMPLE: _oversample,
}
"""What makes samples, by name, each in a way that suits the examples."""
