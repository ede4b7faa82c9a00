import pytest
import torch
from networks import SCAN, network

from recombine.models.recombiner import Recombiner
from recombine.training.optimizer import PopulationAdam, gradients_of
from recombine.training.recipe import Precision

SEEDS = (1, 2, 3)


def gradients(model: Recombiner, step: int) -> list[torch.Tensor]:
    """Gradients that differ by replica, some longer and some shorter than the clipping norm."""
    found = []
    for number, parameter in enumerate(model.parameters()):
        generator = torch.Generator().manual_seed(100 * step + number)
        drawn = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
        size = torch.tensor([0.001, 0.1, 10.0], dtype=parameter.dtype).repeat_interleave(len(parameter) // 3)
        found.append(drawn * size.view(-1, *[1] * (parameter.dim() - 1)))
    return found


@pytest.mark.parametrize(("clip", "share"), [(None, 1.0), (1.0, 1.0), (1.0, 0.3)])
def test_each_replica_is_updated_as_by_torchs_adam_alone(clip: float | None, share: float) -> None:
    model = network(SCAN, SEEDS)
    lrs = [1e-2, 0.0, 3e-3]
    singles = [[p.detach().chunk(3)[r].clone() for p in model.parameters()] for r in range(3)]
    optimizer = PopulationAdam(model, 3, lr=1e-2, clip=clip)
    optimizer.lr.copy_(torch.tensor(lrs))
    optimizer.share.fill_(share)
    adams = [torch.optim.Adam(single, lr=share * lr) for single, lr in zip(singles, lrs, strict=True)]
    for step in range(10):
        for r, (single, adam) in enumerate(zip(singles, adams, strict=True)):
            for mine, gradient in zip(single, gradients(model, step), strict=True):
                mine.grad = gradient.chunk(3)[r].clone()
            if clip is not None:
                torch.nn.utils.clip_grad_norm_(single, clip)
            adam.step()
        optimizer.update(gradients(model, step))
    for r, single in enumerate(singles):
        for mine, parameter in zip(single, model.parameters(), strict=True):
            assert torch.allclose(parameter.chunk(3)[r], mine, atol=1e-8)


def test_gradients_are_taken_and_forgotten() -> None:
    model = network(SCAN, SEEDS)
    first, *others = model.parameters()
    first.grad = torch.ones_like(first)
    found = gradients_of(model)
    assert torch.equal(found[0], torch.ones_like(first))
    assert all((gradient == 0).all() for gradient in found[1:])
    assert all(parameter.grad is None for parameter in (first, *others))


@pytest.mark.parametrize("precision", ["bfloat16", "float32"])
def test_without_kernels_networks_are_trained_in_their_own_precision(precision: Precision) -> None:
    """As on a CPU, so on a GPU without Triton."""
    model = network(SCAN, SEEDS).float()
    optimizer = PopulationAdam(model, 3, lr=1e-2, clip=1.0, precision=precision)
    assert not optimizer.kernels
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    for master, parameter in zip(optimizer.masters, model.parameters(), strict=True):
        assert master.data_ptr() == parameter.data_ptr()
