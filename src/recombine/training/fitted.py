"""A trained population, and how it came about."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

import torch
from torch import Tensor

from recombine.models.recombiner import Recombiner


def of_replicas(tensor: Tensor, chosen: Sequence[int], replicas: int) -> Tensor:
    """Returns the rows that belong to the chosen replicas, by number, of a tensor with R, or R times some, rows.

    What has no rows is all replicas' own.
    """
    if not tensor.dim():
        return tensor
    return tensor.view(replicas, len(tensor) // replicas, *tensor.shape[1:])[list(chosen)].flatten(0, 1)


def narrowed(model: Recombiner, chosen: Sequence[int]) -> Recombiner:
    """Returns the chosen replicas, by number, as a population of their own, in evaluation mode."""
    with torch.device("meta"):  # no weights are drawn that would be replaced at once
        part = Recombiner(model.architecture, len(chosen))
    weights = {name: of_replicas(each, chosen, model.replicas) for name, each in model.state_dict().items()}
    part.load_state_dict(weights, assign=True)
    return part.eval()


@dataclass
class History:
    """What happened, epoch by epoch. A replica that has learned enough keeps its last values.

    Attributes:
        loss: Mean loss of each replica.
        evaluation: Each replica's evaluation, higher is better; empty if there is none.
        lr: Each replica's learning rate; 0 when it no longer learns.
        epoch_fraction: The share of the epochs after which each replica was to stop, its own being shorter; empty: all.
        seconds: Training time, evaluations included.
        stopped_early: Whether the time limit ended it.
    """

    loss: list[list[float]] = field(default_factory=list)
    evaluation: list[list[float]] = field(default_factory=list)
    lr: list[list[float]] = field(default_factory=list)
    epoch_fraction: list[float] = field(default_factory=list)
    seconds: float = 0.0
    stopped_early: bool = False

    def epochs(self, replica: int) -> int:
        """Returns how many epochs of its own it took until a replica had learned enough, or all of them."""
        share = self.epoch_fraction[replica] if self.epoch_fraction else 1
        return round(sum(rates[replica] > 0 for rates in self.lr) / share)

    def __str__(self) -> str:
        return self.latest()

    def latest(self, judged: str = "held out") -> str:
        """Returns loss and evaluation of the last epoch, means over the population; `judged` names the evaluation."""
        evaluated = f", {judged} {fmean(self.evaluation[-1]):.3f}" if self.evaluation else ""
        return f"loss {fmean(self.loss[-1]):.3f}{evaluated}" if self.loss else "no epoch yet"

    def only(self, chosen: Sequence[int]) -> "History":
        """Returns the history of some of the replicas."""
        loss, evaluation, lr = (
            [[row[number] for number in chosen] for row in rows] for rows in (self.loss, self.evaluation, self.lr)
        )
        fractions = [self.epoch_fraction[number] for number in chosen] if self.epoch_fraction else []
        return replace(self, loss=loss, evaluation=evaluation, lr=lr, epoch_fraction=fractions)


@dataclass(frozen=True)
class Fitted:
    """A trained population and how it came about."""

    model: Recombiner
    history: History
    steps_per_epoch: int = 0  # of its training, if that was here

    def only(self, chosen: Sequence[int]) -> "Fitted":
        """Returns some of the replicas, by number, as a population of their own."""
        return replace(self, model=narrowed(self.model, chosen), history=self.history.only(chosen))
