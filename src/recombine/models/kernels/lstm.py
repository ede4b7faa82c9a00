"""Kernels: a step of LSTMs, and its gradient. The four gates (i, f, g, o) are H apart in memory."""

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from recombine.models.kernels.shared import dropped, here, read, strides, tiles
from recombine.models.noise import Drop


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
    """Computes the next c and h (R, n, H) of LSTMs.

    Args:
        gates: Before activation, without their bias (R, n, 4H).
        bias: (R, 1, 4H), contiguous.
        before: The cell state before (R, n, H).
        c: Where to write the cell state.
        h: Where to write h.
        pre: Where to write h as well, in part dropped.
        where: Where to drop it.
        later: Where to write h of the first rows as well (R, n or fewer, H).
    """
    replicas, rows, size = h.shape
    bits, limit, scale = (None, 0, 1.0) if where is None else where
    grid, block = tiles(replicas * rows, size)
    every = (gates, before, c, h, pre, bits, later)
    going_on = 0 if later is None else later.shape[1]
    _cell[grid](bias, *every, rows, going_on, size, limit, scale, *strides(*every), block=block)


@triton.jit
def _activated(gates, bias, size, there):
    """Reads four gates that lack their bias, and activates them."""
    i = read(gates, there) + read(bias, there)
    f = read(gates + size, there) + read(bias + size, there)
    g = read(gates + 2 * size, there) + read(bias + 2 * size, there)
    o = read(gates + 3 * size, there) + read(bias + 3 * size, there)
    return _sigmoid(i), _sigmoid(f), _tanh(g), _sigmoid(o)


@triton.jit
def _sigmoid(x):
    return 1 / (1 + tl.exp(-x))


@triton.jit
def _tanh(x):
    return 2 / (1 + tl.exp(-2 * x)) - 1


@triton.jit(do_not_specialize=["rows", "going_on"])
def _cell(
    bias, gates, before, c, h, pre, bits, later, rows, going_on, size, limit, scale,
    g_r, g_b, b_r, b_b, c_r, c_b, h_r, h_b, p_r, p_b, bits_r, bits_b, l_r, l_b, block: tl.constexpr,
):  # fmt: skip
    r, n, column, there = here(rows, size, block)
    i, f, g, o = _activated(gates + r * g_r + n * g_b + column, bias + r * 4 * size + column, size, there)
    state = f * read(before + r * b_r + n * b_b + column, there) + i * g
    tl.store(c + r * c_r + n * c_b + column, state, mask=there)
    output = o * _tanh(state)
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
    where: Drop | None,
    d_c: Tensor,
    d_gates: Tensor,
) -> None:
    """Writes the gradient of the gates before activation, and that of the cell state before over that after.

    It takes what `cell` was given and left, the gradients of h (R, n, H), at least one, which are added up to that of h
    in part dropped, and the gradient of the cell state (R, n, H).
    """
    replicas, rows, size = d_pre.shape
    bits, limit, scale = (None, 0, 1.0) if where is None else where
    grid, block = tiles(replicas * rows, size)
    uses = [*d_h, None, None] if len(d_h) < 4 else [*d_h[:2], torch.stack(tuple(d_h[2:])).sum(0)]
    every = (d_gates, d_c, gates, before, c, d_pre, bits, *uses[:3])
    _cell_gradient[grid](bias, *every, rows, size, limit, scale, *strides(*every), block=block)


@triton.jit(do_not_specialize=["rows"])
def _cell_gradient(
    bias, d_gates, d_c, gates, before, c, d_pre, bits, d_h1, d_h2, d_h3, rows, size, limit, scale,
    dg_r, dg_b, dc_r, dc_b, g_r, g_b, b_r, b_b, c_r, c_b, p_r, p_b, bits_r, bits_b,
    h1_r, h1_b, h2_r, h2_b, h3_r, h3_b, block: tl.constexpr,
):  # fmt: skip
    r, n, column, there = here(rows, size, block)
    i, f, g, o = _activated(gates + r * g_r + n * g_b + column, bias + r * 4 * size + column, size, there)
    d_h = read(d_pre + r * p_r + n * p_b + column, there)
    if bits is not None:
        d_h = dropped(d_h, bits + r * bits_r + n * bits_b + column, limit, scale, there)
    d_h += read(d_h1 + r * h1_r + n * h1_b + column, there)
    if d_h2 is not None:
        d_h += read(d_h2 + r * h2_r + n * h2_b + column, there)
    if d_h3 is not None:
        d_h += read(d_h3 + r * h3_r + n * h3_b + column, there)
    squashed = _tanh(read(c + r * c_r + n * c_b + column, there))
    d_c += r * dc_r + n * dc_b + column
    d_state = read(d_c, there) + d_h * o * (1 - squashed * squashed)
    d_gates += r * dg_r + n * dg_b + column
    tl.store(d_gates, d_state * g * i * (1 - i), mask=there)
    earlier = read(before + r * b_r + n * b_b + column, there)
    tl.store(d_gates + size, d_state * earlier * f * (1 - f), mask=there)
    tl.store(d_gates + 2 * size, d_state * i * (1 - g * g), mask=there)
    tl.store(d_gates + 3 * size, d_h * squashed * o * (1 - o), mask=there)
    tl.store(d_c, d_state * f, mask=there)
