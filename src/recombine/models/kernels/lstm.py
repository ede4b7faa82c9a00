"""Kernels: the steps of LSTMs, and their gradients."""

import triton
import triton.language as tl

from recombine.models.kernels.attention import tile
from recombine.models.kernels.shared import (
    activate,
    dropped,
    gates_gradient,
    here,
    read,
    read_biased,
    read_gates,
    sum_gates,
    tanh,
    write_gates,
)


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
def encode(
    gates, h, c, states, before, from_state, bias, lengths, t, rows, steps, count, size, block: tl.constexpr
):  # fmt: skip
    """Does step t of LSTMs in both directions; the gates before activation are written over what inputs add to them."""
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


@triton.jit(do_not_specialize=["t", "steps"])
def encode_gradient(
    d_gates, d_gates_now, d_c, d_h_past, gates, c, d_states, d_h, lengths,
    t, rows, steps, count, size, block: tl.constexpr,
):  # fmt: skip
    """Goes back over step t of `encode`."""
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


@triton.jit(do_not_specialize=["rows", "going_on"])
def cell(
    bias, gates, before, c, h, pre, bits, later, rows, going_on, size, limit, scale,
    g_r, g_b, b_r, b_b, c_r, c_b, h_r, h_b, p_r, p_b, bits_r, bits_b, l_r, l_b, block: tl.constexpr,
):  # fmt: skip
    """Computes the next c and h of LSTMs; writes h in part dropped to `pre`, and that of the first rows to `later`."""
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


@triton.jit(do_not_specialize=["rows"])
def cell_gradient(
    bias, d_gates, d_c, gates, before, c, d_pre, bits, d_h1, d_h2, d_h3, rows, size, limit, scale,
    dg_r, dg_b, dc_r, dc_b, g_r, g_b, b_r, b_b, c_r, c_b, p_r, p_b, bits_r, bits_b,
    h1_r, h1_b, h2_r, h2_b, h3_r, h3_b, block: tl.constexpr,
):  # fmt: skip
    """Writes the gradient of the gates before activation, and that of c before over that of c after."""
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


@triton.jit(
    do_not_specialize=["rows", "going_on", "sources", "m_r", "m_b", "s_r", "s_b", "w_r", "w_b"],
    do_not_specialize_on_alignment=["padding", "scores", "weights"],
)
def cell_and_attend(
    bias, gates, before, c, pre, later, keys, values, padding, scores, weights, rows, going_on, sources,
    size: tl.constexpr, value_size: tl.constexpr,
    g_r, g_b, b_r, b_b, c_r, c_b, p_r, p_b, l_r, l_b, k_r, k_b, k_s, v_r, v_b, v_s, m_r, m_b, s_r, s_b, w_r, w_b,
    block_s: tl.constexpr, block_d: tl.constexpr,
):  # fmt: skip
    """Computes the next c and h, and attends from h; writes h and what is retrieved to `pre`, side by side."""
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


@triton.jit(
    do_not_specialize=["rows", "sources", "w_r", "w_b", "s_r", "s_b", "a_r", "a_b"],
    do_not_specialize_on_alignment=["weights", "d_scores", "d_all"],
)
def cell_and_attend_gradient(
    bias, gates, before, c, d_pre, d_h, d_h_too, d_c, d_gates, keys, values, weights, d_scores, d_all, rows, sources,
    size: tl.constexpr, value_size: tl.constexpr,
    g_r, g_b, b_r, b_b, c_r, c_b, p_r, p_b, h_r, h_b, t_r, t_b, dc_r, dc_b, dg_r, dg_b,
    k_r, k_b, k_s, v_r, v_b, v_s, w_r, w_b, s_r, s_b, a_r, a_b,
    block_s: tl.constexpr, block_d: tl.constexpr,
):  # fmt: skip
    """Goes back over `cell_and_attend`; `d_all` is the whole gradient of the scores."""
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
