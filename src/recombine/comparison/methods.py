"""The ways to train that are compared, and the new examples that each of them gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from recombine.augmentation.oversample import Oversampler
from recombine.augmentation.protocol import Samples, together
from recombine.augmentation.recombination import Recombination
from recombine.augmentation.resample import Resampler
from recombine.comparison.splitting import rare_in
from recombine.errors import NoNeighborhood, RecombineError, unknown
from recombine.example import Example
from recombine.execution.executor import SERIAL, Executor
from recombine.execution.jobs import Job, Run
from recombine.execution.progress import Progress, Say, no_progress
from recombine.inflection import ANALYSIS, DIRECTIONS
from recombine.own_data import choices, networks
from recombine.own_data.choices import Choice
from recombine.own_data.unfinished import keeping
from recombine.own_data.validators import kept
from recombine.training.recipe import Recipe

PLAIN, OVERSAMPLING, GECA, RECOMBINE, BOTH = METHODS = ("plain", "oversampling", "geca", "recombine", "both")
"""The originals alone; rare originals again; recombination by rule; learned recombination; the samples of these two.
The two are resampled alike where anything is rare, so that they differ in how examples are made and in nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is compared, and how networks are trained; what is None is decided by the data.

    Attributes:
        methods: Those of ``METHODS`` to compare; plain always is.
        seeds: One predictor of each method, and one recombination network, for each.
        n: How many new examples each method is to give; ``both`` has those of two.
        p_aug: How often a predictor sees one.
        epsilon: Tokens in fewer than this share of the examples are rare.
        direction: What predictors learn of word forms: ``analysis`` or ``inflection``.
        size: ``small`` or ``paper``.
        device: Where networks are trained.
        epochs: Passes over the data.
        max_time: Seconds of each of the two trainings.
    """

    methods: Sequence[str] = METHODS
    seeds: Sequence[int] = (0, 1, 2)
    n: int = 400
    p_aug: float | None = None
    epsilon: float | None = None
    direction: str = ANALYSIS
    size: str | None = None
    device: str = "auto"
    epochs: int | None = None
    max_time: float | None = None

    def check(self) -> None:
        """Raises the error for a method or size that there is not, nothing to compare, or a rate that is none."""
        for method in self.methods:
            if method not in METHODS:
                raise unknown("method", method, METHODS)
        if len(self.ordered) < 2:
            raise RecombineError(
                "there is no method to compare with plain.", hint=f"The methods are: {', '.join(METHODS[1:])}."
            )
        if self.size is not None and self.size not in networks.SIZES:
            raise unknown("size", self.size, networks.SIZES)
        if self.direction not in DIRECTIONS:
            raise unknown("direction", self.direction, DIRECTIONS)
        if self.p_aug is not None and not 0 < self.p_aug < 1:
            raise RecombineError(f"p_aug is {self.p_aug:g}, expected more than 0 and less than 1.")

    @property
    def ordered(self) -> list[str]:
        """The methods in the order of ``METHODS``, plain among them."""
        return [method for method in METHODS if method == PLAIN or method in self.methods]

    @property
    def makers(self) -> list[str]:
        """The methods that make samples of their own: those compared, and those of whose samples ``both`` consists."""
        needed = {*self.methods, *((GECA, RECOMBINE) if BOTH in self.methods else ())}
        return [method for method in METHODS if method in needed and method not in (PLAIN, BOTH)]

    def sized(self, examples: Sequence[Example]) -> str:
        """Returns the size of networks for these examples."""
        return self.size or networks.size(examples, self.device).value

    def rare(self, examples: Sequence[Example]) -> Choice[Resampler | None]:
        """Returns what recombined examples must have one of to be kept; None where nothing is rare, and all are."""
        if self.epsilon is None:
            return choices.rarity(examples)
        told = rare_in(examples, self.epsilon)
        if not told.rare_:
            return Choice(
                choices.NOTHING, None, f"nothing: no token is in fewer than {self.epsilon:.2%} of the examples"
            )
        return Choice(choices.TOKENS, told, choices.what_is_rare(told))

    def trained(self, recipe: Recipe, *, most: int) -> Recipe:
        """Returns a recipe with as many steps as suit the data, or as was asked for."""
        return networks.bounded(networks.length(recipe, most=most).value, epochs=self.epochs, max_time=self.max_time)


@dataclass
class Drawn:
    """The new examples of all methods.

    Attributes:
        samples: By method, then by seed; none for plain.
        augmenter: The recombination networks, if there are any.
    """

    samples: dict[str, list[Samples]]
    augmenter: Recombination | None = None

    def of(self, method: str) -> list[Samples]:
        """Returns what predictors see by this method, by seed: all that it made, or if it is ``both``, all of two."""
        if method != BOTH:
            return self.samples[method]
        return [together(each) for each in zip(self.samples[GECA], self.samples[RECOMBINE], strict=True)]


def draw(
    train: Sequence[Example],
    plan: Plan,
    *,
    say: Say = lambda _: None,
    progress: Progress = no_progress,
    state: Path | None = None,
    executor: Executor = SERIAL,
) -> Drawn:
    """Lets each method make new examples of the training examples, of which nothing else is known.

    Args:
        train: Training examples, all different.
        plan: What is compared.
        say: Is told what has been done.
        progress: Shows how training and drawing go.
        state: Where the state of training is saved now and then, and gone on from.
        executor: Who lets them; each method is a job.
    """
    recombined = [method for method in plan.makers if method in (GECA, RECOMBINE)]
    if recombined:
        rare = plan.rare(train)
        which = "all samples are kept" if rare.value is None else "samples with something rare in them are kept"
        say(f"{' and '.join(recombined)}: {which} ({rare.reason}).")
    show = (say, progress) if executor.here else None
    make = partial(_made, train=train, plan=plan, state=state, show=show)
    jobs = [Job(f"samples by {method}", partial(make, method)) for method in plan.makers]
    drawn, run = Drawn({PLAIN: [Samples((), 0)] * len(plan.seeds)}), Run()
    for made in run.finished(jobs, executor):
        drawn.samples[made.method] = made.samples
        drawn.augmenter = made.augmenter or drawn.augmenter
        say(f"{made.method}: {made.samples[0].account}{_of_other_seeds(made.samples)}")
    run.check()
    return drawn


def _of_other_seeds(samples: Sequence[Samples]) -> str:
    counts = [len(each) for each in samples]
    return f" With other seeds: {', '.join(f'{count:,}' for count in counts[1:])}." if len({*counts}) > 1 else ""


@dataclass
class _Made:
    """What one method gave."""

    method: str
    samples: list[Samples]
    augmenter: Recombination | None = None


def _made(
    method: str,
    *,
    train: Sequence[Example],
    plan: Plan,
    state: Path | None,
    show: tuple[Say, Progress] | None,
) -> _Made:
    """Lets a method make new examples; `show` is who is told how it goes, if that can be done."""
    if method == OVERSAMPLING:
        oversampler = Oversampler(rare_in(train, plan.epsilon)).fit(train)
        return _Made(method, [oversampler.sample(plan.n, seed) for seed in plan.seeds])
    rare = plan.rare(train).value
    accept = kept(train, rare)
    if method == GECA:
        geca = choices.geca(train).value.fit(train)
        return _Made(method, [geca.sample(plan.n, seed, accept) for seed in plan.seeds])
    say, progress = show or (lambda _: None, no_progress)
    try:
        learned = _recombination(train, plan, say=say, progress=progress, state=state)
    except NoNeighborhood as error:
        nothing = Samples((), plan.n, shortfall=f"{error.message[0].upper()}{error.message[1:]}")
        return _Made(method, [nothing] * len(plan.seeds))
    learned.focus = rare
    with progress(f"Drawing candidates for {len(plan.seeds)} x {plan.n:,} samples") as report:
        samples = learned.sample_each(plan.n, plan.seeds[0], accept, report=report)
    if show is None:  # where it goes, there may be no GPU
        learned.fitted_.model.cpu()
    return _Made(method, samples, learned)


def _recombination(
    train: Sequence[Example], plan: Plan, *, say: Say, progress: Progress, state: Path | None
) -> Recombination:
    """Returns trained recombination networks, with what "auto" chooses for these examples."""
    rare = choices.rarity(train)
    rules = [choices.rule_named(name) for name in choices.rule_names(train, rare)]
    found = choices.neighborhoods(train, rules, seed=plan.seeds[0])
    say(f"{RECOMBINE}: neighborhood {found}")
    prototypes = found.value.prototypes
    recipe = networks.generator(train, plan.sized(train), rare=rare.name, prototypes=prototypes).value
    augmenter = Recombination(
        choices.rule_named(found.name),
        plan.trained(recipe, most=networks.GENERATOR_STEPS),
        prototypes=prototypes,
        seeds=plan.seeds,
        device=plan.device,
    )
    what = "a recombination network" if len(plan.seeds) == 1 else f"{len(plan.seeds)} recombination networks"
    shown = progress(f"Training {what}")
    with shown as shows, keeping(state, shows, say) as report:
        return augmenter.fit_on(train, found.value, report=report, checkpoint=state)
