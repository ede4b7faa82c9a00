"""What decoders do at each step besides products of matrices: by torch, in place.

The functions are those of `kernels`, which are held to them, and take the same arguments; what these are, it says
there. Rows come first in memory, so that what the first n rows have is one block.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from recombine.models.noise import Drop
from recombine.models.packing import Packing


def drop(x: Tensor, where: Drop | None, *, out: Tensor, plus: Tensor | None = None) -> None:
    """Writes plus + x, x in part dropped."""
    if where is None:
        out.copy_(x) if plus is None else torch.add(plus, x, out=out)
    elif plus is None:
        torch.mul(x, where.factors(x.dtype), out=out)
    else:
        torch.addcmul(plus, x, where.factors(x.dtype), out=out)


def cell(
    gates: Tensor,
    bias: Tensor,
    before: Tensor,
    c: Tensor,
    h: Tensor,
    *,
    pre: Tensor | None = None,
    where: Drop | None = None,
    later: Tensor | None = None,
) -> None:
    """Computes the next c and h. The gates, to which the bias has been added, become activations."""
    i, f, g, o = gates.chunk(4, dim=-1)
    gates[..., : 2 * h.shape[-1]].sigmoid_()
    g.tanh_()
    o.sigmoid_()
    torch.mul(f, before, out=c).addcmul_(i, g)
    torch.tanh(c, out=h).mul_(o)
    if pre is not None:
        drop(h, where, out=pre)
    if later is not None:
        later.copy_(h[:, : later.shape[1]])


def cell_gradient(
    gates: Tensor,
    bias: Tensor,
    before: Tensor,
    c: Tensor,
    *,
    d_h: Sequence[Tensor],
    d_pre: Tensor,
    where: Drop | None,
    d_c: Tensor,
    d_gates: Tensor,
) -> None:
    """Writes the gradient of the gates, and that of the cell state before over that after; the first of d_h is lost."""
    total, *others = d_h
    for other in others:
        total += other
    drop(d_pre, where, out=total, plus=total)
    i, f, g, o = gates.chunk(4, dim=-1)
    squashed = torch.tanh(c)
    d_i, d_f, d_g, d_o = torch.addcmul(gates, gates, gates, value=-1, out=d_gates).chunk(4, dim=-1)  # σ' = σ - σ²
    torch.mul(g, g, out=d_g).neg_().add_(1).mul_(i)
    d_i.mul_(g)
    d_f.mul_(before)
    d_o.mul_(squashed).mul_(total)
    d_c.addcmul_(total, torch.addcmul(o, o, squashed.square_(), value=-1))
    size = d_c.shape[-1]
    d_gates[..., : 3 * size].unflatten(-1, (3, size)).mul_(d_c.unsqueeze(2))
    d_c.mul_(f)


def attend(
    query: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None, *, scores: Tensor, weights: Tensor, out: Tensor
) -> None:
    """Attends from queries (R, n, K, A) to the first n of keys (R, B, K, S, A) and values (R, B, K, S, V)."""
    rows, sources = query.shape[1], keys.shape[3]
    keys, values = (each[:, :rows].transpose(0, 1).flatten(0, 2) for each in (keys, values))  # (n · R · K, S, ·)
    scores, weights = scores.transpose(0, 1), weights.transpose(0, 1)
    torch.bmm(keys, query.transpose(0, 1).reshape(len(keys), -1, 1), out=scores.view(len(keys), sources, 1))
    if bias is not None:
        scores += bias[:, :rows].transpose(0, 1)
    torch.softmax(scores, dim=-1, out=weights)
    retrieved = torch.bmm(weights.view(len(keys), 1, sources), values)
    out.copy_(retrieved.view(rows, len(out), -1).transpose(0, 1))


def attend_gradient(
    keys: Tensor, values: Tensor, weights: Tensor, *, d_scores: Tensor | None, d_out: Tensor, d_all: Tensor
) -> Tensor:
    """Writes the whole gradient of the scores to `d_all`, and returns that of the queries (R, n, K, A)."""
    replicas, rows, prototypes, sources = weights.shape
    keys, values = (each[:, :rows].transpose(0, 1).flatten(0, 2) for each in (keys, values))
    weights, d_all = weights.transpose(0, 1), d_all.transpose(0, 1)
    d_weights = torch.bmm(values, d_out.transpose(0, 1).reshape(len(keys), -1, 1)).view_as(weights)
    d_weights -= (d_weights * weights).sum(-1, keepdim=True)
    if d_scores is None:
        torch.mul(d_weights, weights, out=d_all)
    else:
        torch.addcmul(d_scores.transpose(0, 1), d_weights, weights, out=d_all)
    d_query = torch.bmm(d_all.view(len(keys), 1, sources), keys)
    return d_query.view(rows, replicas, prototypes, -1).transpose(0, 1)


def weighed(factors: Tensor, vectors: Tensor, packing: Packing) -> Tensor:
    """Returns, for every key of a row, the sum of the row's vectors over steps, weighed."""
    by_row = packing.unpack(factors).permute(0, 2, 3, 4, 1)  # (R, B, K, S, T)
    return by_row @ packing.unpack(vectors).permute(0, 2, 3, 1, 4)
