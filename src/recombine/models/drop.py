"""Dropout as an argument: where to drop is drawn beforehand, from random bytes."""

from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from recombine.models.fast.availability import fused
from recombine.models.packing import Packing


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

    def part(self, positions: slice) -> "Drop":
        """Returns where to drop at some positions, of bits (R, N, ...)."""
        return self._replace(bits=self.bits[:, positions])

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


def dropped(x: Tensor, drop: Drop | None) -> Tensor:
    """Returns x, in part dropped."""
    if drop is None:
        return x
    if fused(x.device):
        return cast(Tensor, _Dropped.apply(x, drop))  # type: ignore[no-untyped-call]
    return x * drop.factors(x.dtype)


class _Dropped(torch.autograd.Function):
    """The same by a kernel."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, drop: Drop) -> Tensor:  # noqa: ANN401
        ctx.drop = drop
        return _by_kernel(x, drop)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401
        return _by_kernel(gradient, ctx.drop), None


def _by_kernel(x: Tensor, where: Drop) -> Tensor:
    from recombine.models.kernels.drop import drop

    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    drop(x.flatten(1, -2), where._replace(bits=where.bits.flatten(1, -2)), out=out.flatten(1, -2))
    return out
