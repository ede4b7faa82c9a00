import pytest
import torch
from networks import PLAIN, A, B, batch, network

from recombine.data.vocabulary import EOS, PAD, SEP
from recombine.decoding.generate import Decoding, generate
from recombine.models.architecture import Architecture
from recombine.models.noise import Noise
from recombine.models.scoring import score

STRATEGIES = [Decoding("greedy"), Decoding("temperature", 1.3), Decoding("mixed", 0.7), Decoding("beam", width=3)]
every_strategy = pytest.mark.parametrize("decoding", STRATEGIES, ids=lambda decoding: decoding.strategy)
every_variant = pytest.mark.parametrize("architecture", PLAIN.values(), ids=PLAIN)


def some_prefix(replicas: int, size: int) -> torch.Tensor:
    tokens = torch.tensor([A, B])[torch.randint(2, (replicas, size, 2))]
    return torch.cat([tokens, torch.full((replicas, size, 1), SEP)], dim=-1)


@torch.no_grad()
@every_variant
@every_strategy
def test_log_probability_is_that_of_what_follows_given_the_prefix(
    architecture: Architecture, decoding: Decoding
) -> None:
    model = network(architecture, seeds=(1, 2))
    prototypes, _ = batch(model, 4)
    prefix = some_prefix(2, 4)
    generated = generate(model, prototypes, 5, decoding, Noise([1, 2]), prefix=prefix)
    log_p, _ = score(model, prototypes, torch.cat([prefix, generated.tokens], dim=-1))  # (R, T, B)
    assert torch.allclose(generated.log_probability.double(), log_p[:, 3:].sum(1), atol=1e-5)


@every_variant
@pytest.mark.parametrize("decoding", [Decoding("greedy"), Decoding("beam", width=1)], ids=["greedy", "beam"])
def test_from_its_own_beginning_a_sequence_goes_on_as_it_did(architecture: Architecture, decoding: Decoding) -> None:
    model = network(architecture, seeds=(1, 2))
    prototypes, _ = batch(model, 12)
    whole = generate(model, prototypes, 7, decoding)
    alive = ~(whole.tokens[..., :2] == EOS).any(-1)
    assert alive.any()
    rest = generate(model, prototypes, 5, decoding, prefix=whole.tokens[..., :2])
    assert torch.equal(rest.tokens[alive], whole.tokens[..., 2:][alive])
    real = (rest.tokens != PAD) & alive.unsqueeze(-1)
    assert torch.equal(rest.entries[real], whole.entries[..., 2:][real])
    assert rest.own == whole.own[2:]


def test_after_a_prefix_with_all_of_x_mixed_sampling_is_greedy() -> None:
    model = network(PLAIN["scan"])
    prototypes = batch(model, 1)[0].expand(-1, 50, -1, -1)
    prefix = some_prefix(1, 1).expand(-1, 50, -1)
    mixed = generate(model, prototypes, 6, Decoding("mixed", 3.0), Noise([1]), prefix=prefix)
    greedy = generate(model, prototypes, 6, Decoding("greedy"), prefix=prefix)
    assert torch.equal(mixed.tokens, greedy.tokens)
    drawn = generate(model, prototypes, 6, Decoding("mixed", 3.0), Noise([1]), prefix=prefix[..., :2])
    assert len(drawn.tokens[0].unique(dim=0)) > 1
