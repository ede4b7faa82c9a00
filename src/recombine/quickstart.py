"""The quickstart: plain predictor, GECA, and recombine-and-resample on a part of SCAN that suits a CPU."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from recombine.augmentation.protocol import Samples
from recombine.augmentation.resample import Resampler
from recombine.augmentation.sampler import SamplingSettings
from recombine.decoding.generate import Decoding
from recombine.evaluation.metrics import audit
from recombine.neighborhoods import LongShort
from recombine.own_data.augmenters import GECA, Augmenter
from recombine.own_data.predictor import Predictor
from recombine.own_data.settings import SILENT, Display
from recombine.paper.tasks import Task, part_of, task
from recombine.training.presets import SMALL_GENERATOR, SMALL_PREDICTOR

LEFT_OUT = frozenset({"around", "opposite"})
"""Commands with these words have the longest outputs; without them SCAN trains within minutes on a CPU."""

SAMPLES = 400
P_AUG = 0.1

PREDICTOR = replace(SMALL_PREDICTOR, epochs=20)
"""Its usual 30 epochs gain nothing here that could be told."""


@dataclass(frozen=True)
class Outcome:
    """What came of one way.

    Attributes:
        name: Its name.
        exact_match: The share of test examples that are predicted exactly.
        samples: The new examples; None if there are none to make.
        right: The share of them that are exactly right.
        seconds: How long it all took.
    """

    name: str
    exact_match: float
    samples: Samples | None
    right: float | None
    seconds: float


def quickstart_task() -> Task:
    """Returns the part of SCAN jump, training and test set alike, whose commands have none of the words left out."""
    return part_of(task("jump"), lambda example: not LEFT_OUT & set(example.x))


def ways(seed: int, display: Display = SILENT) -> Sequence[tuple[str, GECA | Augmenter | None]]:
    """Returns the three ways that are compared, from the plainest: a name, and what makes new examples."""
    learned = Augmenter(
        seed=seed,
        n=SAMPLES,
        network=SMALL_GENERATOR,
        neighborhood=LongShort(removal="distinct"),
        # Keep samples with something rare in them: "jump" and its action are in one example of thousands.
        rarity=Resampler(epsilon=0.005),
        sampling=SamplingSettings(decoding=Decoding("mixed", temperature=0.2), surplus=1.25),
        device="cpu",
        progress=display,
    )
    return [
        ("plain predictor", None),
        ("GECA", GECA(seed=seed, n=SAMPLES)),
        ("recombine and resample", learned),
    ]


def quickstart(seed: int, *, display: Display = SILENT) -> Iterator[Outcome]:
    """Yields the outcome of each way, as it is known."""
    part = quickstart_task()
    for name, augmenter in ways(seed, display):
        began = time.perf_counter()
        samples = None if augmenter is None else augmenter.fit(part.train).sample()
        if samples is not None:
            display.say(f"{name}: {samples.account}")
        predictor = Predictor(seed=seed, network=PREDICTOR, device="cpu", progress=_named(display, name))
        predictor.fit(part.train, augmented=samples or (), p_aug=P_AUG if samples else None)
        score = predictor.score(part.test)
        display.say(f"{name}: exact match {score:.3f}")
        right = audit(samples, gold=part.gold, train=part.train, test=part.test).right if samples else None
        share = None if right is None or samples is None else right / len(samples)
        yield Outcome(name, score, samples, share, time.perf_counter() - began)


def _named(display: Display, name: str) -> Display:
    """Returns what also shows which way a training is part of."""
    return replace(display, progress=lambda what, *rest: display.progress(f"{name}: {what}", *rest))
