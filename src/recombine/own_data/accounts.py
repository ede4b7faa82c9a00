"""What an augmenter or a predictor did: what it chose, what it kept, what it turned down, and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from recombine.augmentation.protocol import Samples
from recombine.own_data.choices import Choice


@dataclass(frozen=True, slots=True, repr=False)
class Account:
    """What was done; ``print`` shows it line by line, and so does a notebook.

    Attributes:
        examples: How many different examples there were to learn from; None: a model that was loaded does not tell.
        choices: What was chosen from the data, by what it was chosen for.
        samples: What the last call gave; None before the first, and of a predictor.
    """

    examples: int | None
    choices: Mapping[str, Choice[object]] = field(default_factory=dict)
    samples: Samples | None = None

    @property
    def tried(self) -> int:
        """How many candidates there were."""
        return self.kept + sum(self.rejected.values())

    @property
    def kept(self) -> int:
        """How many of them became samples."""
        return len(self.samples) if self.samples else 0

    @property
    def rejected(self) -> Mapping[str, int]:
        """How many were turned down, by reason."""
        return self.samples.rejected if self.samples else {}

    def __str__(self) -> str:
        lines = [] if self.examples is None else [f"{self.examples:,} different examples"]
        lines += [f"{what}: {choice.name} ({choice.reason})" for what, choice in self.choices.items()]
        if self.samples is not None:
            lines.append(self.samples.account)
        return "\n".join(lines)

    __repr__ = __str__
