"""The one loop that trains recombination networks and predictors alike, as populations of any size."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from recombine.execution.progress import Report
from recombine.models.device import fast_products
from recombine.models.noise import Noise
from recombine.models.packing import Packing
from recombine.models.recombiner import Recombiner
from recombine.models.scoring import score
from recombine.training.fitted import History, narrowed, of_replicas
from recombine.training.optimizer import PopulationAdam, gradients_of
from recombine.training.recipe import Duration, Recipe
from recombine.training.renaming import Twins, disguised, unknown
from recombine.training.schedule import Batch, Schedule

NARROWED = 2 / 3
"""When no more than this share of a population still learns, it goes on without the others."""

IMPROVEMENT = 1e-4
"""By how much an evaluation must rise to count as improved."""

FALLEN = 1 / 4
"""What falls to this share of its best exact match has not forgotten a little: a step was too long. It goes back."""

WORTH = 1 / 2
"""A best below this may be luck, of few held-out examples, and is not gone back to."""

AVERAGED_EVERY = 10
"""After how many steps parameters enter their average: neighbouring ones hardly differ."""

Evaluate = Callable[[Recombiner, Sequence[int]], Tensor]
"""Returns a number for each replica of a model, higher is better, given which of the population's replicas these are.
The model is in evaluation mode."""


class Trainer:
    """Trains a population in place; can be stopped and resumed between epochs.

    Replicas that have learned enough leave it on the way. What a replica becomes does not depend on the others.

    The model is initialised, dropout comes from the noise, and `evaluate` is called after every epoch. Each replica
    stops after its `epoch_fraction`, a share of the epochs above 0; empty: all of them. `stand_ins` says which ids
    (R, ids) take the place of tokens in some tuples, `twins` what is renamed in every one. `graphs` are CUDA graphs.
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
        stand_ins: Tensor | None = None,
        twins: Twins | None = None,
        graphs: bool = True,
    ) -> None:
        self.whole, self.schedule, self.noise = model, schedule, noise
        self.recipe, self.duration, self.evaluate = recipe, duration, evaluate
        self.stand_ins, self.twins, self.corpus = stand_ins, twins, schedule.corpus
        tokens = schedule.mean_tokens() if recipe.loss_per == "token" else [1.0] * model.replicas
        device = schedule.corpus.rows.device
        self.graphs = graphs and device.type == "cuda"
        # The summed loss is divided by the number of sequences times this. By the batch's own tokens, those of batches
        # with many would count for less.
        self.tokens = torch.tensor(tokens, device=device)
        self.history = History(epoch_fraction=list(epoch_fraction))
        self.active: Sequence[int] = range(model.replicas)  # which of the whole the model consists of
        self._use(model)
        self.best = torch.full((model.replicas,), float("-inf"), device=device)
        self.waited = torch.zeros(model.replicas, device=device)
        self.averages = [master.clone() for master in self.optimizer.masters] if recipe.averaging else []
        # Without an evaluation no epoch is the best.
        self.best_parameters = [] if evaluate is None else [master.clone() for master in self.optimizer.masters]

    def _use(self, model: Recombiner) -> None:
        """Trains a model from now on, which consists of the active replicas."""
        self.model, recipe = model, self.recipe
        self.optimizer = PopulationAdam(
            model, model.replicas, lr=recipe.lr, clip=recipe.clip, precision=recipe.precision
        )
        self.loss = torch.zeros(model.replicas, device=self.tokens.device)  # summed over the steps of an epoch
        self._replay: dict[tuple[int, tuple[int, ...]], Callable[[], None]] = {}  # what was captured, by shape
        self._rows: Tensor | None = None  # those that graphs read
        self._packings: list[Packing] = []  # whose tensors graphs read
        if self.graphs:
            # The first step of a shape runs on a stream of its own, and torch waits for it: nothing to warn of.
            warn = getattr(torch.autograd.graph, "set_warn_on_accumulate_grad_stream_mismatch", None)
            if warn is not None:  # since torch 2.10
                warn(False)
            self._pool = torch.cuda.graph_pool_handle()

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
                if self.evaluate is not None:
                    self._judge(self.evaluate)
            self._set_rates(epoch + 1)
            self.history.seconds += time.perf_counter() - began
            if report is not None:
                steps, total = (epoch + 1) * self.duration.steps_per_epoch, self.duration.steps
                if self.recipe.max_time is not None:  # how many steps there is time for, as far as one can tell
                    total = max(steps, min(total, round(steps * self.recipe.max_time / self.history.seconds)))
                report(steps, total, self.history)
        self._put_back()
        self.whole.eval()
        return self.history

    def _learning(self) -> Tensor:
        """Tells which replicas of the model still learn. Where the rate is zero from the start, all do."""
        lr, first = self.optimizer.lr, self.recipe.lr
        return lr > first * self.recipe.stop_at_lr if first else torch.ones_like(lr, dtype=torch.bool)

    def _put_back(self) -> None:
        """Puts what the model has learned into the whole population."""
        self.whole.to(self.optimizer.masters[0].dtype)
        best = self.best_parameters if self.recipe.keep_best else []
        learned = best or self.averages or self.optimizer.masters
        with torch.no_grad():
            for parameter, values in zip(self.whole.parameters(), learned, strict=True):
                rows = values.reshape(len(self.active), -1).clone()  # since they may be the parameter itself
                parameter.view(self.whole.replicas, -1)[list(self.active)] = rows

    def narrow(self, chosen: Sequence[int]) -> None:
        """Goes on with the chosen of the model's replicas only."""
        before, model = self.model.replicas, narrowed(self.model, chosen)
        state = {name: of_replicas(value, chosen, before) for name, value in self.optimizer.state().items()}
        self._put_back()
        model.to(self.optimizer.masters[0].dtype)
        self.active = [self.active[number] for number in chosen]
        self.schedule.active = self.active
        self.noise.keep(chosen)
        self._use(model)
        self.optimizer.restore(state)
        self.best, self.waited, self.tokens = (each[list(chosen)] for each in (self.best, self.waited, self.tokens))
        self.stand_ins = None if self.stand_ins is None else self.stand_ins[list(chosen)]
        self.corpus = self.corpus.only(chosen)
        self.averages = [of_replicas(each, chosen, before) for each in self.averages]
        self.best_parameters = [of_replicas(each, chosen, before) for each in self.best_parameters]

    def _epoch(self, batches: Iterator[Batch], began: float) -> None:
        self.model.train()
        limit, steps, epoch = self.recipe.max_time, self.duration.steps_per_epoch, len(self.history.loss)
        done = 0
        for batch in islice(batches, steps):
            self._fall(epoch * steps + done, self.history.seconds + time.perf_counter() - began)
            self.step(batch)
            done += 1
            if self.averages:
                self._average(epoch * steps + done)
            if limit is not None and self.history.seconds + time.perf_counter() - began >= limit:
                self.history.stopped_early = (epoch + 1, done) != (self.duration.epochs, steps)
                break
        self._note(self.history.loss, self.loss / done)
        self.loss.zero_()
        self.history.lr.append([0.0] * self.whole.replicas)
        for number, rate in zip(self.active, (self.optimizer.lr * self.optimizer.share).tolist(), strict=True):
            self.history.lr[-1][number] = rate

    def _fall(self, steps: int, seconds: float) -> None:
        """Sets the share of the rates that the next step is done with, after so many steps and seconds."""
        over, least, limit = steps / self.duration.steps, self.recipe.falls_to, self.recipe.max_time
        if least == 1:
            return
        if limit is not None:  # in the second half only: where time suffices, it must make no difference
            over = max(over, 2 * seconds / limit - 1)
        self.optimizer.share.fill_(1 - (1 - least) * min(over, 1.0))

    def step(self, batch: Batch) -> None:
        """Does one optimiser step; on a GPU, it is captured once per shape of batches as a CUDA graph, and replayed."""
        rows = torch.from_numpy(np.ascontiguousarray(batch.rows))  # else the copy below waits for the GPU
        shape = source_steps, counts = batch.source_steps, batch.counts
        if not self.graphs:
            self._train(rows.to(self.corpus.rows.device), source_steps, counts)
            return
        if self._rows is None:
            self._rows = rows.to(self.corpus.rows.device)
        else:
            self._rows.copy_(rows.pin_memory(), non_blocking=True)
        if shape in self._replay:
            self._replay[shape]()
            return
        # The first step of a shape is done eagerly, which also warms up what a capture may not; then it is captured.
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self._train(self._rows, source_steps, counts)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        for generator in self.noise.generators:
            graph.register_generator_state(generator)
        with torch.cuda.graph(graph, pool=self._pool):
            self._train(self._rows, source_steps, counts)
        encoded, device = self._rows.shape[1] * self.corpus.sources.shape[-2], self._rows.device
        self._packings.append(Packing.of(counts, device))
        if source_steps:  # else there are no prototypes
            self._packings.append(Packing.whole(source_steps, encoded, device))
        self._replay[shape] = graph.replay

    def _train(self, rows: Tensor, source_steps: int, counts: tuple[int, ...]) -> None:
        """Trains on rows (R, B), given how many steps their sources have and how many rows each step of the targets."""
        sources, target = self.corpus.batch(rows, source_steps, len(counts))
        network, recipe = self.model.architecture, self.recipe
        if self.stand_ins is not None:
            sources, target = disguised(sources, target, self.stand_ins, recipe.stand_ins, self.noise)
        if self.twins is not None:
            sources, target = self.twins.disguised(sources, target, self.noise)
        if recipe.unknown:
            copied = network.copying != "none"
            sources, target = unknown(sources, target, network.vocabulary, recipe.unknown, self.noise, copied=copied)
        log_p, _ = score(self.model, sources, target, self.noise, packing=Packing.of(counts, target.device))
        # In pieces: of many at once, threads would each sum a piece of their own.
        total = torch.stack([piece.sum(1) for piece in log_p.split(4096, dim=1)]).sum(0)
        loss = -total / (target.shape[1] * self.tokens)  # (R,)
        loss.sum().backward()
        self.optimizer.update(gradients_of(self.model))
        self.loss += loss.detach()

    def _average(self, steps: int) -> None:
        """Takes the parameters after this many steps into their averages, those of replicas that still learn."""
        if steps > AVERAGED_EVERY and steps % AVERAGED_EVERY:  # of the very first, each is all there is
            return
        share = AVERAGED_EVERY / max(AVERAGED_EVERY, min(self.recipe.averaging, steps / 5))
        shares = torch.where(self.optimizer.lr > 0, share, 0.0).to(self.averages[0].dtype)
        for average, master in zip(self.averages, self.optimizer.masters, strict=True):
            average.view(len(shares), -1).lerp_(master.view(len(shares), -1), shares.unsqueeze(1))

    def _note(self, epochs: list[list[float]], values: Tensor) -> None:
        """Adds an epoch's values for the replicas that learn."""
        row = list(epochs[-1]) if epochs else [float("nan")] * self.whole.replicas
        for number, value, learns in zip(self.active, values.tolist(), self._learning().tolist(), strict=True):
            if learns:
                row[number] = value
        epochs.append(row)

    @torch.no_grad()
    def _judge(self, evaluate: Evaluate) -> None:
        """Evaluates the model, with the averages if there are any, and draws the conclusions."""
        self.model.eval()
        parameters = list(self.model.parameters())
        kept = [parameter.clone() for parameter in parameters] if self.averages else []
        for parameter, average in zip(parameters, self.averages, strict=False):
            parameter.copy_(average)
        value = evaluate(self.model, self.active)
        for parameter, before in zip(parameters, kept, strict=False):
            parameter.copy_(before)
        self._note(self.history.evaluation, value)
        # Of equally good epochs, the last one: what is not held out may still have been learned.
        best, improved = value >= self.best, value > self.best + IMPROVEMENT
        self.best = torch.maximum(value, self.best)
        self.waited = torch.where(improved, torch.zeros_like(self.waited), self.waited + 1)
        fallen = (self.best >= WORTH) & (value < FALLEN * self.best) & self._learning()
        slower = fallen.clone()
        if self.duration.patience:
            slower |= self.waited >= self.duration.patience
        self.optimizer.lr *= torch.where(slower, 0.5, 1.0)
        self.waited.masked_fill_(slower, 0)
        for now, kept_best in zip(self.averages or self.optimizer.masters, self.best_parameters, strict=True):
            rows = best.repeat_interleave(len(kept_best) // len(best))
            kept_best[rows] = now[rows]
        if fallen.any():
            self.optimizer.go_back(fallen, self.best_parameters)
            for average, kept_best in zip(self.averages, self.best_parameters, strict=False):
                rows = fallen.repeat_interleave(len(average) // len(fallen))
                average[rows] = kept_best[rows]

    def _set_rates(self, done: int) -> None:
        """Sets the rates after a number of epochs: they decay, or are zero for a replica that has learned enough."""
        fractions = self.history.epoch_fraction or [1.0] * self.whole.replicas
        shares = torch.tensor([fractions[number] for number in self.active], device=self.best.device)

        def own(epoch: int) -> Tensor:  # at the end of which epoch each replica has had this many of its own
            return (epoch * shares).round().clamp(min=1)

        if self.recipe.decay_at:
            self.optimizer.lr *= torch.where(own(self.recipe.decay_at) == done, self.recipe.decay, 1.0)
        over = ~self._learning()
        if done < self.duration.epochs:  # at the very end rates stay, so that training can be taken up for longer
            over |= own(self.duration.epochs) <= done
        self.optimizer.lr.masked_fill_(over, 0)
