"""What each stage of a row depends on, and nothing else: rows share stages, which are known before they are done."""

from collections.abc import Sequence
from typing import Any

from recombine.example import Example
from recombine.experiment import Task
from recombine.paper.settings import Settings
from recombine.paper.stages import Stage, digest_of
from recombine.paper.strict import described


class Keys:
    """The stages of the rows of one split.

    Args:
        task: The split's data.
        seeds: One network of each kind for each.
        device: The kind of device that networks run on: another one draws other random numbers.
    """

    def __init__(self, task: Task, seeds: Sequence[int], device: str) -> None:
        self.seeds, self.device = list(seeds), device
        self.train, self.test = digest_of(task.train), digest_of(task.test)

    def neighborhoods(self, settings: Settings) -> Stage:
        """The search for prototypes."""
        return Stage("neighborhoods", {"train": self.train, "rule": described(settings.neighborhood)})

    def generator(self, settings: Settings) -> Stage:
        """The training of recombination networks."""
        inputs = {
            "train": self.train,
            "neighborhoods": self.neighborhoods(settings).key if settings.prototypes else None,
            "prototypes": settings.prototypes,
            "recipe": described(settings.generator),
            "seeds": self.seeds,
            "device": self.device,
        }
        return Stage("generator", inputs)

    def samples(self, settings: Settings) -> Stage:
        """The drawing of samples."""
        inputs: dict[str, Any] = {
            "n": settings.n,
            "resampler": described(settings.resampler) if settings.resampling else None,
        }
        if settings.method == "geca":
            return Stage(
                "samples", {**inputs, "train": self.train, "geca": described(settings.geca), "seeds": self.seeds}
            )
        inputs |= {
            "generator": self.generator(settings).key,
            "sampling": described(settings.sampling),
            "deviations": settings.deviations,
        }
        return Stage("samples", inputs)

    def direct(self, settings: Settings) -> Stage:
        """Prediction by the recombination networks themselves."""
        generator = self.generator(settings).key
        return Stage("direct", {"generator": generator, "direct": described(settings.direct), "test": self.test})

    def before_predictors(self, settings: Settings) -> dict[str, Stage]:
        """All stages of a row up to its samples, or direct inference, by name and in order."""
        stages = {}
        if settings.method in ("recombination", "direct"):
            if settings.prototypes:
                stages["neighborhoods"] = self.neighborhoods(settings)
            stages["generator"] = self.generator(settings)
        if settings.method == "direct":
            stages["direct"] = self.direct(settings)
        elif settings.method != "none":
            stages["samples"] = self.samples(settings)
        return stages

    def predictions(self, settings: Settings, samples: Sequence[Example], seed: int) -> Stage:
        """The training of one predictor and its predictions for the test set.

        Samples count for what they are, not for how they were drawn. Which predictors are trained beside it does not
        count, though an epoch of a population is as long as its longest.
        """
        inputs = {
            "train": self.train,
            "test": self.test,
            "samples": digest_of(samples),
            "p_aug": settings.p_aug if samples else None,
            "recipe": described(settings.predictor),
            "seed": seed,
            "device": self.device,
        }
        return Stage("predictions", inputs)
