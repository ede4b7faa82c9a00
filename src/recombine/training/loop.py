"""The one loop that trains recombination networks and predictors alike, as populations of any size."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import torch
from torch import Tensor

from recombine.models.noise import Noise
from recombine.models.precision import fast_products
from recombine.models.recombiner import Recombiner
from recombine.training.optimizer import Precision, population_adam
from recombine.training.schedule import Batch, Schedule
from recombine.training.step import LossPer, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """How a population is trained.

    Attributes:
        epochs: Rounds of `steps_per_epoch` steps; after each one the model is evaluated.
        steps_per_epoch: Optimiser steps in an epoch.
        lr: Adam's learning rate.
        clip: Largest gradient norm; None: no clipping.
        loss_per: What the summed loss is divided by.
        precision: What products are computed in on a GPU.
        patience: Halve a replica's learning rate when its evaluation has not improved for so many epochs; 0: never.
        improvement: By how much an evaluation must rise to count as improved.
        decay_at: Multiply learning rates by `decay` after this epoch; 0: never.
        decay: See `decay_at`.
        enough: Stop when every replica's learning rate has fallen to this share of the initial one: from there on
            nothing changes; 0: never.
        keep_best: Return each replica's parameters from its best epoch; else from the last one.
        max_time: Stop after so many seconds of training; None: no limit.
    """

    epochs: int
    steps_per_epoch: int
    lr: float = 1e-3
    clip: float | None = 1.0
    loss_per: LossPer = "sequence"
    precision: Precision = "bfloat16"
    patience: int = 0
    improvement: float = 1e-4
    decay_at: int = 0
    decay: float = 0.1
    enough: float = 0.0
    keep_best: bool = False
    max_time: float | None = None


@dataclass
class History:
    """What happened, epoch by epoch.

    Attributes:
        loss: Mean loss of each replica.
        evaluation: Each replica's evaluation, higher is better; empty if there is none.
        lr: Each replica's learning rate.
        seconds: Training time, evaluations included.
        stopped_early: Whether the time limit ended it.
    """

    loss: list[list[float]] = field(default_factory=list)
    evaluation: list[list[float]] = field(default_factory=list)
    lr: list[list[float]] = field(default_factory=list)
    seconds: float = 0.0
    stopped_early: bool = False


Evaluate = Callable[[Recombiner], Tensor]
"""Returns a number for each replica (R,), higher is better. The model is in evaluation mode."""
Report = Callable[[int, int, History], None]
"""Is told, after every epoch, how many steps are done, of how many, and how it went."""


class Trainer:
    """Trains a population; can be stopped and resumed between epochs.

    Args:
        model: R replicas, initialised.
        schedule: The batches.
        settings: How.
        noise: Where dropout comes from.
        evaluate: Called after every epoch.
        graphs: Use CUDA graphs on a GPU.
    """

    def __init__(
        self,
        model: Recombiner,
        schedule: Schedule,
        settings: TrainingSettings,
        noise: Noise,
        *,
        evaluate: Evaluate | None = None,
        graphs: bool = True,
    ) -> None:
        self.model, self.schedule, self.settings, self.noise = model, schedule, settings, noise
        self.evaluate = evaluate
        self.optimizer = population_adam(
            model, model.replicas, lr=settings.lr, clip=settings.clip, precision=settings.precision
        )
        self.step = Step(model, schedule.corpus, self.optimizer, noise, loss_per=settings.loss_per, graphs=graphs)
        device = schedule.corpus.rows.device
        self.history = History()
        self.best = torch.full((model.replicas,), float("-inf"), device=device)
        self.waited = torch.zeros(model.replicas, device=device)
        keep = settings.keep_best and evaluate is not None  # without an evaluation no epoch is the best
        self.best_parameters = [master.clone() for master in self.optimizer.masters] if keep else []

    def run(self, report: Report | None = None) -> History:
        """Trains to the end, going on from wherever it stands."""
        done = len(self.history.loss)
        batches = islice(iter(self.schedule), done * self.settings.steps_per_epoch, None)
        over = self.history.stopped_early or self._learned_out()
        for epoch in range(done, done if over else self.settings.epochs):
            began = time.perf_counter()
            with fast_products():
                self._epoch(batches, began)
            self._after_epoch(epoch)
            self.history.seconds += time.perf_counter() - began
            if report is not None:
                steps = self.settings.steps_per_epoch
                report((epoch + 1) * steps, self.settings.epochs * steps, self.history)
            if self.history.stopped_early or self._learned_out():
                break
        self.model.to(self.optimizer.masters[0].dtype)
        with torch.no_grad():
            learned = self.best_parameters or self.optimizer.masters
            for parameter, value in zip(self.model.parameters(), learned, strict=True):
                parameter.copy_(value)
        self.model.eval()
        return self.history

    def _learned_out(self) -> bool:
        enough = self.settings.enough
        return enough > 0 and bool((self.optimizer.lr <= self.settings.lr * enough).all())

    def _epoch(self, batches: Iterator[Batch], began: float) -> None:
        self.model.train()
        limit, done = self.settings.max_time, 0
        for batch in islice(batches, self.settings.steps_per_epoch):
            self.step(batch)
            done += 1
            if limit is not None and self.history.seconds + time.perf_counter() - began >= limit:
                self.history.stopped_early = not self._over(done)
                break
        loss = self.step.take_loss() / done
        self.history.loss.append(loss.tolist())
        self.history.lr.append(self.optimizer.lr.tolist())

    def _over(self, steps: int) -> bool:
        """Tells whether so many steps of this epoch are all that there was to do."""
        return len(self.history.loss) + 1 == self.settings.epochs and steps == self.settings.steps_per_epoch

    def _after_epoch(self, epoch: int) -> None:
        settings = self.settings
        if settings.decay_at == epoch + 1:
            self.optimizer.lr *= settings.decay
        if self.evaluate is None:
            return
        self.model.eval()
        with torch.no_grad(), fast_products():
            value = self.evaluate(self.model)
        self.history.evaluation.append(value.tolist())
        better, improved = value > self.best, value > self.best + settings.improvement
        self.best = torch.maximum(value, self.best)
        self.waited = torch.where(improved, torch.zeros_like(self.waited), self.waited + 1)
        if settings.patience:
            tired = self.waited >= settings.patience
            self.optimizer.lr *= torch.where(tired, 0.5, 1.0)
            self.waited.masked_fill_(tired, 0)
        if self.best_parameters:
            for master, best in zip(self.optimizer.masters, self.best_parameters, strict=True):
                rows = better.repeat_interleave(len(best) // len(better))
                best[rows] = master[rows]
