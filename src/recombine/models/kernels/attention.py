"""Kernels: attention from one query to each sequence of a batch, and its gradient."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from recombine.models.kernels.shared import read, strides
from recombine.models.packing import Packing

LEAST = 16
"""The fewest positions that are read at a time."""

MANY = 1000
"""From this number of programs on, each has one warp instead of two, so that more of them run at a time."""


def blocks(positions: int, features: int, programs: int) -> dict[str, int]:
    """Returns how much of a sequence is read at a time, and by how many warps: all features at once if registers allow.

    Each number of positions is compiled by itself. What is not there is not read, so that few count as more: else a
    decoder's first steps alone, each of which attends to one state more, would be five kernels.
    """
    block_s = max(LEAST, triton.next_power_of_2(positions))
    block_d = min(triton.next_power_of_2(features), max(16, 32768 // block_s))
    warps = block_s * block_d // (8192 if programs >= MANY else 4096)
    return {"block_s": block_s, "block_d": block_d, "num_warps": min(16, max(1, warps))}


@triton.jit
def tile(x, s, d, x_s, real, size):
    """Reads features d of positions s of one sequence."""
    return read(x + s[:, None] * x_s + d[None, :], real[:, None] & (d < size)[None, :])


def attend(
    query: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None, *, scores: Tensor, weights: Tensor, out: Tensor
) -> None:
    """Attends from queries (R, n, K, A), those of all K may be one, to the first n of keys and values (R, B, K, S, ·).

    A bias (R, B, K, S) is added to the scores. Writes `scores` (R, n, K, S) before normalisation, in float32, `weights`
    after it, and to `out` (R, n, K · V) what is retrieved.
    """
    replicas, rows, prototypes, size = query.shape
    sources, value_size = values.shape[3:]
    _attend[(replicas * rows * prototypes,)](
        scores, weights, out, query, keys, values, bias, rows, prototypes, sources, size, value_size,
        *strides(scores, weights, axes=3), *strides(out), *strides(query, axes=3),
        *strides(keys, values, axes=4), *strides(bias, axes=3),
        **blocks(sources, max(size, value_size), replicas * rows * prototypes),
    )  # fmt: skip


@triton.jit(
    do_not_specialize=["rows", "prototypes", "sources", "s_r", "s_b", "s_k", "w_r", "w_b", "w_k"],
    do_not_specialize_on_alignment=["scores", "weights", "bias"],
)
def _attend(
    scores, weights, out, query, keys, values, bias, rows, prototypes, sources,
    key_size: tl.constexpr, value_size: tl.constexpr,
    s_r, s_b, s_k, w_r, w_b, w_k, o_r, o_b, q_r, q_b, q_k, k_r, k_b, k_k, k_s, v_r, v_b, v_k, v_s, b_r, b_b, b_k,
    block_s: tl.constexpr, block_d: tl.constexpr,
):  # fmt: skip
    n = tl.program_id(0).to(tl.int64)
    k, row = n % prototypes, n // prototypes
    r, i = row // rows, row % rows
    s, d = tl.arange(0, block_s), tl.arange(0, block_d)
    real = s < sources
    query += r * q_r + i * q_b + k * q_k
    keys += r * k_r + i * k_b + k * k_k
    values += r * v_r + i * v_b + k * v_k
    out += r * o_r + i * o_b + k * value_size
    score = tl.where(real, 0.0, float("-inf"))
    if bias is not None:
        score += read(bias + r * b_r + i * b_b + k * b_k + s, real)
    for start in range(0, key_size, block_d):
        q = read(query + start + d, start + d < key_size)
        score += tl.sum(tile(keys, s, start + d, k_s, real, key_size) * q[None, :], axis=1)
    tl.store(scores + r * s_r + i * s_b + k * s_k + s, score, mask=real)
    e = tl.exp(score - tl.max(score, axis=0))
    weight = e / tl.sum(e, axis=0)
    tl.store(weights + r * w_r + i * w_b + k * w_k + s, weight, mask=real)
    for start in range(0, value_size, block_d):
        v = tile(values, s, start + d, v_s, real, value_size)
        tl.store(out + start + d, tl.sum(v * weight[:, None], axis=0), mask=start + d < value_size)


def attend_gradient(
    keys: Tensor, values: Tensor, weights: Tensor, *, d_scores: Tensor | None, d_out: Tensor, d_all: Tensor
) -> Tensor:
    """Writes the whole gradient of the scores to `d_all` (R, n, K, S), and returns that of the queries (R, n, K, A).

    Given are what `attend` read and wrote, and the gradients of what was retrieved and, if used, of the scores.
    """
    replicas, rows, prototypes, sources = weights.shape
    size, value_size = keys.shape[-1], values.shape[-1]
    d_query = keys.new_empty(replicas, rows, prototypes, size)
    _attend_gradient[(replicas * rows * prototypes,)](
        d_all, d_query, keys, values, weights, d_out, d_scores, rows, prototypes, sources, size, value_size,
        *strides(d_all, axes=3), *strides(keys, values, axes=4), *strides(weights, axes=3),
        *strides(d_out), *strides(d_scores, axes=3),
        **blocks(sources, max(size, value_size), replicas * rows * prototypes),
    )  # fmt: skip
    return d_query


@triton.jit(  # what there is of numbers for each position is little: it need not be read several at a time
    do_not_specialize=["rows", "prototypes", "sources", "a_r", "a_b", "a_k", "w_r", "w_b", "w_k", "s_r", "s_b", "s_k"],
    do_not_specialize_on_alignment=["d_all", "weights", "d_scores"],
)
def _attend_gradient(
    d_all, d_query, keys, values, weights, d_out, d_scores, rows, prototypes, sources,
    key_size: tl.constexpr, value_size: tl.constexpr,
    a_r, a_b, a_k, k_r, k_b, k_k, k_s, v_r, v_b, v_k, v_s, w_r, w_b, w_k, o_r, o_b, s_r, s_b, s_k,
    block_s: tl.constexpr, block_d: tl.constexpr,
):  # fmt: skip
    n = tl.program_id(0).to(tl.int64)
    k, row = n % prototypes, n // prototypes
    r, i = row // rows, row % rows
    s, d = tl.arange(0, block_s), tl.arange(0, block_d)
    real = s < sources
    keys += r * k_r + i * k_b + k * k_k
    values += r * v_r + i * v_b + k * v_k
    d_out += r * o_r + i * o_b + k * value_size
    weight = read(weights + r * w_r + i * w_b + k * w_k + s, real)
    d_weight = tl.zeros((block_s,), dtype=tl.float32)
    for start in range(0, value_size, block_d):
        o = read(d_out + start + d, start + d < value_size)
        d_weight += tl.sum(tile(values, s, start + d, v_s, real, value_size) * o[None, :], axis=1)
    d_score = weight * (d_weight - tl.sum(weight * d_weight, axis=0))
    if d_scores is not None:
        d_score += read(d_scores + r * s_r + i * s_b + k * s_k + s, real)
    tl.store(d_all + r * a_r + i * a_b + k * a_k + s, d_score, mask=real)
    d_query += n * key_size
    for start in range(0, key_size, block_d):
        key = tile(keys, s, start + d, k_s, real, key_size)
        tl.store(d_query + start + d, tl.sum(key * d_score[:, None], axis=0), mask=start + d < key_size)


def weighed(factors: Tensor, vectors: Tensor, packing: Packing) -> Tensor:
    """Returns, for every key of a row, the sum of the row's vectors (R, N, K, size) over steps, (R, B, K, S, size).

    They are weighed by the factors (R, N, K, S) of each position and key. The vectors of all K may be one.
    """
    replicas, _, prototypes, sources = factors.shape
    size = vectors.shape[-1]
    out = vectors.new_empty(replicas, packing.batch, prototypes, sources, size)
    # A product of tiles has at least 16 rows and columns.
    block_s, block_t = (min(64, max(16, triton.next_power_of_2(n))) for n in (sources, packing.steps))
    block_d = min(max(16, triton.next_power_of_2(size)), 8192 // max(block_s, block_t))
    grid = (replicas * packing.batch * prototypes, triton.cdiv(sources, block_s), triton.cdiv(size, block_d))
    _weighed[grid](
        out, factors, vectors, packing.offsets, packing.spans, packing.batch, prototypes, sources, size,
        *strides(factors, vectors, axes=3), "ieee" if vectors.dtype == torch.float32 else "tf32",
        block_s=block_s, block_t=block_t, block_d=block_d,
    )  # fmt: skip
    return out


@triton.jit(do_not_specialize=["batch", "prototypes", "sources", "f_r", "f_n", "f_k"])
def _weighed(
    out, factors, vectors, offsets, spans, batch, prototypes, sources, size, f_r, f_n, f_k, v_r, v_n, v_k,
    precision: tl.constexpr, block_s: tl.constexpr, block_t: tl.constexpr, block_d: tl.constexpr,
):  # fmt: skip
    n = tl.program_id(0).to(tl.int64)
    k, row = n % prototypes, n // prototypes
    r, i = row // batch, row % batch
    s = tl.program_id(1) * block_s + tl.arange(0, block_s)
    d = tl.program_id(2) * block_d + tl.arange(0, block_d)
    steps = tl.load(spans + i)
    factors += r * f_r + k * f_k
    vectors += r * v_r + k * v_k
    total = tl.zeros((block_s, block_d), dtype=tl.float32)
    start = 0
    while start < steps:
        t = start + tl.arange(0, block_t)
        position = tl.load(offsets + t, mask=t < steps, other=0) + i
        factor = read(factors + position[None, :] * f_n + s[:, None], (t < steps)[None, :] & (s < sources)[:, None])
        vector = read(vectors + position[:, None] * v_n + d[None, :], (t < steps)[:, None] & (d < size)[None, :])
        total = tl.dot(factor, vector, total, input_precision=precision)
        start += block_t
    tl.store(
        out + (n * sources + s[:, None]) * size + d[None, :], total, mask=(s < sources)[:, None] & (d < size)[None, :]
    )
