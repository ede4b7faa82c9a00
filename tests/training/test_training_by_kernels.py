"""Training as on a GPU: kernels, bfloat16 networks with float32 masters; what it ends in is float32."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from kernels_here import DEVICE, KERNELS, PLAIN, use
from networks import NAMED, network
from torch import Tensor, nn
from toy import VOCABULARY, Scripted, schedule

from recombine.models.noise import Noise
from recombine.training import resume
from recombine.training.corpus import Corpus
from recombine.training.fit import fit, likelihood
from recombine.training.fitted import Fitted, History
from recombine.training.optimizer import PopulationAdam
from recombine.training.recipe import Duration, Precision, Recipe
from recombine.training.schedule import Group
from recombine.training.trainer import Trainer

pytestmark = pytest.mark.gpu

SEEDS = (1, 2)
CLOSE = 1e-5 if DEVICE == "cpu" else 1e-3
"""A GPU adds up products in another order for another number of networks; four steps at 0.01 go much farther."""
precisions = pytest.mark.parametrize("precision", ["bfloat16", "float32"])
on_gpu = pytest.mark.skipif(DEVICE == "cpu", reason="Triton's interpreter would train for minutes")
trained_precisions = pytest.mark.parametrize("precision", ["bfloat16", pytest.param("float32", marks=on_gpu)])


@pytest.fixture(autouse=True)
def _by_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    use(KERNELS, monkeypatch)


def assert_rounded(values: Tensor, rounded: Tensor) -> None:
    """Triton's interpreter rounds towards zero, and a GPU to the nearest."""
    assert torch.allclose(rounded.float(), values, rtol=2**-7 if rounded.dtype == torch.bfloat16 else 0, atol=0)


def corpus(prototypes: int = 1) -> Corpus:
    """The toy corpus, where kernels compute."""
    here = schedule(SEEDS, prototypes=prototypes).corpus
    return replace(here, **{name: getattr(here, name).to(DEVICE) for name in ("sources", "targets", "rows")})


class Weights(nn.Module):
    """Two parameters of a population of two."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Parameter(torch.randn(2, 3, 5))
        self.other = nn.Parameter(torch.randn(4, 7))


def updated(model: nn.Module, optimizer: PopulationAdam, *, steps: range) -> list[Tensor]:
    """The masters, after updates with gradients that depend on the step alone."""
    for step in steps:
        generator = torch.Generator().manual_seed(step)
        drawn = [3 * torch.randn(parameter.shape, generator=generator) for parameter in model.parameters()]
        optimizer.update([each.to(p.device, p.dtype) for each, p in zip(drawn, model.parameters(), strict=True)])
    return [master.clone() for master in optimizer.masters]


def adam(model: nn.Module, precision: Precision, lr: float = 0.01) -> PopulationAdam:
    optimizer = PopulationAdam(model.to(DEVICE), 2, lr=lr, clip=1.0, precision=precision)
    assert optimizer.kernels
    return optimizer


def test_masters_are_updated_as_by_torchs_adam(monkeypatch: pytest.MonkeyPatch) -> None:
    model, same = Weights(), Weights().to(DEVICE)
    same.load_state_dict(model.state_dict())
    falling = adam(model, "float32", lr=0.02)
    falling.share.fill_(0.5)
    by_kernels = updated(model, falling, steps=range(5))
    use(PLAIN, monkeypatch)
    plain = updated(same, PopulationAdam(same, 2, lr=0.01, clip=1.0), steps=range(5))
    for one, other in zip(by_kernels, plain, strict=True):
        assert torch.allclose(one, other, atol=1e-6)


@precisions
def test_a_restored_optimizer_goes_on_as_the_saved_one(precision: Precision) -> None:
    model, other = Weights(), Weights()
    optimizer = adam(model, precision)
    updated(model, optimizer, steps=range(3))
    optimizer.lr *= torch.tensor([0.5, 1.0], device=DEVICE)
    saved = {name: value.clone() for name, value in optimizer.state().items()}
    expected = updated(model, optimizer, steps=range(3, 5))
    resumed = adam(other, precision, lr=0.7)
    resumed.restore(saved)
    for one, two in zip(expected, updated(other, resumed, steps=range(3, 5)), strict=True):
        assert torch.equal(one, two)
    for master, one, two in zip(expected, model.parameters(), other.parameters(), strict=True):
        assert torch.equal(one, two)
        assert (master.dtype, one.dtype) == (torch.float32, getattr(torch, precision))
        assert_rounded(master, one)


@trained_precisions
def test_the_best_masters_are_kept_and_training_ends_when_all_rates_have_fallen(precision: Precision) -> None:
    """After two epochs one rate has fallen to a half, after three both have; of equally good ones the last is kept."""
    evaluate = Scripted((1.0, 1.0), (0.5, 2.0), (0.5, 2.0))
    recipe = Recipe(network=NAMED["scan-1"], lr=0.01, precision=precision, stop_at_lr=0.5, keep_best=True)
    duration = Duration(6, 1, patience=1)
    model, batches = network(NAMED["scan-1"], SEEDS).float(), schedule(SEEDS, batch=2)
    batches = replace(batches, corpus=corpus())
    history = Trainer(model.to(DEVICE), batches, recipe, duration, Noise(SEEDS, DEVICE), evaluate=evaluate).run()
    assert history.lr == [pytest.approx(rates) for rates in ([0.01, 0.01], [0.01, 0.01], [0.0, 0.01])]
    assert not history.stopped_early
    for number, parameter in enumerate(model.parameters()):
        assert parameter.dtype == torch.float32
        best = evaluate.seen[0][number].chunk(2)[0], evaluate.seen[2][number]  # the second network's alone
        assert_rounded(parameter, torch.cat(best))
    rounded = [torch.equal(parameter.bfloat16().float(), parameter) for parameter in model.parameters()]
    assert not any(rounded)


@on_gpu
@precisions
def test_a_network_that_others_leave_becomes_what_it_would_alone(precision: Precision) -> None:
    def trained(seeds: Sequence[int], *values: tuple[float, ...]) -> Trainer:
        recipe = Recipe(network=NAMED["scan-1"], lr=0.01, precision=precision, stop_at_lr=0.5)
        duration = Duration(4, 1, patience=1)
        model, batches = network(NAMED["scan-1"], seeds).float(), schedule(seeds, prototypes=1, batch=2)
        noise, evaluate = Noise(seeds, DEVICE), Scripted(*values)
        batches = replace(batches, corpus=corpus())
        trainer = Trainer(model.to(DEVICE), batches, recipe, duration, noise, evaluate=evaluate)
        trainer.run()
        return trainer

    both = trained([1, 2], (1.0, 1.0), (1.0, 2.0), (1.0, 3.0), (1.0, 4.0))
    assert both.active == [1]
    assert all(parameter.dtype == torch.float32 for parameter in both.whole.parameters())
    left = trained([1], (1.0,), (1.0,))
    stayed = trained([2], (1.0,), (2.0,), (3.0,), (4.0,))
    for replica, alone in enumerate((left, stayed)):
        for ours, own in zip(both.whole.parameters(), alone.whole.parameters(), strict=True):
            # By the mean: where a gradient is nearly zero, another rounding on a GPU turns a whole step of Adam around.
            assert (ours.chunk(2)[replica] - own).abs().mean() < CLOSE


@on_gpu
@pytest.mark.parametrize("prototypes", [0, 1, 2])
def test_steps_that_are_replayed_are_those_that_are_not(prototypes: int) -> None:
    def trained(*, graphs: bool) -> list[Tensor]:
        architecture = replace(NAMED["scan"], prototypes=prototypes)
        model, batches = network(architecture, SEEDS).float(), schedule(SEEDS, prototypes=prototypes, batch=2)
        batches = replace(batches, corpus=corpus(prototypes))
        recipe = Recipe(network=architecture, lr=0.01, precision="float32")
        Trainer(model.to(DEVICE), batches, recipe, Duration(1, 6), Noise(SEEDS, DEVICE), graphs=graphs).run()
        return list(model.parameters())

    for one, other in zip(trained(graphs=True), trained(graphs=False), strict=True):
        assert torch.allclose(one, other, atol=CLOSE)


class Stopped(Exception):
    pass


def fitted(precision: Precision, checkpoint: Path | None, *, stop_after: int = 0) -> Fitted:
    tiny = replace(NAMED["scan-1"], dropout=0.2, state_dropout=0.1)
    recipe = Recipe(network=tiny, batch=2, max_steps=2, lr=0.01, held_out=0.1, keep_best=True, precision=precision)

    def report(_: int, __: int, history: History) -> None:
        if len(history.loss) == stop_after:
            raise Stopped

    groups = [[Group(np.arange(20))]] * 2
    chosen = {"vocabulary": len(VOCABULARY), "judge": likelihood, "report": report, "checkpoint": checkpoint}
    return fit(recipe, corpus(), groups, SEEDS, **chosen)


@on_gpu
@precisions
def test_a_stopped_run_goes_on_to_the_same_bits(
    precision: Precision, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resume, "EVERY", 0.0)
    whole = fitted(precision, None)
    with pytest.raises(Stopped):
        fitted(precision, tmp_path / "state", stop_after=1)
    resumed = fitted(precision, tmp_path / "state")
    assert replace(resumed.history, seconds=0) == replace(whole.history, seconds=0)
    assert len(whole.history.loss) == 2
    for one, two in zip(resumed.model.parameters(), whole.model.parameters(), strict=True):
        assert one.dtype == torch.float32
        assert torch.equal(one, two)
    again = fitted(precision, tmp_path / "state", stop_after=3)
    for one, two in zip(again.model.parameters(), whole.model.parameters(), strict=True):
        assert torch.equal(one, two)
