"""An experiment on its way: what there is of it so far."""

from dataclasses import dataclass, field

from recombine.augmentation.protocol import Samples
from recombine.example import Tokens
from recombine.paper.settings import Settings
from recombine.paper.work import Job


@dataclass
class Experiment:
    """One row on one split, on its way.

    Attributes:
        row: The row's name.
        settings: How it comes about.
        samples: The new examples of each seed, once there are any.
        jobs: The predictors that it needs; none for a dash or direct inference.
        outputs: Predictions for the test set by seed, once there are any.
        is_recorded: Whether its record is written.
    """

    row: str
    settings: Settings
    samples: list[Samples] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    outputs: list[list[Tokens]] = field(default_factory=list)
    is_recorded: bool = False

    @property
    def draws(self) -> bool:
        """Whether there are samples to be learned from."""
        return bool(self.settings.sources)

    @property
    def is_dash(self) -> bool:
        """Whether all samples of all seeds were rejected, so that there is nothing to learn from."""
        return self.draws and not any(map(len, self.samples))

    @property
    def originals_only(self) -> list[int]:
        """The seeds, not all of them, whose samples were all rejected: their predictors see the originals alone."""
        return [job.seed for job in self.jobs if self.draws and not job.samples]
