"""One optimiser step of a population: plain on a CPU, captured once per shape and replayed on a GPU."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from recombine.data.vocabulary import SEP
from recombine.models.noise import Noise
from recombine.models.packing import Packing
from recombine.models.recombiner import Recombiner
from recombine.models.scoring import score
from recombine.training.corpus import Corpus
from recombine.training.optimizer import Optimizer, gradients_of
from recombine.training.renaming import Twins, disguised, unknown
from recombine.training.schedule import Batch

Shape = tuple[int, tuple[int, ...]]
"""How many steps the sources have, and how many rows each step of the targets."""


class Step:
    """Trains on a batch.

    Args:
        model: R replicas.
        corpus: What the batches' rows refer to.
        optimizer: Updates the replicas.
        noise: Where dropout comes from.
        tokens: The summed loss is divided by the number of sequences times this of each replica (R,): one, or how many
            tokens its targets have on average. By the batch's own tokens, those of batches with many would count for
            less.
        graphs: On a GPU, capture the whole step as a CUDA graph, one per shape.
    """

    def __init__(
        self,
        model: Recombiner,
        corpus: Corpus,
        optimizer: Optimizer,
        noise: Noise,
        *,
        tokens: Sequence[float],
        graphs: bool = True,
    ) -> None:
        self.model, self.corpus, self.optimizer, self.noise = model, corpus, optimizer, noise
        device = corpus.rows.device
        self.tokens = torch.tensor(tokens, device=device)
        self.loss = torch.zeros(model.replicas, device=device)  # summed since it was last taken
        self._stand_ins: tuple[Tensor, float] | None = None
        self.twins: Twins | None = None  # those to rename in every tuple
        self.unknown = 0.0  # how often a token of the sources is renamed
        self._graphs: dict[Shape, Callable[[], None]] | None = None
        if graphs and device.type == "cuda":
            self._start_capturing()

    def _start_capturing(self) -> None:
        # The first step of a shape runs on a stream of its own, and torch waits for it: nothing to warn of.
        warn = getattr(torch.autograd.graph, "set_warn_on_accumulate_grad_stream_mismatch", None)  # since torch 2.10
        if warn is not None:
            warn(False)
        self._graphs = {}
        self._pool = torch.cuda.graph_pool_handle()
        self._rows: Tensor | None = None
        self._kept: list[Packing] = []  # whose tensors graphs read

    def disguise(self, pool: Tensor, rate: float) -> None:
        """From now on, lets stand-ins from the pool (R, ids) take the place of some tokens in some tuples."""
        pool = pool.clone()
        pool[:, : SEP + 1] = False
        self._stand_ins = (pool, rate)

    def keep(self, chosen: Sequence[int], model: Recombiner, optimizer: Optimizer) -> None:
        """Goes on with the chosen of the replicas only, which make up another model with another optimizer."""
        self.model, self.optimizer = model, optimizer
        self.corpus, self.loss = self.corpus.only(chosen), self.loss[list(chosen)]
        self.tokens = self.tokens[list(chosen)]
        if self._stand_ins is not None:
            pool, rate = self._stand_ins
            self._stand_ins = (pool[list(chosen)], rate)
        if self._graphs is not None:
            self._start_capturing()

    def __call__(self, batch: Batch) -> None:
        """Does one step."""
        rows = torch.from_numpy(np.ascontiguousarray(batch.rows))  # else the copy below waits for the GPU
        shape = (batch.source_steps, batch.counts)
        if self._graphs is None:
            self._train(rows.to(self.corpus.rows.device), shape)
            return
        if self._rows is None:
            self._rows = rows.to(self.corpus.rows.device)
        else:
            self._rows.copy_(rows.pin_memory(), non_blocking=True)
        if shape not in self._graphs:
            self._graphs[shape] = self._first(shape)
        else:
            self._graphs[shape]()

    def _train(self, rows: Tensor, shape: Shape) -> None:
        source_steps, counts = shape
        sources, target = self.corpus.batch(rows, source_steps, len(counts))
        if self._stand_ins is not None:
            sources, target = disguised(sources, target, *self._stand_ins, self.noise)
        if self.twins is not None:
            sources, target = self.twins.disguised(sources, target, self.noise)
        if self.unknown:
            network = self.model.architecture
            copied = network.copying != "none"
            sources, target = unknown(sources, target, network.vocabulary, self.unknown, self.noise, copied=copied)
        log_p, _ = score(self.model, sources, target, self.noise, packing=Packing.of(counts, target.device))
        # In pieces: of many at once, threads would each sum a piece of their own.
        total = torch.stack([piece.sum(1) for piece in log_p.split(4096, dim=1)]).sum(0)
        loss = -total / (target.shape[1] * self.tokens)  # (R,)
        loss.sum().backward()
        self.optimizer.update(gradients_of(self.model))
        self.loss += loss.detach()

    def _first(self, shape: Shape) -> Callable[[], None]:
        """Does the first step of a shape eagerly, which also warms up what a capture may not; then captures it."""
        assert self._rows is not None
        rows = self._rows
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self._train(rows, shape)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        for generator in self.noise.generators:
            graph.register_generator_state(generator)
        with torch.cuda.graph(graph, pool=self._pool):
            self._train(rows, shape)
        source_steps, counts = shape
        encoded = rows.shape[1] * self.corpus.sources.shape[-2]
        self._kept += [Packing.of(counts, rows.device), Packing.whole(source_steps, encoded, rows.device)]
        return graph.replay

    def take_loss(self) -> Tensor:
        """Returns the loss (R,) summed over the steps since the last call."""
        loss = self.loss.cpu().clone()
        self.loss.zero_()
        return loss
