"""Randomness as an argument: a model draws the same random numbers alone and in a population."""

from collections.abc import Sequence

import torch
from torch import Tensor

from recombine.models.drop import Drop
from recombine.models.fast.availability import fused
from recombine.models.packing import Packing
from recombine.models.rows import taken
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

    def drop(self, rate: float, packing: Packing, size: int) -> Drop:
        """Returns where to drop at each position (R, N, size), with probability `rate`, to the nearest 1/256.

        What is drawn for a row and a step does not depend on which rows the steps have besides.
        """
        return Drop.at(rate, self._streams.bytes(packing, size))

    def among(self, batch: int, places: Tensor) -> "Noise":
        """Returns the noise of those at places (R, B') of a batch, each as if the others were still drawn for."""
        return self if places.shape[1] == batch else _Among(self, batch, places)

    def state(self) -> list[Tensor]:
        """Returns what is needed to go on from here, for a checkpoint."""
        return self._streams.state()

    def restore(self, states: Sequence[Tensor]) -> None:
        """Goes on from the states of a checkpoint."""
        self._streams.restore(states)

    def keep(self, chosen: Sequence[int]) -> None:
        """Goes on for the chosen of the replicas only, each as if the others were still there."""
        self._streams.keep(chosen)


class _Among(Noise):
    """The noise of some examples of a batch, drawn for all of them."""

    def __init__(self, noise: Noise, batch: int, places: Tensor) -> None:
        self._streams, self.batch, self.places = noise._streams, batch, places

    def uniform(self, *shape: int) -> Tensor:
        return taken(super().uniform(self.batch, *shape[1:]), self.places)

    def normal(self, *shape: int) -> Tensor:
        return taken(super().normal(self.batch, *shape[1:]), self.places)

    def drop(self, rate: float, packing: Packing, size: int) -> Drop:
        whole = super().drop(rate, Packing.whole(packing.steps, self.batch, packing.device), size)
        bits = [taken(each, self.places) for each in whole.bits.unflatten(1, (packing.steps, self.batch)).unbind(1)]
        return whole._replace(bits=torch.cat(bits, dim=1))
