"""Attention from one decoding step to all prototypes of a batch."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from recombine.models.fusion.availability import fused
from recombine.models.fusion.hoisted import Hoisted
from recombine.models.softmax import softmax


class Attended(NamedTuple):
    """What attention gives."""

    scores: Tensor  # (R, B, K, S), before normalisation
    weights: Tensor  # (R, B, K, S)
    retrieved: Tensor  # (R, B, K · value size)


class Remembered:
    """Keys and values that every step of a loop attends to; N = R · B · K.

    Their gradients are computed once, after the loop, all steps of which are to be gone back over at once.

    Args:
        keys: (N, S, A).
        values: (N, S, value size).
    """

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        self.keys, self.values = keys, values
        if fused(keys.device):
            self._room = _Room()
            self._handed_on = _Remember.apply(keys, values, self._room)  # type: ignore[no-untyped-call]
        else:
            self._by_key, self._by_value = Hoisted(keys.transpose(1, 2)), Hoisted(values)

    def attend(self, query: Tensor, bias: Tensor) -> Attended:
        """Attends from queries (N, 1, A); bias (R, B, K, S) is added to the scores."""
        if fused(query.device):
            return Attended(*_Attend.apply(query, *self._handed_on, bias, self._room))  # type: ignore[no-untyped-call]
        scores = self._by_key(query).view(bias.shape) + bias
        weights = softmax(scores).to(self.values.dtype)
        retrieved = self._by_value(weights.view(-1, 1, bias.shape[-1]))
        return Attended(scores, weights, retrieved.view(*bias.shape[:2], -1))


class _Room:
    """Room for what each step leaves on the way back, of which the gradients of keys and values are made."""

    def __init__(self) -> None:
        self._steps = 0
        self._back_to = 0  # the step that was gone back over last
        self._missing: set[int] = set()  # those that have not been
        self._parts: list[Tensor] = []

    def next_step(self) -> int:
        """Numbers the steps."""
        self._steps += 1
        return self._steps - 1

    def part(self, step: int, keys: Tensor, values: Tensor) -> list[Tensor]:
        """Returns room for a step's query, its weights, the gradients of its scores and of what it retrieved."""
        if not self._missing or step >= self._back_to:  # the first on the way back, or on the way back once more
            count, sources, size = keys.shape
            sizes = (size, sources, sources, values.shape[-1])
            self._parts = [keys.new_empty(count, self._steps, each) for each in sizes]
            self._missing = set(range(self._steps))
        self._back_to = step
        self._missing.remove(step)
        return [part[:, step] for part in self._parts]

    def gradients(self) -> tuple[Tensor, Tensor]:
        """Returns those of keys and values, and clears the room."""
        from recombine.models.kernels.attention import weighed

        for step in self._missing:
            for part in self._parts:
                part[:, step] = 0
        queries, weights, d_scores, d_out = self._parts
        self._parts = []
        self._missing.clear()
        return weighed(d_scores, queries), weighed(weights, d_out)


class _Remember(torch.autograd.Function):
    """Hands keys and values on; on the way back, makes their gradients of what all steps have left."""

    @staticmethod
    def forward(ctx: Any, keys: Tensor, values: Tensor, room: _Room) -> tuple[Tensor, Tensor]:  # noqa: ANN401
        ctx.room = room
        ctx.set_materialize_grads(False)
        return keys.view_as(keys), values.view_as(values)

    @staticmethod
    def backward(ctx: Any, *_: None) -> tuple[Tensor, Tensor, None]:  # noqa: ANN401
        return *ctx.room.gradients(), None


class _Attend(torch.autograd.Function):
    """The same by kernels."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        query: Tensor,
        keys: Tensor,
        values: Tensor,
        bias: Tensor,
        room: _Room,
    ) -> tuple[Tensor, Tensor, Tensor]:
        from recombine.models.kernels.attention import attend

        query = query.squeeze(1).contiguous()
        scores, weights, out = attend(query, keys, values, bias.contiguous())
        ctx.shape, ctx.room, ctx.step = bias.shape, room, room.next_step()
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
        from recombine.models.kernels.attention import attend_gradient

        query, keys, values, weights = ctx.saved_tensors
        if d_scores is not None and not d_scores[0, 0].is_contiguous():
            d_scores = d_scores.contiguous()
        if d_out is not None and d_out.stride(-1) != 1:
            d_out = d_out.contiguous()
        d_all, d_query = attend_gradient(
            keys,
            values,
            weights,
            d_scores=d_scores,
            d_weights=d_weights,
            d_out=d_out,
            shape=ctx.shape,
            query=query,
            room=ctx.room.part(ctx.step, keys, values),
        )
        d_bias = d_all.reshape(ctx.shape).float() if ctx.needs_input_grad[3] else None
        return d_query.unsqueeze(1), None, None, d_bias, None
