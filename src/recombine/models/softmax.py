"""Softmax whose gradient is the same to the last bit with any number of threads, which torch's on a CPU is not."""

from typing import Any

import torch
from torch import Tensor


def softmax(scores: Tensor) -> Tensor:
    """Normalizes scores over their last dimension."""
    if scores.is_cuda:
        return torch.softmax(scores, dim=-1)
    weights: Tensor = _Softmax.apply(scores)  # type: ignore[no-untyped-call]
    return weights


class _Softmax(torch.autograd.Function):
    """Torch's own but for the gradient, where rows of more than 16 are summed in another order by two threads."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor) -> Tensor:  # noqa: ANN401
        weights = torch.softmax(scores, dim=-1)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx: Any, d_weights: Tensor) -> Tensor:  # noqa: ANN401
        weights: Tensor = ctx.saved_tensors[0]
        return (d_weights - (d_weights * weights).sum(-1, keepdim=True)) * weights
