"""LSTMs: one step after the other, where something else happens in between, or a whole sequence at once."""

from typing import Any, cast

import torch
from torch import Tensor

from recombine.models.fusion.availability import fused
from recombine.models.fusion.hoisted import summed


class Gates:
    """An LSTM's gates over all steps: what the input and the bias add to them.

    Args:
        x: The input of all steps (R, T, B, E).
        weight: What acts on it (R, E, 4H: input, forget, cell, output).
        bias: (R, 1, 4H).
    """

    def __init__(self, x: Tensor, weight: Tensor, bias: Tensor) -> None:
        rows, shape = x.flatten(1, 2), (*x.shape[:3], weight.shape[-1])
        if fused(x.device):
            self._gradient: list[Tensor] = []
            from_input = torch.bmm(rows, weight).view(shape)
            self._from_input, self._bias = _Gather.apply(from_input, bias, self._gradient)  # type: ignore[no-untyped-call]
        else:
            # Unbound, not indexed: the gradient of an index is a tensor as large as all steps together.
            self._steps = torch.baddbmm(bias, rows, weight).view(shape).unbind(1)

    def cell(self, step: int, from_state: Tensor, c: Tensor, *, uses: int = 1) -> tuple[tuple[Tensor, ...], Tensor]:
        """Returns the next h, once for each of its uses, and c.

        Args:
            step: Which step.
            from_state: What the state adds to the gates (R, B, 4H).
            c: The cell state (R, B, H).
            uses: How often h is used: a kernel adds up the gradients of so many, at most three.
        """
        if fused(c.device):
            *h, c = _Cell.apply(self._from_input, self._bias, from_state, c, step, uses, self._gradient)  # type: ignore[no-untyped-call]
            return tuple(h), c
        i, f, g, o = (self._steps[step] + from_state).chunk(4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return (torch.sigmoid(o) * torch.tanh(c),) * uses, c


class _Gather(torch.autograd.Function):
    """Hands the gates on; on the way back, takes the gradient that every step has written its part of."""

    @staticmethod
    def forward(ctx: Any, from_input: Tensor, bias: Tensor, gradient: list[Tensor]) -> tuple[Tensor, Tensor]:  # noqa: ANN401
        ctx.gradient = gradient
        ctx.set_materialize_grads(False)
        return from_input.view_as(from_input), bias.view_as(bias)

    @staticmethod
    def backward(ctx: Any, *_: None) -> tuple[Tensor, Tensor, None]:  # noqa: ANN401
        d_gates = ctx.gradient.pop()
        return d_gates, summed(d_gates.flatten(1, 2)), None


class _Cell(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        gates: Tensor,
        bias: Tensor,
        from_state: Tensor,
        c: Tensor,
        step: int,
        uses: int,
        gradient: list[Tensor],
    ) -> tuple[Tensor, ...]:
        from recombine.models.kernels.cell import cell

        h, c_after = cell(gates[:, step], from_state, bias, c)
        ctx.save_for_backward(gates, bias, from_state, c, c_after)
        ctx.step, ctx.gradient = step, gradient
        ctx.set_materialize_grads(False)
        return (h, *(h.detach() for _ in range(uses - 1)), c_after)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        from recombine.models.kernels.cell import cell_gradient

        gates, bias, from_state, c, c_after = ctx.saved_tensors
        if not ctx.gradient:
            # Every step writes its part; were one not asked to, it would be zero.
            ctx.gradient.append(torch.zeros_like(gates) if ctx.step + 1 < gates.shape[1] else torch.empty_like(gates))
        d_gates = ctx.gradient[0][:, ctx.step]
        *d_h, d_c_after = gradients
        d_c = cell_gradient(
            gates[:, ctx.step], from_state, bias, c, c_after, d_h=d_h, d_c_after=d_c_after, d_gates=d_gates
        )
        return None, None, d_gates, d_c, None, None, None


def bilstm(gates: Tensor, bias: Tensor, weight: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Runs LSTMs over sequences in both directions, by kernels.

    Args:
        gates: What the input adds to the gates (R · 2, S, N, 4H), positions in their order; it is overwritten.
        bias: (R · 2, 1, 4H).
        weight: What acts on the state (R · 2, H, 4H).
        lengths: How many positions of each are real, at least one, (R, N).

    Returns:
        States of both directions side by side (R, N, S, 2H), and the final hidden and cell states (R · 2, N, H).
    """
    return cast("tuple[Tensor, Tensor, Tensor]", _BiLSTM.apply(gates, bias, weight, lengths))  # type: ignore[no-untyped-call]


class _BiLSTM(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gates: Tensor, bias: Tensor, weight: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:  # noqa: ANN401
        from recombine.models.kernels.bilstm import encode

        encoded = encode(gates, bias, weight, lengths)
        ctx.save_for_backward(gates, weight, lengths, encoded.c, encoded.before)
        return encoded.states, encoded.h[-1], encoded.c[-1]

    @staticmethod
    def backward(ctx: Any, d_states: Tensor, d_h: Tensor, d_c: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        from recombine.models.kernels.bilstm import encode_gradient

        gates, weight, lengths, c, before = ctx.saved_tensors
        d_gates = encode_gradient(
            gates, c, weight, lengths, d_states=d_states.contiguous(), d_h=d_h.contiguous(), d_c=d_c
        )
        rows = d_gates.flatten(1, 2)
        d_weight = torch.bmm(before.flatten(1, 2).transpose(1, 2), rows)
        return d_gates, summed(rows), d_weight, None
