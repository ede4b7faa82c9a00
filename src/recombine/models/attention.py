"""Attention over prototypes (section 3.2, appendix A.3), in the two forms that the paper's experiments use."""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from recombine.data.vocabulary import PAD, SEP
from recombine.models.layers import Linear, precise

MASKED = -1e9
"""A score so low that it gets no probability, yet finite, so that gradients of empty sums stay defined."""


class Memory(NamedTuple):
    """What a decoder attends to: projected prototypes, ready for every step."""

    keys: Tensor  # (R, B, K, S, A)
    values: Tensor  # (R, B, K, S, value size)
    padding: Tensor  # (R, B, K, S), MASKED at padding and 0 elsewhere


class Attention(nn.Module):
    """Attends to each of K prototypes separately.

    With a projection (SCAN): key, query and value pass through tanh layers, and scores are divided by √A. Without
    (morphology): a linear key, the decoder's state as query, encoder states as values, scores as they are.

    `states` and `query` are the sizes of the encoder's states and of the query vector, `projection` is A, or 0 for the
    form without. With a reach, learned embeddings of the distance between source and target position, clipped to
    ±reach, join keys and values, as in the authors' code; the paper has none.
    """

    def __init__(
        self, replicas: int, *, prototypes: int, states: int, query: int, projection: int, reach: int = 0
    ) -> None:
        super().__init__()
        self.prototypes, self.projection, self.reach = prototypes, projection, reach
        self.size = projection or query
        self.value_size = projection or states
        sets = replicas * prototypes  # each prototype has parameters of its own
        self.key = Linear(sets, states, self.size)
        if projection:
            self.query = Linear(replicas, query, projection * prototypes)
            self.value = Linear(sets, states, projection)
        if reach:
            self.near_key = Linear(sets, self.size, 2 * reach + 1, bias=False)
            self.near_value = Linear(sets, 2 * reach + 1, self.value_size, bias=False)

    def _per_prototype(self, layer: Linear, x: Tensor) -> Tensor:
        """Applies a layer with one set of weights per prototype to (R, B, K, S, ·)."""
        replicas, batch, prototypes = x.shape[:3]
        y = layer(x.transpose(1, 2).reshape(replicas * prototypes, batch, *x.shape[3:]))
        return torch.unflatten(y, 0, (replicas, prototypes)).transpose(1, 2)

    def remember(self, states: Tensor, real: Tensor) -> Memory:
        """Projects encoder states (R, B, K, S, states), of which some positions are real (R, B, K, S)."""
        keys = self._per_prototype(self.key, states)
        values = states
        if self.projection:
            keys = torch.tanh(keys) / math.sqrt(self.projection)
            values = torch.tanh(self._per_prototype(self.value, states))
        precise = torch.promote_types(keys.dtype, torch.float32)
        padding = torch.zeros_like(keys[..., 0], dtype=precise).masked_fill(~real, MASKED)
        return Memory(keys, values, padding)

    def forward(self, query: Tensor, memory: Memory, step: int) -> tuple[Tensor, Tensor]:
        """Attends from query vectors (R, B, query) of one decoding step, whose index relative positions need.

        Returned are scores before normalisation (R, B, K, S), and what is retrieved, side by side (R, B, K · value).
        """
        if self.projection:
            query = torch.tanh(self.query(query))
        queries = query.unflatten(-1, (-1, self.size)).expand(-1, -1, self.prototypes, -1)  # (R, B, K, A)
        scores = (memory.keys @ queries.unsqueeze(-1)).squeeze(-1)
        scores = scores.to(memory.padding.dtype) + memory.padding
        if self.reach:
            distances = self._distances(scores.shape[-1], step, query)  # (S, 2·reach + 1), one-hot rows
            near = self._per_prototype(self.near_key, queries.unsqueeze(3)).squeeze(3)
            scores = scores + (near / math.sqrt(self.size)) @ distances.T
        weights = torch.softmax(scores, dim=-1).to(memory.values.dtype)
        retrieved = (weights.unsqueeze(-2) @ memory.values).squeeze(-2)
        if self.reach:
            near = (weights @ distances).unsqueeze(3)
            retrieved = retrieved + self._per_prototype(self.near_value, near).squeeze(3)
        return scores, retrieved.flatten(2)

    def _distances(self, sources: int, step: int, like: Tensor) -> Tensor:
        distance = (torch.arange(sources, device=like.device) - step).clamp(-self.reach, self.reach) + self.reach
        return (distance.unsqueeze(1) == torch.arange(2 * self.reach + 1, device=like.device)).to(like.dtype)


class OwnAttention(Linear):
    """Attention of a decoder to the states that predicted its output so far (section 3.2)."""

    def attend(self, h: Tensor, history: Tensor) -> tuple[Tensor, Tensor]:
        """Returns scores of a history (R, B, t, H) before normalisation, and what is retrieved, given h (R, B, H)."""
        scores = precise((history @ self(h).unsqueeze(-1)).squeeze(-1))
        return scores, (torch.softmax(scores, dim=-1).to(h.dtype).unsqueeze(2) @ history).squeeze(2)


class Shortened(NamedTuple):
    """Prototypes (R, B, K, S), of which the later ones are shortened."""

    tokens: Tensor  # what is left of each, then padding
    shown: Tensor  # which of the original places are left
    places: Tensor  # where in `tokens` each original place is now; anywhere in the padding if it is not left


def hide_shared_tokens(prototypes: Tensor, vocabulary: int) -> Shortened:
    """Removes from all prototypes (R, B, K, S) but the first the tokens that the first one holds. Not in the paper.

    Where d1 and d2 both hold a token, nothing says from which of them to take it, and what stands beside it in d2 is
    copied along: "around" only ever with "left". Shortened to what d1 lacks, d2 says what to add and not where.
    """
    replicas, batch = prototypes.shape[:2]
    held = torch.zeros(replicas, batch, vocabulary, dtype=torch.bool, device=prototypes.device)
    held = held.scatter(-1, prototypes[:, :, 0], True)
    held[..., : SEP + 1] = False
    hidden = held.gather(-1, prototypes.flatten(2)).view_as(prototypes)
    hidden[:, :, 0] = False
    shown = ~hidden & (prototypes != PAD)
    order = (~shown).byte().argsort(dim=-1, stable=True)
    tokens = prototypes.masked_fill(~shown, PAD).gather(-1, order)
    return Shortened(tokens, shown, order.argsort(-1))
