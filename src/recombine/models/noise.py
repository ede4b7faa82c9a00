"""Randomness as an argument: a model draws the same random numbers alone and in a population."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from recombine.models.architecture import Architecture
from recombine.models.device import fused
from recombine.models.packing import Packing, taken


class Drop(NamedTuple):
    """Where to drop."""

    bits: Tensor  # random bytes, of the shape of what is dropped
    limit: int  # those below it are dropped
    scale: float  # what the others are multiplied by

    @classmethod
    def at(cls, rate: float, bits: Tensor) -> "Drop":
        """Drops with probability `rate`, to the nearest 1/256, and keeps the mean as it is."""
        limit = round(256 * rate)
        return cls(bits, limit, 256 / (256 - limit) if limit < 256 else 0.0)

    @property
    def lost(self) -> Tensor:
        """What is dropped."""
        if self.limit == 256:  # which is no byte
            return torch.ones_like(self.bits, dtype=torch.bool)
        return self.bits < self.limit

    def factors(self, dtype: torch.dtype) -> Tensor:
        """What to multiply by."""
        return (~self.lost).to(dtype).mul_(self.scale)

    def steps(self, packing: Packing) -> list["Drop"]:
        """Returns where to drop at each step."""
        return [self._replace(bits=bits) for bits in packing.split(self.bits)]

    def passed_on(self, further: "Drop | None", packing: Packing) -> "Drop":
        """Returns where to drop what was dropped here at the step before, and `further` drops once more.

        The first step must be given zeros: what was dropped before it is not known here.
        """
        if further is None or not further.limit:
            further = Drop(torch.full_like(self.bits, 255), 1, 1.0)
        bits, later = further.bits.clone(), slice(packing.batch, None)
        before = packing.before[later]
        bits[:, later].masked_fill_(self.lost.index_select(1, before), 0)
        return Drop(bits, further.limit, self.scale * further.scale)


class Masks(NamedTuple):
    """Where a decoder drops at all positions (R, N, ·) of a sequence; None: nowhere."""

    embedding: Drop | None = None
    feed: Drop | None = None  # where it is fed back
    state: Drop | None = None
    write: Drop | None = None  # of the feed vector, before the output layer

    @classmethod
    def draw(cls, a: Architecture, noise: "Noise | None", packing: Packing, *, training: bool) -> "Masks":
        """Draws them; dropout of the state acts outside training, too."""
        if noise is None:
            return cls()
        own = noise if training else None
        embedding = drop_in_training(own, a.dropout, packing, a.embedding)
        feed = drop_in_training(own, a.dropout, packing, a.feed)
        state = noise.drop(a.state_dropout, packing, a.hidden) if a.state_dropout else None
        write = drop_in_training(own, a.feed_dropout, packing, a.feed)
        if a.feed_dropped_twice and write:
            feed = write.passed_on(feed, packing)
        return cls(embedding, feed, state, write)

    def at(self, positions: slice) -> "Masks":
        """Returns the masks of some positions."""
        return Masks(*(drop and drop._replace(bits=drop.bits[:, positions]) for drop in self))


def drop_in_training(noise: "Noise | None", rate: float, packing: Packing, size: int) -> Drop | None:
    """Returns where to drop at all positions, or nowhere if there is no noise or nothing to drop."""
    return noise.drop(rate, packing, size) if noise and rate else None


def dropped(x: Tensor, drop: Drop | None) -> Tensor:
    """Returns x, in part dropped."""
    if drop is None:
        return x
    if fused(x.device):
        return cast(Tensor, _Dropped.apply(x, drop))  # type: ignore[no-untyped-call]
    return x * drop.factors(x.dtype)


class _Dropped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, where: Drop) -> Tensor:  # noqa: ANN401
        from recombine.models.kernels.elementwise import drop

        ctx.where = where
        out = torch.empty_like(x, memory_format=torch.contiguous_format)
        drop(x.flatten(1, -2), where._replace(bits=where.bits.flatten(1, -2)), out=out.flatten(1, -2))
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401
        return _Dropped.forward(ctx, gradient, ctx.where), None


class Noise:
    """Draws random tensors for a population, each replica from a stream of its own.

    A stream is one of torch's generators. Where there are kernels, its numbers are a function of the replica's seed,
    the number of draws so far, and the place. Masks over sequences are drawn for `longest` steps and cut to what is
    needed, so that a replica draws the same numbers however long its neighbours' sequences are; 0: for just the steps
    that are needed.
    """

    def __init__(self, seeds: Sequence[int], device: torch.device | str = "cpu", *, longest: int = 0) -> None:
        self.device, self.longest = torch.device(device), longest
        self.kernels = fused(self.device)
        self.generators: Sequence[torch.Generator] = []  # those of torch's, which a CUDA graph has to know
        if self.kernels:
            signed = [(seed + 2**63) % 2**64 - 2**63 for seed in seeds]
            self._seeds = torch.tensor(signed, dtype=torch.int64, device=device)
            self._draws = torch.zeros((), dtype=torch.int64, device=device)
        else:
            self.generators = [torch.Generator(self.device).manual_seed(seed) for seed in seeds]

    def uniform(self, *shape: int) -> Tensor:
        """Returns numbers from U[0, 1) of shape (R, *shape)."""
        if self.kernels:
            from recombine.models.kernels.elementwise import random_bytes

            count = math.prod(shape)
            places = torch.arange(-(-count // 4), device=self.device)  # of four words of 32 bits each
            drawn = random_bytes(self._seeds, self._draws, places, 16)
            words = drawn.view(torch.int32).flatten(1)[:, :count]
            return ((words >> 8) & 0xFFFFFF).float().mul_(2**-24).view(-1, *shape)
        return torch.stack([torch.rand(shape, generator=each, device=self.device) for each in self.generators])

    def normal(self, *shape: int) -> Tensor:
        """Returns standard normal numbers of shape (R, *shape)."""
        if self.kernels:  # after Box and Muller
            radius = (-2 * torch.log1p(-Noise.uniform(self, *shape))).sqrt_()
            return radius * torch.cos(2 * math.pi * Noise.uniform(self, *shape))
        return torch.stack([torch.randn(shape, generator=each, device=self.device) for each in self.generators])

    def drop(self, rate: float, packing: Packing, size: int) -> Drop:
        """Returns where to drop at each position (R, N, size), with probability `rate`, to the nearest 1/256.

        What is drawn for a row and a step does not depend on which rows the steps have besides.
        """
        if self.kernels:
            from recombine.models.kernels.elementwise import random_bytes

            return Drop.at(rate, random_bytes(self._seeds, self._draws, packing.places, size))
        steps = max(packing.steps, self.longest)
        each = steps * packing.batch * size
        # Eight bytes a draw: random numbers are what small networks would otherwise spend their time on.
        words = torch.empty(len(self.generators), -(-each // 8), dtype=torch.int64, device=self.device)
        for row, generator in zip(words, self.generators, strict=True):
            row.random_(-(2**63), None, generator=generator)
        return Drop.at(rate, packing.pack(words.view(torch.uint8)[:, :each].view(-1, steps, packing.batch, size)))

    def among(self, batch: int, places: Tensor) -> "Noise":
        """Returns the noise of those at places (R, B') of a batch, each as if the others were still drawn for."""
        return self if places.shape[1] == batch else _Among(self, batch, places)

    def state(self) -> list[Tensor]:
        """Returns what is needed to go on from here, for a checkpoint."""
        return [self._seeds, self._draws] if self.kernels else [each.get_state() for each in self.generators]

    def restore(self, states: Sequence[Tensor]) -> None:
        """Goes on from the states of a checkpoint."""
        streams: Sequence[Tensor | torch.Generator] = self.state() if self.kernels else self.generators
        for stream, state in zip(streams, states, strict=True):
            if isinstance(stream, Tensor):
                stream.copy_(state)
            else:
                stream.set_state(state.cpu())

    def keep(self, chosen: Sequence[int]) -> None:
        """Goes on for the chosen of the replicas only, each as if the others were still there."""
        if self.kernels:
            self._seeds = self._seeds[list(chosen)]
        else:
            self.generators = [self.generators[number] for number in chosen]


class _Among(Noise):
    """The noise of some examples of a batch, drawn for all of them."""

    def __init__(self, noise: Noise, batch: int, places: Tensor) -> None:
        vars(self).update(vars(noise))  # the same streams
        self.batch, self.places = batch, places

    def uniform(self, *shape: int) -> Tensor:
        return taken(super().uniform(self.batch, *shape[1:]), self.places)

    def normal(self, *shape: int) -> Tensor:
        return taken(super().normal(self.batch, *shape[1:]), self.places)

    def drop(self, rate: float, packing: Packing, size: int) -> Drop:
        whole = super().drop(rate, Packing.whole(packing.steps, self.batch, packing.device), size)
        bits = [taken(each, self.places) for each in whole.bits.unflatten(1, (packing.steps, self.batch)).unbind(1)]
        return whole._replace(bits=torch.cat(bits, dim=1))
