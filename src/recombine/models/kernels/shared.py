"""What kernels share: how work is divided, dropout, and the four gates of LSTMs, H apart in memory (i, f, g, o)."""

import triton
import triton.language as tl
from torch import Tensor


def tiles(rows: int, columns: int) -> tuple[tuple[int, int], int]:
    """Divides rows and columns into tiles: the grid of programs, and how many columns each of them computes."""
    block = min(1024, triton.next_power_of_2(columns))
    return (rows, triton.cdiv(columns, block)), block


def strides(*tensors: Tensor | None, axes: int = 2) -> list[int]:
    """Returns how far apart things are along the first axes (R, B, ...) of one tensor after the other."""
    return [stride for x in tensors for stride in ([0] * axes if x is None else x.stride()[:axes])]


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


@triton.jit
def sigmoid(x):
    """Returns the logistic function."""
    return 1 / (1 + tl.exp(-x))


@triton.jit
def tanh(x):
    """Returns the hyperbolic tangent."""
    return 2 / (1 + tl.exp(-2 * x)) - 1


@triton.jit
def read_gates(places, size, there):
    """Reads four gates."""
    i, f = read(places, there), read(places + size, there)
    return i, f, read(places + 2 * size, there), read(places + 3 * size, there)


@triton.jit
def write_gates(places, i, f, g, o, size, there):
    """Writes four gates."""
    tl.store(places, i, mask=there)
    tl.store(places + size, f, mask=there)
    tl.store(places + 2 * size, g, mask=there)
    tl.store(places + 3 * size, o, mask=there)


@triton.jit
def sum_gates(from_input, from_state, bias, size, there):
    """Returns the gates before activation."""
    i, f, g, o = read_gates(from_input, size, there)
    state_i, state_f, state_g, state_o = read_gates(from_state, size, there)
    bias_i, bias_f, bias_g, bias_o = read_gates(bias, size, there)
    return i + state_i + bias_i, f + state_f + bias_f, g + state_g + bias_g, o + state_o + bias_o


@triton.jit
def read_biased(places, bias, size, there):
    """Reads four gates that lack their bias, and activates them."""
    i, f, g, o = read_gates(places, size, there)
    bias_i, bias_f, bias_g, bias_o = read_gates(bias, size, there)
    return activate(i + bias_i, f + bias_f, g + bias_g, o + bias_o)


@triton.jit
def activate(i, f, g, o):
    """Returns the gates after activation."""
    return sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)


@triton.jit
def gates_gradient(i, f, g, o, c_before, c_after, d_h, d_c):
    """Returns the gradients of the gates before activation, and of the cell state before, given those of h and c."""
    squashed = tanh(c_after)
    d_c += d_h * o * (1 - squashed * squashed)
    d_i, d_f = d_c * g * i * (1 - i), d_c * c_before * f * (1 - f)
    return d_i, d_f, d_c * i * (1 - g * g), d_h * squashed * o * (1 - o), d_c * f


@triton.jit
def dropped(x, bits, limit, scale, there):
    """Returns x, or 0 where the byte among `bits` is below the limit."""
    byte = tl.load(bits, mask=there, other=0).to(tl.int32)
    return tl.where(byte < limit, 0.0, x * scale)
