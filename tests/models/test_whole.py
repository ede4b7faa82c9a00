"""All steps at once, by `models.fast`, beside one after the other, as `Recombiner` defines them."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from networks import NAMED, VARIANTS, batch, network, some_z
from torch import Tensor

from recombine.data.vocabulary import PAD
from recombine.models import scoring
from recombine.models.architecture import Architecture
from recombine.models.noise import Noise
from recombine.models.packing import Packing
from recombine.models.recombiner import Recombiner
from recombine.models.scoring import score

# Relative positions are computed by the plain decoder alone.
FAST = {name: replace(architecture, reach=0) for name, architecture in VARIANTS.items()}
every_variant = pytest.mark.parametrize("architecture", FAST.values(), ids=FAST)
CPU = torch.device("cpu")


def longest_first(target: Tensor) -> tuple[Tensor, Packing]:
    """Targets (R, B, T) with the longest rows first, and the packing that leaves out rows that have ended in all."""
    lengths = (target != PAD).sum(-1)
    order = lengths.argsort(dim=1, descending=True, stable=True)
    longest = lengths.gather(1, order).max(0).values
    counts = tuple(int((longest > t).sum()) for t in range(int(longest[0])))
    assert any(a > b for a, b in pairwise(counts))
    return target.gather(1, order.unsqueeze(-1).expand_as(target)), Packing.of(counts, CPU)


def values_and_gradients(
    model: Recombiner, prototypes: Tensor, target: Tensor, packing: Packing | None
) -> list[Tensor]:
    z = some_z(model, target.shape[1])
    log_p, counts = score(model, prototypes, target, Noise([3, 4], longest=9), z=z, packing=packing)
    if packing is not None:
        log_p, counts = packing.unpack(log_p), packing.unpack(counts)
    weights = torch.randn(log_p.shape, generator=torch.Generator().manual_seed(0), dtype=log_p.dtype)
    loss, parameters = (log_p * weights).sum(), list(model.parameters())
    gradients = torch.autograd.grad(loss, parameters, materialize_grads=True, retain_graph=True)
    again = torch.autograd.grad(loss, parameters, materialize_grads=True)  # it may be gone back over twice
    assert_equal(list(gradients), list(again))
    return [log_p, counts.double(), *gradients]


def assert_equal(some: list[Tensor], others: list[Tensor]) -> None:
    for one, other in zip(some, others, strict=True):
        assert torch.allclose(one, other, atol=1e-11)


@every_variant
def test_it_has_the_values_and_gradients_of_the_plain_decoder_and_may_leave_out_rows_that_have_ended(
    architecture: Architecture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dropout included, with more rows than there need be, and with all of them, too."""
    model = network(architecture, seeds=(1, 2)).train()
    prototypes, target = batch(model, 5, target=7)
    target, packing = longest_first(target)
    fast = values_and_gradients(model, prototypes, target, packing)
    wider = Packing.of(tuple(min(5, count + 1) for count in packing.counts), CPU)
    assert_equal(fast, values_and_gradients(model, prototypes, target, wider))
    assert_equal(fast, values_and_gradients(model, prototypes, target[..., : packing.steps], None))
    monkeypatch.setattr(scoring, "all_steps", scoring.plain_steps)
    assert_equal(fast, values_and_gradients(model, prototypes, target, packing))


STEP = 1e-5


@pytest.mark.parametrize("name", ["scan", "scan-reach", "scan-latent", "morphology-dropout", "predictor"])
def test_gradients_are_the_slopes_of_the_loss(name: str) -> None:
    """Every parameter is moved a little in a random direction, dropout and z drawn alike each time."""
    model = network(NAMED[name], seeds=(1, 2)).train()
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


@pytest.mark.parametrize("architecture", VARIANTS.values(), ids=VARIANTS)
def test_a_replica_in_a_population_is_the_same_model_as_alone(architecture: Architecture) -> None:
    population, alone = network(architecture, seeds=(3, 5, 8)), network(architecture, seeds=(5,))
    prototypes, target = batch(population, 4)
    mine = prototypes[1:2, ..., :4], target[1:2, ..., :]
    prototypes = prototypes.clone()
    prototypes[1, ..., 4:] = 0  # the others' prototypes are longer
    for model in (population, alone):
        model.train()
    together, _ = score(population, prototypes, target, Noise([1, 2, 3], longest=9))
    single, _ = score(alone, *mine, Noise([2], longest=9))
    assert torch.allclose(together[1:2], single, atol=1e-12)
    gradients = [
        torch.autograd.grad(log_p.sum(), list(m.parameters())) for log_p, m in ((together, population), (single, alone))
    ]
    for many, one in zip(*gradients, strict=True):
        assert torch.allclose(many.chunk(3)[1], one, atol=1e-11)
