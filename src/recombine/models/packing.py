"""Batches without padding: rows stand longest first, and each step has only those that have not ended."""

from functools import cached_property, lru_cache

import numpy as np
import torch
from torch import Tensor


class Packing:
    """How many of the first rows of a batch each step has: all at first, never more than the step before.

    Positions are numbered step by step, N in all.
    """

    def __init__(self, counts: tuple[int, ...], device: torch.device) -> None:
        self.counts, self.device = counts, device
        self.steps, self.batch, self.total = len(counts), counts[0], sum(counts)  # T, B and N
        self.starts = np.cumsum([0, *counts[:-1]]).tolist()  # the first position of each step
        self.full = counts[-1] == counts[0]  # whether every step has all rows

    @staticmethod
    @lru_cache(maxsize=256)
    def of(counts: tuple[int, ...], device: torch.device) -> "Packing":
        """Returns the packing of these counts, the same one for the same counts."""
        return Packing(counts, device)

    @staticmethod
    def whole(steps: int, batch: int, device: torch.device) -> "Packing":
        """Returns the packing in which every step has all rows."""
        return Packing.of((batch,) * steps, device)

    @cached_property
    def rows(self) -> Tensor:
        """The row of each position (N,)."""
        return self._on_device(np.concatenate([np.arange(count) for count in self.counts]))

    @cached_property
    def step(self) -> Tensor:
        """The step of each position (N,)."""
        return self._on_device(np.repeat(np.arange(self.steps), self.counts))

    @cached_property
    def spans(self) -> Tensor:
        """How many steps each row has (B,)."""
        return self._on_device((np.array(self.counts)[:, None] > np.arange(self.batch)).sum(0))

    @cached_property
    def offsets(self) -> Tensor:
        """The first position of each step (T,)."""
        return self._on_device(np.array(self.starts))

    @cached_property
    def before(self) -> Tensor:
        """The position (N,) of the same row at the step before, where there is one."""
        return self.offsets[(self.step - 1).clamp(min=0)] + self.rows

    @cached_property
    def places(self) -> Tensor:
        """Where each position (N,) would be if every step had all rows: its step times B, and its row."""
        return self.step * self.batch + self.rows

    def _on_device(self, numbers: np.ndarray) -> Tensor:
        return torch.from_numpy(numbers.astype(np.int64)).to(self.device)

    def pack(self, x: Tensor) -> Tensor:
        """Returns the values at all positions (R, N, ...) of x (R, T, B, ...), which may have more steps."""
        if self.full:
            return x[:, : self.steps].flatten(1, 2)
        return x.flatten(1, 2).index_select(1, self.places)

    def split(self, x: Tensor) -> tuple[Tensor, ...]:
        """Returns the parts of x (R, N, ...) that belong to each step."""
        return torch.split(x, list(self.counts), dim=1)

    def unpack(self, x: Tensor, fill: float = 0) -> Tensor:
        """Returns values at positions (R, N, ...) as (R, T, B, ...), with `fill` where a row has ended."""
        if not self.full:
            whole = x.new_full((x.shape[0], self.steps * self.batch, *x.shape[2:]), fill)
            x = whole.index_copy(1, self.places, x)
        return torch.unflatten(x, 1, (self.steps, self.batch))


def taken(x: Tensor, places: Tensor) -> Tensor:
    """Returns those of x (R, B, ...) that are at places (R, B') of the batch, any number of times."""
    index = places.view(*places.shape, *[1] * (x.dim() - 2)).expand(*places.shape, *x.shape[2:])
    return x.gather(1, index)
