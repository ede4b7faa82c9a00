import math
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from networks import MORPHOLOGY, NAMED, PREDICTOR, SCAN, VARIANTS, batch, every_sequence, network, one_at_a_time, some_z
from slow_reference import Masks as LiteralMasks
from slow_reference import Parameters, morphology, scan
from torch import Tensor

from recombine.data.vocabulary import EOS, PAD
from recombine.models import scoring
from recombine.models.architecture import Architecture
from recombine.models.noise import Drop, Masks, Noise
from recombine.models.packing import Packing
from recombine.models.recombiner import NEVER_WRITTEN, Recombiner
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


every_number = pytest.mark.parametrize("prototypes", [1, 2, 3])


def unpadded(tokens: torch.Tensor) -> list[int]:
    return [token for token in tokens.tolist() if token != PAD]


class Recorder(Noise):
    """Remembers the masks that a network was given: encoder, previous tokens, feed vectors, states."""

    def drop(self, rate: float, packing: Packing, size: int) -> Drop:
        drop = super().drop(rate, packing, size)
        mask = drop.factors(torch.double).unflatten(1, (packing.steps, packing.batch))
        self.masks = [*getattr(self, "masks", []), mask]
        return drop

    def of(self, replica: int, example: int, *, prototypes: int) -> LiteralMasks:
        """The masks of one example."""
        encoder, *decoder = (mask[replica] for mask in self.masks)
        mine = encoder[:, example * prototypes : (example + 1) * prototypes]
        return LiteralMasks(mine.transpose(0, 1), *(mask[:, example] for mask in decoder))


@torch.no_grad()
@every_number
@pytest.mark.parametrize("which", ["scan", "scan-dropout", "morphology"])
def test_networks_are_the_papers_equations(which: str, prototypes: int) -> None:
    dropout = which == "scan-dropout"
    rates = {} if dropout else {"dropout": 1e-6, "state_dropout": 1e-6}  # too small to drop anything
    architecture = MORPHOLOGY if which == "morphology" else replace(SCAN, write_dropout=0.0, **rates)
    model = network(replace(architecture, prototypes=prototypes), seeds=(4, 5)).train()
    sources, targets = batch(model, 3)
    noise = Recorder([1, 2])
    log_p, _ = score(model, sources, targets, noise)
    for r in range(2):
        for b in range(3):
            tokens, target, p = [unpadded(d) for d in sources[r, b]], unpadded(targets[r, b]), Parameters(model, r)
            if which == "morphology":
                expected = morphology(p, tokens, target, MORPHOLOGY.hidden)
            else:
                masks = noise.of(r, b, prototypes=prototypes)
                assert dropout == any(bool((mask == 0).any()) for mask in masks)
                expected = scan(p, tokens, target, masks)
            assert log_p[r, : len(target), b].tolist() == pytest.approx(expected, abs=1e-10)


@torch.no_grad()
def test_a_feed_vector_dropped_twice_is_fed_back_as_it_was_written_from() -> None:
    model = network(replace(PREDICTOR, dropout=0.0, feed_dropped_twice=True), seeds=(4, 5))
    sources, targets = batch(model, 3)
    context, previous = model.remember(sources), targets.transpose(1, 2)[:, :2]
    noise = Recorder([1, 2])
    masks = Masks.draw(model.architecture, noise, Packing.whole(2, 3, torch.device("cpu")), training=True)
    last, scores = decode(model, context, context.state, previous, masks)
    (mask,) = noise.masks
    first, _ = decode(model, context, context.state, previous[:, :1])
    second, _ = decode(model, context, first._replace(feed=first.feed * mask[:, 0]), previous[:, 1:])
    assert (mask == 0).any()
    torch.testing.assert_close(last.feed, second.feed)
    written = model.write(second.feed * mask[:, 1])
    torch.testing.assert_close(scores.write[:, 1, ..., NEVER_WRITTEN:], written[..., NEVER_WRITTEN:])


# Relative positions are computed by the plain decoder alone.
FAST = {name: replace(architecture, reach=0) for name, architecture in VARIANTS.items()}
every_fast_variant = pytest.mark.parametrize("architecture", FAST.values(), ids=FAST)
CPU = torch.device("cpu")


def longest_first(target: Tensor) -> tuple[Tensor, Packing]:
    """Targets (R, B, T) with the longest rows first, and the packing that leaves out rows that have ended in all."""
    lengths = (target != PAD).sum(-1)
    order = lengths.argsort(dim=1, descending=True, stable=True)
    longest = lengths.gather(1, order).max(0).values
    counts = tuple(int((longest > t).sum()) for t in range(int(longest[0])))
    assert any(a > b for a, b in pairwise(counts))
    return target.gather(1, order.unsqueeze(-1).expand_as(target)), Packing.of(counts, CPU)


def values_and_gradients(
    model: Recombiner, prototypes: Tensor, target: Tensor, packing: Packing | None
) -> list[Tensor]:
    z = some_z(model, target.shape[1])
    log_p, counts = score(model, prototypes, target, Noise([3, 4], longest=9), z=z, packing=packing)
    if packing is not None:
        log_p, counts = packing.unpack(log_p), packing.unpack(counts)
    weights = torch.randn(log_p.shape, generator=torch.Generator().manual_seed(0), dtype=log_p.dtype)
    loss, parameters = (log_p * weights).sum(), list(model.parameters())
    gradients = torch.autograd.grad(loss, parameters, materialize_grads=True, retain_graph=True)
    again = torch.autograd.grad(loss, parameters, materialize_grads=True)  # it may be gone back over twice
    assert_equal(list(gradients), list(again))
    return [log_p, counts.double(), *gradients]


def assert_equal(some: list[Tensor], others: list[Tensor]) -> None:
    for one, other in zip(some, others, strict=True):
        assert torch.allclose(one, other, atol=1e-11)


@every_fast_variant
def test_it_has_the_values_and_gradients_of_the_plain_decoder_and_may_leave_out_rows_that_have_ended(
    architecture: Architecture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dropout included, with more rows than there need be, and with all of them, too."""
    model = network(architecture, seeds=(1, 2)).train()
    prototypes, target = batch(model, 5, target=7)
    target, packing = longest_first(target)
    fast = values_and_gradients(model, prototypes, target, packing)
    wider = Packing.of(tuple(min(5, count + 1) for count in packing.counts), CPU)
    assert_equal(fast, values_and_gradients(model, prototypes, target, wider))
    assert_equal(fast, values_and_gradients(model, prototypes, target[..., : packing.steps], None))
    monkeypatch.setattr(scoring, "all_steps", scoring.plain_steps)
    assert_equal(fast, values_and_gradients(model, prototypes, target, packing))


STEP = 1e-5


@pytest.mark.parametrize("name", ["scan", "scan-reach", "scan-latent", "morphology-dropout", "predictor"])
def test_gradients_are_the_slopes_of_the_loss(name: str) -> None:
    """Every parameter is moved a little in a random direction, dropout and z drawn alike each time."""
    model = network(NAMED[name], seeds=(1, 2)).train()
    prototypes, target = batch(model)
    weights = torch.randn(2, 6, 3, dtype=torch.double)

    def loss() -> torch.Tensor:
        return (weights * score(model, prototypes, target, Noise([3, 4]))[0]).sum()

    names, parameters = zip(*model.named_parameters(), strict=True)
    for name, parameter, gradient in zip(names, parameters, torch.autograd.grad(loss(), parameters), strict=True):
        direction = torch.randn_like(parameter)
        with torch.no_grad():
            parameter.add_(STEP * direction)
            above = loss().item()
            parameter.sub_(2 * STEP * direction)
            below = loss().item()
            parameter.add_(STEP * direction)
        slope = (above - below) / (2 * STEP)
        assert (gradient * direction).sum().item() == pytest.approx(slope, rel=1e-5, abs=1e-6), name


@pytest.mark.parametrize("architecture", VARIANTS.values(), ids=VARIANTS)
def test_a_replica_in_a_population_is_the_same_model_as_alone(architecture: Architecture) -> None:
    population, alone = network(architecture, seeds=(3, 5, 8)), network(architecture, seeds=(5,))
    prototypes, target = batch(population, 4)
    mine = prototypes[1:2, ..., :4], target[1:2, ..., :]
    prototypes = prototypes.clone()
    prototypes[1, ..., 4:] = 0  # the others' prototypes are longer
    for model in (population, alone):
        model.train()
    together, _ = score(population, prototypes, target, Noise([1, 2, 3], longest=9))
    single, _ = score(alone, *mine, Noise([2], longest=9))
    assert torch.allclose(together[1:2], single, atol=1e-12)
    gradients = [
        torch.autograd.grad(log_p.sum(), list(m.parameters())) for log_p, m in ((together, population), (single, alone))
    ]
    for many, one in zip(*gradients, strict=True):
        assert torch.allclose(many.chunk(3)[1], one, atol=1e-11)
