"""Randomness as an argument: a model draws the same random numbers alone and in a population."""

from collections.abc import Sequence

import torch
from torch import Tensor


class Noise:
    """Draws random tensors for a population, each replica from a generator of its own.

    Args:
        seeds: One seed per replica.
        device: Where the tensors are drawn.
        longest: Masks over sequences are drawn for so many steps and cut to what is needed, so that a replica draws
            the same numbers however long its neighbours' sequences are; 0: for just the steps that are needed.
    """

    def __init__(self, seeds: Sequence[int], device: torch.device | str = "cpu", *, longest: int = 0) -> None:
        self.device = torch.device(device)
        self.longest = longest
        self.generators = [torch.Generator(self.device).manual_seed(seed) for seed in seeds]

    def uniform(self, *shape: int) -> Tensor:
        """Returns numbers from U[0, 1) of shape (R, *shape)."""
        drawn = torch.empty(len(self.generators), *shape, device=self.device)
        for row, generator in zip(drawn, self.generators, strict=True):
            row.uniform_(generator=generator)
        return drawn

    def normal(self, *shape: int) -> Tensor:
        """Returns standard normal numbers of shape (R, *shape)."""
        drawn = torch.empty(len(self.generators), *shape, device=self.device)
        for row, generator in zip(drawn, self.generators, strict=True):
            row.normal_(generator=generator)
        return drawn

    def dropped(self, rate: float, steps: int, *shape: int) -> Tensor:
        """Returns where to drop: True with probability `rate`, to the nearest 1/256, of shape (R, steps, *shape)."""
        drawn = max(steps, self.longest)
        each = drawn * torch.Size(shape).numel()
        # Eight bytes a draw: random numbers are what small networks would otherwise spend their time on.
        words = torch.empty(len(self.generators), -(-each // 8), dtype=torch.int64, device=self.device)
        for row, generator in zip(words, self.generators, strict=True):
            row.random_(-(2**63), None, generator=generator)
        bits = words.view(torch.uint8)[:, :each].view(-1, drawn, *shape)[:, :steps]
        limit = round(rate * 256)
        return bits < limit if limit < 256 else torch.ones_like(bits, dtype=torch.bool)  # 256 is no byte

    def dropout(self, rate: float, steps: int, *shape: int) -> Tensor:
        """Returns a mask of shape (R, steps, *shape): 0 where dropped, else what keeps the mean at one."""
        kept = 1 - round(rate * 256) / 256
        return (~self.dropped(rate, steps, *shape)).float() / kept

    def state(self) -> list[Tensor]:
        """Returns the generators' states, for a checkpoint."""
        return [generator.get_state() for generator in self.generators]

    def restore(self, states: Sequence[Tensor]) -> None:
        """Puts the generators back to the states of a checkpoint."""
        for generator, state in zip(self.generators, states, strict=True):
            generator.set_state(state.cpu())
