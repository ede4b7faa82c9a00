"""Layers with a leading population axis: R replicas of a layer, each with its own weights, computed as one.

Axes, here and in all of `models`: R replicas · B batch · T target positions · S source positions · K prototypes ·
E embedding · H hidden · A attention · V vocabulary. Every tensor starts with R; an ordinary single model has R = 1.
"""

import math
from collections.abc import Sequence
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recombine.models.fusion import Gates, Hoisted, affine, bilstm, fused

FEW = 256
"""Of so few tokens a GPU adds up embeddings' gradients faster by a product than by sorting."""


def _uniform(generator: torch.Generator, shape: torch.Size, bound: float) -> Tensor:
    return torch.empty(shape).uniform_(-bound, bound, generator=generator)


class Linear(nn.Module):
    """R affine maps."""

    def __init__(self, replicas: int, inputs: int, outputs: int, *, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(replicas, inputs, outputs))
        self.bias = nn.Parameter(torch.empty(replicas, 1, outputs)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Maps (R, ..., inputs) to (R, ..., outputs)."""
        y = affine(x.flatten(1, -2), self.weight, self.bias)
        return y.view(*x.shape[:-1], y.shape[-1])

    def hoisted(self) -> Hoisted:
        """Returns the same map of (R, B, inputs), for use at every step of a loop."""
        return Hoisted(self.weight, self.bias)

    def draw(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """Returns initial values of one replica's parameter: U(±1/√inputs)."""
        return _uniform(generator, shape, 1 / math.sqrt(self.weight.shape[1]))


class Embedding(nn.Module):
    """R tables of token embeddings.

    Args:
        replicas: R.
        vocabulary: V.
        size: E.
        tied: Whether they are the output layer, too: then they start smaller.
    """

    def __init__(self, replicas: int, vocabulary: int, size: int, *, tied: bool) -> None:
        super().__init__()
        self.tied = tied
        self.weight = nn.Parameter(torch.empty(replicas, vocabulary, size))

    def forward(self, tokens: Tensor) -> Tensor:
        """Maps token ids (R, ...) to embeddings (R, ..., E)."""
        if self.weight.is_cuda and self.weight.shape[1] <= FEW:
            return self._by_product(tokens)
        replicas, vocabulary, size = self.weight.shape
        offsets = torch.arange(0, replicas * vocabulary, vocabulary, device=tokens.device)
        rows = tokens + offsets.view(-1, *[1] * (tokens.dim() - 1))
        return F.embedding(rows, self.weight.reshape(-1, size))

    def _by_product(self, tokens: Tensor) -> Tensor:
        """Does the same by products with one-hot rows."""
        one_hot = tokens.unsqueeze(-1) == torch.arange(self.weight.shape[1], device=tokens.device)
        y = torch.bmm(one_hot.flatten(1, -2).to(self.weight.dtype), self.weight)
        return y.view(*tokens.shape, y.shape[-1])

    def scores(self, vectors: Tensor) -> Tensor:
        """Returns the products of vectors (R, ..., E) with every embedding: the tied output layer, (R, ..., V)."""
        y = torch.bmm(vectors.flatten(1, -2), self.weight.transpose(1, 2))
        return y.view(*vectors.shape[:-1], y.shape[-1])

    def draw(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """Returns initial values of one replica's table: N(0, 1); tied, N(0, 1/E), so that scores start near N(0, 1).

        Predictors whose embeddings start smaller make much less of few augmented examples.
        """
        return torch.empty(shape).normal_(0, 1 / math.sqrt(shape[-1]) if self.tied else 1, generator=generator)


class LSTMWeights(nn.Module):
    """The weights of R × D LSTMs (D directions), split into what acts on the input and on the state."""

    def __init__(
        self, replicas: int, directions: int, inputs: int, states: int, hidden: int, *, forget_bias: float = 1.0
    ) -> None:
        super().__init__()
        self.hidden, self.forget_bias = hidden, forget_bias
        self.input = nn.Parameter(torch.empty(replicas, directions, inputs, 4 * hidden))
        self.state = nn.Parameter(torch.empty(replicas, directions, states, 4 * hidden))
        self.bias = nn.Parameter(torch.empty(replicas, directions, 1, 4 * hidden))

    def gates(self, x: Tensor) -> Gates:
        """Returns what inputs of all steps (R · D, T, B, inputs) add to the gates."""
        return Gates(x, self.input.flatten(0, 1), self.bias.flatten(0, 1))

    def from_state(self) -> Hoisted:
        """Returns the map from states (R · D, B, states) to what they add to the gates."""
        return Hoisted(self.state.flatten(0, 1))

    def draw(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """Returns initial values of one replica's parameter: U(±1/√H), forget gates opened by a bias."""
        values = _uniform(generator, shape, 1 / math.sqrt(self.hidden))
        if name == "bias":
            values[..., self.hidden : 2 * self.hidden] += self.forget_bias
        return values


class BiLSTM(nn.Module):
    """R bidirectional LSTMs over padded sequences; padding changes nothing."""

    def __init__(self, replicas: int, inputs: int, hidden: int, *, forget_bias: float = 1.0) -> None:
        super().__init__()
        self.hidden = hidden
        self.weights = LSTMWeights(replicas, 2, inputs, hidden, hidden, forget_bias=forget_bias)

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Encodes sequences.

        Args:
            x: Inputs, (R, S, N, E).
            lengths: How many positions of each are real, at least one, (R, N).

        Returns:
            States of both directions side by side (R, N, S, 2H), and the final hidden and cell states, directions
            summed, (R, N, H) each.
        """
        states, h, c = self._by_kernels(x, lengths) if fused(x.device) else self._step_by_step(x, lengths)
        return states, h.sum(1), c.sum(1)

    def _step_by_step(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Returns states (R, N, S, 2H), and final hidden and cell states (R, 2, N, H)."""
        replicas, steps, count, _ = x.shape
        position = torch.arange(steps, device=x.device).view(1, -1, 1)
        last = lengths.unsqueeze(1) - 1
        # Reversing within the true length keeps padding at the end for both directions, where nothing reads it.
        mirror = torch.where(position <= last, last - position, position).unsqueeze(-1)  # (R, S, N, 1)
        both = torch.stack([x, x.gather(1, mirror.expand_as(x))], dim=1).flatten(0, 1)  # (R · 2, S, N, E)
        gates, from_state = self.weights.gates(both), self.weights.from_state()
        h = c = x.new_zeros(replicas * 2, count, self.hidden)
        hs, cs = [], []
        for step in range(steps):
            (h,), c = gates.cell(step, from_state(h), c)
            hs.append(h)
            cs.append(c)
        h_all, c_all = (torch.stack(each, dim=1).view(replicas, 2, steps, count, -1) for each in (hs, cs))
        end = last.view(replicas, 1, 1, count, 1).expand(-1, 2, -1, -1, self.hidden)
        forward, backward = h_all.unbind(1)
        backward = backward.gather(1, mirror.expand_as(backward))
        states = torch.cat([forward, backward], dim=-1).transpose(1, 2)
        return states, h_all.gather(2, end).squeeze(2), c_all.gather(2, end).squeeze(2)

    def _by_kernels(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Returns the same."""
        replicas, steps, count, size = x.shape
        both = x.unsqueeze(1).expand(-1, 2, -1, -1, -1).reshape(replicas * 2, steps * count, size)
        gates = torch.bmm(both, self.weights.input.flatten(0, 1)).view(replicas * 2, steps, count, -1)
        states, h, c = bilstm(gates, self.weights.bias.flatten(0, 1), self.weights.state.flatten(0, 1), lengths)
        return states, h.view(replicas, 2, count, -1), c.view(replicas, 2, count, -1)


def initialize(model: nn.Module, seeds: Sequence[int]) -> None:
    """Draws the initial parameters of each replica from its own seed, so that it does not matter who else is there."""
    with torch.no_grad():
        for seed in dict.fromkeys(seeds):  # once for all that have it
            generator = torch.Generator().manual_seed(seed)
            replicas = [replica for replica, each in enumerate(seeds) if each == seed]
            for module in model.modules():
                for name, parameter in module.named_parameters(recurse=False):
                    rows = parameter.shape[0] // len(seeds)  # more than one where each prototype has its own weights
                    values = cast(Any, module).draw(name, torch.Size((rows, *parameter.shape[1:])), generator)
                    parameter.view(len(seeds), rows, *parameter.shape[1:])[replicas] = values.to(parameter)
