"""Kernel: dropout of what is written, or added to something else."""

import triton
import triton.language as tl
from torch import Tensor

from recombine.models.drop import Drop
from recombine.models.kernels.tiles import here, read, strides, tiles


def drop(x: Tensor, where: Drop | None, *, out: Tensor, plus: Tensor | None = None) -> None:
    """Writes plus + x (R, n, size), x in part dropped, to `out`; `plus` may be `out`."""
    replicas, rows, size = x.shape
    if not rows:
        return
    bits = None if where is None else where.bits
    limit, scale = (0, 1.0) if where is None else (where.limit, where.scale)
    grid, block = tiles(replicas * rows, size)
    every = (out, x, plus, bits)
    _drop[grid](*every, rows, size, limit, scale, *strides(*every), block=block)


@triton.jit
def dropped(x, bits, limit, scale, there):
    """Returns x, or 0 where the byte among `bits` is below the limit."""
    byte = tl.load(bits, mask=there, other=0).to(tl.int32)
    return tl.where(byte < limit, 0.0, x * scale)


@triton.jit(do_not_specialize=["rows"])
def _drop(
    out, x, plus, bits, rows, size, limit, scale,
    out_r, out_b, x_r, x_b, plus_r, plus_b, bits_r, bits_b, block: tl.constexpr,
):  # fmt: skip
    _, r, i, column, there = here(rows, size, block)
    value = read(x + r * x_r + i * x_b + column, there)
    if bits is not None:
        value = dropped(value, bits + r * bits_r + i * bits_b + column, limit, scale, there)
    if plus is not None:
        value += read(plus + r * plus_r + i * plus_b + column, there)
    tl.store(out + r * out_r + i * out_b + column, value, mask=there)
