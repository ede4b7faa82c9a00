import math

import pytest
import torch
from networks import NAMED, batch, network
from scipy import special, stats

from recombine.models.architecture import Architecture
from recombine.models.latent import Latent, von_mises_fisher
from recombine.models.layers import initialize
from recombine.models.noise import Noise


def latent(**settings: float) -> Latent:
    model = Latent(1, Architecture(vocabulary=1, prototypes=0, hidden=4, latent=3, **settings))
    initialize(model, [0])
    return model


@pytest.mark.parametrize(
    ("size", "kappa", "count"), [(2, 0.5, 20000), (3, 25, 20000), (10, 100, 10000), (32, 25, 5000), (32, 1, 5000)]
)
def test_cosines_have_the_moments_of_the_distribution(size: int, kappa: float, count: int) -> None:
    mean = torch.nn.functional.normalize(torch.randn(1, 1, size), dim=-1).expand(1, count, size)
    drawn = von_mises_fisher(mean, kappa, Noise([1]))
    assert torch.allclose(drawn.norm(dim=-1), torch.ones(1, count), atol=1e-3)
    cosines = (drawn * mean).sum(-1).flatten().double()
    order = size / 2 - 1
    ratio = special.ive(order + 1, kappa) / special.ive(order, kappa)  # the mean resultant length
    variance = 1 - ratio**2 - (size - 1) / kappa * ratio
    assert cosines.mean().item() == pytest.approx(ratio, abs=4 * math.sqrt(variance / count))
    error = (cosines - ratio).square().std().item() / math.sqrt(count)
    assert (cosines - ratio).square().mean().item() == pytest.approx(variance, abs=4 * error)


def test_around_the_mean_every_direction_is_alike() -> None:
    mean = torch.tensor([0.0, 0.6, 0.8]).expand(1, 8000, 3)
    drawn = von_mises_fisher(mean, 4.0, Noise([3]))[0]
    across = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.8, -0.6]])
    angles = torch.atan2(drawn @ across[1], drawn @ across[0]).double()
    assert stats.kstest(angles.numpy(), stats.uniform(-math.pi, 2 * math.pi).cdf).pvalue > 1e-3


def test_the_prior_is_a_uniform_direction_and_a_uniform_norm() -> None:
    z = latent(largest_norm=10.0).prior(20000, Noise([4]))[0].double()
    norms = z.norm(dim=-1)
    assert stats.kstest(norms.numpy(), stats.uniform(0, 10).cdf).pvalue > 1e-3
    directions = z / norms.unsqueeze(-1)
    # On the sphere in three dimensions each coordinate is uniform, and two of them are uncorrelated.
    for coordinate in directions.unbind(-1):
        assert stats.kstest(coordinate.numpy(), stats.uniform(-1, 2).cdf).pvalue > 1e-3
    assert torch.allclose(directions.T @ directions / 20000, torch.eye(3, dtype=torch.double) / 3, atol=0.01)


@pytest.mark.parametrize(("epsilon", "largest"), [(1.0, 10.0), (0.5, 1.5), (2.0, 2.0)])
def test_the_proposals_norm_is_uniform_above_that_of_mu(epsilon: float, largest: float) -> None:
    model = latent(epsilon=epsilon, largest_norm=largest)
    summary = (0.7 * torch.randn(1, 1, 4)).expand(1, 4000, 4)
    norm = torch.tanh(model.mean(summary[:, :1])).norm().item()
    top = min(norm + epsilon, largest)
    assert norm < top
    norms = model.propose(summary, Noise([5])).detach().norm(dim=-1).flatten().double().numpy()
    assert norm - 1e-5 <= norms.min()
    assert norms.max() <= top + 1e-5
    assert stats.kstest(norms, stats.uniform(norm, top - norm).cdf).pvalue > 1e-3


def test_the_gradient_reaches_mu() -> None:
    model = latent().double()
    summary = torch.randn(1, 5, 4, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: model.propose(x, Noise([6])), (summary,))
    model.propose(summary, Noise([6])).sum().backward()
    assert (model.mean.weight.grad != 0).all()


def test_mu_depends_on_the_target_and_on_every_prototype() -> None:
    model = network(NAMED["scan-latent"])
    prototypes, target = batch(model, 1)
    z = model.propose(prototypes, target, Noise([0]))
    for k in range(2):
        changed = prototypes.clone()
        changed[0, 0, k, 0] = 5 if changed[0, 0, k, 0] != 5 else 6
        assert not torch.allclose(z, model.propose(changed, target, Noise([0])))
    changed = target.clone()
    changed[0, 0, 0] = 5 if changed[0, 0, 0] != 5 else 6
    assert not torch.allclose(z, model.propose(prototypes, changed, Noise([0])))
