"""From rows and a recipe to a trained population: the one way in which networks are built and trained."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from recombine.data.vocabulary import PAD, SEP
from recombine.errors import RecombineError
from recombine.execution.progress import Report
from recombine.models.attention import MASKED
from recombine.models.layers import initialize
from recombine.models.noise import Noise
from recombine.models.recombiner import Recombiner
from recombine.models.scoring import predicted, score
from recombine.training.corpus import Corpus
from recombine.training.fitted import Fitted, History
from recombine.training.recipe import Recipe
from recombine.training.renaming import SPARES, Twins
from recombine.training.resume import Checkpoint
from recombine.training.schedule import Group, Schedule
from recombine.training.trainer import Evaluate, Trainer

BATCH = 512


def likelihood(corpus: Corpus, rows: np.ndarray) -> Evaluate:
    """Judges by the mean log-probability of held-out targets; `rows` holds each replica's own (R, held out)."""

    def value(model: Recombiner, sources: Tensor, targets: Tensor) -> Tensor:
        size = model.architecture.latent
        # A latent variable is at the prior's centre: what a network can do without being told.
        z = torch.zeros(*sources.shape[:2], size, device=sources.device) if size else None
        log_p, _ = score(model, sources, targets, z=z)
        # What a network has no way to produce says nothing of it, and is so improbable as to drown all else.
        return log_p.masked_fill(log_p < MASKED / 2, 0).sum(2).sum(1)

    return _mean(value, corpus, rows)


def exact_match(corpus: Corpus, rows: np.ndarray) -> Evaluate:
    """Judges by the share of held-out targets that greedy decoding would give exactly."""

    def value(model: Recombiner, sources: Tensor, targets: Tensor) -> Tensor:
        return ((predicted(model, sources, targets) == targets) | (targets == PAD)).all(-1).sum(1)

    return _mean(value, corpus, rows)


def _mean(value: Callable[[Recombiner, Tensor, Tensor], Tensor], corpus: Corpus, rows: np.ndarray) -> Evaluate:
    """Judges by a value, the sum (R,) over the sources and targets of a batch, divided by the number of rows."""

    def evaluate(model: Recombiner, replicas: Sequence[int]) -> Tensor:
        part, own = corpus.only(replicas), rows[list(replicas)]
        lengths = np.stack([part.target_lengths[r % len(part.target_lengths)][row] for r, row in enumerate(own)])
        ordered = np.take_along_axis(own, lengths.argsort(axis=1, kind="stable"), axis=1)
        total = torch.zeros(model.replicas, device=corpus.rows.device)
        for start in range(0, own.shape[1], BATCH):
            index = torch.from_numpy(ordered[:, start : start + BATCH]).to(corpus.rows.device)
            sources, targets = part.batch(index, part.sources.shape[-1], part.targets.shape[-1])
            total += value(model, _trimmed(sources), _trimmed(targets))
        return total.div(own.shape[1])

    return evaluate


def _trimmed(sequences: Tensor) -> Tensor:
    return sequences[..., : max(1, int((sequences != PAD).sum(-1).max()))] if sequences.numel() else sequences


def fit(
    recipe: Recipe,
    corpus: Corpus,
    groups: Sequence[Sequence[Group]],
    seeds: Sequence[int],
    *,
    vocabulary: int,
    judge: Callable[[Corpus, np.ndarray], Evaluate],
    report: Report | None = None,
    checkpoint: Path | None = None,
    graphs: bool = True,
) -> Fitted:
    """Builds and trains one replica per seed, with `vocabulary` token ids.

    Each replica draws from groups of rows of its own; the first holds the originals, of which some are held out, and
    `judge` makes the judgement after each epoch from the corpus and these. The state is saved at the checkpoint now and
    then, and gone on from. The file stays, so that a caller who is stopped before the result is safe need not train
    again. `graphs` are CUDA graphs, on a GPU.
    """
    recipe.check()
    device = corpus.rows.device
    training, held_out = hold_out(groups, seeds, recipe.held_out)
    # With a mixture, an epoch is over when the originals have been seen once (appendix D).
    per_epoch = [len(groups[0].rows) / groups[0].share for groups in training]
    twins = Twins.of(corpus.targets[0], vocabulary, recipe.twins) if recipe.twins else None
    ids = vocabulary + (SPARES if recipe.stand_ins else 2 * recipe.twins)
    with torch.device(device):
        model = Recombiner(replace(recipe.network, vocabulary=ids), len(seeds))
    initialize(model, seeds)
    seen = corpus.written(ids, [np.concatenate([group.rows for group in replica]) for replica in training])
    model.write_only(seen)
    model.unwritable[..., vocabulary:] = twins is None  # no data hold them: spares can be copied only
    duration = recipe.duration(max(per_epoch))
    fractions = [recipe.duration(rows).steps / duration.steps for rows in per_epoch] if recipe.own_epochs else ()
    pool = ~seen
    pool[:, : SEP + 1] = False
    trainer = Trainer(
        model,
        Schedule(corpus, training, seeds, recipe.batch, sorting=recipe.sorting, fixed=device.type == "cuda"),
        recipe,
        duration,
        Noise(seeds, device, longest=corpus.longest),
        evaluate=judge(corpus if twins is None else corpus.renamed(twins.fixed()), held_out) if held_out.size else None,
        epoch_fraction=fractions,
        stand_ins=pool if recipe.stand_ins and recipe.network.prototypes > 1 else None,
        twins=twins,
        graphs=graphs,
    )
    saving = Checkpoint(checkpoint, recipe, corpus, training, seeds) if checkpoint else None
    if saving:
        saving.restore(trainer)

    def after_epoch(steps: int, total: int, history: History) -> None:
        if saving:
            saving.save(trainer)
        if report:
            report(steps, total, history)

    try:
        history = trainer.run(after_epoch)
    except torch.OutOfMemoryError as error:
        raise RecombineError(
            f"the GPU's memory does not suffice for {len(seeds)} networks of hidden size {recipe.network.hidden}.",
            hint="Use fewer seeds at a time, a smaller batch, or a smaller hidden size.",
        ) from error
    if saving:
        saving.save(trainer, now=True)
    return Fitted(model, history, duration.steps_per_epoch)


def hold_out(
    groups: Sequence[Sequence[Group]], seeds: Sequence[int], share: float
) -> tuple[list[list[Group]], np.ndarray]:
    """Takes a share of each replica's originals away: (groups to train on, held-out rows (R, count))."""
    count = min(int(share * len(replica[0].rows)) for replica in groups)
    training, held_out = [], []
    for replica, seed in zip(groups, seeds, strict=True):
        originals, *others = replica
        order = np.random.default_rng([3, seed]).permutation(len(originals.rows))
        held_out.append(originals.rows[np.sort(order[:count])])
        training.append([Group(originals.rows[np.sort(order[count:])], originals.share), *others])
    return training, np.stack(held_out)
