from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch
from toy_task import QUICK_GENERATOR, QUICK_PREDICTOR, TASK, example

from recombine.augmentation.geca import GECA
from recombine.augmentation.recombination import Recombination
from recombine.augmentation.resample import Resampler
from recombine.augmentation.settings import SamplingSettings
from recombine.decoding.generate import Decoding
from recombine.evaluation.audit import Audit
from recombine.example import Example
from recombine.experiment import Outcome, Plan, Task, part_of, run
from recombine.neighborhoods import LongShort
from recombine.prediction.predictor import Predictor
from recombine.training.loop import History, Report
from recombine.training.recipe import ROUNDS

torch.set_num_threads(1)

RULE = LongShort(removal="distinct")
PLAIN = Plan(name="plain", predictor=QUICK_PREDICTOR)


def learned() -> Plan:
    sampling = SamplingSettings(decoding=Decoding("mixed", 0.2))
    augmenter = Recombination(RULE, QUICK_GENERATOR, sampling=sampling, device="cpu")
    return replace(PLAIN, name="learned", augmenter=augmenter, n=4, p_aug=0.2)


def test_the_toy_task_is_what_it_says() -> None:
    assert len(TASK.train) == len(set(TASK.train)) == 61
    assert not set(TASK.train) & set(TASK.test)
    assert example("walk and jump twice").y == ("WALK", "JUMP", "JUMP")


def test_without_an_augmenter_predictors_learn_from_the_originals_alone() -> None:
    said: list[str] = []
    outcome = run(PLAIN, TASK, [3, 4], device="cpu", say=said.append)
    alone = Predictor(QUICK_PREDICTOR, seeds=[3, 4], device="cpu").fit(TASK.train)
    assert outcome.exact_match == alone.score(TASK.test)
    assert (outcome.samples, outcome.audits, outcome.right, outcome.generator) == ([], [], None, None)
    assert sorted(outcome.seconds) == ["predictor", "test"]
    assert outcome.predictor is not None
    assert outcome.predictor.loss == alone.fitted_.history.loss
    assert said == [f"plain: exact match {outcome.score.mean:.3f} ± {outcome.score.deviation:.3f}"]


def test_with_geca_each_seed_has_samples_of_its_own() -> None:
    outcome = run(replace(PLAIN, augmenter=GECA(), n=5, p_aug=0.2), TASK, [0, 7], device="cpu")
    expected = [GECA().fit(TASK.train).sample(5, seed) for seed in (0, 7)]
    assert [list(samples) for samples in outcome.samples] == [list(samples) for samples in expected]
    assert [audit.n for audit in outcome.audits] == [5, 5]
    right = [sum(TASK.gold(sample.x) == sample.y for sample in samples) / 5 for samples in expected]
    assert outcome.right is not None
    assert outcome.right.mean == pytest.approx(sum(right) / 2)
    alone = Predictor(QUICK_PREDICTOR, seeds=[0, 7], device="cpu").fit_each(
        TASK.train, [samples.examples for samples in expected], p_aug=0.2
    )
    assert outcome.exact_match == alone.score(TASK.test)


def test_with_recombination_everything_is_timed_told_and_kept() -> None:
    said: list[str] = []
    shown: list[str] = []

    @contextmanager
    def progress(what: str) -> Iterator[Report]:
        def report(steps: int, total: int, _: History) -> None:
            shown.append(f"{what} {steps}/{total}")

        yield report
        shown.append(f"{what} over")

    outcome = run(learned(), TASK, [1, 2], device="cpu", say=said.append, progress=progress)
    assert sorted(outcome.seconds) == ["generator", "neighborhoods", "predictor", "sampling", "test"]
    assert all(seconds > 0 for seconds in outcome.seconds.values())
    assert outcome.generator is not None
    assert outcome.predictor is not None
    assert len(outcome.generator.loss) == ROUNDS
    assert len(outcome.predictor.loss) == 4
    assert len(outcome.samples) == len(outcome.exact_match) == 2
    assert all(0 <= share <= 1 for share in outcome.exact_match)
    known = set(TASK.train)
    for samples in outcome.samples:
        assert len(samples) > 0
        assert not known & set(samples)
    assert [line.rpartition(" ")[0] for line in shown if line.endswith("over")] == [
        "learned: recombination network",
        "learned: predictor",
    ]
    assert "ways to rebuild one example from others" in said[0]
    assert said[1] == f"learned: {outcome.samples[0].account}"


def test_the_same_seeds_give_the_same_outcome_and_neighborhoods_found_before_are_not_sought_again() -> None:
    one = run(learned(), TASK, [1], device="cpu")
    other = run(learned(), TASK, [1], device="cpu", neighborhoods=RULE.build(TASK.train, seed=0))
    assert one.exact_match == other.exact_match
    assert list(one.samples[0]) == list(other.samples[0])
    assert "neighborhoods" in one.seconds
    assert "neighborhoods" not in other.seconds


def test_only_accepted_samples_are_trained_on() -> None:
    rare = Resampler(epsilon=0.03).fit(TASK.train)
    outcome = run(replace(PLAIN, augmenter=GECA(), n=5, accept=rare), TASK, [0], device="cpu")
    assert len(outcome.samples[0]) > 0
    assert all(rare(sample) is None for sample in outcome.samples[0])
    assert any("rare" in reason for reason in outcome.samples[0].rejected)


def test_no_samples_at_all_leave_the_originals() -> None:
    nothing = replace(PLAIN, augmenter=GECA(), n=5, p_aug=0.2, accept=lambda _: "unwanted")
    outcome = run(nothing, TASK, [0], device="cpu")
    assert (len(outcome.samples[0]), outcome.audits, outcome.right) == (0, [], None)
    assert outcome.exact_match == run(PLAIN, TASK, [0], device="cpu").exact_match


def test_shares_are_means_over_seeds_that_have_samples_and_a_judge() -> None:
    outcome = Outcome("x", [0, 1], exact_match=[0.5, 1.0])
    assert (outcome.score.mean, outcome.score.deviation, outcome.score.n) == (0.75, 0.25, 2)
    assert outcome.right is None
    outcome.audits = [Audit(4, 4, 0, right=1), Audit(10, 10, 0, right=10), Audit(5, 5, 0)]
    assert outcome.right is not None
    assert (outcome.right.mean, outcome.right.n) == (0.625, 2)


def test_a_part_of_a_task_is_a_part_of_both_sides() -> None:
    part = part_of(TASK, lambda pair: "and" not in pair.x)
    assert part.gold is TASK.gold
    assert list(part.train) == [pair for pair in TASK.train if "and" not in pair.x]
    assert list(part.test) == [example("jump twice"), example("jump thrice")]
    empty = part_of(Task(train=[Example(("a",), ("b",))], test=[]), lambda _: False)
    assert (list(empty.train), list(empty.test)) == ([], [])
