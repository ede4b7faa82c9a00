"""LSTMs over whole sequences, in both directions, as one operation, and the cells that decoders have, too."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from recombine.models.device import fused
from recombine.models.fast import on_cpu
from recombine.models.noise import Drop
from recombine.models.packing import Packing


def operations(device: torch.device) -> ModuleType:
    """Returns the module with the operations of a step on a device."""
    if not fused(device):
        return on_cpu
    from recombine.models import kernels

    return kernels


def transposed(weight: Tensor) -> Tensor:
    """Returns a weight to go back by; on a CPU in an order in memory in which products with few rows are fast."""
    return weight.transpose(1, 2) if weight.is_cuda else weight.transpose(1, 2).contiguous()


class Cells:
    """The cells of LSTMs at all steps, forth and back. Buffers are made once; a step works on its part of them.

    Args:
        gates: What inputs add to the gates (R, N, 4H: input, forget, new, output); it is overwritten. Whoever uses
            this adds what states do.
        bias: Of the gates (R, 1, 4H).
        c: The first cell state (R, B, H).
        packing: Which rows each step has.
    """

    def __init__(self, gates: Tensor, bias: Tensor, c: Tensor, packing: Packing) -> None:
        self.ops, self.packing, self.bias = operations(gates.device), packing, bias
        if self.ops is on_cpu:  # kernels add it at each step, in single precision
            gates += bias
        self.all_gates, self.all_c = gates, c.new_empty(*gates.shape[:2], c.shape[-1])
        self.gates, self.c = packing.split(gates), packing.split(self.all_c)
        self.before = [c, *(each[:, :rows] for each, rows in zip(self.c, packing.counts[1:], strict=False))]

    def forward(self, t: int, h: Tensor, later: Tensor | None, *, pre: Tensor | None, drop: Drop | None) -> None:
        """Computes h (R, n, H) of step t, whose gates are complete.

        Args:
            t: Which step.
            h: Where to write it.
            later: Where to write it of the rows that have another step.
            pre: Where to write it in part dropped.
            drop: Where to drop it.
        """
        self.ops.cell(self.gates[t], self.bias, self.before[t], self.c[t], h, pre=pre, where=drop, later=later)

    def turn(self) -> None:
        """Prepares for going back."""
        self.all_d_gates = torch.empty_like(self.all_gates)
        self.d_gates = self.packing.split(self.all_d_gates)
        self.d_c = torch.zeros_like(self.before[0])  # zero for rows that have no later step

    def backward(self, t: int, d_h: Sequence[Tensor], d_pre: Tensor, drop: Drop | None) -> None:
        """Writes the gradients of step t's gates, and goes on to those of c before.

        Args:
            t: Which step.
            d_h: Gradients of its h (R, n, H), which are added up; the first may be overwritten.
            d_pre: One more, of h in part dropped.
            drop: Where it was dropped.
        """
        self.ops.cell_gradient(
            self.gates[t], self.bias, self.before[t], self.c[t], d_h=d_h, d_pre=d_pre, where=drop,
            d_c=self.d_c[:, : d_pre.shape[1]], d_gates=self.d_gates[t],
        )  # fmt: skip


class Reading:
    """How sequences of several lengths are read in both directions.

    Both directions begin at their own first position, and padding comes last. On a CPU rows are read longest first, and
    where a row ends it is left out; on a GPU they all go on, since the CPU would have to wait for their lengths.

    Args:
        lengths: How many positions of each sequence are real, at least one, (R, N).
        steps: S, the length of the longest with padding.

    Attributes:
        packing: Which rows each step has; P positions in all.
    """

    def __init__(self, lengths: Tensor, steps: int) -> None:
        self.lengths, self.steps = lengths, steps
        if fused(lengths.device):
            self.order = torch.arange(lengths.shape[1], device=lengths.device).expand_as(lengths)
            self.packing = Packing.whole(steps, lengths.shape[1], lengths.device)
        else:
            self.order = lengths.argsort(dim=1, descending=True, stable=True)
            in_any = lengths.gather(1, self.order).cpu().numpy().max(0)  # of the replicas
            counts = (in_any > np.arange(in_any[0])[:, None]).sum(1)
            self.packing = Packing.of(tuple(counts.tolist()), lengths.device)

    def read(self, x: Tensor) -> Tensor:
        """Returns what each direction reads (R, 2, P, ...) of x (R, N, S, ...)."""
        row, t = self.order[:, self.packing.rows], self.packing.step
        positions = torch.stack([t.expand_as(row), (self.lengths.gather(1, row) - 1 - t).clamp(min=0)], dim=1)
        return _looked_up(x.flatten(1, 2), row.unsqueeze(1) * self.steps + positions)

    def states(self, h: Tensor) -> Tensor:
        """Returns states (R · 2, P, H) by sequence, position and direction (R, N, S, 2, H); anything at padding."""
        t, last = torch.arange(self.steps, device=h.device), self.lengths.unsqueeze(-1) - 1
        steps = torch.stack([t.expand(*self.lengths.shape, -1), (last - t).clamp(min=0)], dim=-1)  # (R, N, S, 2)
        return self._at(h, steps.masked_fill((t > last).unsqueeze(-1), 0))

    def finals(self, x: Tensor) -> Tensor:
        """Returns the last of states (R · 2, P, H) of each sequence (R, N, H), directions summed."""
        return self._at(x, (self.lengths - 1)[..., None, None].expand(-1, -1, 1, 2)).squeeze(2).sum(2)

    def _at(self, x: Tensor, steps: Tensor) -> Tensor:
        """Returns those of x (R · 2, P, H) of each row and direction at steps (R, N, S, 2)."""
        directions = torch.arange(2, device=x.device) * self.packing.total
        places = self.packing.offsets[steps] + self.order.argsort(1)[..., None, None] + directions
        return _looked_up(x.view(len(self.lengths), -1, x.shape[-1]), places)


def _looked_up(x: Tensor, places: Tensor) -> Tensor:
    """Returns those of x (R, M, ...) at places (R, ...)."""
    first = torch.arange(len(x), device=x.device).view(-1, *[1] * (places.dim() - 1)) * x.shape[1]
    return x.flatten(0, 1).index_select(0, (places + first).flatten()).view(*places.shape, *x.shape[2:])


def lstm(gates: Tensor, bias: Tensor, weight: Tensor, packing: Packing) -> tuple[Tensor, Tensor]:
    """Runs LSTMs over the positions of a packing.

    Args:
        gates: What inputs add to the gates (D, P, 4H); it is overwritten.
        bias: (D, 1, 4H).
        weight: What acts on states (D, H, 4H).
        packing: Which rows each step has.

    Returns:
        The states h and c (D, P, H).
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
        precise = torch.promote_types(gates.dtype, torch.float32)
        cells = Cells(gates, bias, gates.new_zeros(directions, packing.batch, size, dtype=precise), packing)
        h = gates.new_empty(directions, packing.total, size)
        before = gates.new_zeros(directions, packing.total, size)  # the state that each position was reached from
        hs, befores = packing.split(h), packing.split(before)
        for t in range(packing.steps):
            if t:
                cells.gates[t].baddbmm_(befores[t], weight)
            cells.forward(t, hs[t], befores[t + 1] if t + 1 < packing.steps else None, pre=None, drop=None)
        ctx.rest = cells, weight, before
        ctx.set_materialize_grads(False)
        return h, cells.all_c.clone()

    @staticmethod
    def backward(ctx: Any, d_h: Tensor | None, d_c: Tensor | None) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        cells, weight, before = cast("tuple[Cells, Tensor, Tensor]", ctx.rest)
        packing = cells.packing
        cells.turn()
        back = transposed(weight)
        d_state = torch.zeros_like(before[:, : packing.batch])  # zero for rows that have no later step
        d_hs = packing.split(torch.zeros_like(before) if d_h is None else d_h.contiguous())
        d_cs = None if d_c is None else packing.split(d_c)
        for t in reversed(range(packing.steps)):
            now = d_state[:, : packing.counts[t]]
            if d_cs is not None:
                cells.d_c[:, : packing.counts[t]] += d_cs[t]
            cells.backward(t, [now], d_hs[t], None)
            torch.bmm(cells.d_gates[t], back, out=now)
        d_gates = cells.all_d_gates
        return d_gates, d_gates.sum(1, keepdim=True), torch.bmm(before.transpose(1, 2), d_gates), None
