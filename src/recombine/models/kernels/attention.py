"""Kernels: attention from one query to each sequence of a batch, and its gradient."""

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from recombine.models.kernels.tiles import read, strides


class Blocks(NamedTuple):
    """So many positions and features at a time as registers hold."""

    positions: int
    features: int


def _blocks(positions: int, features: int) -> Blocks:
    all_positions = triton.next_power_of_2(positions)
    return Blocks(all_positions, min(triton.next_power_of_2(features), max(16, 8192 // all_positions)))


@triton.jit
def _tile(x, s, d, x_s, x_d, real, size):
    """Reads features d of positions s of one sequence."""
    return read(x + s[:, None] * x_s + d[None, :] * x_d, real[:, None] & (d < size)[None, :])


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
        *keys.stride(), *values.stride()[:2], *_blocks(sources, size),
    )  # fmt: skip
    return scores, weights, out


@triton.jit(do_not_specialize=["sources"])
def _attend(
    scores, weights, out, query, keys, values, bias, sources, key_size: tl.constexpr, value_size: tl.constexpr,
    k_n, k_s, k_d, v_n, v_s, block_s: tl.constexpr, block_d: tl.constexpr,
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
        score += tl.sum(_tile(keys + n * k_n, s, d, k_s, k_d, real, key_size) * q[None, :], axis=1)
    tl.store(scores + n * sources + s, score, mask=real)
    e = tl.exp(score - tl.max(score, axis=0))
    weight = e / tl.sum(e, axis=0)
    tl.store(weights + n * sources + s, weight, mask=real)
    for start in range(0, value_size, block_d):
        d = start + tl.arange(0, block_d)
        v = _tile(values + n * v_n, s, d, v_s, 1, real, value_size)
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
    """
    _, batch, prototypes, sources = shape
    size = keys.shape[-1]
    d_all, d_query = torch.empty_like(weights), keys.new_empty(len(keys), size)
    _attend_gradient[(len(keys),)](
        d_all, d_query, keys, values, weights, d_out, d_scores,
        None if d_weights is None else d_weights.contiguous(),
        prototypes, batch, sources, size, values.shape[-1],
        *keys.stride(), *values.stride()[:2], *strides(d_out, d_scores), *_blocks(sources, size),
    )  # fmt: skip
    return d_all, d_query


@triton.jit(do_not_specialize=["sources"])
def _attend_gradient(
    d_all, d_query, keys, values, weights, d_out, d_scores, d_weights,
    prototypes, batch, sources, key_size: tl.constexpr, value_size: tl.constexpr,
    k_n, k_s, k_d, v_n, v_s, o_r, o_b, s_r, s_b, block_s: tl.constexpr, block_d: tl.constexpr,
):  # fmt: skip
    n = tl.program_id(0).to(tl.int64)
    row, k = n // prototypes, n % prototypes
    r, i = row // batch, row % batch
    s = tl.arange(0, block_s)
    real = s < sources
    weight = read(weights + n * sources + s, real)
    d_weight = tl.zeros((block_s,), dtype=tl.float32)
    if d_weights is not None:
        d_weight += read(d_weights + n * sources + s, real)
    if d_out is not None:
        for start in range(0, value_size, block_d):
            d = start + tl.arange(0, block_d)
            o = read(d_out + r * o_r + i * o_b + k * value_size + d, d < value_size)
            d_weight += tl.sum(_tile(values + n * v_n, s, d, v_s, 1, real, value_size) * o[None, :], axis=1)
    d_score = weight * (d_weight - tl.sum(weight * d_weight, axis=0))
    if d_scores is not None:
        d_score += read(d_scores + r * s_r + i * s_b + k * sources + s, real)
    tl.store(d_all + n * sources + s, d_score, mask=real)
    for start in range(0, key_size, block_d):
        d = start + tl.arange(0, block_d)
        key = _tile(keys + n * k_n, s, d, k_s, k_d, real, key_size)
        tl.store(d_query + n * key_size + d, tl.sum(key * d_score[:, None], axis=0), mask=d < key_size)
