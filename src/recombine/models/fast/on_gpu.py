"""What `on_cpu` defines, and LSTMs in both directions, by kernels: all that is launched at the steps of a network."""

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor

from recombine.models.fast.lstm import summed
from recombine.models.kernels import attention, lstm
from recombine.models.kernels.attention import blocks
from recombine.models.kernels.elementwise import drop
from recombine.models.kernels.shared import strides, tiles
from recombine.models.noise import Drop
from recombine.models.packing import Packing

__all__ = ["Attending", "Cells", "attend_to_own", "attend_to_own_gradient", "bilstm", "drop"]


class Cells:
    """The cells of LSTMs at all steps, forth and back: see `on_cpu.Cells`."""

    def __init__(self, gates: Tensor, bias: Tensor, c: Tensor, packing: Packing) -> None:
        self.packing, self.bias, self.first = packing, bias, c
        self.all_gates = gates
        self.gates = packing.split(gates)
        self.c = packing.split(c.new_empty(*gates.shape[:2], c.shape[-1]))

    def before(self, t: int) -> Tensor:
        """Returns the cell state before a step, perhaps of more rows."""
        return self.c[t - 1] if t else self.first

    def forward(self, t: int, h: Tensor, pre: Tensor, where: Drop | None, later: Tensor | None) -> None:
        """Writes h (R, n, H) of step t, whose gates are complete."""
        replicas, rows, size = h.shape
        bits, limit, scale = where or (None, 0, 1.0)
        grid, block = tiles(replicas * rows, size)
        every = (self.gates[t], self.before(t), self.c[t], h, None if where is None else pre, bits, later)
        going_on = 0 if later is None else later.shape[1]
        lstm.cell[grid](self.bias, *every, rows, going_on, size, limit, scale, *strides(*every), block=block)

    def turn(self) -> None:
        """Prepares for going back."""
        self.all_d_gates = torch.empty_like(self.all_gates)
        self.d_gates = self.packing.split(self.all_d_gates)
        self.d_c = torch.zeros_like(self.first)

    def backward(self, t: int, d_h: Sequence[Tensor], d_pre: Tensor, where: Drop | None) -> None:
        """Writes the gradients of step t's gates, and that of the cell state before over that after."""
        replicas, rows, size = d_pre.shape
        bits, limit, scale = where or (None, 0, 1.0)
        grid, block = tiles(replicas * rows, size)
        if len(d_h) > 3:
            d_h = [*d_h[:2], torch.stack(tuple(d_h[2:])).sum(0)]
        d_c, states = self.d_c[:, :rows], (self.gates[t], self.before(t), self.c[t])
        every = (self.d_gates[t], d_c, *states, d_pre, bits, *[*d_h, None, None][:3])
        lstm.cell_gradient[grid](self.bias, *every, rows, size, limit, scale, *strides(*every), block=block)


class Attending:
    """Attention from each step to keys that are the same for all, forth and back: see `on_cpu.Attending`."""

    def __init__(self, keys: Tensor, values: Tensor, padding: Tensor, packing: Packing) -> None:
        self.keys, self.values, self.padding, self.packing = keys, values, padding, packing
        shape = (len(keys), packing.total, *padding.shape[2:])
        self.scored, self.all_weights = padding.new_empty(shape), values.new_empty(shape)
        self.scores, self.weights = packing.split(self.scored), packing.split(self.all_weights)

    def _each(self, queries: Tensor, size: int) -> Tensor:
        """Returns vectors (R, n, K · size), or (R, n, size) for all K alike, as (R, n, K, size)."""
        return torch.unflatten(queries, -1, (-1, size)).expand(-1, -1, self.keys.shape[2], -1)

    def forward(self, t: int, query: Tensor, out: Tensor) -> None:
        """Attends from the queries of a step."""
        each, scores, weights = self._each(query, self.keys.shape[-1]), self.scores[t], self.weights[t]
        attention.attend(each, self.keys, self.values, self.padding, scores=scores, weights=weights, out=out)

    def turn(self, d_scores: Tensor | None) -> None:
        """Prepares for going back."""
        self.d_scores = [None] * self.packing.steps if d_scores is None else self.packing.split(d_scores.contiguous())
        self.all_d_scores = torch.empty_like(self.all_weights)
        self.all_of = self.packing.split(self.all_d_scores)

    def backward(self, t: int, query: Tensor, d_out: Tensor) -> Tensor:
        """Returns the gradient of the queries."""
        d_query = attention.attend_gradient(
            self.keys, self.values, self.weights[t], d_scores=self.d_scores[t], d_out=d_out, d_all=self.all_of[t]
        )
        return d_query.flatten(2) if query.shape[-1] > d_query.shape[-1] or d_query.shape[2] == 1 else d_query.sum(2)

    def gradients(self, queries: Tensor, d_retrieved: Tensor) -> tuple[Tensor, Tensor]:
        """Returns those of keys and values."""
        return (
            attention.weighed(self.all_d_scores, self._each(queries, self.keys.shape[-1]), self.packing),
            attention.weighed(self.all_weights, self._each(d_retrieved, self.values.shape[-1]), self.packing),
        )


def attend_to_own(query: Tensor, states: Tensor, t: int) -> tuple[Tensor, Tensor, Tensor]:
    """Attends from queries (R, n, H) to the first t of states (B, R, T, H)."""
    seen = states.transpose(0, 1).unsqueeze(2)[..., :t, :]
    scores = torch.empty(*query.shape[:2], 1, t, device=query.device)
    weights, out = query.new_empty(scores.shape), torch.empty_like(query)
    attention.attend(query.unsqueeze(2), seen, seen, None, scores=scores, weights=weights, out=out)
    return scores.squeeze(2), weights.squeeze(2), out


def attend_to_own_gradient(
    states: Tensor, weights: Tensor, d_scores: Tensor | None, d_out: Tensor
) -> tuple[Tensor, Tensor]:
    """Returns the gradients of the scores (R, n, t) and the queries (R, n, H)."""
    seen = states.transpose(0, 1).unsqueeze(2)[..., : weights.shape[2], :]
    d_all = torch.empty_like(weights).unsqueeze(2)
    own = None if d_scores is None else d_scores.unsqueeze(2)
    d_query = attention.attend_gradient(seen, seen, weights.unsqueeze(2), d_scores=own, d_out=d_out, d_all=d_all)
    return d_all.squeeze(2), d_query.squeeze(2)


def cell_and_attend(cells: Cells, attending: Attending, t: int, pre: Tensor, later: Tensor | None) -> None:
    """Computes h of step t and attends from it to the only prototype, in one launch.

    Writes h and what is retrieved to `pre`, side by side (R, n, H + V), and h of the rows with another step to `later`.
    """
    keys, values = attending.keys.squeeze(2), attending.values.squeeze(2)
    scores, weights = attending.scores[t].squeeze(2), attending.weights[t].squeeze(2)
    padding, states = attending.padding.squeeze(2), (cells.gates[t], cells.before(t), cells.c[t], pre, later)
    replicas, rows, size = cells.c[t].shape
    sources, value_size = values.shape[2:]
    lstm.cell_and_attend[(replicas * rows,)](
        cells.bias, *states, keys, values, padding, scores, weights, rows, 0 if later is None else later.shape[1],
        sources, size, value_size, *strides(*states), *strides(keys, values, axes=3),
        *strides(padding, scores, weights), **blocks(sources, max(size, value_size), replicas * rows),
    )  # fmt: skip


def cell_and_attend_gradient(cells: Cells, attending: Attending, t: int, d_pre: Tensor, d_h: Sequence[Tensor]) -> None:
    """Goes back over a step, given the gradients of what `cell_and_attend` wrote, and one or two more of h."""
    keys, values = attending.keys.squeeze(2), attending.values.squeeze(2)
    d_scores, weights = attending.d_scores[t], attending.weights[t].squeeze(2)
    d_used, d_all = None if d_scores is None else d_scores.squeeze(2), attending.all_of[t].squeeze(2)
    replicas, rows, size = cells.c[t].shape
    sources, value_size = values.shape[2:]
    d_h_too = d_h[1] if len(d_h) > 1 else None
    states = (
        cells.gates[t], cells.before(t), cells.c[t], d_pre, d_h[0], d_h_too, cells.d_c[:, :rows], cells.d_gates[t]
    )  # fmt: skip
    lstm.cell_and_attend_gradient[(replicas * rows,)](
        cells.bias, *states, keys, values, weights, d_used, d_all, rows, sources, size, value_size,
        *strides(*states), *strides(keys, values, axes=3), *strides(weights, d_used, d_all),
        **blocks(sources, max(size, value_size), replicas * rows),
    )  # fmt: skip


def bilstm(gates: Tensor, bias: Tensor, weight: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Runs LSTMs over sequences of some lengths (R, N), at least one, in both directions; D is R · 2 directions.

    `gates`, what the input adds to them (D, S, N, 4H), is overwritten; `weight` (D, H, 4H) acts on the state. Returned
    are states of both directions side by side (R, N, S, 2H), zero at padding, and the final h and c (D, N, H).
    """
    return cast("tuple[Tensor, Tensor, Tensor]", _BiLSTM.apply(gates, bias, weight, lengths))  # type: ignore[no-untyped-call]


class _BiLSTM(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gates: Tensor, bias: Tensor, weight: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:  # noqa: ANN401
        directions, steps, count, four = gates.shape
        rows, size = directions * count, four // 4
        h = gates.new_zeros(steps + 1, directions, count, size)  # before and after each step
        c = torch.zeros_like(h, dtype=torch.float32)
        states = gates.new_empty(directions // 2, count, steps, 2 * size)
        before = gates.new_empty(directions, steps, count, size)  # the h from which each position was reached
        grid, block = tiles(rows, size)
        for t in range(steps):
            from_state = torch.bmm(h[t], weight)
            lstm.encode[grid](
                gates, h, c, states, before, from_state, bias, lengths, t, rows, steps, count, size, block=block
            )  # fmt: skip
        ctx.save_for_backward(gates, weight, lengths, c, before)
        return states, h[-1], c[-1]

    @staticmethod
    def backward(ctx: Any, d_states: Tensor, d_h: Tensor, d_c: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        gates, weight, lengths, c, before = ctx.saved_tensors
        directions, steps, count, four = gates.shape
        rows, size = directions * count, four // 4
        d_states, d_h = d_states.contiguous(), d_h.contiguous()
        d_gates, d_gates_now = torch.empty_like(gates), gates.new_empty(directions, count, four)
        d_c, d_h_past = d_c.clone(memory_format=torch.contiguous_format), torch.zeros_like(d_c)
        grid, block = tiles(rows, size)
        for t in reversed(range(steps)):
            lstm.encode_gradient[grid](
                d_gates, d_gates_now, d_c, d_h_past, gates, c, d_states, d_h, lengths,
                t, rows, steps, count, size, block=block,
            )  # fmt: skip
            d_h = torch.bmm(d_gates_now, weight.transpose(1, 2))
        by_row = d_gates.flatten(1, 2)
        return d_gates, summed(by_row), torch.bmm(before.flatten(1, 2).transpose(1, 2), by_row), None
