"""What LSTMs and decoders do at each step besides products of matrices: by torch, in place. Kernels are held to it.

Positions are those of a packing. Buffers are made once; a step works on its part of them.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from recombine.models.noise import Drop
from recombine.models.packing import Packing

BLOCK = 1 << 17
"""How many numbers at a time are computed with, so that they stay in a core's cache."""


class Cells:
    """The cells of LSTMs at all steps, forth and back, from a first cell state c (R, B, H).

    `gates` is what inputs add to them (R, N, 4H: input, forget, new, output). Whoever uses this adds what states do.
    They may become activations.
    """

    def __init__(self, gates: Tensor, bias: Tensor, c: Tensor, packing: Packing) -> None:
        self.size, self.packing = c.shape[-1], packing
        gates += bias
        self.all_gates, self.first = gates, c
        self.all_c = c.new_empty(*gates.shape[:2], self.size)
        self.gates, self.c = packing.split(gates), packing.split(self.all_c)
        self.i, self.f, self.g, self.o = map(packing.split, gates.chunk(4, dim=-1))
        self.i_and_f = packing.split(gates[..., : 2 * self.size])
        counts = packing.counts
        self.before = [c, *(each[:, :rows] for each, rows in zip(self.c, counts[1:], strict=False))]

    def forward(self, t: int, h: Tensor, pre: Tensor, where: Drop | None, later: Tensor | None) -> None:
        """Writes h (R, n, H) of step t, whose gates are complete: that of the rows with another step to `later`, too.

        If something is dropped, `pre` becomes h in part dropped; else it is `h`.
        """
        c = self.c[t]
        self.i_and_f[t].sigmoid_()
        g, o = self.g[t].tanh_(), self.o[t].sigmoid_()
        torch.mul(self.f[t], self.before[t], out=c)
        c.addcmul_(self.i[t], g)
        torch.tanh(c, out=h)
        h.mul_(o)
        if where is not None:
            drop(h, where, out=pre)
        if later is not None:
            later.copy_(h[:, : later.shape[1]])

    def turn(self) -> None:
        """Prepares for going back."""
        self.all_d_gates = torch.empty_like(self.all_gates)
        split, three = self.packing.split, 3 * self.size
        self.d_gates, self.d_o = split(self.all_d_gates), split(self.all_d_gates[..., three:])
        self.d_others = split(self.all_d_gates[..., :three].unflatten(-1, (3, self.size)))
        self.d_c = torch.zeros_like(self.first)  # zero for rows that have no later step
        self.ready = self.packing.steps  # from which step on `_get_ready` was called

    def _get_ready(self, t: int) -> None:
        """Computes what gradients of gates are multiplied by, where they will be: at once for some steps up to t.

        Enough at a time to be worth the calls, and few enough to be in the cache still when they are used.
        """
        first, counts, each = t, self.packing.counts, self.all_gates[:, 0].numel()
        rows = counts[t]
        while first and (rows + counts[first - 1]) * each <= BLOCK:
            first -= 1
            rows += counts[first]
        part = slice(self.packing.starts[first], self.packing.starts[t] + counts[t])
        gates, factors, c = self.all_gates[:, part], self.all_d_gates[:, part], self.all_c[:, part]
        i, _, g, o = gates.chunk(4, dim=-1)
        squashed = torch.tanh(c)
        torch.addcmul(gates, gates, gates, value=-1, out=factors)  # σ' = σ - σ²
        for_i, for_f, for_g, for_o = factors.chunk(4, dim=-1)
        torch.mul(g, g, out=for_g).neg_().add_(1).mul_(i)
        for_i.mul_(g)
        for step in range(first, t + 1):
            of_step = for_f[:, self.packing.starts[step] - part.start :][:, : counts[step]]
            of_step.mul_(self.before[step])
        for_o.mul_(squashed)
        self.h_to_c = torch.addcmul(o, o, squashed.square_(), value=-1).split(counts[first : t + 1], dim=1)
        self.ready = first

    def backward(self, t: int, d_h: Sequence[Tensor], d_pre: Tensor | None, where: Drop | None) -> None:
        """Writes the gradients of step t's gates, and goes on to those of c before.

        Gradients of its h (R, n, H) are added up, to the first of them; `d_pre` is one more, of h in part dropped.
        """
        if t < self.ready:
            self._get_ready(t)
        total, *others = d_h
        for other in others:
            total += other
        if d_pre is not None:
            drop(d_pre, where, out=total, plus=total)
        d_c = self.d_c[:, : total.shape[1]]
        d_c.addcmul_(total, self.h_to_c[t - self.ready])
        self.d_others[t].mul_(d_c.unsqueeze(2))
        self.d_o[t].mul_(total)
        d_c.mul_(self.f[t])


class Attending:
    """Attention from each step to keys (R, B, K, S, A) and values (R, B, K, S, V) that are the same for all.

    Rows come first in memory, so that what the first n have is one block. Padding (R, B, K, S) is added to the scores.
    """

    def __init__(self, keys: Tensor, values: Tensor, padding: Tensor, packing: Packing) -> None:
        self.packing = packing
        self.keys, self.values = (each.transpose(0, 1).contiguous() for each in (keys, values))
        self.padding = padding.transpose(0, 1).contiguous()
        shape = (packing.total, *self.padding.shape[1:])  # (N, R, K, S)
        self.all_scores, self.all_weights = padding.new_empty(shape), values.new_empty(shape)
        self.scored = self.all_scores.transpose(0, 1)  # before normalisation (R, N, K, S)
        counts = list(packing.counts)
        self.scores, self.weights = (torch.split(each, counts) for each in (self.all_scores, self.all_weights))

    def forward(self, t: int, query: Tensor, out: Tensor) -> None:
        """Attends from queries (R, n, K · A), or (R, n, A) for all K alike; writes what is retrieved (R, n, K · V)."""
        keys, values = self._first(query.shape[1])
        scores, weights = self.scores[t], self.weights[t]
        count, sources, size = keys.shape
        each = torch.unflatten(query.transpose(0, 1), -1, (-1, size)).expand(-1, -1, self.keys.shape[2], -1)
        torch.bmm(keys, each.reshape(-1, size, 1), out=scores.view(count, sources, 1))
        scores += self.padding[: query.shape[1]]
        torch.softmax(scores, dim=-1, out=weights)
        retrieved = torch.bmm(weights.view(count, 1, sources), values)
        out.copy_(retrieved.view(*scores.shape[:2], -1).transpose(0, 1))

    def _first(self, rows: int) -> tuple[Tensor, Tensor]:
        """Returns the keys and values of the first rows (n · R · K, S, ·)."""
        return self.keys[:rows].flatten(0, 2), self.values[:rows].flatten(0, 2)

    def turn(self, d_scores: Tensor | None) -> None:
        """Prepares for going back, given the gradients of the scores (R, N, K, S) where they are used themselves."""
        by_position = torch.zeros_like(self.all_scores)
        if d_scores is not None:
            by_position.copy_(d_scores.transpose(0, 1))
        self.d_scores, self.all_d_scores = torch.split(by_position, list(self.packing.counts)), by_position

    def backward(self, t: int, query: Tensor, d_out: Tensor) -> Tensor:
        """Returns the gradient of a step's queries, given that of what was retrieved (R, n, K · V)."""
        replicas, rows = query.shape[:2]
        keys, values = self._first(rows)
        weights, d_scores = self.weights[t], self.d_scores[t]
        d_retrieved = d_out.transpose(0, 1).reshape(-1, values.shape[-1], 1)
        d_weights = torch.bmm(values, d_retrieved).view_as(weights)
        d_weights -= (d_weights * weights).sum(-1, keepdim=True)
        d_scores.addcmul_(d_weights, weights)
        d_query = torch.bmm(d_scores.view(len(keys), 1, -1), keys).view(rows, replicas, -1, keys.shape[-1])
        if query.shape[-1] == keys.shape[-1]:  # one query for all prototypes
            d_query = d_query.sum(2)
        return d_query.reshape(rows, replicas, -1).transpose(0, 1)

    def gradients(self, queries: Tensor, d_retrieved: Tensor) -> tuple[Tensor, Tensor]:
        """Returns those of keys and values, given all queries and the gradients of all that was retrieved (R, N, ·)."""
        return self._weighed(self.all_d_scores, queries), self._weighed(self.all_weights, d_retrieved)

    def _weighed(self, factors: Tensor, vectors: Tensor) -> Tensor:
        """Returns, for every key, the sum over steps of vectors (R, N, ·), times factors (N, R, K, S)."""
        size = (self.keys if factors is self.all_d_scores else self.values).shape[-1]
        by_row = self.packing.unpack(factors.transpose(0, 1)).permute(0, 2, 3, 4, 1)  # (R, B, K, S, T)
        each = self.packing.unpack(torch.unflatten(vectors, -1, (-1, size)))  # (R, T, B, K or 1, size)
        return by_row @ each.permute(0, 2, 3, 1, 4)


def attend_to_own(query: Tensor, states: Tensor, t: int) -> tuple[Tensor, Tensor, Tensor]:
    """Attends from queries (R, n, H) to the first t of states (B, R, T, H): scores, weights, and what is retrieved."""
    seen = states[: query.shape[1], :, :t]
    scores = (seen @ query.transpose(0, 1).unsqueeze(-1)).squeeze(-1)  # (n, R, t)
    weights = torch.softmax(scores, dim=-1)
    retrieved = (weights.unsqueeze(2) @ seen).squeeze(2)
    return scores.transpose(0, 1), weights.transpose(0, 1), retrieved.transpose(0, 1)


def attend_to_own_gradient(
    states: Tensor, weights: Tensor, d_scores: Tensor | None, d_out: Tensor
) -> tuple[Tensor, Tensor]:
    """Returns the gradients of the scores (R, n, t) and the queries (R, n, H); arguments as of `attend_to_own`."""
    seen = states[: weights.shape[1], :, : weights.shape[2]]
    d_weights = (seen @ d_out.transpose(0, 1).unsqueeze(-1)).squeeze(-1).transpose(0, 1)
    d_all = (d_weights - (d_weights * weights).sum(-1, keepdim=True)) * weights
    if d_scores is not None:
        d_all = d_all + d_scores
    d_query = (d_all.transpose(0, 1).unsqueeze(2) @ seen).squeeze(2)
    return d_all, d_query.transpose(0, 1)


def drop(x: Tensor, where: Drop | None, *, out: Tensor, plus: Tensor | None = None) -> None:
    """Writes x (R, n, size), in part dropped, to `out`, or adds it to `plus`, which must then be `out`."""
    if where is None:
        out.copy_(x) if plus is None else out.add_(x)
    elif plus is None:
        torch.mul(x, where.factors(x.dtype), out=out)
    else:
        out.addcmul_(x, where.factors(x.dtype))
