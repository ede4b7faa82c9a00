import math

import pytest
import torch
from scipy import stats

from recombine.models.fusion import dropped
from recombine.models.noise import Noise

SHAPE = (7, 3, 5)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.7])
def test_so_many_are_dropped_and_the_rest_makes_up_for_it(rate: float) -> None:
    mask = dropped(torch.ones(1, 100, 1000), Noise([0]).drop(rate, 100, 1000))
    share = (mask == 0).float().mean().item()
    assert share == pytest.approx(rate, abs=1 / 512 + 4 * math.sqrt(rate * (1 - rate) / mask.numel()))
    kept = mask[mask != 0]
    assert (kept == kept[0]).all()
    assert mask.mean().item() == pytest.approx(1, abs=0.03)
    assert 1 / kept[0].item() == pytest.approx(1 - rate, abs=1 / 512)


def test_what_is_dropped_is_independent_from_place_to_place() -> None:
    dropped = Noise([0]).dropped(0.5, 400, 64)[0].double() - 0.5
    for shift in (1, 7, 8, 64):
        flat = dropped.flatten()
        assert (4 * flat[shift:] * flat[:-shift]).mean().item() == pytest.approx(0, abs=4 / math.sqrt(len(flat)))


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_nothing_or_everything_is_dropped(rate: float) -> None:
    ones = torch.ones(1, 50, 50)
    assert torch.equal(dropped(ones, Noise([0]).drop(rate, 50, 50)), ones * (1 - rate))
    assert (Noise([0]).dropped(rate, 50, 50) == bool(rate)).all()


@pytest.mark.parametrize("draw", ["uniform", "normal", "dropped"])
def test_a_replica_draws_the_same_alone_and_in_any_company(draw: str) -> None:
    def numbers(*seeds: int) -> torch.Tensor:
        noise = Noise(seeds)
        rate = (0.4,) if draw == "dropped" else ()
        return torch.stack([getattr(noise, draw)(*rate, *SHAPE) for _ in range(3)], dim=1)

    together = numbers(11, 12, 13, 12)
    assert together.shape == (4, 3, *SHAPE)
    assert torch.equal(together[1:2], numbers(12))
    assert torch.equal(together[1], together[3])
    assert not torch.equal(together[0], together[1])
    assert not torch.equal(together[0, 0], together[0, 1])


def test_masks_do_not_depend_on_how_many_steps_are_needed() -> None:
    short, long = Noise([1, 2], longest=9), Noise([1, 2], longest=9)
    for _ in range(3):
        assert torch.equal(short.dropped(0.5, 2, 3, 5), long.dropped(0.5, 9, 3, 5)[:, :2])
    assert torch.equal(short.uniform(4), long.uniform(4))


def test_uniform_and_normal_numbers_are_what_they_are_called() -> None:
    noise = Noise([3])
    assert stats.kstest(noise.uniform(5000).flatten().numpy(), stats.uniform.cdf).pvalue > 1e-3
    assert stats.kstest(noise.normal(5000).flatten().numpy(), stats.norm.cdf).pvalue > 1e-3


def test_a_restored_state_goes_on_where_it_was_saved() -> None:
    noise = Noise([1, 2])
    noise.uniform(3)
    saved = [state.clone() for state in noise.state()]
    expected = noise.normal(5), noise.dropped(0.5, 3, 2)
    other = Noise([8, 9])
    other.restore(saved)
    assert torch.equal(other.normal(5), expected[0])
    assert torch.equal(other.dropped(0.5, 3, 2), expected[1])
