"""Kernels that compute number by number: dropout, Adam, random numbers."""

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from recombine.models.kernels.shared import dropped, here, read, strides, tiles
from recombine.models.noise import Drop


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


def adam(
    master: Tensor,
    computed: Tensor,
    gradient: Tensor,
    first: Tensor,
    second: Tensor,
    *,
    lr: Tensor,
    scale: Tensor,
    step: Tensor,
    betas: tuple[float, float],
    epsilon: float,
) -> None:
    """Updates a float32 parameter (R · rows, ...) and its copy to compute with, which may be the parameter itself.

    `gradient` is contiguous, `first` and `second` are the moving averages of it and of its square. Each replica has its
    learning rate (R,) and a scale (R,) for its gradient; `step` counts the updates, this one included, in float32.
    """
    size = master.numel() // len(lr)
    block = 1024
    grid = (triton.cdiv(size, block), len(lr))
    _adam[grid](master, computed, gradient, first, second, lr, scale, step, size, *betas, epsilon, block=block)


@triton.jit
def _adam(
    master, computed, gradient, first, second, lr, scale, step, size, beta_1, beta_2, epsilon, block: tl.constexpr
):  # fmt: skip
    r = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0) * block + tl.arange(0, block)
    there = i < size
    place = r * size + i
    t = tl.load(step)
    g = read(gradient + place, there) * tl.load(scale + r)
    m, v = read(first + place, there), read(second + place, there)
    m = m + (1 - beta_1) * (g - m)
    v = beta_2 * v + (1 - beta_2) * g * g
    rate = tl.load(lr + r) / (1 - tl.exp(t * tl.log(beta_1)))
    p = read(master + place, there)
    p -= rate * m / (tl.sqrt(v / (1 - tl.exp(t * tl.log(beta_2)))) + epsilon)
    tl.store(first + place, m, mask=there)
    tl.store(second + place, v, mask=there)
    tl.store(master + place, p, mask=there)
    tl.store(computed + place, p, mask=there)


def norms(gradients: Sequence[Tensor], replicas: int) -> Tensor:
    """Returns the norm of all gradients of each replica (R,), whose parts come first in each of them."""
    block = 8192
    sizes = [gradient.numel() // replicas for gradient in gradients]
    counts = [triton.cdiv(size, block) for size in sizes]
    squares = torch.empty(replicas, sum(counts), device=gradients[0].device)
    start = 0
    for gradient, size, count in zip(gradients, sizes, counts, strict=True):
        _squares[(count, replicas)](squares, gradient, size, start, squares.shape[1], block=block)
        start += count
    return squares.sum(1).sqrt()


@triton.jit(do_not_specialize=["start", "parts"])
def _squares(squares, gradient, size, start, parts, block: tl.constexpr):
    r = tl.program_id(1).to(tl.int64)
    part = tl.program_id(0)
    i = part * block + tl.arange(0, block)
    g = read(gradient + r * size + i, i < size)
    tl.store(squares + r * parts + start + part, tl.sum(g * g, axis=0))


def random_bytes(seeds: Tensor, counter: Tensor, places: Tensor, size: int) -> Tensor:
    """Returns random bytes (R, N, size) for the positions at places (N,), the same whichever other places there are.

    They depend on the replica's seed (R,) and on the counter of draws, a number on the device, which is raised by one.
    """
    words = -(-size // 16)  # of 16 bytes, which is what one draw gives
    out = torch.empty(len(seeds), len(places), 4 * words, dtype=torch.int32, device=seeds.device)
    block = 512
    grid = (triton.cdiv(len(places) * words, block), len(seeds))
    _random_bytes[grid](out, seeds, counter, places, len(places), words, block=block)
    counter += 1
    return out.view(torch.uint8)[..., :size]


@triton.jit(do_not_specialize=["count"])
def _random_bytes(out, seeds, counter, places, count, words, block: tl.constexpr):
    r = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0) * block + tl.arange(0, block)
    there = i < count * words
    draw = tl.load(counter)
    place = tl.load(places + i // words, mask=there, other=0).to(tl.int32) * words + i % words
    low, high = (draw & 0xFFFFFFFF).to(tl.uint32), (draw >> 32).to(tl.uint32)
    zero = (place * 0).to(tl.uint32)
    a, b, c, d = tl.philox(tl.load(seeds + r), place.to(tl.uint32), zero + low, zero + high, zero)
    out += (r * count * words + i) * 4
    tl.store(out, a.to(tl.int32, bitcast=True), mask=there)
    tl.store(out + 1, b.to(tl.int32, bitcast=True), mask=there)
    tl.store(out + 2, c.to(tl.int32, bitcast=True), mask=there)
    tl.store(out + 3, d.to(tl.int32, bitcast=True), mask=there)
