"""Dropout, and a vector that is in part dropped beside another one."""

from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from recombine.models.fusion.availability import fused


class Drop(NamedTuple):
    """Where to drop."""

    bits: Tensor  # random bytes (R, B, size), or (R, T, B, size) for T steps
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

    def steps(self) -> list["Drop"]:
        """Returns where to drop at each step."""
        return [self._replace(bits=bits) for bits in self.bits.unbind(1)]

    def passed_on(self, further: "Drop | None") -> "Drop":
        """Returns where to drop what was dropped here at the step before, and `further` drops once more.

        The first step must be given zeros: what was dropped before it is not known here.
        """
        if further is None or not further.limit:
            further = Drop(torch.full_like(self.bits, 255), 1, 1.0)
        bits = further.bits.clone()
        bits[:, 1:].masked_fill_(self.lost[:, :-1], 0)
        return Drop(bits, further.limit, self.scale * further.scale)


def dropped(x: Tensor, drop: Drop | None) -> Tensor:
    """Returns x (R, B, size), in part dropped."""
    if drop is None:
        return x
    if fused(x.device):
        return cast(Tensor, _Join.apply(x, drop, None, None)[0])  # type: ignore[no-untyped-call]
    return x * (~drop.lost).to(x.dtype).mul_(drop.scale)


class Joined(NamedTuple):
    """Vectors side by side."""

    all: Tensor  # (R, B, size of all)
    a: Tensor  # (R, B, size of the first), in part dropped
    whole: Tensor  # the first as it was: a kernel adds the gradient of this use to those of the others


def join(a: Tensor, drop: Drop | None, *others: Tensor, out: Tensor) -> Joined:
    """Joins a, in part dropped, and others; a kernel writes them to `out`, (R, B, size of all)."""
    if fused(a.device):
        b = torch.cat(others, dim=-1) if len(others) > 1 else next(iter(others), None)
        return Joined(*_Join.apply(a, drop, b, out))  # type: ignore[no-untyped-call]
    in_part = dropped(a, drop)
    return Joined(torch.cat([in_part, *others], dim=-1), in_part, a)


class _Join(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        a: Tensor,
        drop: Drop | None,
        b: Tensor | None,
        out: Tensor | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        ctx.drop, ctx.size = drop, a.shape[-1]
        ctx.set_materialize_grads(False)
        both = _joined(a, drop, b=b, out=out)
        return both, both.detach()[..., : ctx.size], a.view_as(a)

    @staticmethod
    def backward(
        ctx: Any,  # noqa: ANN401
        d_both: Tensor | None,
        d_a: Tensor | None,
        d_whole: Tensor | None,
    ) -> tuple[Tensor | None, ...]:
        d_first = None if d_both is None else d_both[..., : ctx.size]
        d_b = None if d_both is None or d_both.shape[-1] == ctx.size else d_both[..., ctx.size :]
        in_part = [x for x in (d_first, d_a) if x is not None]  # gradients of what was dropped in part
        if not in_part or (len(in_part) == 1 and ctx.drop is None and d_whole is None):
            return in_part[0] if in_part else d_whole, None, d_b, None
        plus = in_part[1] if len(in_part) > 1 else None
        return _joined(in_part[0], ctx.drop, plus=plus, after=d_whole), None, d_b, None


def _joined(a: Tensor, drop: Drop | None, **others: Tensor | None) -> Tensor:
    """Returns [a + plus, in part dropped, + after; b], by a kernel."""
    from recombine.models.kernels.join import join

    if drop is None:
        return join(a, bits=None, limit=0, scale=1.0, **others)
    return join(a, bits=drop.bits, limit=drop.limit, scale=drop.scale, **others)
