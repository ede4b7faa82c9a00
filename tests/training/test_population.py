from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from networks import NAMED, SCAN
from torch import Tensor
from toy import CPU, EXAMPLES, VOCABULARY, schedule

from recombine.models.architecture import Architecture
from recombine.models.layers import initialize
from recombine.models.noise import Noise
from recombine.models.recombiner import Recombiner
from recombine.training.corpus import Corpus
from recombine.training.recipe import Duration, Recipe
from recombine.training.schedule import Schedule, mixture
from recombine.training.trainer import Evaluate, Trainer

LONGEST = 16
RECIPE = Recipe(network=SCAN, lr=0.01, clip=0.5)
DURATION = Duration(4, 3)
PREDICTOR = replace(NAMED["predictor"], state_dropout=0.2)


def model(architecture: Architecture, seeds: Sequence[int]) -> Recombiner:
    fresh = Recombiner(architecture, len(seeds))
    initialize(fresh, seeds)
    return fresh.double()


def trained(
    architecture: Architecture,
    batches: Schedule,
    recipe: Recipe = RECIPE,
    duration: Duration = DURATION,
    evaluate: Evaluate | None = None,
) -> Trainer:
    noise = Noise([100 + seed for seed in batches.seeds], longest=LONGEST)
    trainer = Trainer(model(architecture, batches.seeds), batches, recipe, duration, noise, evaluate=evaluate)
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
    recipe, duration = replace(RECIPE, stop_at_lr=0.5, **kept), Duration(9, 2, patience=2)
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

    recipe, duration = replace(RECIPE, stop_at_lr=0.5), Duration(6, 3, patience=1)
    population = trained(PREDICTOR, batches([0, 1, 2]), recipe, duration, Improving(1, 6, 2))
    assert len(population.active) == 1
    for number, epochs in enumerate((1, 6, 2)):
        alone = trained(PREDICTOR, batches([number]), recipe, duration, Improving(epochs))
        assert_same(population.whole, alone.whole, number, replicas=3)
