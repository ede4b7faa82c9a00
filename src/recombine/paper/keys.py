"""What each stage of a row depends on, and nothing else, and how much work it is: rows share stages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recombine.example import Example
from recombine.neighborhoods import Tagged
from recombine.paper.settings import BOTH, Settings, described
from recombine.paper.stages import Stage, digest_of
from recombine.paper.tasks import Task, different

GENERATOR_STEP, NEIGHBORHOODS, SAMPLING, BEAM, BY_RULE, DIRECT = 1.6, 1.5, 2_000.0, 5.0, 500.0, 4_000.0
"""Efforts, about as measured on a GPU, the last two guessed: neighborhoods for each example; sampling, GECA (or
oversampling) and direct inference for each seed."""
PAIRS = (1, 10, 30)
"""The most tuples of prototypes that an example has, by the number of prototypes."""


class Keys:
    """The stages of the rows of one split.

    Args:
        tasks: The data of each seed; most often the same for all.
        seeds: One network of each kind for each.
        device: The kind of device that networks run on: another one draws other random numbers.
    """

    def __init__(self, tasks: Sequence[Task], seeds: Sequence[int], device: str) -> None:
        self.tasks, self.seeds, self.device = tasks, list(seeds), device
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
        inputs = {"train": self.train, "rule": described(settings.neighborhood)}
        return Stage("neighborhoods", inputs, NEIGHBORHOODS * len(self.tasks[0].train))

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
        rule, recipe = settings.neighborhood, settings.generator
        pairs = (1, rule.first, rule.first * rule.second) if isinstance(rule, Tagged) else PAIRS
        rows = len(self.tasks[0].train) * pairs[settings.prototypes] * (1 - recipe.held_out)
        return Stage("generator", inputs, GENERATOR_STEP * recipe.duration(rows).steps * len(self.seeds))

    def samples(self, settings: Settings) -> Stage:
        """The drawing of samples by one method."""
        by_rarity = settings.resampling or settings.agreement or settings.method == "oversample"
        asked = by_rarity or settings.omega in ("focused", "rare")
        inputs: dict[str, Any] = {"n": settings.n, "resampler": described(settings.resampler) if asked else None}
        if settings.rare_tags != "all":
            inputs["rare tags"] = settings.rare_tags
        if settings.agreement:
            inputs["agreement"] = True
        if settings.method == "recombination":
            inputs["generator"] = self.generator(settings).key
            inputs |= {"sampling": described(settings.sampling), "deviations": settings.deviations}
            if settings.omega != "rule":
                inputs["omega"] = settings.omega
            effort = SAMPLING * (BEAM if settings.sampling.decoding.strategy == "beam" else 1.0)
        else:
            inputs |= {"train": self.train, "seeds": self.seeds}
            inputs |= {"oversample": True} if settings.method == "oversample" else {"geca": described(settings.geca)}
            effort = BY_RULE
        return Stage("samples", inputs, effort * len(self.seeds))

    def direct(self, settings: Settings) -> Stage:
        """Prediction by the recombination networks themselves."""
        generator = self.generator(settings).key
        inputs = {"generator": generator, "direct": described(settings.direct), "test": self.test}
        return Stage("direct", inputs, DIRECT * len(self.seeds))

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

    def predictors(self, settings: Settings, samples: Sequence[Sequence[Example]]) -> "list[Job]":
        """Returns the predictors that a row needs, one for each seed. Samples count for what they are, however drawn.

        Args:
            settings: The row's.
            samples: The new examples of each seed.
        """
        jobs = []
        for task, (seed, (train, test)), new in zip(self.tasks, self.own.items(), samples, strict=True):
            inputs = {
                "train": train,
                "test": test,
                "samples": digest_of(new),
                "p_aug": settings.p_aug if new else None,
                "recipe": described(settings.predictor),
                "seed": seed,
                "device": self.device,
            }
            jobs.append(Job(inputs, settings, task, seed, new))
        return jobs


def recipe_of(settings: Settings) -> str:
    """Names all that recombination networks of one population have in common."""
    rule = (settings.neighborhood.name, described(settings.neighborhood)) if settings.prototypes else None
    return repr((settings.prototypes, rule, described(settings.generator)))


@dataclass(frozen=True)
class Job:
    """One predictor to train.

    Attributes:
        inputs: What its predictions depend on, except for those that are trained beside it.
        settings: The row's.
        task: Its data.
        seed: Its seed.
        samples: The new examples that it sees; none: the originals only.
    """

    inputs: Mapping[str, Any]
    settings: Settings
    task: Task
    seed: int
    samples: Sequence[Example]

    @cached_property
    def key(self) -> str:
        """Tells it from other predictors."""
        return Stage("predictor", self.inputs).key

    @property
    def p_aug(self) -> float | None:
        """How often it sees a new example, if there are any."""
        return self.settings.p_aug if self.samples else None

    @property
    def epoch(self) -> float:
        """How many examples an epoch has: the originals once, and the new ones between them."""
        originals = len(self.task.train)
        return originals + len(self.samples) if self.p_aug is None else originals / (1 - self.p_aug)


@dataclass(frozen=True)
class Population:
    """Predictors of one recipe that are trained as one."""

    jobs: Sequence[Job]

    @cached_property
    def shared(self) -> dict[str, Any]:
        """What each predictor has of the others: steps, held-out examples, vocabulary, room for outputs.

        All have as many steps as the longest epoch asks for, hold out as many examples as the smallest training set
        allows, and know the tokens of all. Two populations that agree in this give the same predictors.
        """
        data = [job.task.train for job in self.jobs] + [job.samples for job in self.jobs]
        examples = [example for each in {id(each): each for each in data}.values() for example in each]  # each set once
        return {
            "epoch": max(job.epoch for job in self.jobs),
            "fewest": min(len(job.task.train) for job in self.jobs),
            "longest": [max(len(example.x) for example in examples), max(len(example.y) for example in examples)],
            "tokens": sorted({token for example in examples for token in (*example.x, *example.y)}),
        }

    @property
    def effort(self) -> float:
        """How much work it is, roughly, in training steps of one predictor."""
        epoch = max(job.epoch for job in self.jobs)
        return float(self.jobs[0].settings.predictor.duration(epoch).steps * len(self.jobs))

    def stage(self, job: Job) -> Stage:
        """The training of one of them, and its predictions for the test set."""
        return Stage("predictions", {**job.inputs, "population": self.shared})
