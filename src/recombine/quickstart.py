"""The quickstart: plain predictor, GECA, and recombine-and-resample on a part of SCAN that suits a CPU."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from recombine.augmentation.geca import GECA
from recombine.augmentation.recombination import Recombination
from recombine.augmentation.resample import Resampler
from recombine.augmentation.settings import SamplingSettings
from recombine.decoding.generate import Decoding
from recombine.example import Example
from recombine.execution.progress import Progress, Say, no_progress
from recombine.experiment import Outcome, Plan, Task, part_of, run
from recombine.neighborhoods import LongShort
from recombine.paper.tasks import task
from recombine.training.presets import SMALL_GENERATOR, SMALL_PREDICTOR

LEFT_OUT = frozenset({"around", "opposite"})
"""Commands with these words have the longest outputs; without them SCAN trains within minutes on a CPU."""

SAMPLES = 400
P_AUG = 0.1


def quickstart_task() -> Task:
    """Returns the part of SCAN jump, training and test set alike, whose commands have none of the words left out."""
    return part_of(task("jump"), lambda example: not LEFT_OUT & set(example.x))


def plans(train: Sequence[Example], device: str) -> list[Plan]:
    """Returns the three ways that are compared, from the plainest."""
    plain = Plan(name="plain predictor", predictor=SMALL_PREDICTOR)
    augmented = replace(plain, n=SAMPLES, p_aug=P_AUG)
    # Keep what holds something rare: "jump" and its action are in one example of thousands.
    resampler = Resampler(epsilon=0.005).fit(train)
    learned = Recombination(
        LongShort(removal="distinct"),
        SMALL_GENERATOR,
        sampling=SamplingSettings(decoding=Decoding("mixed", temperature=0.2), surplus=1.25),
        device=device,
    )
    return [
        plain,
        replace(augmented, name="GECA", augmenter=GECA()),
        replace(augmented, name="recombine and resample", augmenter=learned, accept=resampler),
    ]


def quickstart(
    seeds: Sequence[int],
    *,
    device: str = "cpu",
    say: Say = lambda _: None,
    progress: Progress = no_progress,
) -> Iterator[Outcome]:
    """Yields the outcome of each way, as it is known."""
    part = quickstart_task()
    for plan in plans(part.train, device):
        yield run(plan, part, seeds, device=device, say=say, progress=progress)
