"""Kernel: random numbers that are a function of a seed, of how many draws there were, and of their place (Philox)."""

import torch
import triton
import triton.language as tl
from torch import Tensor


def random_words(seeds: Tensor, counter: Tensor, size: int) -> Tensor:
    """Returns random 32-bit words (R, size), whose beginning does not depend on how many are asked for.

    Args:
        seeds: One per replica (R,).
        counter: Which draw this is, a number on the device; it is raised by one.
        size: How many.
    """
    out = torch.empty(len(seeds), size, dtype=torch.int32, device=seeds.device)
    block = 1024
    _random_words[(triton.cdiv(size, 4 * block), len(seeds))](out, seeds, counter, size, block=block)
    counter += 1
    return out


@triton.jit
def _random_words(out, seeds, counter, size, block: tl.constexpr):
    r = tl.program_id(1).to(tl.int64)
    place = tl.program_id(0) * block + tl.arange(0, block)
    draw = tl.load(counter)
    low, high = (draw & 0xFFFFFFFF).to(tl.uint32), (draw >> 32).to(tl.uint32)
    zero = (place * 0).to(tl.uint32)
    a, b, c, d = tl.philox(tl.load(seeds + r), place.to(tl.uint32), zero + low, zero + high, zero)
    out += r * size + place * 4  # a draw gives four words
    tl.store(out, a.to(tl.int32, bitcast=True), mask=place * 4 < size)
    tl.store(out + 1, b.to(tl.int32, bitcast=True), mask=place * 4 + 1 < size)
    tl.store(out + 2, c.to(tl.int32, bitcast=True), mask=place * 4 + 2 < size)
    tl.store(out + 3, d.to(tl.int32, bitcast=True), mask=place * 4 + 3 < size)


def random_bytes(seeds: Tensor, counter: Tensor, places: Tensor, size: int) -> Tensor:
    """Returns random bytes (R, N, size), those of a place being the same whichever other places there are.

    Args:
        seeds: One per replica (R,).
        counter: Which draw this is, a number on the device; it is raised by one.
        places: The place of each position (N,).
        size: How many bytes each position has.
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
