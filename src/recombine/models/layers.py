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

from recombine.data.vocabulary import PAD
from recombine.models.device import fused
from recombine.models.fast import lstm
from recombine.models.fast.lstm import affine
from recombine.models.noise import Drop, dropped

FEW = 256
"""Of so few tokens a GPU adds up embeddings' gradients faster by a product than by sorting."""


def precise(x: Tensor) -> Tensor:
    """Returns x in single precision at least: cell states and probabilities add up small things."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


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

    def draw(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """Returns initial values of one replica's parameter: U(±1/√inputs)."""
        return _uniform(generator, shape, 1 / math.sqrt(self.weight.shape[1]))


class Embedding(nn.Module):
    """R tables of token embeddings; if they are `tied`, being the output layer, too, they start smaller."""

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

    def mapped(self, tokens: Tensor, drop: Drop | None, weight: Tensor) -> Tensor:
        """Maps token ids (R, D, N) by their embeddings, in part dropped, and a weight (R · D, E, size).

        Where nothing is dropped and tokens repeat, each is mapped once.
        """
        replicas, ways, count = tokens.shape
        vocabulary, size = self.weight.shape[1:]
        if drop is not None or tokens.is_cuda or count < vocabulary:
            return affine(dropped(self(tokens), drop).flatten(0, 1), weight, None)
        table = self.weight.unsqueeze(1).expand(-1, ways, -1, -1).reshape(replicas * ways, vocabulary, size)
        start = torch.arange(0, replicas * ways * vocabulary, vocabulary).unsqueeze(1)
        return F.embedding(tokens.reshape(-1, count) + start, affine(table, weight, None).flatten(0, 1))

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

    def cell(self, x: Tensor, state: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the next h and c (R, B, H) of LSTMs in one direction, given inputs, states and c (R, B, ·)."""
        gates = torch.baddbmm(self.bias.squeeze(1), x, self.input.squeeze(1)) + torch.bmm(state, self.state.squeeze(1))
        i, f, g, o = gates.chunk(4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return (torch.sigmoid(o) * torch.tanh(c)).to(x.dtype), c

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

    def forward(
        self, embed: Embedding, tokens: Tensor, drop: Drop | None, project: Linear | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Encodes token ids (R, N, S), padded; dropped are embeddings (R, S · N, E), step by step.

        Returns:
            States (R, N, S, 2H), projected if asked for, anything at padding; and the final hidden and cell states,
            directions summed, (R, N, H) each.
        """
        lengths = (tokens != PAD).sum(-1).clamp(min=1)
        inputs, state, bias = (
            each.flatten(0, 1) for each in (self.weights.input, self.weights.state, self.weights.bias)
        )
        count, steps = tokens.shape[1:]
        if fused(tokens.device):
            from recombine.models.fast.on_gpu import bilstm

            x = dropped(embed(tokens.transpose(1, 2).flatten(1)), drop)
            both = x.unsqueeze(1).expand(-1, 2, -1, -1).reshape(len(inputs), *x.shape[1:])
            gates = torch.bmm(both, inputs).view(len(inputs), steps, count, -1)
            states, h, c = bilstm(gates, bias, state, lengths)
            states = states if project is None else project(states)
            return states, *(each.unflatten(0, (-1, 2)).sum(1) for each in (h, c))
        reading = lstm.Reading(lengths, steps)
        if drop is not None:
            drop = drop._replace(bits=reading.read(drop.bits.unflatten(1, (steps, count)).transpose(1, 2)))
        h, c = lstm.lstm(embed.mapped(reading.read(tokens), drop, inputs), bias, state, reading.packing)
        if project is None:
            states = reading.states(h).flatten(3)
        else:  # each direction by itself, before padding comes in
            parts = torch.bmm(h, project.weight.view(len(h), h.shape[-1], -1))
            states = reading.states(parts).sum(3)
            states = states if project.bias is None else states + project.bias.unsqueeze(1)
        return states, reading.finals(h).sum(2), reading.finals(c).sum(2)


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
