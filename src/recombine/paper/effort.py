"""How much work stages are, roughly, in training steps of one predictor: enough to tell the remaining time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recombine.experiment import Task
from recombine.paper.settings import Settings

if TYPE_CHECKING:
    from recombine.paper.work import Job

GENERATOR_STEP, NEIGHBORHOODS, SAMPLING, BEAM, GECA, DIRECT = 1.6, 20_000.0, 2_000.0, 5.0, 500.0, 4_000.0
"""About what they were on a GPU, the last two guessed; sampling, GECA and direct inference for each seed."""
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
            return NEIGHBORHOODS
        if kind == "generator":
            return self._generator(settings)
        if kind == "direct":
            return DIRECT * self.seeds
        if settings.method == "geca":
            return GECA * self.seeds
        return SAMPLING * self.seeds * (BEAM if settings.sampling.decoding.strategy == "beam" else 1.0)

    def _generator(self, settings: Settings) -> float:
        rows = self.train * PAIRS[settings.prototypes] * (1 - settings.generator.held_out)
        plan = settings.generator.settings(rows)
        return GENERATOR_STEP * plan.epochs * plan.steps_per_epoch * self.seeds

    def predictors(self, jobs: Sequence["Job"]) -> float:
        """The training of predictors as one population, and their predictions."""
        share = max(job.p_aug or 0.0 for job in jobs)
        recipe = jobs[0].recipe
        plan = recipe.settings(self.train * (1 - recipe.held_out) / (1 - share))
        return float(plan.epochs * plan.steps_per_epoch * len(jobs))
