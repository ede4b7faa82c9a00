"""Kernels: attention from one query to each sequence of a batch, and its gradient."""

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from recombine.models.kernels.tiles import read, strides

LEAST = 16
"""So many positions are read at a time at least."""


def _blocks(positions: int, features: int) -> dict[str, int]:
    """Returns as many positions and features at a time as registers hold, and so few warps that each has much to do.

    Each number of them is compiled by itself. What is not there is not read, so that few positions count as more: else
    a decoder's first steps alone, each of which attends to one state more, would be five kernels.
    """
    block_s = max(LEAST, triton.next_power_of_2(positions))
    block_d = min(triton.next_power_of_2(features), max(16, 8192 // block_s))
    warps = min(16, max(1, block_s * block_d // 4096))
    return {"block_s": block_s, "block_d": block_d, "num_warps": warps}


@triton.jit
def _tile(x, s, d, x_s, real, size):
    """Reads features d of positions s of one sequence."""
    return read(x + s[:, None] * x_s + d[None, :], real[:, None] & (d < size)[None, :])


def attend(query: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Returns scores (N, S) in float32, weights (N, S), and what is retrieved (N, value size).

    Args:
        query: (N, A), contiguous.
        keys: (N, S, A).
        values: (N, S, value size).
        bias: What is added to the scores (N, S), contiguous; None: nothing.
    """
    count, sources, size = keys.shape
    scores = torch.empty(count, sources, device=keys.device)
    weights, out = values.new_empty(count, sources), values.new_empty(count, values.shape[-1])
    _attend[(count,)](
        scores, weights, out, query, keys, values, bias, sources, size, values.shape[-1],
        *strides(keys, values), **_blocks(sources, size),
    )  # fmt: skip
    return scores, weights, out


@triton.jit(do_not_specialize=["sources"], do_not_specialize_on_alignment=["scores", "weights", "bias"])
def _attend(
    scores, weights, out, query, keys, values, bias, sources, key_size: tl.constexpr, value_size: tl.constexpr,
    k_n, k_s, v_n, v_s, block_s: tl.constexpr, block_d: tl.constexpr,
):  # fmt: skip
    n = tl.program_id(0).to(tl.int64)
    s = tl.arange(0, block_s)
    real = s < sources
    score = tl.where(real, 0.0, float("-inf"))
    if bias is not None:
        score += read(bias + n * sources + s, real)
    for start in range(0, key_size, block_d):
        d = start + tl.arange(0, block_d)
        q = read(query + n * key_size + d, d < key_size)
        score += tl.sum(_tile(keys + n * k_n, s, d, k_s, real, key_size) * q[None, :], axis=1)
    tl.store(scores + n * sources + s, score, mask=real)
    e = tl.exp(score - tl.max(score, axis=0))
    weight = e / tl.sum(e, axis=0)
    tl.store(weights + n * sources + s, weight, mask=real)
    for start in range(0, value_size, block_d):
        d = start + tl.arange(0, block_d)
        v = _tile(values + n * v_n, s, d, v_s, real, value_size)
        tl.store(out + n * value_size + d, tl.sum(v * weight[:, None], axis=0), mask=d < value_size)


def attend_gradient(
    keys: Tensor,
    values: Tensor,
    weights: Tensor,
    *,
    d_scores: Tensor | None,
    d_weights: Tensor | None,
    d_out: Tensor | None,
    shape: torch.Size,
    query: Tensor | None = None,
    room: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """Returns the whole gradient of the scores (N, S), and that of the query (N, A).

    Args:
        keys: As for `attend`.
        values: As for `attend`.
        weights: What it returned.
        d_scores: Gradient of the scores where they are used themselves (R, B, K, S), the last two axes contiguous.
        d_weights: Gradient of the weights (R, B, K, S).
        d_out: Gradient of what was retrieved (R, B, K · value size).
        shape: R, B, K, S.
        query: As for `attend`, if there is room.
        room: Where to put the query (N, A), the weights (N, S), the first result (N, S) and `d_out` (N, value size;
            zeros if there is none).
    """
    _, batch, prototypes, sources = shape
    size = keys.shape[-1]
    put_query, put_weights, d_all, put_out = room or (None, None, torch.empty_like(weights), None)
    d_query = keys.new_empty(len(keys), size)
    _attend_gradient[(len(keys),)](
        d_all, d_query, put_query, put_weights, put_out, query, keys, values, weights, d_out, d_scores,
        None if d_weights is None else d_weights.contiguous(),
        prototypes, batch, sources, size, values.shape[-1],
        *strides(keys, values), *(0 if x is None else x.stride(0) for x in (d_all, put_query, put_out)),
        *strides(d_out, d_scores), **_blocks(sources, size),
    )  # fmt: skip
    return d_all, d_query


@triton.jit(  # what there is of numbers for each position is little: it need not be read several at a time
    do_not_specialize=["prototypes", "batch", "sources", "all_n", "s_r", "s_b"],
    do_not_specialize_on_alignment=["d_all", "put_weights", "weights", "d_scores", "d_weights"],
)
def _attend_gradient(
    d_all, d_query, put_query, put_weights, put_out, query, keys, values, weights, d_out, d_scores, d_weights,
    prototypes, batch, sources, key_size: tl.constexpr, value_size: tl.constexpr,
    k_n, k_s, v_n, v_s, all_n, query_n, out_n, o_r, o_b, s_r, s_b, block_s: tl.constexpr, block_d: tl.constexpr,
):  # fmt: skip
    n = tl.program_id(0).to(tl.int64)
    row, k = n // prototypes, n % prototypes
    r, i = row // batch, row % batch
    s = tl.arange(0, block_s)
    real = s < sources
    weight = read(weights + n * sources + s, real)
    if put_weights is not None:
        tl.store(put_weights + n * all_n + s, weight, mask=real)
    d_weight = tl.zeros((block_s,), dtype=tl.float32)
    if d_weights is not None:
        d_weight += read(d_weights + n * sources + s, real)
    for start in range(0, value_size, block_d):
        d = start + tl.arange(0, block_d)
        o = tl.zeros((block_d,), dtype=tl.float32)
        if d_out is not None:
            o += read(d_out + r * o_r + i * o_b + k * value_size + d, d < value_size)
            d_weight += tl.sum(_tile(values + n * v_n, s, d, v_s, real, value_size) * o[None, :], axis=1)
        if put_out is not None:
            tl.store(put_out + n * out_n + d, o, mask=d < value_size)
    d_score = weight * (d_weight - tl.sum(weight * d_weight, axis=0))
    if d_scores is not None:
        d_score += read(d_scores + r * s_r + i * s_b + k * sources + s, real)
    tl.store(d_all + n * all_n + s, d_score, mask=real)
    for start in range(0, key_size, block_d):
        d = start + tl.arange(0, block_d)
        key = _tile(keys + n * k_n, s, d, k_s, real, key_size)
        tl.store(d_query + n * key_size + d, tl.sum(key * d_score[:, None], axis=0), mask=d < key_size)
        if put_query is not None:
            tl.store(put_query + n * query_n + d, read(query + n * key_size + d, d < key_size), mask=d < key_size)


def weighed(factors: Tensor, vectors: Tensor) -> Tensor:
    """Returns vectors (N, T, size), summed over T with so many weights (N, T, S) of each: (N, S, size)."""
    count, steps, sources = factors.shape
    size = vectors.shape[-1]
    out = vectors.new_empty(count, sources, size)
    # A product of tiles has at least 16 rows and columns.
    block_s, block_t = (min(64, max(16, triton.next_power_of_2(n))) for n in (sources, steps))
    block_d = min(max(16, triton.next_power_of_2(size)), 8192 // max(block_s, block_t))
    _weighed[(count, triton.cdiv(sources, block_s), triton.cdiv(size, block_d))](
        out, factors, vectors, steps, sources, size,
        "ieee" if vectors.dtype == torch.float32 else "tf32", block_s=block_s, block_t=block_t, block_d=block_d,
    )  # fmt: skip
    return out


@triton.jit(do_not_specialize=["steps", "sources"])
def _weighed(
    out, factors, vectors, steps, sources, size, precision: tl.constexpr,
    block_s: tl.constexpr, block_t: tl.constexpr, block_d: tl.constexpr,
):  # fmt: skip
    n = tl.program_id(0).to(tl.int64)
    s = tl.program_id(1) * block_s + tl.arange(0, block_s)
    d = tl.program_id(2) * block_d + tl.arange(0, block_d)
    total = tl.zeros((block_s, block_d), dtype=tl.float32)
    for start in range(0, steps, block_t):
        t = start + tl.arange(0, block_t)
        factor = read(
            factors + (n * steps + t[None, :]) * sources + s[:, None], (t < steps)[None, :] & (s < sources)[:, None]
        )
        vector = read(
            vectors + (n * steps + t[:, None]) * size + d[None, :], (t < steps)[:, None] & (d < size)[None, :]
        )
        total = tl.dot(factor, vector, total, input_precision=precision)
    tl.store(
        out + (n * sources + s[:, None]) * size + d[None, :], total, mask=(s < sources)[:, None] & (d < size)[None, :]
    )
