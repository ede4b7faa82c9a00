"""Kernels: an update by Adam of parameters that are kept in float32 and computed with in another precision; norms."""

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from recombine.models.kernels.tiles import read


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
    """Updates a float32 parameter (R · rows, ...) and its copy to compute with.

    Args:
        master: The parameter.
        computed: Its copy, in the precision of the gradient; may be the parameter itself.
        gradient: Contiguous.
        first: Moving average of the gradient.
        second: Moving average of its square.
        lr: Learning rates (R,).
        scale: What each replica's gradient is multiplied by (R,).
        step: How many updates there have been, this one included; float32.
        betas: How slowly the averages move.
        epsilon: Keeps the division defined.
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
