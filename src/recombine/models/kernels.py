"""GPU kernels, in Triton, for what the networks do at every time step: each does in one launch what takes many.

Every kernel has a plain counterpart in `fusion` (or, for Adam, in `training.optimizer`), which says what it computes.
Tensors start with the axes R, B; these may have any strides, the axes after them are contiguous. H200 and the like run
a launch in microseconds, so that at these sizes the number of launches is what training costs.
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

# Triton reads its own types and turns plain numbers into run-time arguments, so these signatures carry no annotations.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"


@triton.jit
def _join(
    out,
    a,
    plus,
    bits,
    b,
    batch,
    a_size,
    b_size,
    limit,
    scale,
    o_r,
    o_b,
    a_r,
    a_b,
    p_r,
    p_b,
    m_r,
    m_b,
    b_r,
    b_b,
    add: tl.constexpr,
    drop: tl.constexpr,
    block: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    r, i = row // batch, row % batch
    column = tl.program_id(1) * block + tl.arange(0, block)
    in_a = column < a_size
    in_b = (column >= a_size) & (column < a_size + b_size)
    x = tl.load(a + r * a_r + i * a_b + column, mask=in_a, other=0.0).to(tl.float32)
    if add:
        x += tl.load(plus + r * p_r + i * p_b + column, mask=in_a, other=0.0).to(tl.float32)
    if drop:
        byte = tl.load(bits + r * m_r + i * m_b + column, mask=in_a, other=0).to(tl.int32)
        x = tl.where(byte < limit, 0.0, x * scale)
    y = tl.load(b + r * b_r + i * b_b + column - a_size, mask=in_b, other=0.0).to(tl.float32)
    tl.store(out + r * o_r + i * o_b + column, tl.where(in_a, x, y), mask=in_a | in_b)


def join(
    a: Tensor,
    *,
    bits: Tensor | None,
    limit: int,
    scale: float,
    plus: Tensor | None = None,
    b: Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Returns [(a + plus) where bits ≥ limit, times scale, else 0; b], (R, B, a + b), in `out` if there is one."""
    replicas, batch, size = a.shape
    b_size = 0 if b is None else b.shape[-1]
    if out is None:
        out = a.new_empty(replicas, batch, size + b_size)
    others = [a if x is None else x for x in (plus, bits, b)]
    block = min(1024, triton.next_power_of_2(size + b_size))
    grid = (replicas * batch, triton.cdiv(size + b_size, block))
    strides = [stride for x in (out, a, *others) for stride in x.stride()[:2]]
    _join[grid](
        out, a, *others, batch, size, b_size, limit, scale, *strides,
        add=plus is not None, drop=bits is not None, block=block,
    )  # fmt: skip
    return out


@triton.jit
def _sigmoid(x):
    return 1 / (1 + tl.exp(-x))


@triton.jit
def _tanh(x):
    return 2 / (1 + tl.exp(-2 * x)) - 1


@triton.jit
def _gate(x, s, bias, inside):
    total = tl.load(x, mask=inside, other=0.0).to(tl.float32) + tl.load(s, mask=inside, other=0.0).to(tl.float32)
    return total + tl.load(bias, mask=inside, other=0.0).to(tl.float32)


@triton.jit
def _gates(x, s, bias, row, r, i, x_r, x_b, size, column, inside):
    """Loads and activates the four gates."""
    x += r * x_r + i * x_b + column
    s += row * 4 * size + column
    bias += r * 4 * size + column
    in_, forget = _gate(x, s, bias, inside), _gate(x + size, s + size, bias + size, inside)
    new = _gate(x + 2 * size, s + 2 * size, bias + 2 * size, inside)
    out = _gate(x + 3 * size, s + 3 * size, bias + 3 * size, inside)
    return _sigmoid(in_), _sigmoid(forget), _tanh(new), _sigmoid(out)


@triton.jit
def _cell(h, c_out, x, s, bias, c, batch, size, x_r, x_b, c_r, c_b, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    r, i = row // batch, row % batch
    column = tl.program_id(1) * block + tl.arange(0, block)
    inside = column < size
    in_, forget, new, out = _gates(x, s, bias, row, r, i, x_r, x_b, size, column, inside)
    state = forget * tl.load(c + r * c_r + i * c_b + column, mask=inside, other=0.0).to(tl.float32) + in_ * new
    tl.store(c_out + row * size + column, state, mask=inside)
    tl.store(h + row * size + column, out * _tanh(state), mask=inside)


def cell(from_input: Tensor, from_state: Tensor, bias: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the next (h, c) of an LSTM; `from_state` and `bias` are contiguous."""
    replicas, batch, size = c.shape
    h = from_state.new_empty(c.shape)
    c_out = torch.empty_like(c, memory_format=torch.contiguous_format)
    block = min(1024, triton.next_power_of_2(size))
    grid = (replicas * batch, triton.cdiv(size, block))
    strides = (*from_input.stride()[:2], *c.stride()[:2])
    _cell[grid](h, c_out, from_input, from_state, bias, c, batch, size, *strides, block=block)
    return h, c_out


@triton.jit
def _cell_gradient(
    d_gates,
    d_c,
    x,
    s,
    bias,
    c,
    c_out,
    h1,
    h2,
    h3,
    d_out,
    batch,
    size,
    g_r,
    g_b,
    x_r,
    x_b,
    c_r,
    c_b,
    r1,
    b1,
    r2,
    b2,
    r3,
    b3,
    has1: tl.constexpr,
    has2: tl.constexpr,
    has3: tl.constexpr,
    has_c: tl.constexpr,
    block: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    r, i = row // batch, row % batch
    column = tl.program_id(1) * block + tl.arange(0, block)
    inside = column < size
    in_, forget, new, out = _gates(x, s, bias, row, r, i, x_r, x_b, size, column, inside)
    before = tl.load(c + r * c_r + i * c_b + column, mask=inside, other=0.0).to(tl.float32)
    squashed = _tanh(tl.load(c_out + row * size + column, mask=inside, other=0.0).to(tl.float32))
    d_h = tl.zeros((block,), dtype=tl.float32)
    if has1:
        d_h += tl.load(h1 + r * r1 + i * b1 + column, mask=inside, other=0.0).to(tl.float32)
    if has2:
        d_h += tl.load(h2 + r * r2 + i * b2 + column, mask=inside, other=0.0).to(tl.float32)
    if has3:
        d_h += tl.load(h3 + r * r3 + i * b3 + column, mask=inside, other=0.0).to(tl.float32)
    d_state = d_h * out * (1 - squashed * squashed)
    if has_c:
        d_state += tl.load(d_out + row * size + column, mask=inside, other=0.0).to(tl.float32)
    d_gates += r * g_r + i * g_b + column
    tl.store(d_gates, d_state * new * in_ * (1 - in_), mask=inside)
    tl.store(d_gates + size, d_state * before * forget * (1 - forget), mask=inside)
    tl.store(d_gates + 2 * size, d_state * in_ * (1 - new * new), mask=inside)
    tl.store(d_gates + 3 * size, d_h * squashed * out * (1 - out), mask=inside)
    tl.store(d_c + row * size + column, d_state * forget, mask=inside)


def cell_gradient(
    from_input: Tensor,
    from_state: Tensor,
    bias: Tensor,
    c: Tensor,
    c_out: Tensor,
    d_h: list[Tensor | None],
    d_c_out: Tensor | None,
    d_gates: Tensor,
) -> Tensor:
    """Writes the gradient of the gates to `d_gates` and returns that of c, given those of h's uses and the next c."""
    replicas, batch, size = c.shape
    d_c = torch.empty_like(c_out)
    block = min(1024, triton.next_power_of_2(size))
    grid = (replicas * batch, triton.cdiv(size, block))
    uses = [c_out if d is None else d for d in (*d_h, *[None] * (3 - len(d_h)))]
    has = [number < len(d_h) and d_h[number] is not None for number in range(3)]
    strides = [stride for x in (d_gates, from_input, c, *uses) for stride in x.stride()[:2]]
    d_out = c_out if d_c_out is None else d_c_out.contiguous()
    _cell_gradient[grid](
        d_gates, d_c, from_input, from_state, bias, c, c_out, *uses, d_out, batch, size, *strides,
        has1=has[0], has2=has[1], has3=has[2], has_c=d_c_out is not None, block=block,
    )  # fmt: skip
    return d_c


@triton.jit
def _encode(gates, h, c, states, lefts, s, bias, lengths, t, rows, steps, count, size, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)  # which replica and direction, and which sequence
    rd, n = row // count, row % count
    r, direction = rd // 2, rd % 2
    length = tl.load(lengths + r * count + n)
    live = t < length
    place = tl.where((direction == 1) & live, length - 1 - t, t)  # backwards within the true length
    column = tl.program_id(1) * block + tl.arange(0, block)
    inside = column < size
    gates += ((rd * steps + place) * count + n) * 4 * size + column
    s += row * 4 * size + column
    bias += rd * 4 * size + column
    in_, forget = _gate(gates, s, bias, inside), _gate(gates + size, s + size, bias + size, inside)
    new = _gate(gates + 2 * size, s + 2 * size, bias + 2 * size, inside)
    out = _gate(gates + 3 * size, s + 3 * size, bias + 3 * size, inside)
    tl.store(gates, in_, mask=inside)
    tl.store(gates + size, forget, mask=inside)
    tl.store(gates + 2 * size, new, mask=inside)
    tl.store(gates + 3 * size, out, mask=inside)
    now = (t * rows + row) * size + column
    c_before = tl.load(c + now, mask=inside, other=0.0)
    h_before = tl.load(h + now, mask=inside, other=0.0).to(tl.float32)
    c_after = _sigmoid(forget) * c_before + _sigmoid(in_) * _tanh(new)
    h_after = _sigmoid(out) * _tanh(c_after)
    later = now + rows * size
    tl.store(c + later, tl.where(live, c_after, c_before), mask=inside)
    tl.store(h + later, tl.where(live, h_after, h_before), mask=inside)
    tl.store(lefts + ((rd * steps + place) * count + n) * size + column, h_before, mask=inside)
    state = ((r * count + n) * steps + place) * 2 * size + direction * size + column
    tl.store(states + state, tl.where(live, h_after, 0.0), mask=inside)


@triton.jit
def _encode_gradient(
    d_gates, now_gates, d_c, passed, gates, c, d_states, d_h, lengths, t, rows, steps, count, size, block: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    rd, n = row // count, row % count
    r, direction = rd // 2, rd % 2
    length = tl.load(lengths + r * count + n)
    live = t < length
    place = tl.where((direction == 1) & live, length - 1 - t, t)
    column = tl.program_id(1) * block + tl.arange(0, block)
    inside = column < size
    where = ((rd * steps + place) * count + n) * 4 * size + column
    gates += where
    in_ = _sigmoid(tl.load(gates, mask=inside, other=0.0).to(tl.float32))
    forget = _sigmoid(tl.load(gates + size, mask=inside, other=0.0).to(tl.float32))
    new = _tanh(tl.load(gates + 2 * size, mask=inside, other=0.0).to(tl.float32))
    out = _sigmoid(tl.load(gates + 3 * size, mask=inside, other=0.0).to(tl.float32))
    now = (t * rows + row) * size + column
    before = tl.load(c + now, mask=inside, other=0.0)
    squashed = _tanh(tl.load(c + now + rows * size, mask=inside, other=0.0))
    mine = row * size + column
    d_after = tl.load(d_h + mine, mask=inside, other=0.0).to(tl.float32) + tl.load(
        passed + mine, mask=inside, other=0.0
    )
    state = ((r * count + n) * steps + place) * 2 * size + direction * size + column
    d_all = d_after + tl.load(d_states + state, mask=inside, other=0.0).to(tl.float32)
    d_cell = tl.load(d_c + mine, mask=inside, other=0.0)
    d_state = d_cell + d_all * out * (1 - squashed * squashed)
    # Past its end a sequence's state stays as it is, and so does the gradient.
    tl.store(passed + mine, tl.where(live, 0.0, d_after), mask=inside)
    tl.store(d_c + mine, tl.where(live, d_state * forget, d_cell), mask=inside)
    factor = tl.where(live, 1.0, 0.0)
    g_in = factor * d_state * new * in_ * (1 - in_)
    g_forget = factor * d_state * before * forget * (1 - forget)
    g_new = factor * d_state * in_ * (1 - new * new)
    g_out = factor * d_all * squashed * out * (1 - out)
    d_gates += where
    now_gates += row * 4 * size + column
    tl.store(d_gates, g_in, mask=inside)
    tl.store(d_gates + size, g_forget, mask=inside)
    tl.store(d_gates + 2 * size, g_new, mask=inside)
    tl.store(d_gates + 3 * size, g_out, mask=inside)
    tl.store(now_gates, g_in, mask=inside)
    tl.store(now_gates + size, g_forget, mask=inside)
    tl.store(now_gates + 2 * size, g_new, mask=inside)
    tl.store(now_gates + 3 * size, g_out, mask=inside)


class Encoded(NamedTuple):
    """What `encode` computes; D is R · 2 directions."""

    states: Tensor  # (R, N, S, 2H), zero at padding
    h: Tensor  # (S + 1, D, N, H), before and after each step
    c: Tensor  # (S + 1, D, N, H), float32
    lefts: Tensor  # (D, S, N, H): the state from which each position was reached


def encode(gates: Tensor, bias: Tensor, weight: Tensor, lengths: Tensor) -> Encoded:
    """Runs an LSTM over sequences in both directions.

    Args:
        gates: What the input adds to the gates (D, S, N, 4H); the gates' pre-activations are written over it.
        bias: (D, 1, 4H).
        weight: What acts on the state (D, H, 4H).
        lengths: How many positions are real (R, N).
    """
    directions, steps, count, four = gates.shape
    size = four // 4
    h = gates.new_zeros(steps + 1, directions, count, size)
    c = torch.zeros_like(h, dtype=torch.float32)
    states = gates.new_empty(directions // 2, count, steps, 2 * size)
    lefts = gates.new_empty(directions, steps, count, size)
    rows = directions * count
    block = min(1024, triton.next_power_of_2(size))
    grid = (rows, triton.cdiv(size, block))
    for t in range(steps):
        s = torch.bmm(h[t], weight)
        _encode[grid](gates, h, c, states, lefts, s, bias, lengths, t, rows, steps, count, size, block=block)
    return Encoded(states, h, c, lefts)


def encode_gradient(
    gates: Tensor, c: Tensor, weight: Tensor, lengths: Tensor, *, d_states: Tensor, d_h: Tensor, d_c: Tensor
) -> Tensor:
    """Returns the gradient of the gates (D, S, N, 4H), given those of the states and of the final h and c (D, N, H)."""
    directions, steps, count, four = gates.shape
    size = four // 4
    rows = directions * count
    d_gates, now = torch.empty_like(gates), gates.new_empty(directions, count, four)
    d_c, passed = d_c.clone(memory_format=torch.contiguous_format), torch.zeros_like(d_c)
    block = min(1024, triton.next_power_of_2(size))
    grid = (rows, triton.cdiv(size, block))
    backwards = weight.transpose(1, 2)
    for t in reversed(range(steps)):
        _encode_gradient[grid](
            d_gates, now, d_c, passed, gates, c, d_states, d_h, lengths, t, rows, steps, count, size, block=block
        )
        d_h = torch.bmm(now, backwards)
    return d_gates


@triton.jit
def _attend(
    scores,
    weights,
    out,
    query,
    keys,
    values,
    bias,
    sources,
    key_size: tl.constexpr,
    value_size: tl.constexpr,
    k_n,
    k_s,
    k_d,
    v_n,
    v_s,
    block_s: tl.constexpr,
    block_d: tl.constexpr,
):
    n = tl.program_id(0).to(tl.int64)
    s = tl.arange(0, block_s)
    real = s < sources
    total = tl.load(bias + n * sources + s, mask=real, other=float("-inf")).to(tl.float32)
    for start in range(0, key_size, block_d):
        d = start + tl.arange(0, block_d)
        q = tl.load(query + n * key_size + d, mask=d < key_size, other=0.0).to(tl.float32)
        k = tl.load(
            keys + n * k_n + s[:, None] * k_s + d[None, :] * k_d,
            mask=real[:, None] & (d < key_size)[None, :],
            other=0.0,
        ).to(tl.float32)
        total += tl.sum(k * q[None, :], axis=1)
    tl.store(scores + n * sources + s, total, mask=real)
    e = tl.exp(total - tl.max(total, axis=0))
    w = e / tl.sum(e, axis=0)
    tl.store(weights + n * sources + s, w, mask=real)
    for start in range(0, value_size, block_d):
        d = start + tl.arange(0, block_d)
        v = tl.load(
            values + n * v_n + s[:, None] * v_s + d[None, :],
            mask=real[:, None] & (d < value_size)[None, :],
            other=0.0,
        ).to(tl.float32)
        tl.store(out + n * value_size + d, tl.sum(v * w[:, None], axis=0), mask=d < value_size)


def _blocks(sources: int, size: int) -> dict[str, int]:
    """So many positions and features at a time as registers hold."""
    block_s = triton.next_power_of_2(sources)
    return {"block_s": block_s, "block_d": min(triton.next_power_of_2(size), max(16, 8192 // block_s))}


def attend(query: Tensor, keys: Tensor, values: Tensor, bias: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns scores (N, S) in float32, weights (N, S), and what is retrieved (N, value size).

    Args:
        query: (N, A), contiguous.
        keys: (N, S, A).
        values: (N, S, value size).
        bias: What is added to the scores (N, S), contiguous.
    """
    count, sources, size = keys.shape
    scores = torch.empty(count, sources, device=keys.device)
    weights, out = values.new_empty(count, sources), values.new_empty(count, values.shape[-1])
    strides = (*keys.stride(), *values.stride()[:2])
    sizes = (sources, size, values.shape[-1])
    _attend[(count,)](scores, weights, out, query, keys, values, bias, *sizes, *strides, **_blocks(sources, size))
    return scores, weights, out


@triton.jit
def _attend_gradient(
    d_scores,
    d_query,
    keys,
    values,
    weights,
    d_out,
    d_copied,
    d_weights,
    prototypes,
    batch,
    sources,
    key_size: tl.constexpr,
    value_size: tl.constexpr,
    k_n,
    k_s,
    k_d,
    v_n,
    v_s,
    o_r,
    o_b,
    p_r,
    p_b,
    has_out: tl.constexpr,
    has_copied: tl.constexpr,
    has_weights: tl.constexpr,
    block_s: tl.constexpr,
    block_d: tl.constexpr,
):
    n = tl.program_id(0).to(tl.int64)
    row, k_th = n // prototypes, n % prototypes
    r, i = row // batch, row % batch
    s = tl.arange(0, block_s)
    real = s < sources
    w = tl.load(weights + n * sources + s, mask=real, other=0.0).to(tl.float32)
    d_w = tl.zeros((block_s,), dtype=tl.float32)
    if has_weights:
        d_w += tl.load(d_weights + n * sources + s, mask=real, other=0.0).to(tl.float32)
    if has_out:
        for start in range(0, value_size, block_d):
            d = start + tl.arange(0, block_d)
            o = tl.load(d_out + r * o_r + i * o_b + k_th * value_size + d, mask=d < value_size, other=0.0)
            v = tl.load(
                values + n * v_n + s[:, None] * v_s + d[None, :],
                mask=real[:, None] & (d < value_size)[None, :],
                other=0.0,
            ).to(tl.float32)
            d_w += tl.sum(v * o.to(tl.float32)[None, :], axis=1)
    d_s = w * (d_w - tl.sum(w * d_w, axis=0))
    if has_copied:
        d_s += tl.load(d_copied + r * p_r + i * p_b + k_th * sources + s, mask=real, other=0.0).to(tl.float32)
    tl.store(d_scores + n * sources + s, d_s, mask=real)
    for start in range(0, key_size, block_d):
        d = start + tl.arange(0, block_d)
        k = tl.load(
            keys + n * k_n + s[:, None] * k_s + d[None, :] * k_d,
            mask=real[:, None] & (d < key_size)[None, :],
            other=0.0,
        ).to(tl.float32)
        tl.store(d_query + n * key_size + d, tl.sum(k * d_s[:, None], axis=0), mask=d < key_size)


def attend_gradient(
    keys: Tensor,
    values: Tensor,
    weights: Tensor,
    *,
    d_scores: Tensor | None,
    d_weights: Tensor | None,
    d_out: Tensor | None,
    shape: torch.Size,
) -> tuple[Tensor, Tensor]:
    """Returns the gradients of the scores (N, S) and of the query (N, A).

    Args:
        keys: As for `attend`.
        values: As for `attend`.
        weights: What it returned.
        d_scores: Gradient of the scores (R, B, K, S), the last two axes contiguous.
        d_weights: Gradient of the weights (R, B, K, S).
        d_out: Gradient of what was retrieved (R, B, K · value size).
        shape: R, B, K, S.
    """
    _, batch, prototypes, sources = shape
    size = keys.shape[-1]
    d_all, d_query = torch.empty_like(weights), keys.new_empty(len(keys), size)
    out, copied = weights if d_out is None else d_out, weights if d_scores is None else d_scores
    strides = (*keys.stride(), *values.stride()[:2], *out.stride()[:2], *copied.stride()[:2])
    _attend_gradient[(len(keys),)](
        d_all, d_query, keys, values, weights, out, copied,
        weights if d_weights is None else d_weights.contiguous(),
        prototypes, batch, sources, size, values.shape[-1], *strides,
        has_out=d_out is not None, has_copied=d_scores is not None, has_weights=d_weights is not None,
        **_blocks(sources, size),
    )  # fmt: skip
    return d_all, d_query


@triton.jit
def _adam(master, computed, gradient, first, second, lr, scale, step, size, b1, b2, epsilon, block: tl.constexpr):
    r = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0) * block + tl.arange(0, block)
    inside = i < size
    place = r * size + i
    t = tl.load(step)
    g = tl.load(gradient + place, mask=inside, other=0.0).to(tl.float32) * tl.load(scale + r)
    m = tl.load(first + place, mask=inside, other=0.0)
    v = tl.load(second + place, mask=inside, other=0.0)
    m = m + (1 - b1) * (g - m)
    v = b2 * v + (1 - b2) * g * g
    rate = tl.load(lr + r) / (1 - tl.exp(t * tl.log(b1)))
    p = tl.load(master + place, mask=inside, other=0.0)
    p -= rate * m / (tl.sqrt(v / (1 - tl.exp(t * tl.log(b2)))) + epsilon)
    tl.store(first + place, m, mask=inside)
    tl.store(second + place, v, mask=inside)
    tl.store(master + place, p, mask=inside)
    tl.store(computed + place, p, mask=inside)


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
def _random_words(out, seeds, counter, size, block: tl.constexpr):
    r = tl.program_id(1).to(tl.int64)
    place = tl.program_id(0) * block + tl.arange(0, block)
    draw = tl.load(counter)
    low, high = (draw & 0xFFFFFFFF).to(tl.uint32), (draw >> 32).to(tl.uint32)
    zero = (place * 0).to(tl.uint32)
    a, b, c, d = tl.philox(tl.load(seeds + r), place.to(tl.uint32), zero + low, zero + high, zero)
    out += r * size + place * 4
    tl.store(out, a.to(tl.int32, bitcast=True), mask=place * 4 < size)
    tl.store(out + 1, b.to(tl.int32, bitcast=True), mask=place * 4 + 1 < size)
    tl.store(out + 2, c.to(tl.int32, bitcast=True), mask=place * 4 + 2 < size)
    tl.store(out + 3, d.to(tl.int32, bitcast=True), mask=place * 4 + 3 < size)


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
