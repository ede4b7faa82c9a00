"""What a population is judged by after every epoch, on rows that it is not trained on."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from recombine.data.vocabulary import PAD
from recombine.models.attention import MASKED
from recombine.models.recombiner import Recombiner
from recombine.training.corpus import Corpus
from recombine.training.loop import Evaluate

BATCH = 512


def likelihood(corpus: Corpus, rows: np.ndarray) -> Evaluate:
    """Judges by the mean log-probability of held-out targets; `rows` holds each replica's own (R, held out)."""

    def evaluate(model: Recombiner, replicas: Sequence[int]) -> Tensor:
        total = torch.zeros(model.replicas, device=corpus.rows.device)
        for sources, targets in _batches(corpus.only(replicas), rows[list(replicas)]):
            log_p, _ = model(sources, targets, z=_no_z(model, sources))
            # What a network has no way to produce says nothing of it, and is so improbable as to drown all else.
            total += log_p.masked_fill(log_p < MASKED / 2, 0).sum(2).sum(1)
        return total.div(rows.shape[1])

    return evaluate


def exact_match(corpus: Corpus, rows: np.ndarray) -> Evaluate:
    """Judges by the share of held-out targets that greedy decoding would give exactly."""

    def evaluate(model: Recombiner, replicas: Sequence[int]) -> Tensor:
        right = torch.zeros(model.replicas, device=corpus.rows.device)
        for sources, targets in _batches(corpus.only(replicas), rows[list(replicas)]):
            right += ((model.predicted(sources, targets) == targets) | (targets == PAD)).all(-1).sum(1)
        return right.div(rows.shape[1])

    return evaluate


def _batches(corpus: Corpus, rows: np.ndarray) -> Iterator[tuple[Tensor, Tensor]]:
    """Yields the rows' sources and targets, in order of length, no wider than they need be."""
    lengths = np.stack([corpus.target_lengths[r % len(corpus.target_lengths)][row] for r, row in enumerate(rows)])
    ordered = np.take_along_axis(rows, lengths.argsort(axis=1, kind="stable"), axis=1)
    for start in range(0, rows.shape[1], BATCH):
        index = torch.from_numpy(ordered[:, start : start + BATCH]).to(corpus.rows.device)
        sources, targets = corpus.batch(index, corpus.sources.shape[-1], corpus.targets.shape[-1])
        yield _trimmed(sources), _trimmed(targets)


def _trimmed(sequences: Tensor) -> Tensor:
    return sequences[..., : max(1, int((sequences != PAD).sum(-1).max()))] if sequences.numel() else sequences


def _no_z(model: Recombiner, sources: Tensor) -> Tensor | None:
    """A network with a latent variable is judged at the prior's centre: what it can do without being told."""
    size = model.architecture.latent
    return torch.zeros(*sources.shape[:2], size, device=sources.device) if size else None
