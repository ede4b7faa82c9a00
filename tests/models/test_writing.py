"""Which tokens a network may write, and what it would say where it is right so far."""

from dataclasses import replace

import pytest
import torch
from networks import VARIANTS, A, B, batch, network, one_at_a_time, some_z

from recombine.data.vocabulary import EOS, PAD, SEP
from recombine.models.architecture import Architecture
from recombine.models.recombiner import Recombiner
from recombine.models.scoring import score

SEEN_ONLY = {name: replace(a, write_seen_only=True) for name, a in VARIANTS.items()}
every_variant = pytest.mark.parametrize("architecture", SEEN_ONLY.values(), ids=SEEN_ONLY)


def limited(architecture: Architecture) -> Recombiner:
    """Two replicas: the first has never seen B, the second has seen all."""
    model = network(architecture, seeds=(1, 2))
    seen = torch.ones(2, 7, dtype=torch.bool)
    seen[0, B] = False
    model.write_only(seen)
    return model


def copyable(model: Recombiner, prototypes: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Whether B stands somewhere to be copied from (R, T, B): in a prototype, or in what is generated before."""
    architecture = model.architecture
    found = torch.zeros_like(target, dtype=torch.bool)
    if architecture.copying != "none":
        found |= (prototypes == B).flatten(2).any(-1, keepdim=True)
        if architecture.own_attention:
            before = (target == B).cumsum(-1) - (target == B).long()
            found |= before > 0
    return found.transpose(1, 2)


@torch.no_grad()
@every_variant
def test_what_was_never_seen_is_copied_or_not_produced_at_all(architecture: Architecture) -> None:
    model = limited(architecture)
    prototypes, target = batch(model, 12)
    _, distributions = one_at_a_time(model, prototypes, target, some_z(model, 12))
    possible = copyable(model, prototypes, target)
    assert torch.equal(distributions[0, ..., B] > 0, possible[0])
    assert (distributions[1, ..., B] > 0).all()
    assert (distributions[..., [EOS, SEP, A]] > 0).all()
    assert (distributions[target.transpose(1, 2) != PAD][..., :EOS] == 0).all()
    assert torch.allclose(distributions.sum(-1), torch.ones_like(distributions[..., 0]), atol=1e-12)


@pytest.mark.parametrize("name", ["joint-1", "morphology", "predictor"])
def test_output_rows_of_tokens_never_written_have_no_gradient(name: str) -> None:
    model = limited(SEEN_ONLY[name])
    prototypes, target = batch(model, 12)
    log_p, _ = score(model, prototypes, target)
    log_p[log_p > -1e8].sum().backward()
    for gradient in (model.write.weight.grad, model.write.bias.grad):
        assert (gradient[0, ..., [*range(EOS), B]] == 0).all()
        assert (gradient[1, ..., :EOS] == 0).all()
        assert (gradient[1, ..., B] != 0).any()
        assert (gradient[:, ..., A] != 0).any()


def test_with_tied_output_only_copies_move_the_embedding() -> None:
    """Of a token that stands nowhere, too: else training would drive its embedding away from all others."""
    model = limited(replace(SEEN_ONLY["scan"], state_dropout=0.0))
    prototypes, target = (x.where(x != B, A) for x in batch(model, 12))
    score(model, prototypes, target)[0].sum().backward()
    gradient = model.embed.weight.grad
    assert (gradient[0, B] == 0).all()
    assert (gradient[1, B] != 0).any()
