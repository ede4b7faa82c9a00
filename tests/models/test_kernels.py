"""The kernels beside their plain definitions."""

from dataclasses import replace

import pytest
import torch
from kernels_here import DEVICE, KERNELS, PLAIN, use
from networks import VARIANTS, batch, network, some_z
from torch import Tensor

from recombine.models import fusion
from recombine.models.fusion import Drop, Gates, Hoisted, Remembered
from recombine.models.kernels.attention import weighed
from recombine.models.noise import Noise
from recombine.training.optimizer import population_adam

R, B, H = 2, 3, 20
precisions = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])


def drawn(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, device=DEVICE).to(dtype).requires_grad_()


def both_ways(monkeypatch: pytest.MonkeyPatch, compute, *inputs: Tensor) -> list[tuple[Tensor, Tensor]]:  # noqa: ANN001
    """Outputs and gradients of all inputs, (plain in double precision, by kernels)."""
    results = []
    for devices in (PLAIN, KERNELS):
        use(devices, monkeypatch)
        own = [x.detach().double() if devices == PLAIN else x.detach().clone() for x in inputs]
        own = [x.requires_grad_() for x in own]
        outputs = compute(*own)
        generator = torch.Generator().manual_seed(0)
        loss = sum((o.double() * torch.randn(o.shape, generator=generator).to(o.device)).sum() for o in outputs)
        results.append([*outputs, *torch.autograd.grad(loss, own)])
    return list(zip(*results, strict=True))


def check(pairs: list[tuple[Tensor, Tensor]], dtype: torch.dtype) -> None:
    tolerance = 1e-4 if dtype == torch.float32 else 3e-2
    for plain, by_kernel in pairs:
        # Some are zero (the gradient of a score without another beside it), where kernels leave errors of 5e-6.
        difference = (plain - by_kernel.double()).norm() / plain.norm().clamp(min=0.1)
        assert difference.item() < tolerance


@precisions
@pytest.mark.parametrize("rate", [None, 0.5, 0.7])
def test_join(monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, rate: float | None) -> None:
    bits = torch.randint(0, 256, (R, 4, B, H), dtype=torch.uint8, device=DEVICE)
    drop = None if rate is None else Drop.at(rate, bits).steps()[2]
    a, b = drawn(R, 4, B, H, dtype=dtype), drawn(R, B, 7, dtype=dtype)
    room = torch.empty(R, 3, B, H + 14, device=DEVICE, dtype=dtype)
    alone, one, two = (room[:, 1, :, : H + size] for size in (0, 7, 14))
    check(both_ways(monkeypatch, lambda a, b: [*fusion.join(a[:, 1], drop, b, out=one)], a, b), dtype)
    check(both_ways(monkeypatch, lambda a, b: [fusion.join(a[:, 1], drop, b, out=one).all], a, b), dtype)
    check(both_ways(monkeypatch, lambda a, b: [*fusion.join(a[:, 1], drop, b, 2 * b, out=two)], a, b), dtype)
    check(both_ways(monkeypatch, lambda a: [*fusion.join(a[:, 1], drop, out=alone)], a), dtype)
    check(both_ways(monkeypatch, lambda a: [fusion.dropped(a[:, 1], drop)], a), dtype)


@precisions
@pytest.mark.parametrize("uses", [1, 2, 3])
def test_lstm_cell(monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, uses: int) -> None:
    x, s, c = drawn(R, 3, B, 5, dtype=dtype), drawn(3, R, B, 4 * H, dtype=dtype), drawn(R, B, H)
    weight, bias = drawn(R, 5, 4 * H, dtype=dtype), drawn(R, 1, 4 * H, dtype=dtype)

    def compute(x: Tensor, weight: Tensor, bias: Tensor, s: Tensor, c: Tensor) -> list[Tensor]:
        gates, outputs = Gates(x, weight, bias), []
        for step in range(3):
            hs, c = gates.cell(step, s[step], c, uses=uses)
            outputs += [h * (number + 1) for number, h in enumerate(hs)]
        return [*outputs, c]

    check(both_ways(monkeypatch, compute, x, weight, bias, s, c), dtype)


@precisions
@pytest.mark.parametrize("sources", [1, 5, 16])
@pytest.mark.parametrize("copied", [False, True])
def test_attend(monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, sources: int, copied: bool) -> None:
    prototypes, size, value = 2, 24, 40
    count = R * B * prototypes
    queries, bias = drawn(3, count, 1, size, dtype=dtype), drawn(R, B, prototypes, sources)
    keys, values = drawn(count, sources, size, dtype=dtype), drawn(count, sources, value, dtype=dtype)

    def compute(queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor) -> list[Tensor]:
        remembered = Remembered(keys, values)
        steps = [remembered.attend(q / 4, bias) for q in queries]
        if copied:
            return [part for step in steps for part in step]
        return [step.retrieved for step in steps]

    check(both_ways(monkeypatch, compute, queries, keys, values, bias), dtype)


def test_attention_may_be_gone_back_over_again_from_an_earlier_step(monkeypatch: pytest.MonkeyPatch) -> None:
    count, sources = R * B, 5
    inputs = drawn(count, 1, H), drawn(count, sources, H), drawn(count, sources, H)
    bias = torch.zeros(R, B, 1, sources, device=DEVICE)

    def gradients(attend, inputs: tuple[Tensor, ...]) -> list[Tensor]:  # noqa: ANN001
        query, outputs = inputs[0], []
        for _ in range(4):
            query = torch.tanh(query + attend(query))
            outputs.append(query.sum())
        of_query = [torch.autograd.grad(outputs[step], inputs[:1], retain_graph=True) for step in (2, 3)]
        of_all = [torch.autograd.grad(outputs[step], inputs, retain_graph=True) for step in (3, 1, 2, 1)]
        skipping = torch.autograd.grad(outputs[0] + attend(inputs[0]).sum(), inputs)
        return [each for part in (*of_query, *of_all, skipping) for each in part]

    exact = tuple(x.detach().double().requires_grad_() for x in inputs)
    plain = gradients(lambda query: torch.softmax(query @ exact[1].transpose(1, 2), -1) @ exact[2], exact)
    use(KERNELS, monkeypatch)
    remembered = Remembered(*inputs[1:])
    found = gradients(lambda query: remembered.attend(query, bias).retrieved.view(count, 1, H), inputs)
    check(list(zip(plain, found, strict=True)), torch.float32)


def test_attention_to_some_examples_has_gradients_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    count, sources, rows = R * B, 5, torch.tensor([4, 0, 0], device=DEVICE)
    bias = torch.zeros(1, len(rows), 1, sources, device=DEVICE)

    def compute(query: Tensor, keys: Tensor, values: Tensor) -> list[Tensor]:
        everything = Remembered(keys, values)
        whole = everything.attend(query, bias.new_zeros(R, B, 1, sources))
        some = Remembered(everything.keys[rows], everything.values[rows])
        return [some.attend(query[rows], bias).retrieved, whole.retrieved]

    inputs = drawn(count, 1, H), drawn(count, sources, H), drawn(count, sources, H)
    check(both_ways(monkeypatch, compute, *inputs), torch.float32)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("frozen", [False, True])
def test_products_with_room(monkeypatch: pytest.MonkeyPatch, rows: int, steps: int, frozen: bool) -> None:
    def compute(left: Tensor, right: Tensor, bias: Tensor) -> list[Tensor]:
        before = bias.detach().clone()
        product = Hoisted(right.detach() if frozen else right, bias.detach() if frozen else bias)
        room = product.room(steps, rows)
        results = [product(left[step], out=room[:, step]) for step in range(steps)]
        with torch.no_grad():
            again = product.room(1, rows)
            results.append(product(left[0], out=again[:, 0]))
        assert torch.equal(bias, before)
        return [*results, (right + bias).sum()]  # so that there is a gradient of what is frozen

    inputs = drawn(steps, R, rows, H), drawn(R, H, 6), drawn(R, 1, 6)
    check(both_ways(monkeypatch, compute, *inputs), torch.float32)


@pytest.mark.parametrize("name", VARIANTS)
def test_decoding_a_single_example_changes_no_parameter(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    use(KERNELS, monkeypatch)
    model = network(VARIANTS[name], seeds=(4, 5)).to(DEVICE).float().eval()
    before = [parameter.clone() for parameter in model.parameters()]
    sources, targets = (tokens.to(DEVICE) for tokens in batch(model, 1))
    z = some_z(model, 1)
    with torch.no_grad():
        context = model.remember(sources)
        model.decode(context, context.state, targets[:, :, :1], z=None if z is None else z.to(DEVICE).float())
    assert all(torch.equal(parameter, old) for parameter, old in zip(model.parameters(), before, strict=True))


@precisions
def test_gradients_of_keys_and_values_have_any_size(dtype: torch.dtype) -> None:
    for steps, sources, size in ((1, 1, 1), (17, 70, 30), (70, 17, 600)):
        factors, vectors = drawn(R, steps, sources, dtype=dtype), drawn(R, steps, size, dtype=dtype)
        check([(factors.double().transpose(1, 2) @ vectors.double(), weighed(factors, vectors))], dtype)


@precisions
@pytest.mark.parametrize("steps", [1, 2, 6])
@pytest.mark.parametrize("copied", [False, True])
def test_own_output(monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, steps: int, copied: bool) -> None:
    """Each state depends on what was retrieved before it, as a decoder's do."""

    def compute(x: Tensor) -> list[Tensor]:
        own, h, outputs = fusion.OwnOutput(x.new_empty(R, B, 0, H), steps), x[0], []
        for step in range(steps):
            scores, retrieved = own.attend(h / 4 + x[step])
            own.add(h)
            h = torch.tanh(h + retrieved + x[step])
            outputs += [scores, retrieved] if copied else [retrieved]
        assert own.states.shape == (R, B, steps, H)
        return [*outputs, h]

    check(both_ways(monkeypatch, compute, drawn(steps, R, B, H, dtype=dtype)), dtype)


def test_own_output_may_be_gone_back_over_again_from_an_earlier_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def gradients(x: Tensor) -> list[Tensor]:
        own, h, outputs = fusion.OwnOutput(x.new_empty(R, B, 0, H), 4), x[0], []
        for step in range(4):
            _, retrieved = own.attend(h + x[step])
            own.add(h)
            h = torch.tanh(h + retrieved)
            outputs.append(h.sum())
        own.attend(h)  # after the last state, too
        return [torch.autograd.grad(outputs[step], x, retain_graph=True)[0] for step in (3, 1, 2, 1)]

    x = drawn(4, R, B, H)
    use(PLAIN, monkeypatch)
    plain = gradients(x.detach().double().requires_grad_())
    use(KERNELS, monkeypatch)
    check(list(zip(plain, gradients(x), strict=True)), torch.float32)


def test_own_output_goes_on_from_earlier_states(monkeypatch: pytest.MonkeyPatch) -> None:
    before, h, query = drawn(R, B, 3, H), drawn(R, B, H), drawn(R, B, H)

    def compute(h: Tensor, query: Tensor) -> list[Tensor]:
        own = fusion.OwnOutput(before.detach().to(h.dtype), 2)
        first = own.attend(query)
        own.add(h)
        return [*first, *own.attend(2 * query), own.states.detach()]

    check(both_ways(monkeypatch, compute, h, query), torch.float32)


@pytest.mark.parametrize("in_a_row", [True, False])
def test_what_lies_in_a_row_is_stacked_without_a_copy(monkeypatch: pytest.MonkeyPatch, in_a_row: bool) -> None:
    room = torch.randn(R, 4, B, H, device=DEVICE)

    def compute(*parts: Tensor) -> list[Tensor]:
        return [fusion.stacked([2 * part for part in parts])]

    check(both_ways(monkeypatch, compute, *(drawn(R, B, H) for _ in range(3))), torch.float32)
    use(KERNELS, monkeypatch)
    parts = room.unbind(1) if in_a_row else [part.clone() for part in room.unbind(1)]
    together = fusion.stacked(parts)
    assert torch.equal(together, room)
    assert (together.data_ptr() == room.data_ptr()) == in_a_row


class Elsewhere:
    """Noise that is drawn by torch on the CPU, so that both ways drop the same."""

    def __init__(self, noise: Noise) -> None:
        self.noise = noise

    def drop(self, rate: float, steps: int, *shape: int) -> Drop:
        drop = self.noise.drop(rate, steps, *shape)
        return drop._replace(bits=drop.bits.to(DEVICE))

    def dropped(self, rate: float, steps: int, *shape: int) -> Tensor:
        return self.noise.dropped(rate, steps, *shape).to(DEVICE)


@pytest.mark.parametrize("name", VARIANTS)
def test_whole_networks(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    results = []
    for devices in (PLAIN, KERNELS):
        use(PLAIN, monkeypatch)
        noise = Elsewhere(Noise([1, 2]))
        use(devices, monkeypatch)
        model = network(VARIANTS[name], seeds=(4, 5)).to(DEVICE).train()
        model = model if devices == PLAIN else model.float()
        sources, targets = (tokens.to(DEVICE) for tokens in batch(model, 3))
        z = some_z(model, 3)
        log_p, counts = model(sources, targets, noise, z=None if z is None else z.to(DEVICE))
        assert counts.any()
        log_p.sum().backward()
        results.append([log_p, *(parameter.grad for parameter in model.parameters() if parameter.grad is not None)])
    check(list(zip(*results, strict=True)), torch.float32)


@pytest.mark.skipif(DEVICE == "cpu", reason="the noise of a GPU is drawn on one")
@pytest.mark.parametrize("precision", ["bfloat16", "float32"])
def test_training_by_kernels_learns_what_plain_training_does(precision: str) -> None:
    losses = []
    for device, its in ((DEVICE, precision), ("cpu", "float32")):
        torch.manual_seed(0)
        model = (
            network(replace(VARIANTS["scan"], hidden=32, embedding=16, attention=16), seeds=(4, 5)).float().to(device)
        )
        optimizer = population_adam(model.train(), 2, lr=1e-2, clip=1.0, precision=its)
        noise = Noise([1, 2], device)
        sources, targets = (tokens.to(device) for tokens in batch(model, 8))
        for _ in range(150):
            optimizer.zero_grad()
            log_p, _ = model(sources, targets, noise)
            (-log_p.sum() / 8).backward()
            optimizer.step()
        losses.append(-model.eval()(sources, targets)[0].sum().item() / 8)
    assert losses[0] == pytest.approx(losses[1], rel=0.3, abs=0.3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_adam_is_torchs(dtype: torch.dtype) -> None:
    from recombine.models.kernels.adam import adam

    parameter = torch.randn(R, 1300, device=DEVICE)
    expected = [row.clone().requires_grad_() for row in parameter]
    theirs = [torch.optim.Adam([row], lr=lr) for row, lr in zip(expected, (1e-2, 1e-3), strict=True)]
    computed = parameter.to(dtype)
    first, second = torch.zeros_like(parameter), torch.zeros_like(parameter)
    scale, lr = torch.tensor([1.0, 0.25], device=DEVICE), torch.tensor([1e-2, 1e-3], device=DEVICE)
    for step in range(1, 6):
        gradient = torch.randn(R, 1300, device=DEVICE).to(dtype)
        count = torch.tensor(float(step), device=DEVICE)
        adam(
            parameter, computed, gradient, first, second,
            lr=lr, scale=scale, step=count, betas=(0.9, 0.999), epsilon=1e-8,
        )  # fmt: skip
        for row, its, optimizer, factor in zip(expected, gradient, theirs, scale, strict=True):
            row.grad = its.float() * factor
            optimizer.step()
    assert torch.allclose(parameter, torch.stack(expected).detach(), atol=1e-6)
    assert torch.allclose(computed.float(), parameter, rtol=2**-7 if dtype == torch.bfloat16 else 0, atol=0)


def test_random_words(monkeypatch: pytest.MonkeyPatch) -> None:
    use(KERNELS, monkeypatch)
    both, alone = Noise([5, 2**40 + 1], DEVICE), Noise([2**40 + 1], DEVICE)
    for _ in range(2):
        together = both.drop(0.5, 7, 3, 11).bits
        assert torch.equal(together[1:], alone.drop(0.5, 7, 3, 11).bits)
    assert not torch.equal(together[0], together[1])
    short, long = Noise([1], DEVICE), Noise([1], DEVICE)
    assert torch.equal(short.drop(0.5, 2, 100).bits, long.drop(0.5, 90, 100).bits[:, :2])
    later = short.drop(0.5, 90, 100).bits
    assert torch.equal(later, long.drop(0.5, 90, 100).bits)
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
