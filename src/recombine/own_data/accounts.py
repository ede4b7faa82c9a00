"""What an augmenter has to say about its work: what it chose and why, what it kept, what it turned down and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from recombine.augmentation.protocol import Samples
from recombine.own_data.choices import Choice


@dataclass(frozen=True, slots=True)
class Account:
    """What was done; ``print`` shows it line by line.

    Attributes:
        examples: How many different examples there were to learn from.
        choices: What was chosen from the data, by what it was chosen for.
        samples: What the last call gave; None before the first.
    """

    examples: int
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
        lines = [f"{self.examples:,} different examples"]
        lines += [f"{what}: {choice.name} ({choice.reason})" for what, choice in self.choices.items()]
        if self.samples is not None:
            lines.append(self.samples.account)
        return "\n".join(lines)
