"""What `on_cpu` defines, by kernels."""

from collections.abc import Sequence

import torch
from torch import Tensor

from recombine.models.kernels import attention, lstm
from recombine.models.kernels.elementwise import drop as drop_by_kernel
from recombine.models.noise import Drop
from recombine.models.packing import Packing


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

    def forward(self, t: int, h: Tensor, pre: Tensor, drop: Drop | None, later: Tensor | None) -> None:
        """Writes h (R, n, H) of step t, whose gates are complete."""
        dropping = None if drop is None else pre
        lstm.cell(self.gates[t], self.bias, self.before(t), self.c[t], h, pre=dropping, drop=drop, later=later)

    def turn(self) -> None:
        """Prepares for going back."""
        self.all_d_gates = torch.empty_like(self.all_gates)
        self.d_gates = self.packing.split(self.all_d_gates)
        self.d_c = torch.zeros_like(self.first)

    def backward(self, t: int, d_h: Sequence[Tensor], d_pre: Tensor, drop: Drop | None) -> None:
        """Writes the gradients of step t's gates."""
        *first, last = d_h if len(d_h) < 4 else [*d_h[:2], torch.stack(tuple(d_h[2:])).sum(0)]
        lstm.cell_gradient(
            self.gates[t], self.bias, self.before(t), self.c[t], d_h=[*first, last], d_pre=d_pre, drop=drop,
            d_c=self.d_c[:, : d_pre.shape[1]], d_gates=self.d_gates[t],
        )  # fmt: skip


class Attending:
    """Attention from each step to keys that are the same for all, forth and back: see `on_cpu.Attending`."""

    def __init__(self, keys: Tensor, values: Tensor, padding: Tensor, packing: Packing) -> None:
        self.keys, self.values, self.padding, self.packing = keys, values, padding, packing
        shape = (len(keys), packing.total, *padding.shape[2:])
        self.all_scores, self.all_weights = padding.new_empty(shape), values.new_empty(shape)
        self.scores, self.weights = packing.split(self.all_scores), packing.split(self.all_weights)

    def _each(self, queries: Tensor, size: int) -> Tensor:
        """Returns vectors (R, n, K · size), or (R, n, size) for all K alike, as (R, n, K, size)."""
        return torch.unflatten(queries, -1, (-1, size)).expand(-1, -1, self.keys.shape[2], -1)

    def only(self) -> tuple[Tensor, Tensor, Tensor]:
        """Returns keys, values and padding of the only prototype (R, B, S, ...)."""
        return self.keys.squeeze(2), self.values.squeeze(2), self.padding.squeeze(2)

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
            self.keys, self.values, self.weights[t],
            d_scores=self.d_scores[t], d_out=d_out, d_all=self.all_of[t],
        )  # fmt: skip
        return d_query.flatten(2) if query.shape[-1] > d_query.shape[-1] or d_query.shape[2] == 1 else d_query.sum(2)

    def gradients(self, queries: Tensor, d_retrieved: Tensor) -> tuple[Tensor, Tensor]:
        """Returns those of keys and values."""
        return (
            attention.weighed(self.all_d_scores, self._each(queries, self.keys.shape[-1]), self.packing),
            attention.weighed(self.all_weights, self._each(d_retrieved, self.values.shape[-1]), self.packing),
        )

    def scored(self) -> Tensor:
        """Returns the scores of all steps."""
        return self.all_scores


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


def drop_into(out: Tensor, x: Tensor, drop: Drop | None) -> None:
    """Writes x (R, n, size), in part dropped, to `out`."""
    drop_by_kernel(x, drop, out=out)


def add_dropped(total: Tensor, x: Tensor, drop: Drop | None) -> None:
    """Adds x (R, n, size), in part dropped, to a total."""
    drop_by_kernel(x, drop, out=total, plus=total)


def cell_and_attend(cells: Cells, attending: Attending, t: int, pre: Tensor, later: Tensor | None) -> None:
    """Computes h of step t and attends from it, where there is one prototype."""
    lstm.cell_and_attend(
        cells.gates[t], cells.bias, cells.before(t), cells.c[t], pre, later, *attending.only(),
        scores=attending.scores[t].squeeze(2), weights=attending.weights[t].squeeze(2),
    )  # fmt: skip


def cell_and_attend_gradient(cells: Cells, attending: Attending, t: int, d_pre: Tensor, d_h: Sequence[Tensor]) -> None:
    """Goes back over a step."""
    keys, values, _ = attending.only()
    d_scores = attending.d_scores[t]
    lstm.cell_and_attend_gradient(
        cells.gates[t], cells.bias, cells.before(t), cells.c[t], keys, values, attending.weights[t].squeeze(2),
        d_pre=d_pre, d_h=d_h[0], d_h_too=d_h[1] if len(d_h) > 1 else None,
        d_scores=None if d_scores is None else d_scores.squeeze(2), d_all=attending.all_of[t].squeeze(2),
        d_c=cells.d_c[:, : d_pre.shape[1]], d_gates=cells.d_gates[t],
    )  # fmt: skip


def transposed(weight: Tensor) -> Tensor:
    """Returns a weight to go back by."""
    return weight.transpose(1, 2)
