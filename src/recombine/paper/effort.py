"""How much work stages are, roughly, in training steps of one predictor: enough to tell the remaining time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recombine.neighborhoods import Tagged
from recombine.paper.settings import Settings
from recombine.paper.tasks import Task

if TYPE_CHECKING:
    from recombine.paper.work import Job

GENERATOR_STEP, NEIGHBORHOODS, SAMPLING, BEAM, BY_RULE, DIRECT = 1.6, 1.5, 2_000.0, 5.0, 500.0, 4_000.0
"""About what they were on a GPU, the last two guessed: neighborhoods for each example; sampling, GECA (or
oversampling) and direct inference for each seed."""
PAIRS = (1, 10, 30)
"""So many tuples of prototypes an example has at most, by how many prototypes there are."""


class Effort:
    """What stages of one split cost.

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

    def predictors(self, jobs: Sequence["Job"]) -> float:
        """The training of predictors as one population, and their predictions."""
        share = max(job.p_aug or 0.0 for job in jobs)
        recipe = jobs[0].recipe
        beside = max((len(job.samples) for job in jobs if job.p_aug is None), default=0)
        plan = recipe.duration(self.train * (1 - recipe.held_out) / (1 - share) + beside)
        return float(plan.steps * len(jobs))
