"""Kernels: one step of an LSTM, and its gradient."""

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from recombine.models.kernels.gates import activate, gates_gradient, sum_gates, tanh, write_gates
from recombine.models.kernels.tiles import here, read, strides, tiles


def cell(from_input: Tensor, from_state: Tensor, bias: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the next (h, c) of an LSTM; `from_state` and `bias` are contiguous."""
    replicas, batch, size = c.shape
    h = from_state.new_empty(c.shape)
    c_after = torch.empty_like(c, memory_format=torch.contiguous_format)
    grid, block = tiles(replicas * batch, size)
    _cell[grid](h, c_after, from_input, from_state, bias, c, batch, size, *strides(from_input, c), block=block)
    return h, c_after


@triton.jit
def _cell(h, c_after, from_input, from_state, bias, c, batch, size, x_r, x_b, c_r, c_b, block: tl.constexpr):
    row, r, n, column, there = here(batch, size, block)
    from_input += r * x_r + n * x_b + column
    from_state += row * 4 * size + column
    i, f, g, o = sum_gates(from_input, from_state, bias + r * 4 * size + column, size, there)
    i, f, g, o = activate(i, f, g, o)
    state = f * read(c + r * c_r + n * c_b + column, there) + i * g
    tl.store(c_after + row * size + column, state, mask=there)
    tl.store(h + row * size + column, o * tanh(state), mask=there)


def cell_gradient(
    from_input: Tensor,
    from_state: Tensor,
    bias: Tensor,
    c: Tensor,
    c_after: Tensor,
    *,
    d_h: Sequence[Tensor | None],
    d_c_after: Tensor | None,
    d_gates: Tensor,
) -> Tensor:
    """Writes the gradient of the gates to `d_gates` and returns that of c.

    Args:
        from_input: As for `cell`, as are the next three.
        from_state: See there.
        bias: See there.
        c: See there.
        c_after: The cell state that it returned.
        d_h: Gradients of up to three uses of h.
        d_c_after: Gradient of that cell state.
        d_gates: Where to write.
    """
    replicas, batch, size = c.shape
    d_c = torch.empty_like(c_after)
    uses = [*d_h, None, None][:3]
    grid, block = tiles(replicas * batch, size)
    _cell_gradient[grid](
        d_gates, d_c, from_input, from_state, bias, c, c_after, *uses,
        None if d_c_after is None else d_c_after.contiguous(),
        batch, size, *strides(d_gates, from_input, c, *uses), block=block,
    )  # fmt: skip
    return d_c


@triton.jit
def _cell_gradient(
    d_gates, d_c, from_input, from_state, bias, c, c_after, d_h1, d_h2, d_h3, d_c_after, batch, size,
    g_r, g_b, x_r, x_b, c_r, c_b, h1_r, h1_b, h2_r, h2_b, h3_r, h3_b,
    block: tl.constexpr,
):  # fmt: skip
    row, r, n, column, there = here(batch, size, block)
    from_input += r * x_r + n * x_b + column
    from_state += row * 4 * size + column
    i, f, g, o = sum_gates(from_input, from_state, bias + r * 4 * size + column, size, there)
    i, f, g, o = activate(i, f, g, o)
    d_h = tl.zeros((block,), dtype=tl.float32)
    if d_h1 is not None:
        d_h += read(d_h1 + r * h1_r + n * h1_b + column, there)
    if d_h2 is not None:
        d_h += read(d_h2 + r * h2_r + n * h2_b + column, there)
    if d_h3 is not None:
        d_h += read(d_h3 + r * h3_r + n * h3_b + column, there)
    d_after = tl.zeros((block,), dtype=tl.float32)
    if d_c_after is not None:
        d_after += read(d_c_after + row * size + column, there)
    before = read(c + r * c_r + n * c_b + column, there)
    after = read(c_after + row * size + column, there)
    d_i, d_f, d_g, d_o, d_before = gates_gradient(i, f, g, o, before, after, d_h, d_after)
    write_gates(d_gates + r * g_r + n * g_b + column, d_i, d_f, d_g, d_o, size, there)
    tl.store(d_c + row * size + column, d_before, mask=there)
