"""Dropout, and a vector that is in part dropped beside another one."""

from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from recombine.models.fusion.availability import fused


class Drop(NamedTuple):
    """Where to drop."""

    bits: Tensor  # random bytes (R, B, size), or (R, T, B, size) for T steps
    limit: int  # those below it are dropped

    def steps(self) -> list["Drop"]:
        """Returns where to drop at each step."""
        return [Drop(bits, self.limit) for bits in self.bits.unbind(1)]

    @property
    def scale(self) -> float:
        """What keeps the mean as it is."""
        return 256 / (256 - self.limit) if self.limit < 256 else 0.0


def dropped(x: Tensor, drop: Drop | None) -> Tensor:
    """Returns x (R, B, size), in part dropped."""
    if drop is None:
        return x
    if fused(x.device):
        return cast(Tensor, _Join.apply(x, drop, None, None)[0])  # type: ignore[no-untyped-call]
    kept = drop.bits >= drop.limit if drop.limit < 256 else torch.zeros_like(drop.bits)  # 256 is no byte
    return x * kept.to(x.dtype).mul_(drop.scale)


class Joined(NamedTuple):
    """Vectors side by side."""

    all: Tensor  # (R, B, size of all)
    a: Tensor  # (R, B, size of the first), in part dropped


def join(a: Tensor, drop: Drop | None, *others: Tensor, out: Tensor) -> Joined:
    """Joins a, in part dropped, and others; a kernel writes them to `out`, (R, B, size of all)."""
    if fused(a.device):
        b = torch.cat(others, dim=-1) if len(others) > 1 else next(iter(others), None)
        return Joined(*_Join.apply(a, drop, b, out))  # type: ignore[no-untyped-call]
    a = dropped(a, drop)
    return Joined(torch.cat([a, *others], dim=-1), a)


class _Join(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        a: Tensor,
        drop: Drop | None,
        b: Tensor | None,
        out: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        ctx.drop, ctx.size = drop, a.shape[-1]
        ctx.set_materialize_grads(False)
        both = _joined(a, drop, b=b, out=out)
        return both, both.detach()[..., : ctx.size]

    @staticmethod
    def backward(ctx: Any, d_both: Tensor | None, d_a: Tensor | None) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        drop, size = ctx.drop, ctx.size
        if d_both is None:
            return (d_a if drop is None or d_a is None else _joined(d_a, drop)), None, None, None
        first = d_both[..., :size]
        if drop is not None or d_a is not None:
            first = _joined(first, drop, plus=d_a)
        return first, None, d_both[..., size:] if d_both.shape[-1] > size else None, None


def _joined(
    a: Tensor, drop: Drop | None, *, plus: Tensor | None = None, b: Tensor | None = None, out: Tensor | None = None
) -> Tensor:
    """Returns [a + plus, in part dropped; b], by a kernel."""
    from recombine.models.kernels.join import join

    if drop is None:
        return join(a, bits=None, limit=0, scale=1.0, plus=plus, b=b, out=out)
    return join(a, bits=drop.bits, limit=drop.limit, scale=drop.scale, plus=plus, b=b, out=out)
