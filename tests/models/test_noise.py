import math

import pytest
import torch
from scipy import stats

from recombine.models.noise import Noise, dropped
from recombine.models.packing import Packing

SHAPE = (7, 3, 5)


def steps(count: int, batch: int) -> Packing:
    return Packing.whole(count, batch, torch.device("cpu"))


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.7])
def test_so_many_are_dropped_and_the_rest_makes_up_for_it(rate: float) -> None:
    mask = dropped(torch.ones(1, 100, 1000), Noise([0]).drop(rate, steps(100, 1), 1000))
    share = (mask == 0).float().mean().item()
    assert share == pytest.approx(rate, abs=1 / 512 + 4 * math.sqrt(rate * (1 - rate) / mask.numel()))
    kept = mask[mask != 0]
    assert (kept == kept[0]).all()
    assert mask.mean().item() == pytest.approx(1, abs=0.03)
    assert 1 / kept[0].item() == pytest.approx(1 - rate, abs=1 / 512)


def test_what_is_dropped_is_independent_from_place_to_place() -> None:
    dropped = Noise([0]).drop(0.5, steps(400, 1), 64).lost[0].double() - 0.5
    for shift in (1, 7, 8, 64):
        flat = dropped.flatten()
        assert (4 * flat[shift:] * flat[:-shift]).mean().item() == pytest.approx(0, abs=4 / math.sqrt(len(flat)))


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_nothing_or_everything_is_dropped(rate: float) -> None:
    ones = torch.ones(1, 50, 50)
    drop = Noise([0]).drop(rate, steps(5, 10), 50)
    assert torch.equal(dropped(ones, drop), ones * (1 - rate))
    assert (drop.lost == bool(rate)).all()


@pytest.mark.parametrize("draw", ["uniform", "normal", "drop"])
def test_a_replica_draws_the_same_alone_and_in_any_company(draw: str) -> None:
    def numbers(*seeds: int) -> torch.Tensor:
        noise = Noise(seeds)

        def numbers() -> torch.Tensor:
            if draw == "drop":
                return noise.drop(0.4, steps(*SHAPE[:2]), SHAPE[2]).lost.view(-1, *SHAPE)
            return getattr(noise, draw)(*SHAPE)

        return torch.stack([numbers() for _ in range(3)], dim=1)

    together = numbers(11, 12, 13, 12)
    assert together.shape == (4, 3, *SHAPE)
    assert torch.equal(together[1:2], numbers(12))
    assert torch.equal(together[1], together[3])
    assert not torch.equal(together[0], together[1])
    assert not torch.equal(together[0, 0], together[0, 1])


def test_masks_do_not_depend_on_which_rows_and_steps_are_needed() -> None:
    some, every = Noise([1, 2], longest=9), Noise([1, 2], longest=9)
    part, whole = Packing.of((3, 3, 1, 1), torch.device("cpu")), steps(9, 3)
    for _ in range(3):
        expected = part.pack(every.drop(0.5, whole, 5).bits.unflatten(1, (9, 3)))
        assert torch.equal(some.drop(0.5, part, 5).bits, expected)
    assert torch.equal(some.uniform(4), every.uniform(4))


def test_uniform_and_normal_numbers_are_what_they_are_called() -> None:
    noise = Noise([3])
    assert stats.kstest(noise.uniform(5000).flatten().numpy(), stats.uniform.cdf).pvalue > 1e-3
    assert stats.kstest(noise.normal(5000).flatten().numpy(), stats.norm.cdf).pvalue > 1e-3


def test_a_restored_state_goes_on_where_it_was_saved() -> None:
    noise = Noise([1, 2])
    noise.uniform(3)
    saved = [state.clone() for state in noise.state()]
    expected = noise.normal(5), noise.drop(0.5, steps(3, 1), 2).bits
    other = Noise([8, 9])
    other.restore(saved)
    assert torch.equal(other.normal(5), expected[0])
    assert torch.equal(other.drop(0.5, steps(3, 1), 2).bits, expected[1])
