"""Kernel: dropout of one vector, and another one beside it."""

import triton
import triton.language as tl
from torch import Tensor

from recombine.models.kernels.tiles import here, read, strides, tiles


def join(
    a: Tensor,
    *,
    bits: Tensor | None,
    limit: int,
    scale: float,
    plus: Tensor | None = None,
    after: Tensor | None = None,
    b: Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Returns [(a + plus) · scale where bits ≥ limit, else 0, + after; b], (R, B, a + b), in `out` if there is one."""
    replicas, batch, size = a.shape
    b_size = 0 if b is None else b.shape[-1]
    if out is None:
        out = a.new_empty(replicas, batch, size + b_size)
    grid, block = tiles(replicas * batch, size + b_size)
    every = (out, a, plus, bits, after, b)
    _join[grid](*every, batch, size, b_size, limit, scale, *strides(*every), block=block)
    return out


@triton.jit
def _join(
    out, a, plus, bits, after, b, batch, a_size, b_size, limit, scale,
    out_r, out_b, a_r, a_b, plus_r, plus_b, bits_r, bits_b, after_r, after_b, b_r, b_b,
    block: tl.constexpr,
):  # fmt: skip
    _, r, i, column, there = here(batch, a_size + b_size, block)
    in_a = column < a_size
    x = read(a + r * a_r + i * a_b + column, in_a)
    if plus is not None:
        x += read(plus + r * plus_r + i * plus_b + column, in_a)
    if bits is not None:
        byte = tl.load(bits + r * bits_r + i * bits_b + column, mask=in_a, other=0).to(tl.int32)
        x = tl.where(byte < limit, 0.0, x * scale)
    if after is not None:
        x += read(after + r * after_r + i * after_b + column, in_a)
    if b is not None:
        in_b = there & (column >= a_size)
        x = tl.where(in_a, x, read(b + r * b_r + i * b_b + column - a_size, in_b))
    tl.store(out + r * out_r + i * out_b + column, x, mask=there)
