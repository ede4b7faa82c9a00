"""Trains every method's predictors as one population and tests them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from recombine.comparison.methods import BOTH, GECA, PLAIN, RECOMBINE, Drawn, Plan, draw
from recombine.comparison.splitting import Split
from recombine.comparison.verdict import Judged, Part, Training, judge, sentence
from recombine.example import Example
from recombine.execution.executor import SERIAL, Executor, in_order
from recombine.execution.progress import Progress, Say, no_progress
from recombine.own_data import choices, choosing, unfinished
from recombine.own_data.choices import Choice
from recombine.own_data.unfinished import keeping
from recombine.prediction.predictor import Predictor
from recombine.training.fit import hold_out
from recombine.training.loop import History
from recombine.training.recipe import Recipe
from recombine.training.schedule import mixture

GENERATORS, PREDICTORS = "recombination.training", "predictors.training"
"""The files of a run's folder that hold the state of training until it is over."""


@dataclass
class Comparison:
    """What was found.

    Attributes:
        split: The data.
        plan: What was compared.
        drawn: The new examples.
        network: How the predictors of all methods were built and trained, and why so.
        judged: Scores, p-values and verdicts, by method and part of the test examples.
        history: How the predictors' training went: for each method in turn, its seeds.
        steps: After how many steps each epoch of it was over.
        training: What of that the verdict depends on.
    """

    split: Split
    plan: Plan
    drawn: Drawn
    network: Choice[Recipe]
    judged: dict[str, dict[Part, Judged]]
    history: History
    steps: list[int]

    training: Training

    @property
    def verdict(self) -> str:
        """Which methods help, on rare and on other examples, in one sentence, and why nothing rare was tested if so."""
        return f"{sentence(self.judged, PLAIN, self.split.rare, self.training)} {self.split.shortfall}".rstrip()


def compare(
    split: Split,
    plan: Plan,
    *,
    say: Say = lambda _: None,
    progress: Progress = no_progress,
    folder: Path | None = None,
    executor: Executor = SERIAL,
) -> Comparison:
    """Trains the methods' predictors, with the same seeds, and judges them on the test examples.

    Args:
        split: What to train on and to test on.
        plan: What to compare.
        say: Is told what has been done.
        progress: Shows how training and drawing go.
        folder: Where the state of training is saved now and then, and gone on from.
        executor: Who does the work: the methods' samples are jobs, and so are all predictors together, one population.
    """
    plan.check()
    if folder is not None:
        folder = folder.resolve()  # elsewhere, another folder may be the current one
    state = folder and folder / GENERATORS
    drawn = draw(split.train, plan, say=say, progress=progress, state=state, executor=executor)
    every = [samples.examples for method in plan.ordered for samples in drawn.of(method)]
    rates = [_rate(plan, len(split.train), len(new)) for new in every]
    train = partial(_trained, plan, split=split, every=every, rates=rates, state=folder and folder / PREDICTORS)
    who = executor.alone()
    shown = (say, progress) if who.here else (lambda _: None, no_progress)
    [trained] = in_order(who, train, [shown])
    history = trained.history
    epoch = _steps_per_epoch(trained.network.value, plan, len(split.train), list(map(len, every)), rates)
    training = _training(plan, drawn, history)
    correct = dict(zip(plan.ordered, _parts(trained.right, len(plan.seeds)), strict=True))
    return Comparison(
        split,
        plan,
        drawn,
        trained.network,
        judge(correct, PLAIN, split.rare, training),
        history,
        [epoch * number for number in range(1, len(history.loss) + 1)],
        training,
    )


def forget(folder: Path) -> None:
    """Removes the state of training, now that the result is safe."""
    for name in (GENERATORS, PREDICTORS):
        unfinished.forget(folder / name)


def _training(plan: Plan, drawn: Drawn, history: History) -> Training:
    """Returns what the verdict depends on; plain predictors are the first, each judged by its best epoch."""
    seeds = len(plan.seeds)
    judged = np.array([epoch[:seeds] for epoch in history.evaluation], dtype=float).reshape(-1, seeds)
    known = np.isfinite(judged).any(axis=0)
    best = np.where(np.isfinite(judged), judged, -np.inf)[:, known]
    augmenter = drawn.augmenter
    made = [method for method in (GECA, RECOMBINE) if any(drawn.samples.get(method, []))]
    return Training(
        held_out=float(best.max(axis=0).mean()) if best.size else math.nan,
        cut_short=history.stopped_early or (augmenter is not None and augmenter.fitted_.history.stopped_early),
        without_samples=[method for method in plan.ordered if method != PLAIN and not any(drawn.of(method))],
        only_of_both=made[0] if BOTH in plan.ordered and len(made) == 1 else "",
    )


def _rate(plan: Plan, originals: int, new: int) -> float | None:
    if not new:
        return None
    return choices.mixing_rate(originals, new).value if plan.p_aug is None else plan.p_aug


def _steps_per_epoch(
    recipe: Recipe, plan: Plan, originals: int, new: Sequence[int], rates: Sequence[float | None]
) -> int:
    """Returns how long epochs are; training does not tell where it was over before it went on."""
    groups = [mixture(originals, count, rate) for count, rate in zip(new, rates, strict=True)]
    training, _ = hold_out(groups, _networks(plan), recipe.held_out)
    rows = max(len(first.rows) / first.share for first, *_ in training)
    return recipe.duration(rows).steps_per_epoch


def _networks(plan: Plan) -> list[int]:
    """Returns the seed of each predictor: for each method in turn, its own."""
    return [*plan.seeds] * len(plan.ordered)


@dataclass
class _Trained:
    """How all predictors were trained, and which of their predictions are right (networks, test examples)."""

    network: Choice[Recipe]
    history: History
    right: np.ndarray


def _trained(
    plan: Plan,
    shown: tuple[Say, Progress],
    *,
    split: Split,
    every: Sequence[Sequence[Example]],
    rates: Sequence[float | None],
    state: Path | None,
) -> _Trained:
    say, progress = shown
    train = split.questions(split.train, plan.direction)
    made = choosing.predictor(
        train,
        plan.sized(split.train),
        epochs=plan.epochs,
        max_time=plan.max_time,
        seed=plan.seeds[0],
        device=plan.device,
        say=say,
        kept=unfinished.chosen(state),
    )
    network = made["network"]
    predictor = Predictor(network.value, seeds=_networks(plan), device=plan.device)
    with progress(f"Training {len(every)} predictors") as shows, keeping(state, shows, say) as report:
        predictor.fit_each(
            train,
            [split.questions(new, plan.direction) for new in every],
            p_aug=rates,
            report=report,
            checkpoint=state,
        )
    tests = split.questions(split.test, plan.direction)
    found = predictor.predict([example.x for example in tests])
    right = np.array([[guess.y == test.y for guess, test in zip(each, tests, strict=True)] for each in found])
    return _Trained(network, predictor.fitted_.history, right)


def _parts(rows: np.ndarray, size: int) -> Sequence[np.ndarray]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
