"""What each stage of a row depends on, and nothing else: rows share stages, which are known before they are done."""

from collections.abc import Sequence
from typing import Any

from recombine.example import Example
from recombine.paper.settings import BOTH, Settings, described
from recombine.paper.stages import Stage, digest_of
from recombine.paper.tasks import Task, different


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
        # What all seeds share is named once.
        self.train, self.test = (
            each[0] if len(digests) == 1 else [*each] for each in zip(*self.own.values(), strict=True)
        )

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

    def predictions(self, settings: Settings, samples: Sequence[Example], seed: int) -> Stage:
        """The training of one predictor and its predictions for the test set.

        Samples count for what they are, not for how they were drawn. Which predictors are trained beside it does not
        count, though an epoch of a population is as long as its longest.
        """
        train, test = self.own[seed]
        inputs = {
            "train": train,
            "test": test,
            "samples": digest_of(samples),
            "p_aug": settings.p_aug if samples else None,
            "recipe": described(settings.predictor),
            "seed": seed,
            "device": self.device,
        }
        return Stage("predictions", inputs)
