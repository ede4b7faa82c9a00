"""The state of a training run on disk, so that a killed run goes on where it was and ends as if undisturbed."""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

from torch import Tensor

from recombine.data.untrusted import fitting
from recombine.models.device import fused
from recombine.training.corpus import Corpus
from recombine.training.fitted import History
from recombine.training.recipe import Recipe
from recombine.training.schedule import Group
from recombine.training.stored import read_tensors, write_tensors
from recombine.training.trainer import Trainer

EVERY = 20.0
"""Seconds between two saves, at least; the first is after the first epoch, so that little is lost from the start."""


class Checkpoint:
    """A file that holds a trainer's state between two epochs.

    That of a run with another recipe, other data, other groups of rows for a replica or other seeds is not used.
    """

    def __init__(
        self, path: Path, recipe: Recipe, corpus: Corpus, groups: Sequence[Sequence[Group]], seeds: Sequence[int]
    ) -> None:
        self.path = path
        self._saved: float | None = None  # when that was
        device = corpus.rows.device
        # Others draw other random numbers or have optimizers of another kind, so they cannot go on from here.
        kind = device.type if device.type == "cpu" or fused(device) else f"{device.type} without kernels"
        digest = hashlib.sha256(json.dumps([asdict(recipe), list(seeds), kind], sort_keys=True).encode())
        for table in (corpus.sources, corpus.targets, corpus.rows):
            digest.update(table.cpu().numpy().tobytes())
        for group in chain.from_iterable(groups):
            digest.update(f"{group.share} ".encode() + group.rows.tobytes())
        self.run = digest.hexdigest()

    def save(self, trainer: Trainer, *, now: bool = False) -> None:
        """Saves, if the last save is some time ago or it must be now."""
        if not now and self._saved is not None and time.monotonic() - self._saved < EVERY:
            return
        parts: dict[str, Mapping[Any, Tensor]] = {
            "model": trainer.model.state_dict(),
            "adam": trainer.optimizer.state(),
            "noise": dict(enumerate(trainer.noise.state())),
            "best": dict(enumerate(trainer.best_parameters)),
            "average": dict(enumerate(trainer.averages)),
            "judged": {"best": trainer.best, "waited": trainer.waited},
            "whole": {} if trainer.model is trainer.whole else trainer.whole.state_dict(),
        }
        tensors = {f"{part}.{name}": value for part, values in parts.items() for name, value in values.items()}
        state = {"run": self.run, "history": asdict(trainer.history), "active": list(trainer.active)}
        write_tensors(self.path, tensors, state)
        self._saved = time.monotonic()

    def restore(self, trainer: Trainer) -> None:
        """Brings a new trainer to the saved state, if there is one of the same run."""
        if not self.path.exists():
            return
        tensors, description = read_tensors(self.path)
        if description.get("run") != self.run:
            return

        def part(name: str) -> dict[str, Tensor]:
            start = f"{name}."
            return {key.removeprefix(start): value for key, value in tensors.items() if key.startswith(start)}

        def listed(name: str) -> list[Tensor]:
            found = part(name)
            return [found[str(number)] for number in range(len(found))]

        with fitting(self.path):
            if len(description["active"]) < trainer.whole.replicas:
                trainer.narrow(description["active"])
                trainer.whole.load_state_dict(part("whole"))
            trainer.model.load_state_dict(part("model"))
            trainer.optimizer.restore(part("adam"))
            trainer.noise.restore(listed("noise"))
            device = trainer.best.device
            trainer.best_parameters = [value.to(device) for value in listed("best")]
            trainer.averages = [value.to(device) for value in listed("average")]
            trainer.best, trainer.waited = (tensors[f"judged.{name}"].to(device) for name in ("best", "waited"))
            trainer.history = History(**description["history"])
        self._saved = time.monotonic()
