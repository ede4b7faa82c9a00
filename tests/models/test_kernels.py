"""The kernels beside their plain definitions."""

import pytest
import torch
from kernels_here import DEVICE, KERNELS, PLAIN, use
from networks import CALLING_ALL_KERNELS, VARIANTS, batch, network, some_z
from torch import Tensor

from recombine.data.vocabulary import EOS, PAD
from recombine.models.kernels.attention import blocks, weighed
from recombine.models.noise import Drop, Noise
from recombine.models.packing import Packing
from recombine.models.scoring import score

pytestmark = pytest.mark.gpu

R = 2
precisions = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])


def drawn(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, device=DEVICE).to(dtype).requires_grad_()


def check(pairs: list[tuple[Tensor, Tensor]], dtype: torch.dtype) -> None:
    tolerance = 1e-4 if dtype == torch.float32 else 3e-2
    for plain, by_kernel in pairs:
        # Some are zero (the gradient of a score without another beside it), where kernels leave errors of 5e-6.
        difference = (plain - by_kernel.double()).norm() / plain.norm().clamp(min=0.1)
        assert difference.item() < tolerance


@precisions
@pytest.mark.parametrize("sources", [1, 5, 17])
def test_gradients_of_keys_and_values_are_sums_over_the_steps_of_a_row(dtype: torch.dtype, sources: int) -> None:
    packing = Packing.of((3, 3, 2, 1), torch.device(DEVICE))
    for size, alike in ((1, False), (30, True), (600, False)):
        factors = drawn(R, packing.total, 2, sources, dtype=dtype).detach()
        vectors = drawn(R, packing.total, 1 if alike else 2, size, dtype=dtype).detach()
        each = packing.unpack(vectors.double()).expand(-1, -1, -1, 2, -1)
        expected = torch.einsum("rtbks,rtbkd->rbksd", packing.unpack(factors.double()), each)
        check([(expected, weighed(factors, vectors.expand(-1, -1, 2, -1), packing))], dtype)


@pytest.mark.parametrize("programs", [1, 10_000])
@pytest.mark.parametrize("sources", [5, 300, 100_000])
def test_attention_has_as_many_warps_as_a_block_may(sources: int, programs: int) -> None:
    assert blocks(sources, 512, programs)["num_warps"] in (1, 2, 4, 8, 16)


class Elsewhere:
    """Noise that is drawn by torch on the CPU, so that both ways drop the same."""

    def __init__(self, noise: Noise, device: str) -> None:
        self.noise, self.device = noise, device

    def drop(self, rate: float, packing: Packing, size: int) -> Drop:
        drop = self.noise.drop(rate, Packing.of(packing.counts, torch.device("cpu")), size)
        return drop._replace(bits=drop.bits.to(self.device))


@pytest.mark.parametrize("name", VARIANTS if DEVICE == "cuda" else CALLING_ALL_KERNELS)
def test_whole_networks(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Rows end at different steps: three, two and one go on."""
    results = []
    for devices, device in ((PLAIN, "cpu"), (KERNELS, DEVICE)):
        use(PLAIN, monkeypatch)
        noise = Elsewhere(Noise([1, 2], longest=9), device)
        model = network(VARIANTS[name], seeds=(4, 5)).train()
        model = model if devices == PLAIN else model.float()
        sources, targets = batch(model, 3, source=4, target=5)
        for row, length in enumerate((5, 3, 2)):
            targets[:, row, length - 1] = EOS
            targets[:, row, length:] = PAD
        z = some_z(model, 3)
        use(devices, monkeypatch)
        log_p, counts = score(
            model.to(device),
            sources.to(device),
            targets.to(device),
            noise,
            z=None if z is None else z.to(device),
            packing=Packing.of((3, 3, 2, 1, 1), torch.device(device)),
        )
        assert counts.any()
        log_p.sum().backward()
        gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        results.append([log_p.cpu(), *(gradient.cpu() for gradient in gradients)])
    check(list(zip(*results, strict=True)), torch.float32)


def test_random_words(monkeypatch: pytest.MonkeyPatch) -> None:
    use(KERNELS, monkeypatch)
    device = torch.device(DEVICE)
    both, alone = Noise([5, 2**40 + 1], DEVICE), Noise([2**40 + 1], DEVICE)
    for _ in range(2):
        together = both.drop(0.5, Packing.whole(7, 3, device), 11).bits
        assert torch.equal(together[1:], alone.drop(0.5, Packing.whole(7, 3, device), 11).bits)
    assert not torch.equal(together[0], together[1])
    short, long = Noise([1], DEVICE), Noise([1], DEVICE)
    some, every = Packing.of((3, 2, 2, 1), device), Packing.whole(90, 3, device)
    expected = some.pack(long.drop(0.5, every, 100).bits.unflatten(1, (90, 3)))
    assert torch.equal(short.drop(0.5, some, 100).bits, expected)
    later = short.drop(0.5, every, 100).bits
    assert torch.equal(later, long.drop(0.5, every, 100).bits)
    counts = later.flatten().int().bincount(minlength=256).double()
    assert (counts - later.numel() / 256).abs().max() < 6 * (later.numel() / 256) ** 0.5
    uniform, normal = short.uniform(20_000), short.normal(20_000)
    assert uniform.mean().item() == pytest.approx(0.5, abs=0.01)
    assert 0 <= uniform.min() < uniform.max() < 1
    assert normal.mean().item() == pytest.approx(0, abs=0.03)
    assert normal.std().item() == pytest.approx(1, abs=0.03)
    saved = [state.clone() for state in short.state()]
    expected = short.uniform(9)
    other = Noise([77], DEVICE)
    other.restore(saved)
    assert torch.equal(other.uniform(9), expected)
