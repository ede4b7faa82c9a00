"""The operations as they are defined; `test_kernels` holds the kernels to these."""

import pytest
import torch
from torch import Tensor, nn

from recombine.models.fusion import Drop, Gates, Hoisted, OwnOutput, affine, availability, dropped, fused, join
from recombine.models.fusion.hoisted import side_by_side


@pytest.mark.parametrize("triton", [True, False])
def test_kernels_compute_on_gpus_where_there_is_triton(monkeypatch: pytest.MonkeyPatch, triton: bool) -> None:
    monkeypatch.setattr(availability, "_have_triton", lambda: triton)
    assert fused(torch.device("cuda", 1)) == triton
    assert not fused(torch.device("cpu"))


def test_gates_are_those_of_torchs_lstm_cell() -> None:
    x, h, c = (torch.randn(1, *shape, dtype=torch.double) for shape in ((2, 3, 5), (3, 4), (3, 4)))
    theirs = nn.LSTMCell(5, 4, dtype=torch.double)
    with torch.no_grad():
        theirs.bias_hh.zero_()
    gates = Gates(x, theirs.weight_ih.T.unsqueeze(0), theirs.bias_ih.view(1, 1, -1))
    for step in (0, 1):
        expected = theirs(x[0, step], (h[0], c[0]))
        (once, again), c = gates.cell(step, h @ theirs.weight_hh.T, c, uses=2)
        assert torch.equal(once, again)
        assert torch.allclose(once[0], expected[0], atol=1e-12)
        assert torch.allclose(c[0], expected[1], atol=1e-12)
        h = once


@pytest.mark.parametrize("others", [0, 1, 2])
def test_vectors_are_joined_and_the_first_is_dropped_in_part(others: int) -> None:
    a, b = torch.randn(2, 3, 4), torch.randn(2, 3, 5)
    drop = Drop.at(0.25, torch.randint(0, 256, (2, 7, 3, 4), dtype=torch.uint8)).steps()[6]
    joined = join(a, drop, *[b] * others, out=torch.empty(2, 3, 4 + 5 * others))
    expected = torch.where(drop.bits.int() < 64, 0.0, a * 4 / 3)
    assert torch.allclose(joined.a, expected)
    assert torch.equal(joined.all, torch.cat([joined.a, *[b] * others], dim=-1))
    assert torch.equal(joined.a, dropped(a, drop))
    assert torch.equal(join(a, None, b, out=torch.empty(2, 3, 9)).a, a)


@pytest.mark.parametrize("rates", [(0.5, 0.25), (0.5, 0.0), (0.5, None), (1.0, 0.5), (0.25, 1.0)])
def test_what_is_passed_on_is_dropped_as_the_step_before_was_and_then_further(
    rates: tuple[float, float | None],
) -> None:
    first, further = (
        None if rate is None else Drop.at(rate, torch.randint(0, 256, (2, 4, 3, 40), dtype=torch.uint8))
        for rate in rates
    )
    assert first is not None
    a, both = torch.randn(2, 3, 40), first.passed_on(further).steps()
    for t in (1, 2, 3):
        once = dropped(a, first.steps()[t - 1])
        assert torch.allclose(dropped(a, both[t]), dropped(once, further.steps()[t] if further else None))


def test_attention_to_own_output_weighs_the_states_so_far() -> None:
    h, query = torch.randn(3, 1, 1, 4), torch.randn(1, 1, 4)
    own = OwnOutput(torch.empty(1, 1, 0, 4), 3)
    scores, retrieved = own.attend(query)
    assert scores.shape == (1, 1, 0)
    assert torch.equal(retrieved, torch.zeros(1, 1, 4))  # there is nothing yet
    for count in (1, 2, 3):
        own.add(h[count - 1])
        scores, retrieved = own.attend(query)
        expected = h[:count, 0, 0] @ query[0, 0]
        assert torch.allclose(scores[0, 0], expected)
        assert torch.allclose(retrieved[0, 0], torch.softmax(expected, 0) @ h[:count, 0, 0])
    assert torch.equal(own.states, h[:, 0].transpose(0, 1).unsqueeze(0))


def test_an_affine_map_has_the_gradients_of_a_plain_one() -> None:
    left, right = (torch.randn(2, size, 4, dtype=torch.double, requires_grad=True) for size in (3, 4))
    bias = torch.randn(2, 1, 4, dtype=torch.double, requires_grad=True)
    assert torch.allclose(affine(left, right, bias), left @ right + bias)
    assert torch.autograd.gradcheck(affine, (left, right, bias))
    assert torch.autograd.gradcheck(affine, (left, right, None))
    assert torch.autograd.gradcheck(affine, (left.detach(), right, bias.detach()))
    y = affine(left, right, bias).sum()
    torch.autograd.grad(y, left, retain_graph=True)
    (gradient,) = torch.autograd.grad(y, bias)
    assert torch.allclose(gradient, torch.full_like(bias, 3))


def test_a_hoisted_product_has_the_gradients_of_a_plain_one() -> None:
    def recurrent(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
        product = Hoisted(right, bias)
        x = left
        for _ in range(3):
            x = torch.tanh(product(x))
        return x + product(left)

    left, right = (torch.randn(2, size, 4, dtype=torch.double, requires_grad=True) for size in (3, 4))
    bias = torch.randn(2, 1, 4, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(recurrent, (left, right))
    assert torch.autograd.gradcheck(recurrent, (left, right, bias))
    assert torch.autograd.gradcheck(recurrent, (left, right, bias.detach()))
    assert torch.autograd.gradcheck(recurrent, (left, right.detach(), bias))


def test_a_hoisted_product_may_be_gone_back_over_twice() -> None:
    right = torch.randn(1, 2, 2, requires_grad=True)
    product = Hoisted(right)
    loss = product(torch.ones(1, 1, 2)).sum() + product(torch.ones(1, 1, 2)).sum()
    (first,) = torch.autograd.grad(loss, right, retain_graph=True)
    (second,) = torch.autograd.grad(loss, right)
    assert torch.equal(first, torch.full_like(right, 2))
    assert torch.equal(first, second)


@pytest.mark.parametrize("needed", ["left", "right", "neither"])
def test_a_hoisted_product_of_what_needs_no_gradient(needed: str) -> None:
    left = torch.randn(1, 2, 3, requires_grad=needed == "left")
    right = torch.randn(1, 3, 2, requires_grad=needed == "right")
    product = Hoisted(right)
    y = product(left) + product(left)
    assert torch.allclose(y, 2 * left @ right)
    if needed != "neither":
        y.sum().backward()
        gradient = {"left": left.grad, "right": right.grad}[needed]
        expected = {"left": 2 * right.sum(-1).unsqueeze(1).expand_as(left), "right": 2 * left.sum(1).unsqueeze(-1)}
        assert torch.allclose(gradient, expected[needed].expand_as(gradient))


ROOM = torch.arange(2 * 6 * 3 * 5.0).view(2, 6, 3, 5)  # (R, T, B, size)
LAYOUTS = {
    "all steps": (ROOM.unbind(1), True),
    "some steps": (ROOM[:, 2:5].unbind(1), True),
    "part of each vector": (ROOM[..., 1:4].unbind(1), True),
    "one step": (ROOM[:, 3:4].unbind(1), True),
    "backwards": (ROOM.unbind(1)[::-1], False),
    "a step left out": (ROOM[:, ::2].unbind(1), False),
    "a step twice": ((ROOM[:, 1], ROOM[:, 1]), False),
    "steps first in memory": (ROOM.transpose(0, 1).contiguous().unbind(0), False),
    "other strides": ((ROOM[:, 0, :2], ROOM[:, 0, 2::2], ROOM[:, 1, :2]), False),
    "memory of their own": (tuple(part.clone() for part in ROOM.unbind(1)), False),
    "one from elsewhere": ((ROOM[:, 0], ROOM[:, 1].clone(), ROOM[:, 2]), False),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_that_lie_in_a_row_are_not_copied_to_be_side_by_side(layout: str) -> None:
    parts, in_a_row = LAYOUTS[layout]
    together = side_by_side(parts)
    assert torch.equal(together, torch.cat(parts, dim=1))
    assert (together.untyped_storage().data_ptr() == ROOM.untyped_storage().data_ptr()) == in_a_row
