"""What each stage of a row depends on, and nothing else, and how much work it is: rows share stages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

from recombine.example import Example
from recombine.neighborhoods import Tagged
from recombine.paper.settings import BOTH, Settings, described
from recombine.paper.stages import Stage, digest_of
from recombine.paper.tasks import Task, different
from recombine.training.recipe import Recipe


class Keys:
    """The stages of the rows of one split.

    Args:
        tasks: The data of each seed; most often the same for all.
        seeds: One network of each kind for each.
        device: The kind of device that networks run on: another one draws other random numbers.
    """

    def __init__(self, tasks: Sequence[Task], seeds: Sequence[int], device: str) -> None:
        self.seeds, self.device = list(seeds), device
        digests = {id(task): (digest_of(task.train), digest_of(task.test)) for task in different(tasks)}
        self.own = {seed: digests[id(task)] for seed, task in zip(seeds, tasks, strict=True)}
        self.populations: dict[str, list[Any]] = {}
        """By recipe of recombination networks that several splits train as one: the data and seeds of all of them."""
        # What all seeds share is named once.
        self.train, self.test = (
            each[0] if len(digests) == 1 else [*each] for each in zip(*self.own.values(), strict=True)
        )

    def neighborhoods(self, settings: Settings) -> Stage:
        """The search for prototypes."""
        return Stage("neighborhoods", {"train": self.train, "rule": described(settings.neighborhood)})

    def generator(self, settings: Settings) -> Stage:
        """The training of recombination networks; those of several splits share a vocabulary and start from others."""
        inputs: dict[str, Any] = {
            "train": self.train,
            "neighborhoods": self.neighborhoods(settings).key if settings.prototypes else None,
            "prototypes": settings.prototypes,
            "recipe": described(settings.generator),
            "seeds": self.seeds,
            "device": self.device,
        }
        if population := self.populations.get(recipe_of(settings)):
            inputs["population"] = population
        return Stage("generator", inputs)

    def samples(self, settings: Settings) -> Stage:
        """The drawing of samples."""
        asked = settings.resampling or settings.agreement or settings.omega in ("focused", "rare")
        rare = described(settings.resampler) if asked else None
        inputs: dict[str, Any] = {"n": settings.n, "resampler": rare}
        if settings.rare_tags != "all":
            inputs["rare tags"] = settings.rare_tags
        if settings.agreement:
            inputs["agreement"] = True
        if settings.method == "geca":
            inputs |= {"train": self.train, "geca": described(settings.geca), "seeds": self.seeds}
            return Stage("samples", inputs)
        if settings.method == "oversample":
            inputs["resampler"] = described(settings.resampler)
            return Stage("samples", {**inputs, "train": self.train, "oversample": True, "seeds": self.seeds})
        inputs |= {
            "generator": self.generator(settings).key,
            "sampling": described(settings.sampling),
            "deviations": settings.deviations,
        }
        if settings.omega != "rule":
            inputs["omega"] = settings.omega
        return Stage("samples", inputs)

    def direct(self, settings: Settings) -> Stage:
        """Prediction by the recombination networks themselves."""
        generator = self.generator(settings).key
        return Stage("direct", {"generator": generator, "direct": described(settings.direct), "test": self.test})

    def before_predictors(self, settings: Settings) -> dict[str, Stage]:
        """All stages of a row up to its samples, or direct inference, by name and in order."""
        stages = {}
        if settings.method in ("recombination", BOTH, "direct"):
            if settings.prototypes:
                stages["neighborhoods"] = self.neighborhoods(settings)
            stages["generator"] = self.generator(settings)
        if settings.method == "direct":
            stages["direct"] = self.direct(settings)
        for source in settings.sources:
            stages[f"samples by {source.method}" if settings.method == BOTH else "samples"] = self.samples(source)
        return stages

    def predictor(self, settings: Settings, samples: Sequence[Example], seed: int) -> dict[str, Any]:
        """What one predictor and its predictions depend on, except for those that are trained beside it.

        Samples count for what they are, not for how they were drawn.
        """
        train, test = self.own[seed]
        return {
            "train": train,
            "test": test,
            "samples": digest_of(samples),
            "p_aug": settings.p_aug if samples else None,
            "recipe": described(settings.predictor),
            "seed": seed,
            "device": self.device,
        }


def recipe_of(settings: Settings) -> str:
    """Names all that recombination networks of one population have in common."""
    rule = (settings.neighborhood.name, described(settings.neighborhood)) if settings.prototypes else None
    return repr((settings.prototypes, rule, described(settings.generator)))


@dataclass(frozen=True)
class Job:
    """One predictor to train.

    Attributes:
        inputs: What its predictions depend on, except for the population; see `Keys.predictor`.
        recipe: How it is trained.
        task: Its data.
        seed: Its seed.
        samples: The new examples that it sees; none: the originals only.
        p_aug: How often it sees one.
    """

    inputs: Mapping[str, Any]
    recipe: Recipe
    task: Task
    seed: int
    samples: Sequence[Example]
    p_aug: float | None

    @cached_property
    def key(self) -> str:
        """Tells it from other predictors."""
        return Stage("predictor", self.inputs).key

    @property
    def epoch(self) -> float:
        """How many examples an epoch has: the originals once, and the new ones between them."""
        originals = len(self.task.train)
        return originals + len(self.samples) if self.p_aug is None else originals / (1 - self.p_aug)


@dataclass(frozen=True)
class Population:
    """Predictors of one recipe that are trained as one.

    Attributes:
        jobs: The predictors.
    """

    jobs: Sequence[Job]

    @cached_property
    def shared(self) -> dict[str, Any]:
        """What each predictor has of the others: steps, held-out examples, vocabulary, room for outputs.

        All have as many steps as the longest epoch asks for, hold out as many examples as the smallest training set
        allows, and know the tokens of all. Two populations that agree in this give the same predictors.
        """
        data = [job.task.train for job in self.jobs] + [job.samples for job in self.jobs]
        examples = {id(each): each for each in data}.values()  # many share their originals
        tokens = {token for each in examples for example in each for token in (*example.x, *example.y)}
        longest = [max(len(side(example)) for each in examples for example in each) for side in (_x, _y)]
        return {
            "epoch": max(job.epoch for job in self.jobs),
            "fewest": min(len(job.task.train) for job in self.jobs),
            "longest": longest,
            "tokens": sorted(tokens),
        }

    def stage(self, job: Job) -> Stage:
        """The training of one of them, and its predictions for the test set."""
        return Stage("predictions", {**job.inputs, "population": self.shared})


_x, _y = attrgetter("x"), attrgetter("y")

GENERATOR_STEP, NEIGHBORHOODS, SAMPLING, BEAM, BY_RULE, DIRECT = 1.6, 1.5, 2_000.0, 5.0, 500.0, 4_000.0
"""About what they were on a GPU, the last two guessed: neighborhoods for each example; sampling, GECA (or
oversampling) and direct inference for each seed."""
PAIRS = (1, 10, 30)
"""The most tuples of prototypes that an example has, by the number of prototypes."""


class Effort:
    """How much work the stages of one split are, roughly, in training steps of one predictor.

    Args:
        task: The split's data.
        seeds: How many networks of each kind.
    """

    def __init__(self, task: Task, seeds: int) -> None:
        self.train, self.seeds = len(task.train), seeds

    def of(self, kind: str, settings: Settings) -> float:
        """Returns the effort of one of a row's stages up to its samples."""
        if kind == "neighborhoods":
            return NEIGHBORHOODS * self.train
        if kind == "generator":
            return self._generator(settings)
        if kind == "direct":
            return DIRECT * self.seeds
        if settings.method != "recombination":
            return BY_RULE * self.seeds
        return SAMPLING * self.seeds * (BEAM if settings.sampling.decoding.strategy == "beam" else 1.0)

    def _generator(self, settings: Settings) -> float:
        rule = settings.neighborhood
        pairs = (1, rule.first, rule.first * rule.second) if isinstance(rule, Tagged) else PAIRS
        rows = self.train * pairs[settings.prototypes] * (1 - settings.generator.held_out)
        plan = settings.generator.duration(rows)
        return GENERATOR_STEP * plan.steps * self.seeds

    def predictors(self, jobs: Sequence[Job]) -> float:
        """The training of predictors as one population, and their predictions."""
        share = max(job.p_aug or 0.0 for job in jobs)
        recipe = jobs[0].recipe
        beside = max((len(job.samples) for job in jobs if job.p_aug is None), default=0)
        plan = recipe.duration(self.train * (1 - recipe.held_out) / (1 - share) + beside)
        return float(plan.steps * len(jobs))
