"""Kernels: one step of LSTMs that read padded sequences forwards and backwards, and its gradient."""

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from recombine.models.kernels.gates import activate, gates_gradient, read_gates, sum_gates, tanh, write_gates
from recombine.models.kernels.tiles import here, read, tiles


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
