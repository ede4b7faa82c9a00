"""What kernels share: how work is divided, strides, reading numbers, dropout."""

import triton
import triton.language as tl
from torch import Tensor


def tiles(rows: int, columns: int) -> tuple[tuple[int, int], int]:
    """Returns how many programs compute rows of so many columns, and how many columns each of them computes."""
    block = min(1024, triton.next_power_of_2(columns))
    return (rows, triton.cdiv(columns, block)), block


def strides(*tensors: Tensor | None, axes: int = 2) -> list[int]:
    """Returns how far apart things are along the first axes, of one tensor (R, B, ...) after the other."""
    return [stride for x in tensors for stride in ([0] * axes if x is None else x.stride()[:axes])]


@triton.jit
def here(batch, columns, block: tl.constexpr):
    """Returns what a program computes: of which replica and example; its columns, and which there are."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * block + tl.arange(0, block)
    return row // batch, row % batch, column, column < columns


@triton.jit
def read(places, there):
    """Reads numbers, in float32; 0 where there are none."""
    return tl.load(places, mask=there, other=0.0).to(tl.float32)


@triton.jit
def dropped(x, bits, limit, scale, there):
    """Returns x, or 0 where the byte among `bits` is below the limit."""
    byte = tl.load(bits, mask=there, other=0).to(tl.int32)
    return tl.where(byte < limit, 0.0, x * scale)
