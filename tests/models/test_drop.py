import pytest
import torch

from recombine.models import device
from recombine.models.device import fused
from recombine.models.noise import Drop, Masks, dropped
from recombine.models.packing import Packing

PACKING = Packing.of((3, 3, 2), torch.device("cpu"))


@pytest.mark.parametrize("triton", [True, False])
def test_kernels_compute_on_gpus_where_there_is_triton(monkeypatch: pytest.MonkeyPatch, triton: bool) -> None:
    monkeypatch.setattr(device, "_have_triton", lambda: triton)
    assert fused(torch.device("cuda", 1)) == triton
    assert not fused(torch.device("cpu"))


def drawn(rate: float, *shape: int) -> Drop:
    return Drop.at(rate, torch.randint(0, 256, shape, dtype=torch.uint8))


def test_bytes_below_the_limit_are_dropped_and_the_rest_makes_up_for_it() -> None:
    x, drop = torch.randn(2, 3, 4), drawn(0.25, 2, 3, 4)
    expected = torch.where(drop.bits.int() < 64, 0.0, x * 4 / 3)
    assert torch.allclose(dropped(x, drop), expected)
    assert dropped(x, None) is x


def test_steps_are_parts_of_all_positions() -> None:
    drop = drawn(0.5, 2, PACKING.total, 4)
    steps = drop.steps(PACKING)
    assert [each.bits.shape[1] for each in steps] == [3, 3, 2]
    assert torch.equal(torch.cat([each.bits for each in steps], dim=1), drop.bits)
    assert torch.equal(Masks(drop).at(PACKING.at(1)).embedding.bits, steps[1].bits)


@pytest.mark.parametrize("rates", [(0.5, 0.25), (0.5, 0.0), (0.5, None), (1.0, 0.5), (0.25, 1.0)])
def test_what_is_passed_on_is_dropped_as_the_step_before_was_and_then_further(
    rates: tuple[float, float | None],
) -> None:
    first, further = (None if rate is None else drawn(rate, 2, PACKING.total, 40) for rate in rates)
    assert first is not None
    both = first.passed_on(further, PACKING).steps(PACKING)
    for t in (1, 2):
        rows = PACKING.counts[t]
        a = torch.randn(2, rows, 40)
        once = dropped(a, Masks(first).at(PACKING.at(t - 1, rows)).embedding)
        assert torch.allclose(dropped(a, both[t]), dropped(once, Masks(further).at(PACKING.at(t)).embedding))
