import math

import pytest
import torch

from recombine.models.layers import Embedding, Linear, LSTMWeights, initialize


def test_linear_maps_and_embeddings_are_those_of_each_replica() -> None:
    linear, embedding = Linear(2, 3, 4), Embedding(2, 5, 3, tied=True)
    initialize(linear, [0, 1])
    initialize(embedding, [0, 1])
    tokens = torch.tensor([[[0, 4], [2, 2]], [[1, 3], [4, 0]]])
    vectors = embedding(tokens)
    for r in range(2):
        assert torch.equal(vectors[r], embedding.weight[r][tokens[r]])
        assert torch.allclose(embedding._by_product(tokens)[r], vectors[r])  # as on a GPU
        assert torch.allclose(linear(vectors)[r], vectors[r] @ linear.weight[r] + linear.bias[r], atol=1e-6)
        assert torch.allclose(embedding.scores(vectors)[r], vectors[r] @ embedding.weight[r].T, atol=1e-6)


def test_initial_parameters_have_the_ranges_that_they_are_said_to_have() -> None:
    linear, embedding, lstm = Linear(1, 25, 300), Embedding(1, 300, 16, tied=True), LSTMWeights(1, 2, 5, 7, 100)
    for layer in (linear, embedding, lstm):
        initialize(layer, [0])
    assert embedding.weight.std().item() == pytest.approx(1 / 4, rel=0.05)
    untied = Embedding(1, 300, 16, tied=False)
    initialize(untied, [0])
    assert untied.weight.std().item() == pytest.approx(1, rel=0.05)
    forget = lstm.bias.unflatten(-1, (4, 100))[..., 1, :]
    others = lstm.bias.unflatten(-1, (4, 100))[..., [0, 2, 3], :]
    for values, bound in (
        (linear.weight, 0.2),
        (linear.bias, 0.2),
        (lstm.input, 0.1),
        (lstm.state, 0.1),
        (others, 0.1),
    ):
        assert 0.95 * bound < values.abs().max() <= bound
        assert values.mean().abs() < 4 * bound / math.sqrt(3 * values.numel())
    assert 0.9 <= forget.min() < forget.max() <= 1.1
    closed = LSTMWeights(1, 2, 5, 7, 100, forget_bias=0.0)
    initialize(closed, [0])
    assert -0.1 <= closed.bias.min() < closed.bias.max() <= 0.1
