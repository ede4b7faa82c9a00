"""Kernels: the steps of LSTMs, and their gradients."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from recombine.models.kernels.attention import axes_of, blocks, tile
from recombine.models.kernels.shared import (
    activate,
    dropped,
    gates_gradient,
    here,
    read,
    read_biased,
    read_gates,
    strides,
    sum_gates,
    tanh,
    tiles,
    write_gates,
)
from recombine.models.noise import Drop


class Encoded(NamedTuple):
    """What `encode` computes; D is R · 2 directions."""

    states: Tensor  # (R, N, S, 2H), zero at padding
    h: Tensor  # (S + 1, D, N, H), before and after each step
    c: Tensor  # (S + 1, D, N, H), float32
    before: Tensor  # (D, S, N, H): the h from which each position was reached


def encode(gates: Tensor, bias: Tensor, weight: Tensor, lengths: Tensor) -> Encoded:
    """Runs an LSTM over sequences in both directions.

    Args:
        gates: What the input adds to the gates (D, S, N, 4H); the gates before activation are written over it.
        bias: (D, 1, 4H).
        weight: What acts on the state (D, H, 4H).
        lengths: How many positions are real (R, N).
    """
    directions, steps, count, four = gates.shape
    size = four // 4
    h = gates.new_zeros(steps + 1, directions, count, size)
    c = torch.zeros_like(h, dtype=torch.float32)
    states = gates.new_empty(directions // 2, count, steps, 2 * size)
    before = gates.new_empty(directions, steps, count, size)
    rows = directions * count
    grid, block = tiles(rows, size)
    for t in range(steps):
        from_state = torch.bmm(h[t], weight)
        _encode[grid](
            gates, h, c, states, before, from_state, bias, lengths, t, rows, steps, count, size, block=block
        )  # fmt: skip
    return Encoded(states, h, c, before)


@triton.jit
def _position(rd, n, lengths, t, steps, count):
    """Returns whether a sequence has a step t, and where it then reads (D, S, N) and writes states (R, N, S, 2).

    The backward direction starts at the true end, so that padding comes last in both.
    """
    r, direction = rd // 2, rd % 2
    length = tl.load(lengths + r * count + n)
    live = t < length
    position = tl.where((direction == 1) & live, length - 1 - t, t)
    return live, (rd * steps + position) * count + n, ((r * count + n) * steps + position) * 2 + direction


@triton.jit(do_not_specialize=["t", "steps"])
def _encode(
    gates, h, c, states, before, from_state, bias, lengths, t, rows, steps, count, size, block: tl.constexpr
):  # fmt: skip
    row, rd, n, column, there = here(count, size, block)  # a row: which replica and direction, and which sequence
    live, read_at, state_at = _position(rd, n, lengths, t, steps, count)
    gates += read_at * 4 * size + column
    from_state += row * 4 * size + column
    i, f, g, o = sum_gates(gates, from_state, bias + rd * 4 * size + column, size, there)
    write_gates(gates, i, f, g, o, size, there)
    i, f, g, o = activate(i, f, g, o)
    now = (t * rows + row) * size + column
    c_before, h_before = read(c + now, there), read(h + now, there)
    c_after = f * c_before + i * g
    h_after = o * tanh(c_after)
    # Past its end a sequence's state stays as it is.
    later = now + rows * size
    tl.store(c + later, tl.where(live, c_after, c_before), mask=there)
    tl.store(h + later, tl.where(live, h_after, h_before), mask=there)
    tl.store(before + read_at * size + column, h_before, mask=there)
    tl.store(states + state_at * size + column, tl.where(live, h_after, 0.0), mask=there)


def encode_gradient(
    gates: Tensor, c: Tensor, weight: Tensor, lengths: Tensor, *, d_states: Tensor, d_h: Tensor, d_c: Tensor
) -> Tensor:
    """Returns the gradient of the gates (D, S, N, 4H), given those of the states and of the final h and c (D, N, H)."""
    directions, steps, count, four = gates.shape
    rows, size = directions * count, four // 4
    d_gates, d_gates_now = torch.empty_like(gates), gates.new_empty(directions, count, four)
    d_c, d_h_past = d_c.clone(memory_format=torch.contiguous_format), torch.zeros_like(d_c)
    grid, block = tiles(rows, size)
    for t in reversed(range(steps)):
        _encode_gradient[grid](
            d_gates, d_gates_now, d_c, d_h_past, gates, c, d_states, d_h, lengths,
            t, rows, steps, count, size, block=block,
        )  # fmt: skip
        d_h = torch.bmm(d_gates_now, weight.transpose(1, 2))
    return d_gates


@triton.jit(do_not_specialize=["t", "steps"])
def _encode_gradient(
    d_gates, d_gates_now, d_c, d_h_past, gates, c, d_states, d_h, lengths,
    t, rows, steps, count, size, block: tl.constexpr,
):  # fmt: skip
    row, rd, n, column, there = here(count, size, block)
    live, read_at, state_at = _position(rd, n, lengths, t, steps, count)
    i, f, g, o = read_gates(gates + read_at * 4 * size + column, size, there)
    i, f, g, o = activate(i, f, g, o)
    now, mine = (t * rows + row) * size + column, row * size + column
    c_before, c_after = read(c + now, there), read(c + now + rows * size, there)
    d_h_after = read(d_h + mine, there) + read(d_h_past + mine, there)
    d_c_after = read(d_c + mine, there)
    # Past its end a sequence's state stays as it is, and so does the gradient.
    d_h_here = tl.where(live, d_h_after + read(d_states + state_at * size + column, there), 0.0)
    d_c_here = tl.where(live, d_c_after, 0.0)
    d_i, d_f, d_g, d_o, d_c_before = gates_gradient(i, f, g, o, c_before, c_after, d_h_here, d_c_here)
    tl.store(d_h_past + mine, tl.where(live, 0.0, d_h_after), mask=there)
    tl.store(d_c + mine, tl.where(live, d_c_before, d_c_after), mask=there)
    write_gates(d_gates + read_at * 4 * size + column, d_i, d_f, d_g, d_o, size, there)
    write_gates(d_gates_now + row * 4 * size + column, d_i, d_f, d_g, d_o, size, there)


def cell(
    gates: Tensor,
    bias: Tensor,
    before: Tensor,
    c: Tensor,
    h: Tensor,
    *,
    pre: Tensor | None = None,
    drop: Drop | None = None,
    later: Tensor | None = None,
) -> None:
    """Computes the next c and h (R, n, H) of LSTMs.

    Args:
        gates: Before activation, without their bias (R, n, 4H).
        bias: (R, 1, 4H), contiguous.
        before: The cell state before (R, n or more, H).
        c: Where to write the cell state.
        h: Where to write h.
        pre: Where to write h as well, in part dropped.
        drop: Where to drop it.
        later: Where to write h of the first rows as well (R, n or fewer, H).
    """
    replicas, rows, size = h.shape
    bits, limit, scale = (None, 0, 1.0) if drop is None else drop
    grid, block = tiles(replicas * rows, size)
    every = (gates, before, c, h, pre, bits, later)
    going_on = 0 if later is None else later.shape[1]
    _cell[grid](bias, *every, rows, going_on, size, limit, scale, *strides(*every), block=block)


@triton.jit(do_not_specialize=["rows", "going_on"])
def _cell(
    bias, gates, before, c, h, pre, bits, later, rows, going_on, size, limit, scale,
    g_r, g_b, b_r, b_b, c_r, c_b, h_r, h_b, p_r, p_b, bits_r, bits_b, l_r, l_b, block: tl.constexpr,
):  # fmt: skip
    _, r, n, column, there = here(rows, size, block)
    i, f, g, o = read_biased(gates + r * g_r + n * g_b + column, bias + r * 4 * size + column, size, there)
    state = f * read(before + r * b_r + n * b_b + column, there) + i * g
    tl.store(c + r * c_r + n * c_b + column, state, mask=there)
    output = o * tanh(state)
    tl.store(h + r * h_r + n * h_b + column, output, mask=there)
    if later is not None:
        tl.store(later + r * l_r + n * l_b + column, output, mask=column < tl.where(n < going_on, size, 0))
    if pre is not None:
        output = dropped(output, bits + r * bits_r + n * bits_b + column, limit, scale, there)
        tl.store(pre + r * p_r + n * p_b + column, output, mask=there)


def cell_gradient(
    gates: Tensor,
    bias: Tensor,
    before: Tensor,
    c: Tensor,
    *,
    d_h: Sequence[Tensor],
    d_pre: Tensor,
    drop: Drop | None,
    d_c: Tensor,
    d_gates: Tensor,
) -> None:
    """Writes the gradient of the gates before activation, and that of the cell state before over that after.

    Args:
        gates: As for `cell`.
        bias: As for `cell`.
        before: The cell state before.
        c: The cell state after.
        d_h: Gradients of h (R, n, H), one to three, which are added up.
        d_pre: One more, of h in part dropped.
        drop: Where that was dropped.
        d_c: Gradient of the cell state (R, n, H).
        d_gates: Where to write.
    """
    replicas, rows, size = d_pre.shape
    bits, limit, scale = (None, 0, 1.0) if drop is None else drop
    grid, block = tiles(replicas * rows, size)
    uses = [*d_h, None, None][:3]
    every = (d_gates, d_c, gates, before, c, d_pre, bits, *uses)
    _cell_gradient[grid](bias, *every, rows, size, limit, scale, *strides(*every), block=block)


@triton.jit(do_not_specialize=["rows"])
def _cell_gradient(
    bias, d_gates, d_c, gates, before, c, d_pre, bits, d_h1, d_h2, d_h3, rows, size, limit, scale,
    dg_r, dg_b, dc_r, dc_b, g_r, g_b, b_r, b_b, c_r, c_b, p_r, p_b, bits_r, bits_b,
    h1_r, h1_b, h2_r, h2_b, h3_r, h3_b, block: tl.constexpr,
):  # fmt: skip
    _, r, n, column, there = here(rows, size, block)
    i, f, g, o = read_biased(gates + r * g_r + n * g_b + column, bias + r * 4 * size + column, size, there)
    d_h = read(d_pre + r * p_r + n * p_b + column, there)
    if bits is not None:
        d_h = dropped(d_h, bits + r * bits_r + n * bits_b + column, limit, scale, there)
    d_h += read(d_h1 + r * h1_r + n * h1_b + column, there)
    if d_h2 is not None:
        d_h += read(d_h2 + r * h2_r + n * h2_b + column, there)
    if d_h3 is not None:
        d_h += read(d_h3 + r * h3_r + n * h3_b + column, there)
    d_c += r * dc_r + n * dc_b + column
    earlier = read(before + r * b_r + n * b_b + column, there)
    after = read(c + r * c_r + n * c_b + column, there)
    d_i, d_f, d_g, d_o, d_before = gates_gradient(i, f, g, o, earlier, after, d_h, read(d_c, there))
    write_gates(d_gates + r * dg_r + n * dg_b + column, d_i, d_f, d_g, d_o, size, there)
    tl.store(d_c, d_before, mask=there)


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
