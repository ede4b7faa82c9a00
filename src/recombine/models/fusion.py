"""What the networks do at every time step besides products of matrices, each as one operation.

On a CPU, and wherever there is no Triton, an operation is what its plain definition here says. On a GPU one kernel
computes it and another its gradient (see `kernels`).
"""

from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor


@cache
def _kernels() -> Any:  # noqa: ANN401
    from recombine.models import kernels

    return kernels


@cache
def _have_triton() -> bool:
    return find_spec("triton") is not None


def fused(device: torch.device) -> bool:
    """Tells whether there are kernels for a device."""
    return device.type == "cuda" and _have_triton()


class Drop(NamedTuple):
    """Where to drop."""

    bits: Tensor  # random bytes (R, B, size), or (R, T, B, size) for T steps
    limit: int  # those below it are dropped

    def at(self, step: int) -> "Drop":
        """Returns where to drop at one step."""
        return Drop(self.bits[:, step], self.limit)

    @property
    def scale(self) -> float:
        """What keeps the mean as it is."""
        return 256 / (256 - self.limit) if self.limit < 256 else 0.0


def dropped(x: Tensor, drop: Drop | None) -> Tensor:
    """Returns x (R, B, size), in part dropped."""
    if drop is None:
        return x
    if fused(x.device):
        return cast(Tensor, _Join.apply(x, drop, None, None)[0])  # type: ignore[no-untyped-call]
    kept = drop.bits >= drop.limit if drop.limit < 256 else torch.zeros_like(drop.bits)  # 256 is no byte
    return x * kept.to(x.dtype).mul_(drop.scale)


class Joined(NamedTuple):
    """Two vectors side by side."""

    both: Tensor  # (R, B, a + b)
    a: Tensor  # (R, B, a), in part dropped


def join(a: Tensor, drop: Drop | None, b: Tensor, *, out: Tensor) -> Joined:
    """Joins a, in part dropped, and b; a kernel writes both to `out` (R, B, a + b)."""
    if fused(a.device):
        return Joined(*_Join.apply(a, drop, b, out))  # type: ignore[no-untyped-call]
    a = dropped(a, drop)
    return Joined(torch.cat([a, b], dim=-1), a)


class _Join(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        a: Tensor,
        drop: Drop | None,
        b: Tensor | None,
        out: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        ctx.drop, ctx.size = drop, a.shape[-1]
        ctx.set_materialize_grads(False)
        both = _kernels().join(a, **_dropping(drop), b=b, out=out)
        return both, both.detach()[..., : ctx.size]

    @staticmethod
    def backward(ctx: Any, d_both: Tensor | None, d_a: Tensor | None) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        drop, size = ctx.drop, ctx.size
        if d_both is None:
            return (d_a if drop is None or d_a is None else _kernels().join(d_a, **_dropping(drop))), None, None, None
        first = d_both[..., :size]
        if drop is not None or d_a is not None:
            first = _kernels().join(first, plus=d_a, **_dropping(drop))
        return first, None, d_both[..., size:] if d_both.shape[-1] > size else None, None


def _dropping(drop: Drop | None) -> dict[str, Any]:
    bits, limit, scale = (None, 0, 1.0) if drop is None else (drop.bits, drop.limit, drop.scale)
    return {"bits": bits, "limit": limit, "scale": scale}


class Gates:
    """An LSTM's gates over all steps: what the input and the bias add to them.

    Args:
        from_input: What the input adds to the pre-activations (R, T, B, 4H: input, forget, cell, output).
        bias: (R, 1, 4H).
    """

    def __init__(self, from_input: Tensor, bias: Tensor) -> None:
        self._gradient: list[Tensor] = []
        if fused(bias.device):
            self._from_input, self._bias = _Gather.apply(from_input, bias, self._gradient)  # type: ignore[no-untyped-call]
        else:
            # Unbound, not indexed: the gradient of an index is a tensor as large as all steps together.
            self._steps = (from_input + bias.unsqueeze(1)).unbind(1)

    def cell(self, step: int, from_state: Tensor, c: Tensor, *, uses: int = 1) -> tuple[tuple[Tensor, ...], Tensor]:
        """Returns the next h, once for each of its uses, and c.

        Args:
            step: Which step.
            from_state: What the state adds to the gates (R, B, 4H).
            c: The cell state (R, B, H).
            uses: How often h is used: a kernel adds up the gradients of so many, at most three.
        """
        if fused(c.device):
            *h, c = _Cell.apply(self._from_input, self._bias, from_state, c, step, uses, self._gradient)  # type: ignore[no-untyped-call]
            return tuple(h), c
        i, f, g, o = (self._steps[step] + from_state).chunk(4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return (torch.sigmoid(o) * torch.tanh(c),) * uses, c


class _Gather(torch.autograd.Function):
    """Hands the gates on; on the way back, takes the gradient that every step has written its part of."""

    @staticmethod
    def forward(ctx: Any, from_input: Tensor, bias: Tensor, gradient: list[Tensor]) -> tuple[Tensor, Tensor]:  # noqa: ANN401
        ctx.gradient = gradient
        ctx.set_materialize_grads(False)
        return from_input.view_as(from_input), bias.view_as(bias)

    @staticmethod
    def backward(ctx: Any, *_: None) -> tuple[Tensor, Tensor, None]:  # noqa: ANN401
        d_gates = ctx.gradient.pop()
        return d_gates, d_gates.flatten(1, 2).sum(1, keepdim=True), None


class _Cell(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        gates: Tensor,
        bias: Tensor,
        from_state: Tensor,
        c: Tensor,
        step: int,
        uses: int,
        gradient: list[Tensor],
    ) -> tuple[Tensor, ...]:
        h, c_out = _kernels().cell(gates[:, step], from_state, bias, c)
        ctx.save_for_backward(gates, bias, from_state, c, c_out)
        ctx.step, ctx.gradient = step, gradient
        ctx.set_materialize_grads(False)
        return (h, *(h.detach() for _ in range(uses - 1)), c_out)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        gates, bias, from_state, c, c_out = ctx.saved_tensors
        if not ctx.gradient:
            # Every step writes its part; were one not asked to, it would be zero.
            ctx.gradient.append(torch.zeros_like(gates) if ctx.step + 1 < gates.shape[1] else torch.empty_like(gates))
        d_gates = ctx.gradient[0][:, ctx.step]
        d_c = _kernels().cell_gradient(
            gates[:, ctx.step], from_state, bias, c, c_out, list(gradients[:-1]), gradients[-1], d_gates
        )
        return None, None, d_gates, d_c, None, None, None


def bilstm(gates: Tensor, bias: Tensor, weight: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Runs LSTMs over sequences in both directions, by kernels.

    Args:
        gates: What the input adds to the gates (R · 2, S, N, 4H), positions in their order; it is overwritten.
        bias: (R · 2, 1, 4H).
        weight: What acts on the state (R · 2, H, 4H).
        lengths: How many positions of each are real, at least one, (R, N).

    Returns:
        States of both directions side by side (R, N, S, 2H), and the final hidden and cell states (R · 2, N, H).
    """
    return cast("tuple[Tensor, Tensor, Tensor]", _BiLSTM.apply(gates, bias, weight, lengths))  # type: ignore[no-untyped-call]


class _BiLSTM(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gates: Tensor, bias: Tensor, weight: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:  # noqa: ANN401
        encoded = _kernels().encode(gates, bias, weight, lengths)
        ctx.save_for_backward(gates, weight, lengths, encoded.c, encoded.lefts)
        return encoded.states, encoded.h[-1], encoded.c[-1]

    @staticmethod
    def backward(ctx: Any, d_states: Tensor, d_h: Tensor, d_c: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        gates, weight, lengths, c, lefts = ctx.saved_tensors
        d_gates = _kernels().encode_gradient(
            gates, c, weight, lengths, d_states=d_states.contiguous(), d_h=d_h.contiguous(), d_c=d_c
        )
        rows = d_gates.flatten(1, 2)
        d_weight = torch.bmm(lefts.flatten(1, 2).transpose(1, 2), rows)
        return d_gates, rows.sum(1, keepdim=True), d_weight, None


class Attended(NamedTuple):
    """What attention gives."""

    scores: Tensor  # (R, B, K, S), before normalisation
    weights: Tensor  # (R, B, K, S)
    retrieved: Tensor  # (R, B, K · value size)


def attend(query: Tensor, keys: "Hoisted", values: "Hoisted", bias: Tensor) -> Attended:
    """Attends from queries (N, 1, A) to keys (N, A, S) and values (N, S, value size); bias is (R, B, K, S)."""
    if fused(query.device):
        return Attended(*_Attend.apply(query, keys.right, values.right, bias, keys.steps, values.steps))  # type: ignore[no-untyped-call]
    scores = keys(query).view(bias.shape) + bias
    weights = torch.softmax(scores, dim=-1).to(values.right.dtype)
    retrieved = values(weights.view(-1, 1, bias.shape[-1]))
    return Attended(scores, weights, retrieved.view(*bias.shape[:2], -1))


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        query: Tensor,
        keys: Tensor,
        values: Tensor,
        bias: Tensor,
        key_steps: "Steps",
        value_steps: "Steps",
    ) -> tuple[Tensor, Tensor, Tensor]:
        ctx.shape, ctx.steps = bias.shape, (key_steps, value_steps)
        query = query.contiguous()
        scores, weights, out = _kernels().attend(query.squeeze(1), keys.transpose(1, 2), values, bias.contiguous())
        ctx.save_for_backward(query, keys, values, weights)
        ctx.set_materialize_grads(False)
        return scores.view(bias.shape), weights.view(bias.shape), out.view(*bias.shape[:2], -1)

    @staticmethod
    def backward(
        ctx: Any,  # noqa: ANN401
        d_scores: Tensor | None,
        d_weights: Tensor | None,
        d_out: Tensor | None,
    ) -> tuple[Tensor | None, ...]:
        query, keys, values, weights = ctx.saved_tensors
        if d_scores is not None and not d_scores[0, 0].is_contiguous():
            d_scores = d_scores.contiguous()
        if d_out is not None and d_out.stride(-1) != 1:
            d_out = d_out.contiguous()
        d_all, d_query = _kernels().attend_gradient(
            keys.transpose(1, 2),
            values,
            weights,
            d_scores=d_scores,
            d_weights=d_weights,
            d_out=d_out,
            shape=ctx.shape,
        )
        key_steps, value_steps = ctx.steps
        key_steps.append((query, d_all.unsqueeze(1)))
        if d_out is not None:
            value_steps.append((weights.unsqueeze(1), d_out.reshape(len(values), 1, -1)))
        d_bias = d_all.view(ctx.shape).float() if ctx.needs_input_grad[3] else None
        return d_query.unsqueeze(1), None, None, d_bias, None, None


Steps = list[tuple[Tensor, Tensor]]
"""The left operand of each product of a loop, and the gradient of the product."""


class Hoisted:
    """The right-hand side of an affine map that is used at every time step of a loop.

    Its gradient is computed by one large product after the loop instead of being added up step by step, which would
    read and write a tensor of the operand's size at each step.

    Args:
        right: (N, inner, columns).
        bias: (N, 1, columns).
    """

    def __init__(self, right: Tensor, bias: Tensor | None = None) -> None:
        self.steps: Steps = []
        self.right, self.bias = right, bias
        if right.requires_grad:
            self.right, self.bias = _Hoist.apply(right, bias, self.steps)  # type: ignore[no-untyped-call]

    def __call__(self, left: Tensor) -> Tensor:
        """Returns left @ right + bias for left (N, rows, inner)."""
        if not self.right.requires_grad:
            return _affine(left, self.right, self.bias)
        return cast(Tensor, _HoistedProduct.apply(left, self.right, self.bias, self.steps))  # type: ignore[no-untyped-call]


def _affine(left: Tensor, right: Tensor, bias: Tensor | None) -> Tensor:
    return torch.bmm(left, right) if bias is None else torch.baddbmm(bias, left, right)


class _Hoist(torch.autograd.Function):
    """Hands the operands on; on the way back, turns all the steps' (left, gradient) pairs into their gradients."""

    @staticmethod
    def forward(ctx: Any, right: Tensor, bias: Tensor | None, steps: Steps) -> tuple[Tensor, Tensor | None]:  # noqa: ANN401
        ctx.steps = steps
        ctx.set_materialize_grads(False)
        return right.view_as(right), None if bias is None else bias.view_as(bias)

    @staticmethod
    def backward(ctx: Any, d_right: Tensor | None, d_bias: Tensor | None) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        if not ctx.steps:
            return d_right, d_bias, None
        lefts, gradients = (_side_by_side(parts[::-1]) for parts in zip(*ctx.steps, strict=True))
        ctx.steps.clear()
        d_bias = gradients.sum(1, keepdim=True) if ctx.needs_input_grad[1] else None
        return torch.bmm(lefts.transpose(1, 2), gradients), d_bias, None


def _side_by_side(parts: tuple[Tensor, ...]) -> Tensor:
    """Returns parts (N, rows, size) as one (N, parts · rows, size): a view where they lie in a row, else a copy."""
    first, *others = parts
    lies = first.storage_offset()
    apart = others[0].storage_offset() - lies if others else 0
    home = first.untyped_storage().data_ptr()
    in_a_row = apart == first.shape[1] * first.stride(1) and all(
        part.untyped_storage().data_ptr() == home
        and part.stride() == first.stride()
        and part.storage_offset() == lies + number * apart
        for number, part in enumerate(others, start=1)
    )
    if not in_a_row:
        return torch.cat(parts, dim=1)
    return first.as_strided((first.shape[0], len(parts) * first.shape[1], first.shape[2]), first.stride())


class _HoistedProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, bias: Tensor | None, steps: Steps) -> Tensor:  # noqa: ANN401
        ctx.save_for_backward(left, right)
        ctx.steps = steps
        return _affine(left, right, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:  # noqa: ANN401
        left, right = ctx.saved_tensors
        ctx.steps.append((left, gradient))
        return torch.bmm(gradient, right.transpose(1, 2)), None, None, None
