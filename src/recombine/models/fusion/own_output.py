"""Attention from each decoding step to the states that predicted the tokens so far."""

from typing import Any, cast

import torch
from torch import Tensor

from recombine.models.fusion.availability import fused
from recombine.models.softmax import softmax


class OwnOutput:
    """The states of a decoder's steps, one more after each of them.

    Each step attends once, then adds its state. By kernels, only the states that were added have gradients, not those
    before them, and `states` itself has none.

    Args:
        before: The states of earlier steps (R, B, t, H).
        steps: How many more there will be.
    """

    def __init__(self, before: Tensor, steps: int) -> None:
        self.states = before  # those so far (R, B, t, H)
        self._room = _Room(before, steps) if fused(before.device) and not before.requires_grad else None
        self._latest: Tensor | None = None

    def add(self, h: Tensor) -> None:
        """Adds the state of a step (R, B, H)."""
        if self._room is None:
            self.states = torch.cat([self.states, h.unsqueeze(2)], dim=2)
        else:
            self.states, self._latest = self._room.with_state(self.states.shape[2], h), h

    def attend(self, query: Tensor) -> tuple[Tensor, Tensor]:
        """Returns scores (R, B, t) of the states so far for a query (R, B, H), and what is retrieved (R, B, H)."""
        count = self.states.shape[2]
        if self._room is not None and count:
            return cast("tuple[Tensor, Tensor]", _Attend.apply(query, self._latest, self._room, count))  # type: ignore[no-untyped-call]
        scores = (self.states @ query.unsqueeze(-1)).squeeze(-1)
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        weights = softmax(scores).to(query.dtype)
        return scores, (weights.unsqueeze(2) @ self.states).squeeze(2)


class _Room:
    """Room for all states, and for what their gradients are made of.

    A state's gradient is a sum over the later steps, which attend to it. The next step is the last of them to be gone
    back over: then the sum is one product, and no step hands on gradients of all the states before it.
    """

    def __init__(self, before: Tensor, steps: int) -> None:
        replicas, batch, done, size = before.shape
        self.states = before.new_empty(replicas, batch, done + steps, size)
        self.states[:, :, :done] = before
        self._back_to = 0  # of the step that was gone back over last, how many states it attended to

    def with_state(self, place: int, h: Tensor) -> Tensor:
        """Puts a state in its place and returns all so far."""
        self.states[:, :, place] = h.detach()
        return self.states[:, :, : place + 1]

    def first(self, count: int) -> Tensor:
        """Returns the first states (R · B, count, H)."""
        return self.states.flatten(0, 1)[:, :count]

    def gone_back(self, count: int, query: Tensor, d_out: Tensor, *, weights: Tensor, d_scores: Tensor) -> Tensor:
        """Notes what a step that attended to so many states adds to their gradients; returns that of the last (N, H).

        Args:
            count: How many states.
            query: Its query (N, H).
            d_out: The gradient of what it retrieved (N, H).
            weights: Its attention (N, count).
            d_scores: The gradient of its scores (N, count).
        """
        if count >= self._back_to:  # the first on the way back, or on the way back once more
            examples, room, size = self.first(self.states.shape[2]).shape
            self._vectors = query.new_zeros(examples, room + 1, 2, size)  # of each step
            self._factors = query.new_zeros(examples, room, room + 1, 2)  # of each state and step
        self._back_to = count
        self._vectors[:, count, 0], self._vectors[:, count, 1] = query, d_out
        self._factors[:, :count, count, 0], self._factors[:, :count, count, 1] = d_scores, weights
        factors, vectors = self._factors[:, count - 1, count:], self._vectors[:, count:]
        return torch.bmm(factors.flatten(1).unsqueeze(1), vectors.flatten(1, 2)).squeeze(1)


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, latest: Tensor | None, room: _Room, count: int) -> tuple[Tensor, Tensor]:  # noqa: ANN401
        from recombine.models.kernels.attention import attend

        query, states = query.contiguous(), room.first(count)
        scores, weights, out = attend(query.flatten(0, 1), states, states, None)
        ctx.save_for_backward(query, weights)
        ctx.room, ctx.count, ctx.has_latest = room, count, latest is not None
        ctx.set_materialize_grads(False)
        return scores.view(*query.shape[:2], count), out.view_as(query)

    @staticmethod
    def backward(ctx: Any, d_scores: Tensor | None, d_out: Tensor | None) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        from recombine.models.kernels.attention import attend_gradient

        query, weights = ctx.saved_tensors
        states = ctx.room.first(ctx.count)
        if d_scores is not None:
            d_scores = (d_scores if d_scores.stride(-1) == 1 else d_scores.contiguous()).unsqueeze(2)
        d_out = torch.zeros_like(query) if d_out is None else d_out.contiguous()
        shape = torch.Size((*query.shape[:2], 1, ctx.count))
        d_all, d_query = attend_gradient(
            states, states, weights, d_scores=d_scores, d_weights=None, d_out=d_out, shape=shape
        )
        d_latest = None
        if ctx.has_latest:
            d_latest = ctx.room.gone_back(
                ctx.count, query.flatten(0, 1), d_out.flatten(0, 1), weights=weights, d_scores=d_all
            ).view_as(query)
        return d_query.view_as(query), d_latest, None, None
