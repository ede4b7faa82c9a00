import math

import pytest
import torch
from scipy import stats

from recombine.errors import RecombineError
from recombine.models import device
from recombine.models.device import fused, resolve
from recombine.models.noise import Noise, dropped
from recombine.models.packing import Packing

CPU = torch.device("cpu")
COUNTS = (4, 4, 2, 1)
PACKING = Packing.of((3, 3, 2), CPU)
SHAPE = (7, 3, 5)


def steps(count: int, batch: int) -> Packing:
    return Packing.whole(count, batch, CPU)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.7, 1.0])
def test_that_share_is_dropped_and_the_rest_makes_up_for_it(rate: float) -> None:
    x, drop = torch.randn(1, 100, 1000), Noise([0]).drop(rate, steps(100, 1), 1000)
    share = drop.lost.float().mean().item()
    assert share == pytest.approx(rate, abs=(1 / 512 + 4 * math.sqrt(1 / x.numel())) * (0 < rate < 1))
    assert dropped(x, None) is x
    limit = round(256 * rate)
    expected = torch.where(drop.bits.int() < limit, 0.0, x * 256 / (256 - min(limit, 255)))
    assert torch.allclose(dropped(x, drop), expected)
    assert torch.allclose(x * drop.factors(x.dtype), expected)


def test_what_is_dropped_is_independent_from_place_to_place() -> None:
    dropped = Noise([0]).drop(0.5, steps(400, 1), 64).lost[0].double() - 0.5
    for shift in (1, 7, 8, 64):
        flat = dropped.flatten()
        assert (4 * flat[shift:] * flat[:-shift]).mean().item() == pytest.approx(0, abs=4 / math.sqrt(len(flat)))


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
    part, whole = Packing.of((3, 3, 1, 1), CPU), steps(9, 3)
    for _ in range(3):
        expected = part.pack(every.drop(0.5, whole, 5).bits.unflatten(1, (9, 3)))
        assert torch.equal(some.drop(0.5, part, 5).bits, expected)
    assert torch.equal(some.uniform(4), every.uniform(4))


def test_uniform_and_normal_numbers_are_what_they_are_called() -> None:
    noise = Noise([3])
    assert stats.kstest(noise.uniform(5000).flatten().numpy(), stats.uniform.cdf).pvalue > 1e-3
    assert stats.kstest(noise.normal(5000).flatten().numpy(), stats.norm.cdf).pvalue > 1e-3


@pytest.mark.parametrize("rates", [(0.5, 0.25), (0.5, 0.0), (0.5, None), (1.0, 0.5), (0.25, 1.0)])
def test_what_is_passed_on_is_dropped_as_the_step_before_was_and_then_further(
    rates: tuple[float, float | None],
) -> None:
    first, further = (None if rate is None else Noise([0, 1]).drop(rate, PACKING, 40) for rate in rates)
    assert torch.equal(torch.cat([each.bits for each in first.steps(PACKING)], dim=1), first.bits)
    both = first.passed_on(further, PACKING).steps(PACKING)
    for t in (1, 2):
        rows = PACKING.counts[t]
        a, before = torch.randn(2, rows, 40), first.steps(PACKING)[t - 1]
        once = dropped(a, before._replace(bits=before.bits[:, :rows]))
        assert torch.allclose(dropped(a, both[t]), dropped(once, further and further.steps(PACKING)[t]))


@pytest.mark.parametrize("triton", [True, False])
def test_kernels_compute_on_gpus_where_there_is_triton(monkeypatch: pytest.MonkeyPatch, triton: bool) -> None:
    monkeypatch.setattr(device, "_have_triton", lambda: triton)
    assert fused(torch.device("cuda", 1)) == triton
    assert not fused(torch.device("cpu"))


def test_positions_are_numbered_step_by_step_and_a_packing_is_made_once() -> None:
    packing = Packing.of(COUNTS, CPU)
    assert (packing.batch, packing.total, packing.steps, packing.full) == (4, 11, 4, False)
    assert packing.starts == packing.offsets.tolist() == [0, 4, 8, 10]
    assert packing.rows.tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 0]
    assert packing.step.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3]
    assert packing.spans.tolist() == [4, 3, 2, 2]
    assert packing.places.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12]
    assert packing.before[4:].tolist() == [0, 1, 2, 3, 4, 5, 8]
    assert steps(2, 4) is Packing.of((4, 4), CPU)
    assert steps(2, 4).full


@pytest.mark.parametrize("counts", [COUNTS, (3, 3, 3), (1,)])
def test_what_is_packed_can_be_unpacked(counts: tuple[int, ...]) -> None:
    packing = Packing.of(counts, CPU)
    x = torch.randn(2, len(counts) + 1, counts[0], 5)  # with a step more than there is
    packed = packing.pack(x)
    assert packed.shape == (2, sum(counts), 5)
    unpacked = packing.unpack(packed, fill=7.0)
    for t, count in enumerate(counts):
        assert torch.equal(unpacked[:, t, :count], x[:, t, :count])
        assert (unpacked[:, t, count:] == 7).all()
        assert torch.equal(packing.split(packed)[t], x[:, t, :count])


NAMES = ["", "tpu", "gpu", "CPU", "cuda:x", "cuda:-1", "cpu:", "cuda:", ":0", "cuda:²"]


@pytest.mark.parametrize("gpu", [True, False], ids=["GPU", "no GPU"])
def test_automatically_the_gpu_which_has_to_be_there(gpu: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    assert resolve("auto") == torch.device("cuda" if gpu else "cpu")
    assert resolve("cpu") == torch.device("cpu")
    for name in ("cuda", "cuda:1"):
        if gpu:
            assert resolve(name) == torch.device(name)
        else:
            with pytest.raises(RecombineError, match=r"no CUDA GPU.*`device='cpu'`"):
                resolve(name)
    for name in NAMES:
        with pytest.raises(RecombineError, match="unknown device"):
            resolve(name)
