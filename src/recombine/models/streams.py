"""Where random numbers come from: a stream for each replica, from generators of torch's or from one kernel for all."""

import math
from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from recombine.models.packing import Packing


class Streams(Protocol):
    """A stream of random numbers for each of R replicas.

    Attributes:
        generators: Those of torch's that it draws from, which a CUDA graph has to know.
    """

    generators: Sequence[torch.Generator]

    def bytes(self, packing: Packing, size: int) -> Tensor:
        """Returns random bytes (R, N, size); those of a row and a step do not depend on which others there are."""

    def uniform(self, shape: torch.Size) -> Tensor:
        """Returns numbers from U[0, 1) of shape (R, *shape)."""

    def normal(self, shape: torch.Size) -> Tensor:
        """Returns standard normal numbers of shape (R, *shape)."""

    def state(self) -> list[Tensor]:
        """Returns what is needed to go on from here."""

    def restore(self, states: Sequence[Tensor]) -> None:
        """Goes on from a state."""

    def keep(self, chosen: Sequence[int]) -> None:
        """Goes on for the chosen of the replicas only."""


class TorchStreams:
    """A generator for each replica.

    Args:
        seeds: One per replica.
        device: Where the numbers are drawn.
        longest: Bytes are drawn for so many steps at least, so that a replica draws the same numbers however long its
            neighbours' sequences are.
    """

    def __init__(self, seeds: Sequence[int], device: torch.device, longest: int) -> None:
        self.device, self.longest = device, longest
        self.generators: Sequence[torch.Generator] = [torch.Generator(device).manual_seed(seed) for seed in seeds]

    def bytes(self, packing: Packing, size: int) -> Tensor:
        """Returns random bytes (R, N, size)."""
        drawn = max(packing.steps, self.longest)
        each = drawn * packing.batch * size
        # Eight bytes a draw: random numbers are what small networks would otherwise spend their time on.
        words = torch.empty(len(self.generators), -(-each // 8), dtype=torch.int64, device=self.device)
        for row, generator in zip(words, self.generators, strict=True):
            row.random_(-(2**63), None, generator=generator)
        return packing.pack(words.view(torch.uint8)[:, :each].view(-1, drawn, packing.batch, size))

    def uniform(self, shape: torch.Size) -> Tensor:
        """Returns numbers from U[0, 1) of shape (R, *shape)."""
        drawn = torch.empty(len(self.generators), *shape, device=self.device)
        for row, generator in zip(drawn, self.generators, strict=True):
            row.uniform_(generator=generator)
        return drawn

    def normal(self, shape: torch.Size) -> Tensor:
        """Returns standard normal numbers of shape (R, *shape)."""
        drawn = torch.empty(len(self.generators), *shape, device=self.device)
        for row, generator in zip(drawn, self.generators, strict=True):
            row.normal_(generator=generator)
        return drawn

    def state(self) -> list[Tensor]:
        """Returns the generators' states."""
        return [generator.get_state() for generator in self.generators]

    def restore(self, states: Sequence[Tensor]) -> None:
        """Puts the generators back to their states."""
        for generator, state in zip(self.generators, states, strict=True):
            generator.set_state(state.cpu())

    def keep(self, chosen: Sequence[int]) -> None:
        """Goes on for the chosen of the replicas only."""
        self.generators = [self.generators[number] for number in chosen]


class KernelStreams:
    """Numbers that are a function of the replica's seed, how many draws there were, and the place.

    Args:
        seeds: One per replica.
        device: Where the numbers are drawn.
    """

    generators: Sequence[torch.Generator] = ()

    def __init__(self, seeds: Sequence[int], device: torch.device) -> None:
        signed = [(seed + 2**63) % 2**64 - 2**63 for seed in seeds]
        self._seeds = torch.tensor(signed, dtype=torch.int64, device=device)
        self._draws = torch.zeros((), dtype=torch.int64, device=device)

    def _words(self, count: int) -> Tensor:
        from recombine.models.kernels.noise import random_words

        return random_words(self._seeds, self._draws, count)

    def bytes(self, packing: Packing, size: int) -> Tensor:
        """Returns random bytes (R, N, size)."""
        from recombine.models.kernels.noise import random_bytes

        return random_bytes(self._seeds, self._draws, packing.places, size)

    def uniform(self, shape: torch.Size) -> Tensor:
        """Returns numbers from U[0, 1) of shape (R, *shape)."""
        words = self._words(shape.numel())
        return ((words >> 8) & 0xFFFFFF).float().mul_(2**-24).view(-1, *shape)

    def normal(self, shape: torch.Size) -> Tensor:
        """Returns standard normal numbers of shape (R, *shape), after Box and Muller."""
        radius = (-2 * torch.log1p(-self.uniform(shape))).sqrt_()
        return radius * torch.cos(2 * math.pi * self.uniform(shape))

    def state(self) -> list[Tensor]:
        """Returns the seeds and the number of draws."""
        return [self._seeds, self._draws]

    def restore(self, states: Sequence[Tensor]) -> None:
        """Goes on from seeds and a number of draws."""
        for mine, saved in zip(self.state(), states, strict=True):
            mine.copy_(saved)

    def keep(self, chosen: Sequence[int]) -> None:
        """Goes on for the chosen of the replicas only."""
        self._seeds = self._seeds[list(chosen)]
