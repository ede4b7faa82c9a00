"""Relative positions in attention, as in the authors' code: near positions have keys and values of their own."""

import math

import torch
from torch import Tensor

from recombine.models.packing import Packing


class Near:
    """What the distances between source and target positions add to attention, at all steps, forth and back.

    Args:
        keys: What a query is compared with at each of D distances (R · K, or R for all K alike, A, D).
        values: What is retrieved there (R · K, or R, D, V).
        padding: What is added to the scores anyway (R, B, K, S).
        packing: Which rows each step has.
    """

    def __init__(self, keys: Tensor, values: Tensor, padding: Tensor, packing: Packing) -> None:
        replicas, _, self.prototypes, sources = padding.shape
        self.padding, self.packing = padding, packing
        by_prototype = (replicas, -1)  # (R, K or 1, ·, ·)
        self.keys, self.values = (torch.unflatten(each, 0, by_prototype) for each in (keys, values))
        self.scale, self.distances = 1 / math.sqrt(keys.shape[1]), keys.shape[2]
        reach = self.distances // 2
        place, step = (torch.arange(count, device=keys.device) for count in (sources, packing.steps))
        self.index = (place - step.unsqueeze(1)).clamp(-reach, reach) + reach  # (T, S)
        self.d_keys, self.d_values = torch.zeros_like(self.keys), torch.zeros_like(self.values)

    def bias(self, t: int, query: Tensor) -> Tensor:
        """Returns what is added to the scores of step t (R, n, K, S), given its queries (R, n, K · A or A)."""
        near = (self._each(query, self.keys.shape[2]) @ self.keys).transpose(1, 2) * self.scale  # (R, n, K, D)
        return self.padding[:, : query.shape[1]] + near.expand(-1, -1, self.prototypes, -1)[..., self.index[t]]

    def add(self, t: int, weights: Tensor, out: Tensor) -> None:
        """Adds to what is retrieved (R, n, K · V), given the weights of step t (R, n, K, S)."""
        retrieved = self._by_distance(t, weights).transpose(1, 2) @ self.values
        out += retrieved.transpose(1, 2).flatten(2)

    def weights_gradient(self, t: int, weights: Tensor, d_out: Tensor) -> Tensor:
        """Returns what is to be added to the gradient of the weights (R, n, K, S), given that of what is retrieved."""
        each = self._each(d_out, self.values.shape[-1])  # (R, K, n, V)
        self.d_values += _summed(self._by_distance(t, weights).permute(0, 2, 3, 1) @ each, self.values)
        return (each @ self.values.transpose(2, 3)).transpose(1, 2)[..., self.index[t]]

    def query_gradient(self, t: int, query: Tensor, d_scores: Tensor) -> Tensor:
        """Returns what is to be added to the gradient of the queries, given that of the scores (R, n, K, S)."""
        near = self._by_distance(t, d_scores).transpose(1, 2).to(query.dtype) * self.scale  # (R, K, n, D)
        each = self._each(query, self.keys.shape[2])
        self.d_keys += _summed(each.transpose(2, 3) @ near, self.keys)
        d_query = (near @ self.keys.transpose(2, 3)).transpose(1, 2)  # (R, n, K, A)
        return d_query.flatten(2) if d_query[0, 0].numel() == query.shape[-1] else d_query.sum(2)

    def _each(self, vectors: Tensor, size: int) -> Tensor:
        """Returns vectors (R, n, K · size or size) as (R, K or 1, n, size)."""
        return torch.unflatten(vectors, -1, (-1, size)).transpose(1, 2)

    def _by_distance(self, t: int, x: Tensor) -> Tensor:
        """Returns the sum of x (R, n, K, S) over positions of the same distance (R, n, K, D)."""
        found = x.new_zeros(*x.shape[:3], self.distances)
        return found.index_add(3, self.index[t], x)


def _summed(gradient: Tensor, like: Tensor) -> Tensor:
    """Returns a gradient (R, K, ·, ·), summed over prototypes where they have one weight."""
    return gradient if gradient.shape[1] == like.shape[1] else gradient.sum(1, keepdim=True)
