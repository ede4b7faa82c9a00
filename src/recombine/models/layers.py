"""Layers with a leading population axis: R replicas of a layer, each with its own weights, computed as one.

Axes, here and in all of `models`: R replicas · B batch · T target positions · S source positions · K prototypes ·
E embedding · H hidden · A attention · V vocabulary. Every tensor starts with R; an ordinary single model has R = 1.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recombine.models.fusion import Gates, Hoisted, bilstm, fused

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
        rows = x.flatten(1, -2)
        y = torch.bmm(rows, self.weight) if self.bias is None else torch.baddbmm(self.bias, rows, self.weight)
        return y.view(*x.shape[:-1], y.shape[-1])

    def hoisted(self) -> Callable[[Tensor], Tensor]:
        """Returns the same map of (R, B, inputs) for use at every step of a loop."""
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
        replicas, vocabulary, size = self.weight.shape
        if self.weight.is_cuda and vocabulary <= FEW:
            chosen = tokens.unsqueeze(-1) == torch.arange(vocabulary, device=tokens.device)
            return torch.bmm(chosen.flatten(1, -2).to(self.weight.dtype), self.weight).view(*tokens.shape, size)
        offsets = torch.arange(0, replicas * vocabulary, vocabulary, device=tokens.device)
        rows = tokens + offsets.view(-1, *[1] * (tokens.dim() - 1))
        return F.embedding(rows, self.weight.reshape(-1, size))

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

    def __init__(self, replicas: int, directions: int, inputs: int, states: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.input = nn.Parameter(torch.empty(replicas, directions, inputs, 4 * hidden))
        self.state = nn.Parameter(torch.empty(replicas, directions, states, 4 * hidden))
        self.bias = nn.Parameter(torch.empty(replicas, directions, 1, 4 * hidden))

    def draw(self, name: str, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """Returns initial values of one replica's parameter: U(±1/√H), forget gates opened by a bias of one."""
        values = _uniform(generator, shape, 1 / math.sqrt(self.hidden))
        if name == "bias":
            values[..., self.hidden : 2 * self.hidden] += 1
        return values


class BiLSTM(nn.Module):
    """R bidirectional LSTMs over padded sequences; padding changes nothing."""

    def __init__(self, replicas: int, inputs: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.weights = LSTMWeights(replicas, 2, inputs, hidden, hidden)

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Encodes sequences.

        Args:
            x: Inputs, (R, S, N, E).
            lengths: How many positions of each are real, at least one, (R, N).

        Returns:
            States of both directions side by side (R, N, S, 2H), and the final hidden and cell states, directions
            summed, (R, N, H) each.
        """
        weights = self.weights
        state, bias = weights.state.flatten(0, 1), weights.bias.flatten(0, 1)
        replicas, steps, count, _ = x.shape
        if fused(x.device):
            states, h, c = bilstm(self._from_input(x.unsqueeze(1).expand(-1, 2, -1, -1, -1)), bias, state, lengths)
            h, c = (final.view(replicas, 2, count, -1).sum(1) for final in (h, c))
            return states, h, c
        position = torch.arange(steps, device=x.device).view(1, -1, 1)
        last = lengths.unsqueeze(1) - 1
        # Reversing within the true length keeps padding at the end for both directions, where nothing reads it.
        mirror = torch.where(position <= last, last - position, position).unsqueeze(-1)  # (R, S, N, 1)
        gates = Gates(self._from_input(torch.stack([x, x.gather(1, mirror.expand_as(x))], dim=1)), bias)
        recur = Hoisted(state)
        h = c = x.new_zeros(replicas * 2, count, self.hidden)
        hs, cs = [], []
        for step in range(steps):
            (h,), c = gates.cell(step, recur(h), c)
            hs.append(h)
            cs.append(c)
        h_all = torch.stack(hs, dim=1).view(replicas, 2, steps, count, -1)
        c_all = torch.stack(cs, dim=1).view(replicas, 2, steps, count, -1)
        end = last.view(replicas, 1, 1, count, 1).expand(-1, 2, -1, -1, self.hidden)
        final_h, final_c = (states.gather(2, end).squeeze(2).sum(1) for states in (h_all, c_all))
        forward, backward = h_all.unbind(1)
        backward = backward.gather(1, mirror.expand_as(backward))
        return torch.cat([forward, backward], dim=-1).transpose(1, 2), final_h, final_c

    def _from_input(self, both: Tensor) -> Tensor:
        """Returns what inputs (R, 2, S, N, E) add to the gates (R · 2, S, N, 4H)."""
        replicas, _, steps, count, size = both.shape
        rows = both.reshape(replicas * 2, steps * count, size)
        return torch.bmm(rows, self.weights.input.flatten(0, 1)).view(replicas * 2, steps, count, -1)


def initialize(model: nn.Module, seeds: Sequence[int]) -> None:
    """Draws the initial parameters of each replica from its own seed, so that it does not matter who else is there."""
    with torch.no_grad():
        for replica, seed in enumerate(seeds):
            generator = torch.Generator().manual_seed(seed)
            for module in model.modules():
                for name, parameter in module.named_parameters(recurse=False):
                    rows = parameter.shape[0] // len(seeds)  # more than one where each prototype has its own weights
                    values = cast(Any, module).draw(name, torch.Size((rows, *parameter.shape[1:])), generator)
                    parameter[replica * rows : (replica + 1) * rows] = values
