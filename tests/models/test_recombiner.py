import math

import pytest
import torch
from networks import NAMED, VARIANTS, batch, every_sequence, network, one_at_a_time, some_z

from recombine.data.vocabulary import EOS, PAD
from recombine.models.architecture import Architecture
from recombine.models.noise import Noise
from recombine.models.scoring import decode, score

every_variant = pytest.mark.parametrize("architecture", VARIANTS.values(), ids=VARIANTS)


@every_variant
def test_all_sequences_together_have_probability_one(architecture: Architecture) -> None:
    model = network(architecture)
    everything = every_sequence(4).unsqueeze(0)
    count = everything.shape[1]
    prototypes = batch(model, 1)[0].expand(-1, count, -1, -1)
    z = some_z(model, 1)
    with torch.no_grad():
        log_p, _ = score(model, prototypes, everything, z=None if z is None else z.expand(-1, count, -1))
    assert log_p.sum(1).exp().sum().item() == pytest.approx(1, abs=1e-12)


@every_variant
def test_a_target_that_ends_at_once_has_the_probability_of_its_end(architecture: Architecture) -> None:
    model = network(architecture)
    before = [parameter.clone() for parameter in model.parameters()]
    prototypes, _ = batch(model, 1)
    target = torch.tensor([[[EOS]]])
    with torch.no_grad():
        log_p, _ = score(model, prototypes, target, z=some_z(model, 1))
        singly, _ = one_at_a_time(model, prototypes, target, some_z(model, 1))
    assert torch.allclose(log_p, singly, atol=1e-12)
    assert all(torch.equal(parameter, old) for parameter, old in zip(model.parameters(), before, strict=True))


@every_variant
def test_decoding_goes_on_from_a_prefix_of_any_length(architecture: Architecture) -> None:
    model, cut = network(architecture), 3
    prototypes, target = batch(model, 2)
    z = some_z(model, 2)
    context = model.remember(prototypes)
    previous = torch.cat([torch.ones_like(target[..., :1]), target[..., :-1]], -1).transpose(1, 2)
    with torch.no_grad():
        _, whole = decode(model, context, context.state, previous, z=z)
        state, first = decode(model, context, context.state, previous[:, :cut], z=z)
        _, second = decode(model, context, state, previous[:, cut:], z=z, start=cut)
    assert torch.allclose(torch.cat([first.write, second.write], 1), whole.write, atol=1e-12)
    assert torch.allclose(second.own, whole.own[:, cut:], atol=1e-12)
    sums = model.entries(second).exp().sum(-1)
    assert torch.allclose(sums, torch.ones_like(sums), atol=1e-12)


@every_variant
def test_padding_changes_neither_values_nor_gradients(architecture: Architecture) -> None:
    model = network(architecture)
    narrow = batch(model)
    wide = [torch.nn.functional.pad(x, (0, 3 if x.numel() else 0), value=PAD) for x in narrow]
    found = []
    for tensors in (narrow, wide):
        z = None if model.latent is None else model.propose(*tensors, Noise([0]))
        total = score(model, *tensors, z=z)[0].sum(1)
        gradients = torch.autograd.grad(total.sum(), list(model.parameters()), materialize_grads=True)
        found.append([total, *([] if z is None else [z]), *gradients])
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, atol=1e-11)


@pytest.mark.parametrize("name", ["scan", "scan-own-attention", "morphology-dropout", "gated-tanh-attention"])
def test_write_dropout_never_leaves_a_token_without_a_source(name: str) -> None:
    """A token that may not be written and stands nowhere to be copied from takes no part in the loss."""
    without = network(NAMED["scan-0"]).train()  # nothing to copy from, so all is written
    prototypes, target = batch(without, 20)
    assert torch.equal(score(without, prototypes, target, Noise([0]))[1], target.transpose(1, 2) != PAD)
    model = network(NAMED[name]).train()
    prototypes, target = batch(model, 40)
    log_p, counts = score(model, prototypes, target, Noise([0]))
    assert (log_p > -100).all()
    assert (log_p[~counts] == 0).all()
    left_out = ~counts & (target.transpose(1, 2) != PAD)
    assert left_out.any()
    for t, b in left_out[0].nonzero().tolist():
        seen = set(prototypes[0, b].flatten().tolist())
        seen |= set(target[0, b, :t].tolist()) if model.architecture.own_attention else set()
        assert target[0, b, t].item() not in seen


def test_only_state_dropout_acts_in_evaluation() -> None:
    without = network(NAMED["predictor"])
    prototypes, target = batch(without)
    assert torch.equal(score(without, prototypes, target)[0], score(without, prototypes, target, Noise([0]))[0])
    model = network(NAMED["scan"])
    prototypes, target = batch(model)
    assert not torch.allclose(score(model, prototypes, target)[0], score(model, prototypes, target, Noise([0]))[0])


def test_penalized_copying_costs_extra_in_training_only() -> None:
    model = network(NAMED["morphology-penalized"])
    prototypes, target = batch(model)
    judged, counts = score(model, prototypes, target)
    assert torch.equal(counts, target.transpose(1, 2) != PAD)
    extra = (judged - score(model.train(), prototypes, target)[0])[counts]
    assert (extra > 0).all()
    assert (extra < math.log(2)).all()
