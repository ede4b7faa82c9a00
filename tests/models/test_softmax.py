from collections.abc import Iterator

import pytest
import torch

from recombine.models.softmax import softmax

SIZES = (1, 3, 16, 17, 24, 100)


def gradient(scores: torch.Tensor, d_weights: torch.Tensor) -> torch.Tensor:
    scores = scores.clone().requires_grad_()
    softmax(scores).backward(d_weights)
    assert scores.grad is not None
    return scores.grad


@pytest.fixture
def threads() -> Iterator[None]:
    """Lets a test change the number of threads."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("size", SIZES)
def test_weights_and_gradient_are_those_of_torch(size: int) -> None:
    scores, d_weights = torch.randn(2, 1, 5, 2, size, dtype=torch.float64, generator=torch.manual_seed(size))
    plain = scores.clone().requires_grad_()
    expected = torch.softmax(plain, dim=-1)
    expected.backward(d_weights)
    assert torch.equal(softmax(scores), expected)
    assert plain.grad is not None
    torch.testing.assert_close(gradient(scores, d_weights), plain.grad)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("size", SIZES)
def test_the_gradient_does_not_depend_on_the_number_of_threads(size: int) -> None:
    scores, d_weights = torch.randn(2, 1, 64, 2, size, generator=torch.manual_seed(size))
    found = []
    for number in (1, 2, 4):
        torch.set_num_threads(number)
        found.append(gradient(scores, d_weights))
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])
