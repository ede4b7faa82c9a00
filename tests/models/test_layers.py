import math

import pytest
import torch
from networks import VARIANTS

from recombine.models.architecture import Architecture
from recombine.models.layers import Embedding, Linear, LSTMWeights, initialize
from recombine.models.noise import Drop, dropped
from recombine.models.recombiner import Recombiner


def test_tokens_are_mapped_by_their_embeddings_however_many_there_are() -> None:
    """Of many tokens each is mapped once, of few every one."""
    embed, weight = Embedding(2, 5, 3, tied=False).double(), torch.randn(4, 3, 7, dtype=torch.double)
    initialize(embed, [0, 1])
    for count in (2, 20):
        tokens = torch.randint(0, 5, (2, 2, count))
        expected = embed(tokens).flatten(0, 1) @ weight
        assert torch.allclose(embed.mapped(tokens, None, weight), expected, atol=1e-12)
        drop = Drop.at(0.5, torch.randint(0, 256, (2, 2, count, 3), dtype=torch.uint8))
        expected = dropped(embed(tokens), drop).flatten(0, 1) @ weight
        assert torch.allclose(embed.mapped(tokens, drop, weight), expected, atol=1e-12)


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


@pytest.mark.parametrize("architecture", VARIANTS.values(), ids=VARIANTS)
def test_initial_parameters_depend_on_the_replicas_own_seed_only(architecture: Architecture) -> None:
    population, alone, repeated = (Recombiner(architecture, r) for r in (3, 1, 2))
    initialize(population, [7, 8, 9])
    initialize(alone, [8])
    initialize(repeated, [8, 8])
    for many, one, two in zip(*(m.parameters() for m in (population, alone, repeated)), strict=True):
        assert torch.equal(many.chunk(3)[1], one)
        assert torch.equal(torch.cat([one, one]), two)
        assert not torch.equal(many.chunk(3)[0], one)


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
