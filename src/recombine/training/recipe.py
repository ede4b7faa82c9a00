"""How one kind of network is built and trained: the one record of training settings."""

from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import Literal, NamedTuple

from recombine.errors import RecombineError
from recombine.models.architecture import Architecture

ROUNDS = 20
"""How often training that is bounded by steps is judged."""

NEWER = {"newer": True}
"""Marks a setting that came after results of the paper's rows: they have its default, and their keys do not name it."""

LossPer = Literal["sequence", "token"]
Precision = Literal["bfloat16", "float32"]
"""What a network computes in on a GPU; its parameters are float32 ones."""


class Duration(NamedTuple):
    """How long a recipe trains on given data; the networks are judged after each epoch."""

    epochs: int
    steps_per_epoch: int
    patience: int = 0  # epochs without improvement after which a replica's learning rate is halved; 0: never

    @property
    def steps(self) -> int:
        """Optimiser steps in all."""
        return self.epochs * self.steps_per_epoch


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one kind of network is built and trained.

    Attributes:
        network: The network's shape; its vocabulary is the data's.
        batch: Sequences in a batch.
        sorting: None: every batch has targets of all lengths (see `Schedule`). Otherwise sequences share batches whose
            lengths, rounded up to a multiple of this, are alike.
        epochs: Passes over the training rows.
        min_steps: Train for more epochs until there are this many steps: what small data need.
        max_steps: Stop after this many steps even if the epochs are not over, judging and reporting a few times on the
            way as if they were; None: no limit.
        lr: Adam's learning rate.
        falls_to: The share of itself that the learning rate falls to, step by step, by the end of training. Where time
            will be over first (`max_time`), it falls in the second half of it. 1: it stays.
        clip: Largest gradient norm; None: no clipping.
        loss_per: Divide the summed loss by the number of sequences, or by the number of tokens that they have on
            average.
        precision: What products are computed in on a GPU; parameters, states and probabilities are always float32.
        stand_ins: The share of training tuples in which tokens that only the later prototypes supply are renamed
            (see `renaming`); needs at least two prototypes.
        twins: How many pairs of names take the place of tokens that always occur together (see `renaming`), in every
            tuple; 0: none. Cannot be combined with `stand_ins`.
        unknown: How often a token of an input is replaced by UNK, which stands for what was never seen.
        held_out: The share of rows that a replica is judged on rather than trained on.
        patience: Halve a replica's learning rate when its evaluation has not improved for as many steps as this many
            epochs have; 0: never.
        patient_steps: Patience lasts at least this many steps.
        decay_at: Multiply learning rates by `decay` after this epoch; 0: never.
        decay: See `decay_at`.
        stop_at_lr: A replica stops when its learning rate has fallen to this share of the initial one; 0: never. It
            stays as it is from then on, and training ends when all have stopped.
        averaging: Judge and return the mean of the parameters of about this many last steps, or of the last fifth of
            the steps if these are fewer; 0: the last parameters.
        keep_best: Return each replica's parameters from its best epoch; otherwise from the last one. A replica that
            falls far below its best goes back to it in either case, and learns half as fast from there.
        own_epochs: True: each network of a population trains for `epochs` over its own rows, to half an epoch of the
            longest. False: all train for as many steps as the one with the most rows, so that none is better for
            having trained longer. Patience is counted in epochs of the longest in either case.
        max_time: Stop after this many seconds of training; None: no limit.
    """

    network: Architecture
    batch: int = 64
    sorting: int | None = None
    epochs: int = 10
    min_steps: int = 0
    max_steps: int | None = None
    lr: float = 1e-3
    falls_to: float = field(default=1.0, metadata=NEWER)
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
    stop_at_lr: float = 0.0
    averaging: int = 0
    keep_best: bool = False
    own_epochs: bool = False
    max_time: float | None = None

    def duration(self, rows: float) -> Duration:
        """Returns how long to train if an epoch has this many rows."""
        steps = max(1, int(rows / self.batch))
        epochs = max(self.epochs, -(-self.min_steps // steps))
        # An epoch of a few steps tells nothing yet: patience lasts for some hundreds at least.
        patient = max(self.patience * steps, self.patient_steps)
        if self.max_steps is not None and self.max_steps < steps * epochs:
            epochs = max(1, min(ROUNDS, self.max_steps))
            steps = max(1, self.max_steps // epochs)
        return Duration(epochs, steps, -(-patient // steps) if self.patience else 0)

    def check(self) -> None:
        """Raises the error for settings that cannot be followed, before any work."""
        whole = {"batch": 1, "sorting": 1, "epochs": 1, "min_steps": 0, "max_steps": 1, "averaging": 0}
        for name, least in whole.items():
            value = getattr(self, name)
            if value is not None and (not isinstance(value, Integral) or value < least):
                raise RecombineError(f"{name} is {value!r}, expected a whole number, at least {least}.")
        for name in ("lr", "clip", "max_time"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int | float) or not 0 < value < float("inf")):
                raise RecombineError(f"{name} is {value!r}, expected a number above 0.")
        if not isinstance(self.falls_to, int | float) or not 0 < self.falls_to <= 1:
            raise RecombineError(f"falls_to is {self.falls_to!r}, expected a number above 0 and at most 1.")
        if self.own_epochs and self.falls_to < 1:
            raise RecombineError("own_epochs cannot be combined with a falling rate.", hint="Set falls_to to 1.")
        if self.own_epochs and (self.min_steps or self.max_steps is not None):
            raise RecombineError("own_epochs cannot be combined with bounds in steps.", hint="Set own_epochs to False.")
        if self.stand_ins and self.network.prototypes > 1 and self.network.copying == "none":
            raise RecombineError("stand-ins need a network that copies.", hint="Set stand_ins to 0.")
        if self.stand_ins and self.twins:
            raise RecombineError("stand-ins and twins rename the same tokens.", hint="Set one of the two to 0.")


def computing() -> dict[str, str]:
    """Returns, for people, the device that there is, who computes there, and how precisely networks are trained."""
    import torch

    from recombine.models.device import fused

    if not torch.cuda.is_available():
        return {"device": "cpu", "kernels": "none, on a CPU", "precision": "float32"}
    device = f"cuda ({torch.cuda.get_device_name()})"
    if not fused(torch.device("cuda")):
        return {"device": device, "kernels": "none, without Triton", "precision": "float32, products in TF32"}
    (asked,) = (field.default for field in fields(Recipe) if field.name == "precision")
    return {"device": device, "kernels": "by Triton", "precision": f"{asked}, parameters in float32"}
