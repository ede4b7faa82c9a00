"""How a kernel's work is divided: a program computes some columns of one row."""

from typing import NamedTuple

import triton
import triton.language as tl
from torch import Tensor


class Tiles(NamedTuple):
    """How many programs there are, and how many columns each of them computes."""

    grid: tuple[int, int]
    block: int


def tiles(rows: int, columns: int) -> Tiles:
    """Divides rows of so many columns."""
    block = min(1024, triton.next_power_of_2(columns))
    return Tiles((rows, triton.cdiv(columns, block)), block)


def strides(*tensors: Tensor | None) -> list[int]:
    """Returns how far apart replicas and examples are, of one tensor (R, B, ...) after the other."""
    return [stride for x in tensors for stride in ((0, 0) if x is None else x.stride()[:2])]


@triton.jit
def here(batch, columns, block: tl.constexpr):
    """Returns what a program computes: its row, of which replica and example; its columns, and which there are."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * block + tl.arange(0, block)
    return row, row // batch, row % batch, column, column < columns


@triton.jit
def read(places, there):
    """Reads numbers, in float32; 0 where there are none."""
    return tl.load(places, mask=there, other=0.0).to(tl.float32)
