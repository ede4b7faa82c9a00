"""The state of a training run on disk, so that a killed run goes on where it was and ends as if undisturbed."""

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from recombine.data.untrusted import fitting
from recombine.models.device import fused
from recombine.training.corpus import Corpus
from recombine.training.loop import History, Trainer
from recombine.training.schedule import Group
from recombine.training.stored import read_tensors, write_tensors

EVERY = 20.0
"""Seconds between two saves, at least; the first is after the first epoch, so that little is lost from the start."""


class Checkpoint:
    """A file that holds a trainer's state between two epochs.

    Args:
        path: The file.
        settings: What the run depends on besides the data, a dataclass; a file of another run is not used.
        corpus: The data.
        groups: For each replica, the groups of rows that it draws from.
        seeds: The replicas' seeds.
    """

    def __init__(
        self,
        path: Path,
        settings: Any,  # noqa: ANN401
        corpus: Corpus,
        groups: Sequence[Sequence[Group]],
        seeds: Sequence[int],
    ) -> None:
        self.path = path
        self._saved: float | None = None  # when that was
        what = [asdict(settings), list(seeds), _kind(corpus.rows.device)]
        digest = hashlib.sha256(json.dumps(what, sort_keys=True).encode())
        for table in (corpus.sources, corpus.targets, corpus.rows):
            digest.update(table.cpu().numpy().tobytes())
        for group in chain.from_iterable(groups):
            weights = b"" if group.weights is None else group.weights.tobytes()
            digest.update(f"{group.share} ".encode() + group.rows.tobytes() + weights)
        self.run = digest.hexdigest()

    def save(self, trainer: Trainer, *, now: bool = False) -> None:
        """Saves, if the last save is some time ago or it must be now."""
        if not now and self._saved is not None and time.monotonic() - self._saved < EVERY:
            return
        tensors = {f"model.{name}": value for name, value in trainer.model.state_dict().items()}
        tensors |= {f"adam.{name}": value for name, value in trainer.optimizer.state().items()}
        tensors |= {f"noise.{number}": value for number, value in enumerate(trainer.noise.state())}
        tensors |= {f"best.{number}": value for number, value in enumerate(trainer.best_parameters)}
        tensors |= {f"average.{number}": value for number, value in enumerate(trainer.averages)}
        tensors |= {"judged.best": trainer.best, "judged.waited": trainer.waited}
        if trainer.model is not trainer.whole:
            tensors |= {f"whole.{name}": value for name, value in trainer.whole.state_dict().items()}
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
        with fitting(self.path):
            self._restore(trainer, tensors, description)
        self._saved = time.monotonic()

    def _restore(self, trainer: Trainer, tensors: dict[str, torch.Tensor], description: dict[str, Any]) -> None:
        device = trainer.best.device

        def part(name: str) -> dict[str, torch.Tensor]:
            start = f"{name}."
            return {key.removeprefix(start): value for key, value in tensors.items() if key.startswith(start)}

        if len(description["active"]) < trainer.whole.replicas:
            trainer.narrow(description["active"])
            trainer.whole.load_state_dict(part("whole"))
        trainer.model.load_state_dict(part("model"))
        trainer.optimizer.restore(part("adam"))
        states = part("noise")
        trainer.noise.restore([states[str(number)] for number in range(len(states))])

        def listed(name: str) -> list[torch.Tensor]:
            return [value.to(device) for _, value in sorted(part(name).items(), key=lambda i: int(i[0]))]

        trainer.best_parameters, trainer.averages = listed("best"), listed("average")
        trainer.best, trainer.waited = (tensors[f"judged.{name}"].to(device) for name in ("best", "waited"))
        trainer.history = History(**description["history"])


def _kind(device: torch.device) -> str:
    """Names what draws the same random numbers and has optimizers of the same kind: others cannot go on from here."""
    return device.type if device.type == "cpu" or fused(device) else f"{device.type} without kernels"
