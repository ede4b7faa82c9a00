"""Attention from one decoding step to all prototypes of a batch."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from recombine.models.fusion.availability import fused
from recombine.models.fusion.hoisted import Hoisted, Steps
from recombine.models.softmax import softmax


class Attended(NamedTuple):
    """What attention gives."""

    scores: Tensor  # (R, B, K, S), before normalisation
    weights: Tensor  # (R, B, K, S)
    retrieved: Tensor  # (R, B, K · value size)


def attend(query: Tensor, keys: Hoisted, values: Hoisted, bias: Tensor) -> Attended:
    """Attends from queries (N, 1, A) to keys (N, A, S) and values (N, S, value size); bias is (R, B, K, S)."""
    if fused(query.device):
        return Attended(*_Attend.apply(query, keys.right, values.right, bias, keys.steps, values.steps))  # type: ignore[no-untyped-call]
    scores = keys(query).view(bias.shape) + bias
    weights = softmax(scores).to(values.right.dtype)
    retrieved = values(weights.view(-1, 1, bias.shape[-1]))
    return Attended(scores, weights, retrieved.view(*bias.shape[:2], -1))


class _Attend(torch.autograd.Function):
    """The same by kernels, which leave the gradients of keys and values to be computed after the loop."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        query: Tensor,
        keys: Tensor,
        values: Tensor,
        bias: Tensor,
        key_steps: Steps,
        value_steps: Steps,
    ) -> tuple[Tensor, Tensor, Tensor]:
        from recombine.models.kernels.attention import attend

        ctx.shape, ctx.steps = bias.shape, (key_steps, value_steps)
        query = query.contiguous()
        scores, weights, out = attend(query.squeeze(1), keys.transpose(1, 2), values, bias.contiguous())
        ctx.save_for_backward(query, keys, values, weights)
        ctx.set_materialize_grads(False)
        return scores.view(bias.shape), weights.view(bias.shape), out.view(*bias.shape[:2], -1)

    @staticmethod
    def backward(
        ctx: Any,  # noqa: ANN401
        d_scores: Tensor | None,
        d_weights: Tensor | None,
        d_out: Tensor | None,
    ) -> tuple[Tensor | None, ...]:
        from recombine.models.kernels.attention import attend_gradient

        query, keys, values, weights = ctx.saved_tensors
        if d_scores is not None and not d_scores[0, 0].is_contiguous():
            d_scores = d_scores.contiguous()
        if d_out is not None and d_out.stride(-1) != 1:
            d_out = d_out.contiguous()
        d_all, d_query = attend_gradient(
            keys.transpose(1, 2),
            values,
            weights,
            d_scores=d_scores,
            d_weights=d_weights,
            d_out=d_out,
            shape=ctx.shape,
        )
        key_steps, value_steps = ctx.steps
        key_steps.append((query, d_all.unsqueeze(1)))
        if d_out is not None:
            value_steps.append((weights.unsqueeze(1), d_out.reshape(len(values), 1, -1)))
        d_bias = d_all.view(ctx.shape).float() if ctx.needs_input_grad[3] else None
        return d_query.unsqueeze(1), None, None, d_bias, None, None
