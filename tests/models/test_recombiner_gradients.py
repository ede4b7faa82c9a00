import pytest
import torch
from networks import VARIANTS, batch, network

from recombine.models.architecture import Architecture
from recombine.models.noise import Noise
from recombine.models.scoring import score

STEP = 1e-5


@pytest.mark.parametrize("architecture", VARIANTS.values(), ids=VARIANTS)
def test_gradients_are_the_slopes_of_the_loss(architecture: Architecture) -> None:
    """Every parameter is moved a little in a random direction, dropout and z drawn alike each time."""
    model = network(architecture, seeds=(1, 2)).train()
    prototypes, target = batch(model)
    weights = torch.randn(2, 6, 3, dtype=torch.double)

    def loss() -> torch.Tensor:
        return (weights * score(model, prototypes, target, Noise([3, 4]))[0]).sum()

    names, parameters = zip(*model.named_parameters(), strict=True)
    for name, parameter, gradient in zip(names, parameters, torch.autograd.grad(loss(), parameters), strict=True):
        direction = torch.randn_like(parameter)
        with torch.no_grad():
            parameter.add_(STEP * direction)
            above = loss().item()
            parameter.sub_(2 * STEP * direction)
            below = loss().item()
            parameter.add_(STEP * direction)
        slope = (above - below) / (2 * STEP)
        assert (gradient * direction).sum().item() == pytest.approx(slope, rel=1e-5, abs=1e-6), name


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("architecture", VARIANTS.values(), ids=VARIANTS)
def test_a_replica_in_a_population_is_the_same_model_as_alone(architecture: Architecture, training: bool) -> None:
    population, alone = network(architecture, seeds=(3, 5, 8)), network(architecture, seeds=(5,))
    prototypes, target = batch(population, 4)
    mine = prototypes[1:2, ..., :4], target[1:2, ..., :]
    prototypes = prototypes.clone()
    prototypes[1, ..., 4:] = 0  # the others' prototypes are longer
    for model in (population, alone):
        model.train(training)
    together, _ = score(population, prototypes, target, Noise([1, 2, 3], longest=9))
    single, _ = score(alone, *mine, Noise([2], longest=9))
    assert torch.allclose(together[1:2], single, atol=1e-12)
    gradients = [
        torch.autograd.grad(log_p.sum(), list(m.parameters())) for log_p, m in ((together, population), (single, alone))
    ]
    for many, one in zip(*gradients, strict=True):
        assert torch.allclose(many.chunk(3)[1], one, atol=1e-11)
