"""Kernels: a step of a decoder that attends to one sequence from its state, cell and attention as one."""

import triton
import triton.language as tl
from torch import Tensor

from recombine.models.kernels.attention import axes_of, blocks, tile
from recombine.models.kernels.gates import gates_gradient, read_biased, tanh, write_gates
from recombine.models.kernels.tiles import read, strides


def cell_and_attend(
    gates: Tensor,
    bias: Tensor,
    before: Tensor,
    c: Tensor,
    pre: Tensor,
    later: Tensor | None,
    keys: Tensor,
    values: Tensor,
    padding: Tensor,
    *,
    scores: Tensor,
    weights: Tensor,
) -> None:
    """Computes the next c and h, and attends from h.

    Args:
        gates: Before activation, without their bias (R, n, 4H).
        bias: (R, 1, 4H), contiguous.
        before: The cell state before (R, n or more, H).
        c: Where to write the cell state (R, n, H).
        pre: Where to write h and what is retrieved, side by side (R, n, H + V).
        later: Where to write h of the first rows as well (R, n or fewer, H).
        keys: (R, B, S, H).
        values: (R, B, S, V).
        padding: What is added to the scores (R, B, S).
        scores: Where to write them before normalisation (R, n, S), in float32.
        weights: Where to write them after it (R, n, S).
    """
    replicas, rows, size = c.shape
    sources, value_size = values.shape[2:]
    every = (gates, before, c, pre, later)
    _cell_and_attend[(replicas * rows,)](
        bias, *every, keys, values, padding, scores, weights, rows, 0 if later is None else later.shape[1], sources,
        size, value_size, *strides(*every), *axes_of(keys, values, axes=3), *strides(padding, scores, weights),
        **blocks(sources, max(size, value_size), replicas * rows),
    )  # fmt: skip


@triton.jit(
    do_not_specialize=["rows", "going_on", "sources", "m_r", "m_b", "s_r", "s_b", "w_r", "w_b"],
    do_not_specialize_on_alignment=["padding", "scores", "weights"],
)
def _cell_and_attend(
    bias, gates, before, c, pre, later, keys, values, padding, scores, weights, rows, going_on, sources,
    size: tl.constexpr, value_size: tl.constexpr,
    g_r, g_b, b_r, b_b, c_r, c_b, p_r, p_b, l_r, l_b, k_r, k_b, k_s, v_r, v_b, v_s, m_r, m_b, s_r, s_b, w_r, w_b,
    block_s: tl.constexpr, block_d: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    r, n = row // rows, row % rows
    s, d = tl.arange(0, block_s), tl.arange(0, block_d)
    real = s < sources
    gates += r * g_r + n * g_b
    pre += r * p_r + n * p_b
    keys += r * k_r + n * k_b
    values += r * v_r + n * v_b
    score = tl.where(real, 0.0, float("-inf")) + read(padding + r * m_r + n * m_b + s, real)
    for start in range(0, size, block_d):
        column = start + d
        there = column < size
        key = tile(keys, s, column, k_s, real, size)
        i, f, g, o = read_biased(gates + column, bias + r * 4 * size + column, size, there)
        state = f * read(before + r * b_r + n * b_b + column, there) + i * g
        tl.store(c + r * c_r + n * c_b + column, state, mask=there)
        h = tl.where(there, o * tanh(state), 0.0)
        tl.store(pre + column, h, mask=there)
        if later is not None:
            tl.store(later + r * l_r + n * l_b + column, h, mask=column < tl.where(n < going_on, size, 0))
        score += tl.sum(key * h[None, :], axis=1)
    tl.store(scores + r * s_r + n * s_b + s, score, mask=real)
    e = tl.exp(score - tl.max(score, axis=0))
    weight = e / tl.sum(e, axis=0)
    tl.store(weights + r * w_r + n * w_b + s, weight, mask=real)
    for start in range(0, value_size, block_d):
        v = tile(values, s, start + d, v_s, real, value_size)
        tl.store(pre + size + start + d, tl.sum(v * weight[:, None], axis=0), mask=start + d < value_size)


def cell_and_attend_gradient(
    gates: Tensor,
    bias: Tensor,
    before: Tensor,
    c: Tensor,
    keys: Tensor,
    values: Tensor,
    weights: Tensor,
    *,
    d_pre: Tensor,
    d_h: Tensor,
    d_h_too: Tensor | None,
    d_scores: Tensor | None,
    d_all: Tensor,
    d_c: Tensor,
    d_gates: Tensor,
) -> None:
    """Writes the gradients of the scores and of the gates, and that of the cell state before over that after.

    Args:
        gates: As for `cell_and_attend`.
        bias: See there.
        before: See there.
        c: What it wrote.
        keys: See there.
        values: See there.
        weights: What it wrote.
        d_pre: Gradient of h and of what was retrieved, side by side (R, n, H + V).
        d_h: Another of h (R, n, H).
        d_h_too: One more, if there is one.
        d_scores: Gradient of the scores where they are used themselves (R, n, S).
        d_all: Where to write their whole gradient (R, n, S).
        d_c: Gradient of the cell state (R, n, H).
        d_gates: Where to write (R, n, 4H).
    """
    replicas, rows, size = d_c.shape
    sources, value_size = values.shape[2:]
    every = (gates, before, c, d_pre, d_h, d_h_too, d_c, d_gates)
    _cell_and_attend_gradient[(replicas * rows,)](
        bias, *every, keys, values, weights, d_scores, d_all, rows, sources, size, value_size,
        *strides(*every), *axes_of(keys, values, axes=3), *strides(weights, d_scores, d_all),
        **blocks(sources, max(size, value_size), replicas * rows),
    )  # fmt: skip


@triton.jit(
    do_not_specialize=["rows", "sources", "w_r", "w_b", "s_r", "s_b", "a_r", "a_b"],
    do_not_specialize_on_alignment=["weights", "d_scores", "d_all"],
)
def _cell_and_attend_gradient(
    bias, gates, before, c, d_pre, d_h, d_h_too, d_c, d_gates, keys, values, weights, d_scores, d_all, rows, sources,
    size: tl.constexpr, value_size: tl.constexpr,
    g_r, g_b, b_r, b_b, c_r, c_b, p_r, p_b, h_r, h_b, t_r, t_b, dc_r, dc_b, dg_r, dg_b,
    k_r, k_b, k_s, v_r, v_b, v_s, w_r, w_b, s_r, s_b, a_r, a_b,
    block_s: tl.constexpr, block_d: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    r, n = row // rows, row % rows
    s, d = tl.arange(0, block_s), tl.arange(0, block_d)
    real = s < sources
    d_pre += r * p_r + n * p_b
    keys += r * k_r + n * k_b
    values += r * v_r + n * v_b
    d_c += r * dc_r + n * dc_b
    weight = read(weights + r * w_r + n * w_b + s, real)
    d_weight = tl.zeros((block_s,), dtype=tl.float32)
    for start in range(0, value_size, block_d):
        retrieved = read(d_pre + size + start + d, start + d < value_size)
        d_weight += tl.sum(tile(values, s, start + d, v_s, real, value_size) * retrieved[None, :], axis=1)
    d_score = weight * (d_weight - tl.sum(weight * d_weight, axis=0))
    if d_scores is not None:
        d_score += read(d_scores + r * s_r + n * s_b + s, real)
    tl.store(d_all + r * a_r + n * a_b + s, d_score, mask=real)
    for start in range(0, size, block_d):
        column = start + d
        there = column < size
        total = tl.sum(tile(keys, s, column, k_s, real, size) * d_score[:, None], axis=0)
        total += read(d_pre + column, there) + read(d_h + r * h_r + n * h_b + column, there)
        if d_h_too is not None:
            total += read(d_h_too + r * t_r + n * t_b + column, there)
        i, f, g, o = read_biased(gates + r * g_r + n * g_b + column, bias + r * 4 * size + column, size, there)
        earlier = read(before + r * b_r + n * b_b + column, there)
        after = read(c + r * c_r + n * c_b + column, there)
        d_i, d_f, d_g, d_o, d_before = gates_gradient(i, f, g, o, earlier, after, total, read(d_c + column, there))
        write_gates(d_gates + r * dg_r + n * dg_b + column, d_i, d_f, d_g, d_o, size, there)
        tl.store(d_c + column, d_before, mask=there)
