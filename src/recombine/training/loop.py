"""The one loop that trains recombination networks and predictors alike, as populations of any size."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from statistics import fmean

import torch
from torch import Tensor

from recombine.execution.progress import Report
from recombine.models.device import fast_products
from recombine.models.noise import Noise
from recombine.models.recombiner import Recombiner
from recombine.training.optimizer import Optimizer, population_adam
from recombine.training.recipe import Duration, Recipe
from recombine.training.schedule import Batch, Schedule
from recombine.training.step import Step


def of_replicas(tensor: Tensor, chosen: Sequence[int], replicas: int) -> Tensor:
    """Returns the rows that belong to the chosen replicas, by number, of a tensor with R, or R times some, rows.

    What has no rows is all replicas' own.
    """
    if not tensor.dim():
        return tensor
    return tensor.view(replicas, len(tensor) // replicas, *tensor.shape[1:])[list(chosen)].flatten(0, 1)


def put_replicas(tensor: Tensor, chosen: Sequence[int], replicas: int, *, values: Tensor) -> None:
    """Puts the rows of the chosen replicas, and only of those, into a tensor of all."""
    # Cloned, since the values may lie in the tensor itself.
    tensor.view(replicas, -1)[list(chosen)] = values.reshape(len(chosen), -1).clone()


def narrowed(model: Recombiner, chosen: Sequence[int]) -> Recombiner:
    """Returns the chosen replicas, by number, as a population of their own, in evaluation mode."""
    with torch.device("meta"):  # no weights are drawn that would be replaced at once
        part = Recombiner(model.architecture, len(chosen))
    weights = {name: of_replicas(each, chosen, model.replicas) for name, each in model.state_dict().items()}
    part.load_state_dict(weights, assign=True)
    return part.eval()


NARROWED = 2 / 3
"""When no more than this share of a population still learns, it goes on without the others."""

IMPROVEMENT = 1e-4
"""By how much an evaluation must rise to count as improved."""

AVERAGED_EVERY = 10
"""After how many steps parameters enter their average: neighbouring ones hardly differ."""


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

    def only(self, chosen: Sequence[int]) -> "Fitted":
        """Returns some of the replicas, by number, as a population of their own."""
        return Fitted(narrowed(self.model, chosen), self.history.only(chosen))


Evaluate = Callable[[Recombiner, Sequence[int]], Tensor]
"""Returns a number for each replica of a model, higher is better, given which of the population's replicas these are.
The model is in evaluation mode."""


class Trainer:
    """Trains a population; can be stopped and resumed between epochs.

    Replicas that have learned enough leave it on the way. What a replica becomes does not depend on the others.

    Args:
        model: R replicas, initialised; they are trained in place.
        schedule: The batches.
        recipe: How.
        duration: For how long.
        noise: Where dropout comes from.
        evaluate: Called after every epoch.
        epoch_fraction: The share of the epochs, above 0, after which each replica stops; empty: all of them.
        graphs: Use CUDA graphs on a GPU.
    """

    def __init__(
        self,
        model: Recombiner,
        schedule: Schedule,
        recipe: Recipe,
        duration: Duration,
        noise: Noise,
        *,
        evaluate: Evaluate | None = None,
        epoch_fraction: Sequence[float] = (),
        graphs: bool = True,
    ) -> None:
        self.whole, self.schedule, self.noise = model, schedule, noise
        self.recipe, self.duration = recipe, duration
        self.model = model  # those that still learn, and some that no longer do
        self.active: Sequence[int] = range(model.replicas)  # which of the whole these are
        self.evaluate = evaluate
        self.optimizer = self._new_optimizer()
        tokens = schedule.mean_tokens() if recipe.loss_per == "token" else [1.0] * model.replicas
        self.step = Step(model, schedule.corpus, self.optimizer, noise, tokens=tokens, graphs=graphs)
        device = schedule.corpus.rows.device
        self.history = History(epoch_fraction=list(epoch_fraction))
        self.best = torch.full((model.replicas,), float("-inf"), device=device)
        self.waited = torch.zeros(model.replicas, device=device)
        keep = recipe.keep_best and evaluate is not None  # without an evaluation no epoch is the best
        self.averages = [master.clone() for master in self.optimizer.masters] if recipe.averaging else []
        self.best_parameters = [master.clone() for master in self.optimizer.masters] if keep else []

    def _new_optimizer(self) -> Optimizer:
        recipe = self.recipe
        return population_adam(
            self.model, self.model.replicas, lr=recipe.lr, clip=recipe.clip, precision=recipe.precision
        )

    def run(self, report: Report | None = None) -> History:
        """Trains to the end, going on from wherever it stands."""
        done = len(self.history.loss)
        batches = islice(iter(self.schedule), done * self.duration.steps_per_epoch, None)
        for epoch in range(done, self.duration.epochs):
            still = self._learning()
            if self.history.stopped_early or not still.any():
                break
            if still.sum() <= NARROWED * len(still):
                self.narrow(still.nonzero()[:, 0].tolist())
            began = time.perf_counter()
            with fast_products():
                self._epoch(batches, began)
            self._after_epoch(epoch)
            self.history.seconds += time.perf_counter() - began
            if report is not None:
                report((epoch + 1) * self.duration.steps_per_epoch, self.duration.steps, self.history)
        self._put_back()
        self.whole.eval()
        return self.history

    def _learning(self) -> Tensor:
        """Tells which replicas of the model still learn. Where the rate is zero from the start, all do."""
        lr, first = self.optimizer.lr, self.recipe.lr
        return lr > first * self.recipe.stop_at_lr if first else torch.ones_like(lr, dtype=torch.bool)

    def _own(self, epoch: int) -> Tensor:
        """Returns at the end of which epoch each replica of the model has had this many of its own."""
        fractions = self.history.epoch_fraction or [1.0] * self.whole.replicas
        shares = torch.tensor([fractions[number] for number in self.active], device=self.best.device)
        return (epoch * shares).round().clamp(min=1)

    def _put_back(self) -> None:
        """Puts what the model has learned into the whole population."""
        self.whole.to(self.optimizer.masters[0].dtype)
        learned = self.best_parameters or self.averages or self.optimizer.masters
        with torch.no_grad():
            for parameter, values in zip(self.whole.parameters(), learned, strict=True):
                put_replicas(parameter, self.active, self.whole.replicas, values=values)

    def narrow(self, chosen: Sequence[int]) -> None:
        """Goes on with the chosen of the model's replicas only."""
        before = self.model.replicas

        def part(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
            return {name: of_replicas(value, chosen, before) for name, value in tensors.items()}

        weights, state = part(self.model.state_dict()), part(self.optimizer.state())
        self._put_back()
        with torch.device(self.optimizer.masters[0].device):
            self.model = Recombiner(self.whole.architecture, len(chosen)).to(self.optimizer.masters[0].dtype)
        self.model.load_state_dict(weights)
        self.optimizer = self._new_optimizer()
        self.optimizer.restore(state)
        self.best, self.waited = (of_replicas(each, chosen, before) for each in (self.best, self.waited))
        self.averages = [of_replicas(each, chosen, before) for each in self.averages]
        self.best_parameters = [of_replicas(each, chosen, before) for each in self.best_parameters]
        self.active = [self.active[number] for number in chosen]
        self.schedule.active = self.active
        self.noise.keep(chosen)
        self.step.keep(chosen, self.model, self.optimizer)

    def _epoch(self, batches: Iterator[Batch], began: float) -> None:
        self.model.train()
        limit, done = self.recipe.max_time, 0
        for batch in islice(batches, self.duration.steps_per_epoch):
            self.step(batch)
            done += 1
            if self.averages:
                self._average(len(self.history.loss) * self.duration.steps_per_epoch + done)
            if limit is not None and self.history.seconds + time.perf_counter() - began >= limit:
                self.history.stopped_early = not self._over(done)
                break
        self._note(self.history.loss, self.step.take_loss() / done)
        self.history.lr.append([0.0] * self.whole.replicas)
        for number, rate in zip(self.active, self.optimizer.lr.tolist(), strict=True):
            self.history.lr[-1][number] = rate

    def _average(self, steps: int) -> None:
        """Takes the parameters after this many steps into their averages, those of replicas that still learn."""
        if steps > AVERAGED_EVERY and steps % AVERAGED_EVERY:  # of the very first, each is all there is
            return
        share = AVERAGED_EVERY / max(AVERAGED_EVERY, min(self.recipe.averaging, steps / 5))
        shares = torch.where(self.optimizer.lr > 0, share, 0.0).to(self.averages[0].dtype)
        for average, master in zip(self.averages, self.optimizer.masters, strict=True):
            average.view(len(shares), -1).lerp_(master.view(len(shares), -1), shares.unsqueeze(1))

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        """Lets the model compute with the averages, if there are any."""
        kept = [parameter.detach().clone() for parameter in self.model.parameters()] if self.averages else []
        with torch.no_grad():
            for parameter, average in zip(self.model.parameters(), self.averages, strict=False):
                parameter.copy_(average)
            yield
            for parameter, before in zip(self.model.parameters(), kept, strict=False):
                parameter.copy_(before)

    def _note(self, epochs: list[list[float]], values: Tensor) -> None:
        """Adds an epoch's values for the replicas that learn."""
        row = list(epochs[-1]) if epochs else [float("nan")] * self.whole.replicas
        for number, value, learns in zip(self.active, values.tolist(), self._learning().tolist(), strict=True):
            if learns:
                row[number] = value
        epochs.append(row)

    def _over(self, steps: int) -> bool:
        """Tells whether this many steps of this epoch are all that there was to do."""
        return len(self.history.loss) + 1 == self.duration.epochs and steps == self.duration.steps_per_epoch

    def _after_epoch(self, epoch: int) -> None:
        if self.evaluate is not None:
            self.model.eval()
            with self._averaged(), fast_products():
                value = self.evaluate(self.model, self.active)
            self._judge(value)
        recipe, epochs = self.recipe, self.duration.epochs
        if recipe.decay_at:
            self.optimizer.lr *= torch.where(self._own(recipe.decay_at) == epoch + 1, recipe.decay, 1.0)
        over = ~self._learning()
        if epoch + 1 < epochs:  # at the very end rates stay, so that training can be taken up for longer
            over |= self._own(epochs) <= epoch + 1
        self.optimizer.lr.masked_fill_(over, 0)

    def _judge(self, value: Tensor) -> None:
        """Draws the conclusions from an evaluation."""
        self._note(self.history.evaluation, value)
        better, improved = value > self.best, value > self.best + IMPROVEMENT
        self.best = torch.maximum(value, self.best)
        self.waited = torch.where(improved, torch.zeros_like(self.waited), self.waited + 1)
        if self.duration.patience:
            tired = self.waited >= self.duration.patience
            self.optimizer.lr *= torch.where(tired, 0.5, 1.0)
            self.waited.masked_fill_(tired, 0)
        if self.best_parameters:
            for now, best in zip(self.averages or self.optimizer.masters, self.best_parameters, strict=True):
                rows = better.repeat_interleave(len(best) // len(better))
                best[rows] = now[rows]
