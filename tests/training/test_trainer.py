import gc
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
import torch
from networks import NAMED, SCAN, network
from torch import Tensor
from toy import CPU, EXAMPLES, VOCABULARY, Scripted, schedule

from recombine.data.vocabulary import PAD
from recombine.models.architecture import Architecture
from recombine.models.noise import Noise
from recombine.models.packing import Packing
from recombine.models.recombiner import Recombiner
from recombine.models.scoring import score
from recombine.training.corpus import Corpus
from recombine.training.recipe import Duration, Recipe
from recombine.training.schedule import Schedule, mixture
from recombine.training.trainer import Evaluate, Trainer

SEEDS = (1, 2)
RECIPE = Recipe(network=SCAN, lr=0.01)


def trainer(
    evaluate: Scripted | None = None,
    *,
    epochs: int,
    patience: int = 0,
    epoch_fraction: Sequence[float] = (),
    **settings: float,
) -> Trainer:
    recipe, duration = replace(RECIPE, **settings), Duration(epochs, 2, patience)
    noise = Noise(SEEDS, longest=16)
    model, batches = network(SCAN, SEEDS), schedule(SEEDS)
    return Trainer(model, batches, recipe, duration, noise, evaluate=evaluate, epoch_fraction=epoch_fraction)


def test_the_rate_of_a_replica_that_has_not_improved_for_long_enough_is_halved_again_and_again() -> None:
    evaluate = Scripted((1.0, 1.0), (1.00005, 2.0), (1.0, 3.0), (1.0, 3.0), (1.0, 3.0), (2.0, 3.0), (2.0, 3.0))
    history = trainer(evaluate, epochs=7, patience=2).run()
    rates = [[rate / 0.01 for rate in rates] for rates in zip(*history.lr, strict=True)]
    assert rates[0] == pytest.approx([1, 1, 1, 0.5, 0.5, 0.25, 0.25])
    assert rates[1] == pytest.approx([1, 1, 1, 1, 1, 0.5, 0.5])
    assert history.evaluation == [pytest.approx(list(values)) for values in evaluate.values]


def test_rates_stay_without_patience_or_decay_after_the_epoch_that_was_named() -> None:
    history = trainer(Scripted(*[(0.0, 0.0)] * 4), epochs=4).run()
    assert history.lr == [pytest.approx([0.01, 0.01])] * 4
    for fraction, rates in (((), [0.01, 0.01, 0.001, 0.001]), ((0.01, 1.0), [0.01, 0, 0, 0])):  # an epoch at least
        history = trainer(epochs=4, decay_at=2, decay=0.1, epoch_fraction=fraction).run()
        assert [epoch[0] for epoch in history.lr] == pytest.approx(rates)


def test_the_rate_falls_evenly_by_steps_or_in_the_second_half_of_the_time_if_that_is_over_first() -> None:
    evaluate = Scripted((1.0, 1.0), (0.5, 2.0), (0.5, 3.0), (0.5, 4.0))
    history = trainer(evaluate, epochs=4, patience=2, falls_to=0.2).run()
    falling = [0.01 * (1 - 0.8 * step / 8) for step in (1, 3, 5, 7)]  # in the last step of each epoch
    assert [rates[1] for rates in history.lr] == pytest.approx(falling)
    assert [rates[0] for rates in history.lr] == pytest.approx([*falling[:3], falling[3] / 2])

    run = trainer(epochs=4, falls_to=0.2, max_time=10)
    for steps, seconds, share in ((0, 0, 1), (0, 5, 1), (2, 5, 0.8), (2, 7.5, 0.6), (6, 7.5, 0.4), (2, 99, 0.2)):
        run._fall(steps, seconds)
        assert float(run.optimizer.share) == pytest.approx(share)


def test_each_replica_learns_for_its_own_share_of_the_epochs_and_as_it_would_alone() -> None:
    """Half of eight epochs, whose rate falls after half of these; the other one has all."""
    run = trainer(epochs=8, decay_at=4, epoch_fraction=(0.5, 1.0))
    model, history = run.whole, run.run()
    assert [list(rates) for rates in zip(*history.lr, strict=True)] == [
        pytest.approx([0.01] * 2 + [0.001] * 2 + [0] * 4),
        pytest.approx([0.01] * 4 + [0.001] * 4),
    ]
    assert (history.epochs(0), history.epochs(1)) == (8, 8)
    alone = trainer(epochs=4, decay_at=2)
    alone.run()
    for parameter, expected in zip(model.parameters(), alone.whole.parameters(), strict=True):
        assert torch.equal(parameter.chunk(2)[0], expected.chunk(2)[0])
        assert not torch.equal(parameter.chunk(2)[1], expected.chunk(2)[1])
    assert history.only([1]).epoch_fraction == [1.0]
    whole = trainer(epochs=8, decay_at=4)
    whole.run()
    for parameter, expected in zip(model.parameters(), whole.whole.parameters(), strict=True):
        assert torch.allclose(parameter.chunk(2)[1], expected.chunk(2)[1], atol=1e-6)


@pytest.mark.parametrize("keep_best", [True, False])
def test_the_best_parameters_of_each_replica_are_kept_or_else_the_last(keep_best: bool) -> None:
    evaluate = Scripted((0.5, 0.1), (0.2, 0.9), (0.3, 0.4))
    run = trainer(evaluate, epochs=3, keep_best=keep_best)
    run.run()
    for number, parameter in enumerate(run.model.parameters()):
        for replica, best in enumerate((0, 1)):
            expected = evaluate.seen[best if keep_best else -1][number]
            assert torch.equal(parameter.chunk(2)[replica], expected.chunk(2)[replica])


@pytest.mark.parametrize("averaging", [0, 4])
def test_a_replica_that_falls_far_below_its_best_goes_back_to_it_and_learns_half_as_fast(averaging: int) -> None:
    evaluate, steady = Scripted((0.6, 0.4), (0.6, 0.9), (0.1, 0.05)), Scripted(*[(0.6, 0.9)] * 3)
    run, other = (trainer(judge, epochs=3, averaging=averaging) for judge in (evaluate, steady))
    history = run.run()
    other.run()
    learned = list(zip(run.whole.parameters(), evaluate.seen[1], strict=True))
    assert all(torch.equal(now, best) for now, best in learned)  # of two equally good epochs, the second
    assert not all(torch.equal(*each) for each in zip(run.whole.parameters(), other.whole.parameters(), strict=True))
    assert run.optimizer.lr.tolist() == pytest.approx([0.005, 0.005])
    assert not any(first.any() for first in run.optimizer.first)
    assert all(second.any() for second in run.optimizer.second)
    assert history.evaluation[-1] == pytest.approx([0.1, 0.05])

    scripted = Scripted((0.6, 0.4), (0.1, 0.05), (0.1, 0.05))
    run = trainer(scripted, epochs=2, averaging=averaging)
    run.run()
    for parameter, first, last in zip(run.whole.parameters(), *scripted.seen, strict=True):
        assert torch.equal(parameter.chunk(2)[0], first.chunk(2)[0])
        assert torch.equal(parameter.chunk(2)[1], last.chunk(2)[1])  # its best may have been luck


def test_averages_of_parameters_are_judged_and_kept_but_not_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.training.trainer.AVERAGED_EVERY", 1)
    judged = Scripted(*[(0.0, 0.0)] * 15)
    run = trainer(judged, epochs=15, averaging=4)
    passed: list[Tensor] = []
    average = run._average

    def watched(steps: int) -> None:
        passed.append(run.optimizer.masters[0].clone())
        average(steps)

    monkeypatch.setattr(run, "_average", watched)
    assert run.run().loss == trainer(epochs=15).run().loss  # the steps are the same without
    mean = torch.zeros_like(passed[0])
    for steps, parameters in enumerate(passed, start=1):
        mean += (parameters - mean) / max(1, min(4, steps / 5))
        if steps % 2 == 0:
            assert torch.allclose(judged.seen[steps // 2 - 1][0], mean, atol=1e-6)
    assert torch.allclose(next(run.whole.parameters()), mean, atol=1e-6)
    assert not torch.allclose(passed[-1], mean, atol=1e-3)


def test_the_average_of_few_steps_is_the_last_and_so_is_the_best_where_nothing_tells_it() -> None:
    run, plain, best = trainer(epochs=2, averaging=500), trainer(epochs=2), trainer(epochs=2, keep_best=True)
    for each in (run, plain, best):
        each.run()
    for other in (run, best):
        assert all(torch.equal(p, q) for p, q in zip(other.whole.parameters(), plain.whole.parameters(), strict=True))


@pytest.mark.parametrize(("stop_at_lr", "epochs"), [(0.0, 7), (0.5, 4), (0.25, 6), (0.2, 7)])
def test_training_ends_when_all_rates_have_fallen_far_enough_and_not_before(stop_at_lr: float, epochs: int) -> None:
    """One rate is halved after the second, third, ... epoch, the other after the fourth and sixth."""
    improving = [1.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0]
    run = trainer(Scripted(*[(1.0, value) for value in improving]), epochs=7, patience=1, stop_at_lr=stop_at_lr)
    history = run.run()
    assert len(history.loss) == epochs
    assert not history.stopped_early
    assert run.run() is history  # what has ended goes on no further
    assert len(history.loss) == epochs


def test_training_stops_when_the_time_is_over_and_says_so() -> None:
    run = trainer(epochs=5, max_time=0.0)
    history = run.run()
    assert history.stopped_early
    assert len(history.loss) == 1
    assert history.seconds > 0
    assert not trainer(epochs=1, max_time=1e6).run().stopped_early


def test_how_far_training_is_is_told_by_the_bound_on_time_if_that_comes_first() -> None:
    told = []
    run = trainer(epochs=10_000, max_time=1)
    run.run(lambda steps, total, history: told.append(steps / total - history.seconds))
    assert run.history.stopped_early
    assert len(told) > 3
    assert sorted(map(abs, told))[len(told) // 2] < 0.1  # by epochs it would be far behind


@pytest.mark.parametrize("loss_per", ["sequence", "token"])
def test_the_loss_is_the_mean_over_steps_of_the_models_own(loss_per: str) -> None:
    """With a rate of zero nothing changes, so that every step can be done again with the same dropout."""
    architecture = replace(NAMED["scan-1"], write_dropout=0.9)
    model, batches = network(architecture, SEEDS), schedule(SEEDS, prototypes=1)
    recipe = Recipe(network=architecture, lr=0.0, loss_per=loss_per)
    history = Trainer(model, batches, recipe, Duration(1, 3), Noise(SEEDS)).run()
    expected, noise = torch.zeros(2, dtype=torch.double), Noise(SEEDS)
    model.train()
    left_out = 0
    for batch in islice(batches, 3):
        sources, target = batches.corpus.batch(torch.from_numpy(batch.rows), batch.source_steps, len(batch.counts))
        log_p, counts = score(model, sources, target, noise, packing=Packing.of(batch.counts, target.device))
        left_out += int((target != PAD).sum() - counts.sum())
        per = torch.tensor(batches.mean_tokens()) if loss_per == "token" else 1
        expected -= log_p.detach().sum(1) / target.shape[1] / per / 3
    assert left_out > 0
    assert history.loss[0] == pytest.approx(expected.tolist(), rel=1e-5)


def test_steps_with_dropped_states_leave_no_tensors_behind() -> None:
    """They once held their own outputs, in a circle through autograd that garbage collection does not see."""
    model, batches = network(SCAN, SEEDS), schedule(SEEDS)
    model.train()
    batch = next(iter(batches))
    sources, target = batches.corpus.batch(torch.from_numpy(batch.rows), batch.source_steps, len(batch.counts))
    alive = []
    for _ in range(4):
        log_p, _ = score(model, sources, target, Noise(SEEDS), packing=Packing.of(batch.counts, target.device))
        log_p.sum().backward()
        del log_p
        gc.collect()
        alive.append(sum(issubclass(type(each), Tensor) for each in gc.get_objects()))
    assert model.architecture.state_dropout > 0
    assert alive[-1] <= alive[1]


LONGEST = 16
CLIPPED = Recipe(network=SCAN, lr=0.01, clip=0.5)
DURATION = Duration(4, 3)
PREDICTOR = replace(NAMED["predictor"], state_dropout=0.2)


def trained(
    architecture: Architecture,
    batches: Schedule,
    recipe: Recipe = CLIPPED,
    duration: Duration = DURATION,
    evaluate: Evaluate | None = None,
) -> Trainer:
    noise = Noise([100 + seed for seed in batches.seeds], longest=LONGEST)
    trainer = Trainer(network(architecture, batches.seeds), batches, recipe, duration, noise, evaluate=evaluate)
    trainer.run()
    return trainer


def assert_same(many: Recombiner, one: Recombiner, replica: int, *, replicas: int) -> None:
    for theirs, mine in zip(many.parameters(), one.parameters(), strict=True):
        assert torch.allclose(theirs.chunk(replicas)[replica], mine, atol=1e-9)


class Improving:
    """An evaluation by which each replica improves for so many epochs and no longer."""

    def __init__(self, *epochs: int) -> None:
        self.epochs, self.seen = epochs, []

    def __call__(self, model: Recombiner, replicas: Sequence[int]) -> Tensor:
        self.seen.append(list(replicas))
        return torch.tensor([float(min(len(self.seen), self.epochs[number])) for number in replicas])


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("scan-latent", {}),
        ("scan-0", {"loss_per": "token"}),
        ("scan", {"keep_best": True}),
        ("morphology-dropout", {"averaging": 4}),
    ],
    ids=["last", "per token", "best", "averages"],
)
def test_networks_that_have_learned_enough_leave_and_all_become_what_they_would_alone(
    name: str, kept: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    architecture = NAMED[name]
    monkeypatch.setattr("recombine.training.trainer.AVERAGED_EVERY", 1)
    recipe, duration = replace(CLIPPED, stop_at_lr=0.5, **kept), Duration(9, 2, patience=2)
    lasting, seeds = (4, 1, 9, 2), [3, 4, 5, 6]
    judged = Improving(*lasting)
    population = trained(architecture, schedule(seeds, prototypes=architecture.prototypes), recipe, duration, judged)
    assert judged.seen == [[0, 1, 2, 3]] * 4 + [[0, 2]] * 2 + [[2]] * 3
    for number, (epochs, seed) in enumerate(zip(lasting, seeds, strict=True)):
        batches = schedule([seed], prototypes=architecture.prototypes)
        alone = trained(architecture, batches, recipe, duration, Improving(epochs))
        assert_same(population.whole, alone.whole, number, replicas=4)
        trained_for = min(9, epochs + 2)
        assert len(alone.history.lr) == trained_for
        rates, losses, values = (
            [epoch[number] for epoch in each]
            for each in (population.history.lr, population.history.loss, population.history.evaluation)
        )
        assert rates[:trained_for] == pytest.approx([recipe.lr] * trained_for)
        expected = [loss[0] for loss in alone.history.loss]
        assert losses == pytest.approx(expected + expected[-1:] * (9 - trained_for), rel=1e-5)
        assert values == [min(epoch, epochs) for epoch in range(1, 10)]


def test_so_do_predictors_on_data_of_their_own() -> None:
    sets = [EXAMPLES, EXAMPLES[:6], EXAMPLES[:8]]

    def batches(numbers: Sequence[int]) -> Schedule:
        corpus = Corpus.for_prediction([sets[number] for number in numbers], VOCABULARY, CPU)
        return Schedule(corpus, [mixture(4, len(sets[n]) - 4, 0.3) for n in numbers], numbers, 3, pool=4)

    recipe, duration = replace(CLIPPED, stop_at_lr=0.5), Duration(6, 3, patience=1)
    population = trained(PREDICTOR, batches([0, 1, 2]), recipe, duration, Improving(1, 6, 2))
    assert len(population.active) == 1
    for number, epochs in enumerate((1, 6, 2)):
        alone = trained(PREDICTOR, batches([number]), recipe, duration, Improving(epochs))
        assert_same(population.whole, alone.whole, number, replicas=3)
