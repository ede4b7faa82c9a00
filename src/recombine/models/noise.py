"""Randomness as an argument: a model draws the same random numbers alone and in a population."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from recombine.models.fusion import Drop, fused


class Noise:
    """Draws random tensors for a population, each replica from a stream of its own.

    Args:
        seeds: One seed per replica.
        device: Where the tensors are drawn.
        longest: Masks over sequences are drawn for so many steps and cut to what is needed, so that a replica draws
            the same numbers however long its neighbours' sequences are; 0: for just the steps that are needed.
    """

    def __init__(self, seeds: Sequence[int], device: torch.device | str = "cpu", *, longest: int = 0) -> None:
        self.device = torch.device(device)
        self.longest = longest
        self.generators: list[torch.Generator] = []
        if fused(self.device):
            # One kernel draws for all: numbers are a function of the seed, how many draws there were, and the place.
            signed = [(seed + 2**63) % 2**64 - 2**63 for seed in seeds]
            self._seeds = torch.tensor(signed, dtype=torch.int64, device=self.device)
            self._draws = torch.zeros((), dtype=torch.int64, device=self.device)
        else:
            self.generators = [torch.Generator(self.device).manual_seed(seed) for seed in seeds]

    def _bytes(self, steps: int, shape: torch.Size) -> Tensor:
        """Returns random bytes (R, steps, *shape)."""
        if not self.generators:
            from recombine.models.kernels.noise import random_words

            each = steps * shape.numel()
            words = random_words(self._seeds, self._draws, -(-each // 4))
            return words.view(torch.uint8)[:, :each].view(-1, steps, *shape)
        drawn = max(steps, self.longest)
        each = drawn * shape.numel()
        # Eight bytes a draw: random numbers are what small networks would otherwise spend their time on.
        words = torch.empty(len(self.generators), -(-each // 8), dtype=torch.int64, device=self.device)
        for row, generator in zip(words, self.generators, strict=True):
            row.random_(-(2**63), None, generator=generator)
        return words.view(torch.uint8)[:, :each].view(-1, drawn, *shape)[:, :steps]

    def uniform(self, *shape: int) -> Tensor:
        """Returns numbers from U[0, 1) of shape (R, *shape)."""
        if not self.generators:
            from recombine.models.kernels.noise import random_words

            words = random_words(self._seeds, self._draws, torch.Size(shape).numel())
            return ((words >> 8) & 0xFFFFFF).float().mul_(2**-24).view(-1, *shape)
        drawn = torch.empty(len(self.generators), *shape, device=self.device)
        for row, generator in zip(drawn, self.generators, strict=True):
            row.uniform_(generator=generator)
        return drawn

    def normal(self, *shape: int) -> Tensor:
        """Returns standard normal numbers of shape (R, *shape)."""
        if not self.generators:
            radius = (-2 * torch.log1p(-self.uniform(*shape))).sqrt_()
            return radius * torch.cos(2 * math.pi * self.uniform(*shape))
        drawn = torch.empty(len(self.generators), *shape, device=self.device)
        for row, generator in zip(drawn, self.generators, strict=True):
            row.normal_(generator=generator)
        return drawn

    def drop(self, rate: float, steps: int, *shape: int) -> Drop:
        """Returns where to drop at each of so many steps, with probability `rate`, to the nearest 1/256."""
        return Drop(self._bytes(steps, torch.Size(shape)), round(rate * 256))

    def dropped(self, rate: float, steps: int, *shape: int) -> Tensor:
        """Returns the same as booleans (R, steps, *shape)."""
        drop = self.drop(rate, steps, *shape)
        return drop.bits.int() < drop.limit

    def state(self) -> list[Tensor]:
        """Returns what is needed to go on from here, for a checkpoint."""
        if not self.generators:
            return [self._seeds, self._draws]
        return [generator.get_state() for generator in self.generators]

    def restore(self, states: Sequence[Tensor]) -> None:
        """Goes on from the states of a checkpoint."""
        if not self.generators:
            self._seeds.copy_(states[0])
            self._draws.copy_(states[1])
        for generator, state in zip(self.generators, states, strict=bool(self.generators)):
            generator.set_state(state.cpu())
