"""Lets each method make new examples, trains all predictors as one population, and tests them."""

import json
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from recombine import __version__
from recombine.augmentation.protocol import Samples, check_request
from recombine.augmentation.recombination import Recombination
from recombine.augmentation.resample import Resampler
from recombine.augmentation.sampler import TIME_OVER
from recombine.comparison.splitting import Split
from recombine.comparison.verdict import BOTH, PLAIN, Judged, Part, Training, judge, lacking, recommended, sentence
from recombine.data.output import read_whole, replacing
from recombine.data.store import json_digest, sealed, unseal
from recombine.data.untrusted import typed
from recombine.errors import NoNeighborhood, NothingMade, RecombineError, unknown
from recombine.example import Example
from recombine.execution.executor import SERIAL, Executor, Job, Processes, Run, in_order
from recombine.inflection import ANALYSIS, DIRECTIONS, are_inflections
from recombine.own_data import augmenters, networks
from recombine.own_data.augmenters import AUTO, DRAWING, GECA, Augmenter, Auto, Both
from recombine.own_data.choices import SAMPLES, Choice
from recombine.own_data.predictor import Predictor
from recombine.own_data.settings import SILENT, Display, forget_state
from recombine.training.fitted import History
from recombine.training.recipe import Recipe

OVERSAMPLE, BY_GECA, SPANS, LEARNED, PARADIGMS = "oversample", "geca", "spans", "learned", "paradigms"

KNOWN = (PLAIN, AUTO, OVERSAMPLE, BY_GECA, SPANS, LEARNED, BOTH, PARADIGMS)
"""The originals alone, then methods of `augmenters.METHODS`: what `augment` does by default; rare originals again;
recombination by two rules; learned recombination; half of the samples GECA's and half learned; word forms by rule. All
but auto, and rare originals, are resampled alike if anything is rare. Without `n`, rules make more samples than
networks."""

METHODS = (AUTO, OVERSAMPLE, BY_GECA, SPANS, LEARNED)
"""Those that are compared with plain by default."""

GENERATORS, PREDICTORS = "recombination.training", "predictors.training"
"""The files of a run's folder that hold the state of training until it is over."""

DRAWN = ".drawn"
"""Ends the names of the files that hold the samples of a method until the run is over."""

MORE = 3
"""How many times the time, the epochs or the seeds are proposed where these did not tell."""


def suited(methods: Sequence[str], examples: Sequence[Example], seed: int = 0) -> list[str]:
    """Returns the methods asked for as they suit the examples.

    Of word forms, which spans do not suit, ``both`` is compared in their place by default; and where paradigms make
    none, auto is ``learned``, which need not be trained twice.
    """
    if not are_inflections(examples):
        return [*methods]
    instead = {SPANS: BOTH} if {*methods} == {*METHODS} else {}
    if AUTO in methods and not augmenters.Paradigms(seed=seed).fit(examples).sample(1):
        instead[AUTO] = LEARNED
    return [*dict.fromkeys(instead.get(method, method) for method in methods)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is compared, and how networks are trained; what is None is decided by the data.

    Plain is always compared, with the methods named. From `seed` on, each has as many `seeds`, that is, predictors, and
    gives `n` new examples, by default as many as ``augment`` makes, which a predictor sees with probability `p_aug`.
    Tokens in fewer than a share `epsilon` of the examples are rare. The direction is ``analysis`` or ``inflection``,
    the size ``small`` or ``paper``; each of the two trainings takes `max_time` seconds at most, and so do each drawing
    of samples and the rehearsal of auto, but at least a minute.
    """

    methods: Sequence[str] = METHODS
    seed: int = 0
    seeds: int = 3
    n: int | None = None
    p_aug: float | None = None
    epsilon: float | None = None
    direction: str = ANALYSIS
    size: str | None = None
    device: str = "auto"
    epochs: int | None = None
    max_time: float | None = None

    def check(self) -> None:
        """Raises the error for an unknown method or size, nothing to compare, or a rate that is no probability."""
        for method in self.methods:
            if method not in KNOWN:
                raise unknown("method", method, KNOWN)
        if len(self.ordered) < 2:
            raise RecombineError(
                "there is no method to compare with plain.", hint=f"The methods are: {', '.join(KNOWN[1:])}."
            )
        check_request(2 if self.n is None else self.n, self.seed)
        if self.n == 1 and BOTH in self.methods:
            raise RecombineError("one sample cannot be made by both methods.", hint="Ask for at least 2.")
        for what, value, known in (("size", self.size, networks.SIZES), ("direction", self.direction, DIRECTIONS)):
            if value is not None and value not in known:
                raise unknown(what, value, known)
        if self.p_aug is not None and not 0 < self.p_aug < 1:
            raise RecombineError(f"p_aug is {self.p_aug:g}, expected more than 0 and less than 1.")

    @property
    def ordered(self) -> list[str]:
        """The methods in the order of ``KNOWN``, plain among them."""
        return [method for method in KNOWN if method == PLAIN or method in self.methods]

    @property
    def learns(self) -> bool:
        """Whether recombination networks are trained."""
        return LEARNED in self.methods or BOTH in self.methods

    @property
    def bound(self) -> float | None:
        """How many seconds it takes at most to train and to draw samples; None: there is no bound."""
        if self.max_time is None:
            return None
        drawings = sum(method in (AUTO, LEARNED, BOTH) for method in self.methods)
        return self.max_time * (1 + self.learns) + max(self.max_time, DRAWING) * drawings

    @property
    def predictor_seeds(self) -> list[int]:
        """The seed of each predictor: for each method in turn, its own."""
        return [*range(self.seed, self.seed + self.seeds)] * len(self.ordered)

    @property
    def networks(self) -> dict[str, Any]:
        """How networks are trained, as settings of `Augmenter` and `Predictor`."""
        return {
            "seed": self.seed,
            "network": self.size or "auto",
            "epochs": self.epochs,
            "max_time": self.max_time,
            "device": self.device,
        }


@dataclass
class Drawn:
    """The new examples, by method, then by seed, and the recombination networks if there are any."""

    samples: dict[str, list[Samples]] = field(default_factory=dict)
    networks: Recombination | None = None


@dataclass
class Comparison:
    """What was found.

    Attributes:
        network: The network of all predictors, and why it was chosen.
        judged: Scores, p-values and verdicts, by method and part of the test examples.
        history: How the predictors' training went: for each method in turn, its seeds.
        steps_per_epoch: How many steps an epoch of it has.
        training: What of it the verdict depends on.
    """

    split: Split
    plan: Plan
    drawn: Drawn
    network: Choice[Recipe]
    judged: dict[str, dict[Part, Judged]]
    history: History
    steps_per_epoch: int
    training: Training

    @property
    def verdict(self) -> str:
        """What to use, which methods help on rare and on other examples, and why nothing rare was tested if so."""
        told = sentence(self.judged, self.split.rare, self.training)
        use, (why, _) = "Use the originals alone: no method is known to help.", self.further
        if self.recommended:
            use = self.recommended[1]
        elif why:
            use = f"It takes more to tell: {why}."
        return " ".join(filter(None, (use, told, self.split.shortfall)))

    @property
    def further(self) -> tuple[str, dict[str, float]]:
        """What would tell more, and the plan's settings for it; empty if nothing would."""
        what, count = lacking(self.judged, self.split.rare, self.training)
        ways: dict[str, tuple[str, dict[str, float]]] = {
            "": ("", {}),
            "time": ("more time", {"max_time": MORE * (self.plan.max_time or self.seconds)}),
            "epochs": ("longer training", {"epochs": MORE * len(self.history.loss)}),
            "seeds": ("more seeds", {"seeds": MORE * self.plan.seeds}),
            "tests": (f"about {count:,} {'rare ' * any(self.split.rare)}test examples", {}),
        }
        return ways[what]

    @property
    def seconds(self) -> float:
        """How long networks were trained."""
        learned = self.drawn.networks
        return self.history.seconds + (learned.fitted_.history.seconds if learned else 0)

    @property
    def recommended(self) -> tuple[str, str] | None:
        """The method to use and what it gains; None if none is known to help."""
        return recommended(self.judged)


def compare(
    split: Split,
    plan: Plan,
    *,
    display: Display = SILENT,
    folder: Path | None = None,
    executor: Executor = SERIAL,
) -> Comparison:
    """Trains the methods' predictors, with the same seeds, and judges them on the test examples.

    The state of training is saved in the folder now and then, and samples once they are drawn; a run that was killed
    goes on from there. The methods' samples are jobs of the executor, and so are all predictors together, one
    population.
    """
    plan.check()
    if folder is not None:
        folder = folder.resolve()  # elsewhere, another folder may be the current one
    drawn = draw(split, plan, display=display, folder=folder, executor=executor)
    every = [samples for method in plan.ordered for samples in drawn.samples[method]]
    train = partial(_trained, split, plan, every, folder and folder / PREDICTORS)
    who = SERIAL if isinstance(executor, Processes) else executor
    [(network, history, steps, right)] = in_order(who, train, [display if who.here else SILENT])
    training = _training(plan, drawn, history)
    correct = dict(zip(plan.ordered, np.split(right, len(plan.ordered)), strict=True))
    judged = judge(correct, split.rare, training)
    return Comparison(split, plan, drawn, network, judged, history, steps, training)


def states(folder: Path) -> list[Path]:
    """Returns the files in which a run's folder may hold the state of training, and samples, until it is over."""
    return [folder / name for name in (PREDICTORS, GENERATORS, *(f"{method}{DRAWN}" for method in KNOWN))]


def forget(folder: Path) -> None:
    """Removes the state of training, and the samples beside it, now that the result is safe."""
    for state in states(folder):
        forget_state(state)


def draw(
    split: Split,
    plan: Plan,
    *,
    display: Display = SILENT,
    folder: Path | None = None,
    executor: Executor = SERIAL,
) -> Drawn:
    """Lets each method make new examples of the training examples; nothing else is known to it.

    Each method is a job, but for ``both``, which shares the networks of ``learned``. The folder holds the state of
    training and what was drawn.
    """
    makers = [method for method in plan.ordered if method not in (PLAIN, LEARNED, BOTH)] + [LEARNED] * plan.learns
    if names := ", ".join(method for method in plan.ordered if method not in (PLAIN, AUTO, OVERSAMPLE)):
        kept = "samples with something rare in them" if split.rarity.resampler is not None else "all samples"
        display.say(f"{names}: {kept} are kept.")
    make = partial(_made, split=split, plan=plan, folder=folder, display=display if executor.here else None)
    drawn, run = Drawn({PLAIN: [Samples((), 0)] * plan.seeds}), Run()
    for made in run.finished([Job(f"samples by {method}", partial(make, method)) for method in makers], executor):
        drawn.samples |= made.samples
        drawn.networks = made.networks or drawn.networks
        for method, samples in made.samples.items():
            counts = [f"{len(each):,}" for each in samples]
            others = f" With other seeds: {', '.join(counts[1:])}." if len({*counts}) > 1 else ""
            display.say(f"{method}: {samples[0].account}{others}")
    run.check()
    return drawn


def _made(method: str, *, split: Split, plan: Plan, folder: Path | None, display: Display | None) -> Drawn:
    """Lets a method make new examples; without a `display`, which cannot be shown elsewhere, the result travels."""
    rare, kept = split.rarity.resampler, partial(_kept, split, plan, folder)
    if method != LEARNED:
        own: dict[str, Any] = {"rarity": rare}
        if method == OVERSAMPLE:
            own["rarity"] = AUTO if plan.epsilon is None else rare or Resampler(plan.epsilon)
        if method == AUTO:
            own = {"progress": Display(progress=(display or SILENT).progress)}
            if plan.max_time is not None:  # up to four rehearsals, of two rules, take no longer than a drawing
                own["rehearse"] = min(Auto.rehearse, max(plan.max_time, DRAWING) / 4)
        maker = augmenters.METHODS[method](seed=plan.seed, seeds=plan.seeds, **own)

        def by_rule() -> list[Samples]:
            try:
                maker.fit(split.train)
                if method == AUTO and display is not None and maker.report_ is not None:
                    display.say(f"auto takes {maker.report_.choices['method']}.")
                return maker.sample_each(plan.n)
            except (NoNeighborhood, NothingMade) as error:
                return [Samples((), plan.n or SAMPLES, shortfall=_sentence(error))] * plan.seeds

        return Drawn({method: kept(method, by_rule)})
    wanted = [name for name in (LEARNED, BOTH) if name in plan.methods]
    both = Both(rarity=rare, seeds=plan.seeds, progress=display or SILENT, **plan.networks)
    try:
        both.fit(split.train, checkpoint=folder and folder / GENERATORS)
    except NoNeighborhood as error:
        n, why = plan.n or SAMPLES, _sentence(error)
        made = Drawn({name: [Samples((), n, shortfall=why)] * plan.seeds for name in wanted})
        if BOTH in wanted:
            half = GECA(rarity=rare, seed=plan.seed, seeds=plan.seeds).fit(split.train).sample_each(n // 2)
            made.samples[BOTH] = [replace(own, requested=n, shortfall=why) for own in half]
        return made
    makers: dict[str, Augmenter] = {LEARNED: both.learned, BOTH: both}
    drawn = Drawn({name: kept(name, partial(makers[name].sample_each, plan.n)) for name in wanted}, both.networks_)
    if display is None:  # where it goes, there may be no GPU
        both.networks_.fitted_.model.cpu()
    return drawn


def _kept(
    split: Split, plan: Plan, folder: Path | None, method: str, draw: Callable[[], list[Samples]]
) -> list[Samples]:
    """Returns the samples that the same run kept before it was killed, if it did; else draws some and keeps them."""
    if folder is None:
        return draw()
    how = [method, plan.n, plan.seeds, plan.epsilon, plan.networks, split.rarity.reason, __version__]
    run = json_digest([list(map(str, how)), [(example.x, example.y) for example in split.train]])
    path = folder / f"{method}{DRAWN}"
    with suppress(OSError, ValueError, TypeError, KeyError, RecombineError):  # what cannot be read is drawn again
        document = json.loads(read_whole(path))
        unseal(document, place=str(path), hint="")
        if document["run"] == run:
            return list(typed(document["samples"], tuple[Samples, ...]))
    every = draw()
    plain = [asdict(replace(samples, rejected=dict(samples.rejected))) for samples in every]
    with replacing(path, force=True) as stream:
        stream.write(json.dumps(sealed({"run": run, "samples": plain})).encode())
    return every


def _sentence(error: RecombineError) -> str:
    return f"{error.message[0].upper()}{error.message[1:]}"


def _training(plan: Plan, drawn: Drawn, history: History) -> Training:
    """Returns what the verdict depends on; plain predictors are the first, each judged by its best epoch."""
    judged = np.array([epoch[: plan.seeds] for epoch in history.evaluation], dtype=float).reshape(-1, plan.seeds)
    known = np.isfinite(judged).any(axis=0)
    best = np.where(np.isfinite(judged), judged, -np.inf)[:, known]
    found = drawn.networks
    origins = [sample.provenance for samples in drawn.samples.get(BOTH, []) for sample in samples]
    stopped = [history.stopped_early, found is not None and found.fitted_.history.stopped_early]
    stopped += [TIME_OVER in samples.shortfall for every in drawn.samples.values() for samples in every]
    made_by = {BY_GECA if origin.method == "geca" else LEARNED for origin in origins if origin is not None}
    return Training(
        held_out=float(best.max(axis=0).mean()) if best.size else math.nan,
        cut_short=any(stopped),
        without_samples=[method for method in plan.ordered if method != PLAIN and not any(drawn.samples[method])],
        only_of_both=made_by.pop() if len(made_by) == 1 else "",
    )


def _trained(
    split: Split, plan: Plan, every: Sequence[Samples], state: Path | None, display: Display
) -> tuple[Choice[Recipe], History, int, np.ndarray]:
    """Returns how all predictors were trained, and which of their predictions are right (networks, test examples).

    How: with which network, how it went, and in how many steps an epoch.
    """
    predictor = Predictor(direction=plan.direction, progress=display, seeds=plan.predictor_seeds, **plan.networks)
    p_aug = plan.p_aug if any(every) else None
    predictor.fit(split.train, augmented_each=every, p_aug=p_aug, checkpoint=state)
    tests = split.questions(split.test, plan.direction)
    found = predictor.networks_.predict([example.x for example in tests])
    right = np.array([[guess.y == test.y for guess, test in zip(each, tests, strict=True)] for each in found])
    assert predictor.report_ is not None
    network: Choice[Any] = predictor.report_.choices["network"]
    fitted = predictor.networks_.fitted_
    return network, fitted.history, fitted.steps_per_epoch, right
