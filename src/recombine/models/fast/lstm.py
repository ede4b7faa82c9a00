"""Affine maps and, without their padding, LSTMs over whole sequences, each as one operation."""

from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from recombine.models.fast import on_cpu
from recombine.models.packing import Packing


def affine(left: Tensor, right: Tensor, bias: Tensor | None) -> Tensor:
    """Returns left @ right + bias for left (N, rows, inner)."""
    return cast(Tensor, _Affine.apply(left, right, bias))  # type: ignore[no-untyped-call]


class _Affine(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, bias: Tensor | None) -> Tensor:  # noqa: ANN401
        ctx.save_for_backward(left, right)
        return torch.bmm(left, right) if bias is None else torch.baddbmm(bias, left, right)

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


class Reading:
    """How sequences of several lengths (R, N), at least 1, are read in both directions without padding (to S steps).

    Rows are read longest first, and both directions begin at their own first position: where a row ends it is left out.
    The packing, which rows each step has, has P positions in all.
    """

    def __init__(self, lengths: Tensor, steps: int) -> None:
        self.lengths, self.steps = lengths, steps
        self.order = lengths.argsort(dim=1, descending=True, stable=True)
        longest_first = lengths.gather(1, self.order)
        in_any = longest_first.numpy().max(0)  # of the replicas
        counts = (in_any > np.arange(in_any[0])[:, None]).sum(1)
        self.packing = Packing.of(tuple(counts.tolist()), lengths.device)
        length, t = longest_first[:, self.packing.rows], self.packing.step
        self.positions = torch.stack([t.expand_as(length), (length - 1 - t).clamp(min=0)], dim=1)  # (R, 2, P)

    def read(self, x: Tensor) -> Tensor:
        """Returns what each direction reads (R, 2, P, ...) of x (R, N, S, ...)."""
        places = self.order[:, self.packing.rows].unsqueeze(1) * self.steps + self.positions
        return _looked_up(x.flatten(1, 2), places)

    def states(self, h: Tensor) -> Tensor:
        """Returns states (R · 2, P, H) by sequence, position and direction (R, N, S, 2, H); anything at padding."""
        t, last = torch.arange(self.steps), self.lengths.unsqueeze(-1) - 1
        t = torch.stack([t.expand(*self.lengths.shape, -1), (last - t).clamp(min=0)], dim=-1)  # (R, N, S, 2)
        t = t.masked_fill((torch.arange(self.steps) > last).unsqueeze(-1), 0)
        places = self.packing.offsets[t] + self.order.argsort(1)[..., None, None] + self._directions
        return _looked_up(h.view(len(self.lengths), -1, h.shape[-1]), places)

    def finals(self, x: Tensor) -> Tensor:
        """Returns the last of states (R · 2, P, H) of each sequence and direction (R, N, 2, H)."""
        places = (self.packing.offsets[self.lengths - 1] + self.order.argsort(1)).unsqueeze(-1) + self._directions
        return _looked_up(x.view(len(self.lengths), -1, x.shape[-1]), places)

    @property
    def _directions(self) -> Tensor:
        return torch.arange(2) * self.packing.total


def _looked_up(x: Tensor, places: Tensor) -> Tensor:
    """Returns those of x (R, M, ...) at places (R, ...)."""
    rows = (places + torch.arange(len(x)).view(-1, *[1] * (places.dim() - 1)) * x.shape[1]).flatten()
    return x.flatten(0, 1).index_select(0, rows).view(*places.shape, *x.shape[2:])


def lstm(gates: Tensor, bias: Tensor, weight: Tensor, packing: Packing) -> tuple[Tensor, Tensor]:
    """Runs LSTMs over the positions of a packing: their states h and c (D, P, H).

    `gates`, what inputs add to them (D, P, 4H), is overwritten; `weight` (D, H, 4H) acts on states.
    """
    return cast("tuple[Tensor, Tensor]", _LSTM.apply(gates, bias, weight, packing))  # type: ignore[no-untyped-call]


class _LSTM(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        gates: Tensor,
        bias: Tensor,
        weight: Tensor,
        packing: Packing,
    ) -> tuple[Tensor, Tensor]:
        directions, size = gates.shape[0], gates.shape[-1] // 4
        cells = on_cpu.Cells(gates, bias, gates.new_zeros(directions, packing.batch, size), packing)
        h = gates.new_empty(directions, packing.total, size)
        before = gates.new_zeros(directions, packing.total, size)  # the state that each position was reached from
        hs, befores = packing.split(h), packing.split(before)
        for t in range(packing.steps):
            if t:
                cells.gates[t].baddbmm_(befores[t], weight)
            cells.forward(t, hs[t], hs[t], None, befores[t + 1] if t + 1 < packing.steps else None)
        ctx.rest = cells, weight, before
        ctx.set_materialize_grads(False)
        return h, cells.all_c.clone()

    @staticmethod
    def backward(ctx: Any, d_h: Tensor | None, d_c: Tensor | None) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        cells, weight, before = cast("tuple[on_cpu.Cells, Tensor, Tensor]", ctx.rest)
        packing = cells.packing
        cells.turn()
        transposed = weight.transpose(1, 2).contiguous()  # in this order products with few rows are fast
        d_state = torch.zeros_like(before[:, : packing.batch])  # zero for rows that have no later step
        d_hs, d_cs = (None if each is None else packing.split(each) for each in (d_h, d_c))
        for t in reversed(range(packing.steps)):
            now = d_state[:, : packing.counts[t]]
            if d_cs is not None:
                cells.d_c[:, : packing.counts[t]] += d_cs[t]
            cells.backward(t, [now] if d_hs is None else [now, d_hs[t]], None, None)
            torch.bmm(cells.d_gates[t], transposed, out=now)
        d_gates = cells.all_d_gates
        return d_gates, summed(d_gates), torch.bmm(before.transpose(1, 2), d_gates), None
