"""Affine maps inside a loop over time whose gradients are computed once, after the loop."""

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor

from recombine.models.fusion.availability import fused

Steps = list[tuple[Tensor, Tensor]]
"""The left operand of each product of a loop, and the gradient of the product."""


class Hoisted:
    """The right-hand side of an affine map that is used at every time step of a loop.

    Its gradient is computed by one large product after the loop instead of being added up step by step, which would
    read and write a tensor of the operand's size at each step. All steps are to be gone back over at once.

    Args:
        right: (N, inner, columns).
        bias: (N, 1, columns).
    """

    def __init__(self, right: Tensor, bias: Tensor | None = None) -> None:
        self.steps: Steps = []
        self.right, self.bias = right, bias
        if right.requires_grad:
            self.right, self.bias = _Hoist.apply(right, bias, self.steps)  # type: ignore[no-untyped-call]

    def __call__(self, left: Tensor, out: Tensor | None = None) -> Tensor:
        """Returns left @ right + bias for left (N, rows, inner): in `out`, a part of `room`, if there are kernels."""
        out = out if fused(left.device) else None
        if not self.right.requires_grad:
            learned = left.requires_grad or (self.bias is not None and self.bias.requires_grad)
            return _product(left, self.right, self.bias, None if learned else out)
        return cast(Tensor, _HoistedProduct.apply(left, self.right, self.bias, self.steps, out))  # type: ignore[no-untyped-call]

    def room(self, steps: int, rows: int) -> Tensor:
        """Returns room for the results of so many steps (N, steps, rows, columns), where there are kernels.

        It holds the bias, to which each product is added once: a product with a bias beside it would first copy that.
        """
        bias = torch.zeros_like(self.right[:, :1]) if self.bias is None else self.bias.detach()
        return bias.unsqueeze(1).repeat(1, steps, rows if fused(bias.device) else 0, 1)


def _product(left: Tensor, right: Tensor, bias: Tensor | None, out: Tensor | None = None) -> Tensor:
    if out is None:
        return torch.bmm(left, right) if bias is None else torch.baddbmm(bias, left, right)
    # `data`: autograd need not know, since what other steps put into the same room stays as it is.
    out.data.baddbmm_(left, right)
    return out


class _Hoist(torch.autograd.Function):
    """Hands the operands on; on the way back, turns all the steps' (left, gradient) pairs into their gradients."""

    @staticmethod
    def forward(ctx: Any, right: Tensor, bias: Tensor | None, steps: Steps) -> tuple[Tensor, Tensor | None]:  # noqa: ANN401
        ctx.steps = steps
        ctx.set_materialize_grads(False)
        return right.view_as(right), None if bias is None else bias.view_as(bias)

    @staticmethod
    def backward(ctx: Any, d_right: Tensor | None, d_bias: Tensor | None) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        if not ctx.steps:
            return d_right, d_bias, None
        lefts, gradients = (side_by_side(parts[::-1]) for parts in zip(*ctx.steps, strict=True))
        ctx.steps.clear()
        d_bias = summed(gradients) if ctx.needs_input_grad[1] else None
        return torch.bmm(lefts.transpose(1, 2), gradients), d_bias, None


class _HoistedProduct(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        left: Tensor,
        right: Tensor,
        bias: Tensor | None,
        steps: Steps,
        out: Tensor | None,
    ) -> Tensor:
        ctx.save_for_backward(left, right)
        ctx.steps = steps
        return _product(left, right, bias, out)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        left, right = ctx.saved_tensors
        ctx.steps.append((left, gradient))
        return torch.bmm(gradient, right.transpose(1, 2)), None, None, None, None


def affine(left: Tensor, right: Tensor, bias: Tensor | None) -> Tensor:
    """Returns left @ right + bias for left (N, rows, inner)."""
    return cast(Tensor, _Affine.apply(left, right, bias))  # type: ignore[no-untyped-call]


class _Affine(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, bias: Tensor | None) -> Tensor:  # noqa: ANN401
        ctx.save_for_backward(left, right)
        return _product(left, right, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        left, right = ctx.saved_tensors
        for_left, for_right, for_bias = ctx.needs_input_grad
        return (
            torch.bmm(gradient, right.transpose(1, 2)) if for_left else None,
            torch.bmm(left.transpose(1, 2), gradient) if for_right else None,
            summed(gradient) if for_bias else None,
        )


def summed(rows: Tensor) -> Tensor:
    """Returns the sum of rows (N, rows, size), (N, 1, size): in bfloat16 on a GPU by a product, which is faster."""
    if not rows.is_cuda or rows.dtype == torch.float32:
        return rows.sum(1, keepdim=True)
    return torch.bmm(rows.new_ones(len(rows), 1, rows.shape[1]), rows)


def stacked(parts: Sequence[Tensor]) -> Tensor:
    """Returns parts (N, rows, size), one of each step, as one (N, steps, rows, size): without a copy by kernels."""
    return cast(Tensor, _Stack.apply(*parts)) if fused(parts[0].device) else torch.stack([*parts], dim=1)  # type: ignore[no-untyped-call]


class _Stack(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *parts: Tensor) -> Tensor:  # noqa: ANN401
        count, rows, size = parts[0].shape
        return side_by_side(parts).detach().view(count, len(parts), rows, size)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:  # noqa: ANN401
        return gradient.unbind(1)


def side_by_side(parts: tuple[Tensor, ...]) -> Tensor:
    """Returns parts (N, rows, size) as one (N, parts · rows, size): a view where they lie in a row, else a copy."""
    first, *others = parts
    rows, step = first.shape[1], first.shape[1] * first.stride(1)
    home, start = first.untyped_storage().data_ptr(), first.storage_offset()
    in_a_row = all(
        part.untyped_storage().data_ptr() == home
        and part.shape == first.shape
        and part.stride() == first.stride()
        and part.storage_offset() == start + number * step
        for number, part in enumerate(others, start=1)
    )
    if not in_a_row:
        return torch.cat(parts, dim=1)
    return first.as_strided((first.shape[0], len(parts) * rows, first.shape[2]), first.stride())
