"""The latent variable of appendix F: z = norm · direction, with a von Mises–Fisher direction and a uniform norm."""

import math

import torch
from torch import Tensor, nn

from recombine.models.architecture import Architecture
from recombine.models.layers import Linear
from recombine.models.noise import Noise

PROPOSALS = 24
"""Rejection sampling draws a fixed number of proposals at once; at κ = 25 in 32 dimensions each is accepted with
probability over 0.6, so that none of 24 is accepted less than once in a billion draws."""


class Latent(nn.Module):
    """Prior p(z) and proposal q(z | d, d'1..n); the architecture says the size of z (at least 2), κ, ε and μ_max."""

    def __init__(self, replicas: int, architecture: Architecture) -> None:
        super().__init__()
        a = architecture
        self.size, self.kappa, self.epsilon, self.largest = a.latent, a.kappa, a.epsilon, a.largest_norm
        # The mean direction is computed from the final states of d and of the prototypes.
        self.mean = Linear(replicas, a.hidden * (1 + a.prototypes), a.latent, bias=False)

    def prior(self, batch: int, noise: Noise) -> Tensor:
        """Draws z (R, B, size): a uniform direction, a norm from U(0, μ_max)."""
        direction = _unit(noise.normal(batch, self.size))
        return direction * self.largest * noise.uniform(batch, 1)

    def propose(self, summary: Tensor, noise: Noise) -> Tensor:
        """Draws z (R, B, size) from the proposal, given [final state of d, final state of the prototypes]."""
        mu: Tensor = torch.tanh(self.mean(summary))
        norm: Tensor = mu.norm(dim=-1, keepdim=True)
        norm = norm.clamp(max=self.largest)
        top = (norm + self.epsilon).clamp(max=self.largest)
        z_norm = norm + (top - norm) * noise.uniform(mu.shape[1], 1)
        return z_norm * von_mises_fisher(_unit(mu), self.kappa, noise)


def _unit(vectors: Tensor) -> Tensor:
    length: Tensor = vectors.norm(dim=-1, keepdim=True)
    return vectors / length.clamp(min=1e-8)


def von_mises_fisher(mean: Tensor, kappa: float, noise: Noise) -> Tensor:
    """Draws unit vectors around unit vectors `mean` (R, B, size) with density ∝ exp(κ · cos).

    The cosine is drawn by rejection (Wood 1994) and takes no gradient; the gradient reaches the mean direction.
    """
    batch, size = mean.shape[1:]
    free = size - 1
    b = free / (2 * kappa + math.sqrt(4 * kappa**2 + free**2))
    x0 = (1 - b) / (1 + b)
    c = kappa * x0 + free * math.log(1 - x0**2)
    # Beta(free / 2, free / 2) by the squared lengths of normal vectors.
    first, second = (noise.normal(batch * PROPOSALS, free).square().sum(-1) for _ in range(2))
    beta = (first / (first + second)).view(-1, batch, PROPOSALS)
    cosines = (1 - (1 + b) * beta) / (1 - (1 - b) * beta)
    threshold = noise.uniform(batch, PROPOSALS).clamp(min=1e-30).log()
    accepted = kappa * cosines + free * torch.log(1 - x0 * cosines) - c >= threshold
    cosine = cosines.gather(-1, accepted.int().argmax(-1, keepdim=True))
    around = noise.normal(batch, size)
    around = _unit(around - (around * mean).sum(-1, keepdim=True) * mean)
    return cosine * mean + (1 - cosine**2).clamp(min=0).sqrt() * around
