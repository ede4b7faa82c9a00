"""From rows and a recipe to a trained population: the one way in which networks are built and trained."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from recombine.errors import RecombineError
from recombine.models.architecture import Architecture
from recombine.models.layers import initialize
from recombine.models.noise import Noise
from recombine.models.recombiner import Recombiner
from recombine.training.checks import check_recipe
from recombine.training.corpus import Corpus
from recombine.training.loop import Evaluate, History, LossPer, Report, Trainer, TrainingSettings
from recombine.training.optimizer import Precision
from recombine.training.replicas import narrowed
from recombine.training.resume import Checkpoint
from recombine.training.schedule import Group, Schedule
from recombine.training.stand_ins import SPARES
from recombine.training.twins import Twins

ROUNDS = 20
"""How often training that is bounded by steps is judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one kind of network is built and trained.

    Attributes:
        network: The network's shape; its vocabulary is the data's.
        batch: Sequences in a batch.
        sorting: None: every batch has targets of all lengths (see `Schedule`). Else sequences share batches whose
            lengths, rounded up to a multiple of this, are alike.
        epochs: Passes over the training rows.
        min_steps: Go on for more epochs until there are so many steps: what small data need.
        max_steps: Stop after so many steps even if the epochs are not over, judging and reporting a few times on the
            way as if they were; None: no limit.
        lr: Adam's learning rate.
        clip: Largest gradient norm; None: no clipping.
        loss_per: Divide the summed loss by the number of sequences, or of the tokens that so many have on average.
        precision: What products are computed in on a GPU; parameters, states and probabilities are float32 always.
        stand_ins: The share of training tuples in which tokens that only the later prototypes supply are renamed
            (see `stand_ins`); needs at least two prototypes.
        twins: How many pairs of names take the place of tokens that always occur together (see `twins`), in every
            tuple; 0: none. Not together with `stand_ins`.
        unknown: How often a token of an input is replaced by UNK, which stands for what was never seen (see `step`).
        held_out: The share of rows that a replica is judged on rather than trained on.
        patience: See `TrainingSettings`, as for the settings below; where epochs are short, more of them.
        patient_steps: No learning rate falls for want of progress in fewer steps than these.
        decay_at: After which epoch the learning rate falls.
        decay: By which factor it falls then.
        enough: When its learning rate has fallen to this share, a replica has learned enough; 0: never.
        averaging: Over how many of the last steps, about, parameters are averaged; 0: the last ones count.
        keep_best: Whether the best epoch counts, or the last.
        own_epochs: True: each network of a population trains for `epochs` over its own rows, to half an epoch of the
            longest. False: all for as many steps as the one with the most rows, so that none is better for having
            trained longer. Patience is counted in epochs of the longest in either case.
        max_time: Seconds of training.
    """

    network: Architecture
    batch: int = 64
    sorting: int | None = None
    epochs: int = 10
    min_steps: int = 0
    max_steps: int | None = None
    lr: float = 1e-3
    clip: float | None = 1.0
    loss_per: LossPer = "sequence"
    precision: Precision = "bfloat16"
    stand_ins: float = 0.0
    twins: int = 0
    unknown: float = 0.0
    held_out: float = 0.05
    patience: int = 0
    patient_steps: int = 500
    decay_at: int = 0
    decay: float = 0.1
    enough: float = 0.0
    averaging: int = 0
    keep_best: bool = False
    own_epochs: bool = False
    max_time: float | None = None

    def settings(self, rows: float) -> TrainingSettings:
        """Returns the settings for training on so many rows an epoch."""
        steps = max(1, int(rows / self.batch))
        epochs = max(self.epochs, -(-self.min_steps // steps))
        if self.max_steps is not None and self.max_steps < steps * epochs:
            epochs = max(1, min(ROUNDS, self.max_steps))
            steps = max(1, self.max_steps // epochs)
        return TrainingSettings(
            epochs=epochs,
            steps_per_epoch=steps,
            lr=self.lr,
            clip=self.clip,
            loss_per=self.loss_per,
            precision=self.precision,
            # An epoch of a few steps tells nothing yet: patience lasts for some hundreds at least.
            patience=max(self.patience, -(-self.patient_steps // steps)) if self.patience else 0,
            decay_at=self.decay_at,
            decay=self.decay,
            enough=self.enough,
            averaging=self.averaging,
            keep_best=self.keep_best,
            max_time=self.max_time,
        )


@dataclass(frozen=True)
class Fitted:
    """A trained population and how it came about."""

    model: Recombiner
    history: History

    def only(self, chosen: Sequence[int]) -> "Fitted":
        """Returns some of the replicas, by number, as a population of their own."""
        return Fitted(narrowed(self.model, chosen), self.history.only(chosen))


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
    """Builds and trains one replica per seed.

    Args:
        recipe: How.
        corpus: Rows of targets and sources.
        groups: For each replica, the groups of rows that it draws from; the first holds the originals, of which some
            are held out.
        seeds: One per replica.
        vocabulary: Number of token ids.
        judge: Makes the judgement after each epoch from the corpus and the held-out rows.
        report: Is told how it goes.
        checkpoint: Where to save the state now and then, and to go on from. The file stays, so that a caller who is
            stopped before the result is safe need not train again.
        graphs: Use CUDA graphs on a GPU.

    Raises:
        RecombineError: If the GPU's memory does not suffice.
    """
    check_recipe(recipe)
    device = corpus.rows.device
    training, held_out = hold_out(groups, seeds, recipe.held_out)
    # With a mixture, an epoch is over when the originals have been seen once (appendix D).
    per_epoch = [len(groups[0].rows) / groups[0].share for groups in training]
    if recipe.stand_ins and recipe.network.prototypes > 1 and recipe.network.copying == "none":
        raise RecombineError(
            "stand-ins can be copied only, and this network does not copy.", hint="Set stand_ins to 0."
        )
    if recipe.stand_ins and recipe.twins:
        raise RecombineError("stand-ins and twins rename the same tokens.", hint="Set one of the two to 0.")
    twins = Twins.of(corpus.targets[0], vocabulary, recipe.twins) if recipe.twins else None
    ids = vocabulary + (SPARES if recipe.stand_ins else 2 * recipe.twins)
    with torch.device(device):
        model = Recombiner(replace(recipe.network, vocabulary=ids), len(seeds))
    initialize(model, seeds)
    seen = corpus.written(ids, [np.concatenate([group.rows for group in replica]) for replica in training])
    model.write_only(seen)
    model.unwritable[..., vocabulary:] = twins is None  # no data hold them: spares can be copied only
    settings = recipe.settings(max(per_epoch))
    trainer = Trainer(
        model,
        Schedule(corpus, training, seeds, recipe.batch, sorting=recipe.sorting, fixed=device.type == "cuda"),
        settings,
        Noise(seeds, device, longest=corpus.longest),
        evaluate=judge(corpus if twins is None else corpus.renamed(twins.fixed()), held_out) if held_out.size else None,
        lasts=[recipe.settings(rows).steps / settings.steps for rows in per_epoch] if recipe.own_epochs else (),
        graphs=graphs,
    )
    if recipe.stand_ins and recipe.network.prototypes > 1:
        trainer.step.disguise(~seen, recipe.stand_ins)
    trainer.step.twins = twins
    trainer.step.unknown = recipe.unknown
    saving = Checkpoint(checkpoint, recipe, corpus, training, seeds) if checkpoint else None
    if saving:
        saving.restore(trainer)
    try:
        history = trainer.run(_both(report, saving, trainer))
    except torch.OutOfMemoryError as error:
        raise RecombineError(
            f"the GPU's memory does not suffice for {len(seeds)} networks of hidden size {recipe.network.hidden}.",
            hint="Use fewer seeds at a time, a smaller batch, or a smaller hidden size.",
        ) from error
    if saving:
        saving.save(trainer, now=True)
    return Fitted(model, history)


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


def _both(report: Report | None, saving: Checkpoint | None, trainer: Trainer) -> Report:
    def after_epoch(steps: int, total: int, history: History) -> None:
        if saving:
            saving.save(trainer)
        if report:
            report(steps, total, history)

    return after_epoch
