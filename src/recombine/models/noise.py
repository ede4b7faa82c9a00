"""Randomness as an argument: a model draws the same random numbers alone and in a population."""

from collections.abc import Sequence

import torch
from torch import Tensor

from recombine.models.fusion import Drop, fused
from recombine.models.streams import KernelStreams, Streams, TorchStreams


class Noise:
    """Draws random tensors for a population, each replica from a stream of its own.

    Args:
        seeds: One seed per replica.
        device: Where the tensors are drawn.
        longest: Masks over sequences are drawn for so many steps and cut to what is needed, so that a replica draws
            the same numbers however long its neighbours' sequences are; 0: for just the steps that are needed.
    """

    def __init__(self, seeds: Sequence[int], device: torch.device | str = "cpu", *, longest: int = 0) -> None:
        device = torch.device(device)
        self._streams: Streams = KernelStreams(seeds, device) if fused(device) else TorchStreams(seeds, device, longest)

    @property
    def generators(self) -> Sequence[torch.Generator]:
        """The generators of torch's that numbers are drawn from, which a CUDA graph has to know."""
        return self._streams.generators

    def uniform(self, *shape: int) -> Tensor:
        """Returns numbers from U[0, 1) of shape (R, *shape)."""
        return self._streams.uniform(torch.Size(shape))

    def normal(self, *shape: int) -> Tensor:
        """Returns standard normal numbers of shape (R, *shape)."""
        return self._streams.normal(torch.Size(shape))

    def drop(self, rate: float, steps: int, *shape: int) -> Drop:
        """Returns where to drop at each of so many steps, with probability `rate`, to the nearest 1/256."""
        return Drop.at(rate, self._streams.bytes(steps, torch.Size(shape)))

    def dropped(self, rate: float, steps: int, *shape: int) -> Tensor:
        """Returns the same as booleans (R, steps, *shape)."""
        return self.drop(rate, steps, *shape).lost

    def state(self) -> list[Tensor]:
        """Returns what is needed to go on from here, for a checkpoint."""
        return self._streams.state()

    def restore(self, states: Sequence[Tensor]) -> None:
        """Goes on from the states of a checkpoint."""
        self._streams.restore(states)

    def keep(self, chosen: Sequence[int]) -> None:
        """Goes on for the chosen of the replicas only, each as if the others were still there."""
        self._streams.keep(chosen)
