"""One experiment from end to end: augment, train predictors on the result, test them; many seeds at a time."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from recombine.augmentation.protocol import Augmenter, Samples, Validator
from recombine.augmentation.recombination import Recombination
from recombine.evaluation.audit import Audit, audit
from recombine.evaluation.seeds import Summary, summarize
from recombine.example import Example, Tokens
from recombine.execution.progress import Progress as Progress
from recombine.execution.progress import Say as Say
from recombine.execution.progress import no_progress
from recombine.neighborhoods import Neighborhoods
from recombine.prediction.predictor import Predictor
from recombine.training.loop import History
from recombine.training.recipe import Recipe


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is learned and how it is judged.

    Attributes:
        train: Training examples, all different.
        test: Test examples, which nothing but the final score sees.
        gold: The true output of an input, or None for an input that has none; None: nobody knows.
        relevant: Tells of a token whether its rarity counts; None: that of all does.
        reject: Says why a sample cannot be an example of this task, or None; None: every sample can.
        as_predicted: Gives an example in the order in which predictors see it.
    """

    train: Sequence[Example]
    test: Sequence[Example]
    gold: Callable[[Tokens], Tokens | None] | None = None
    relevant: Callable[[str], bool] | None = None
    reject: Validator | None = None
    as_predicted: Callable[[Example], Example] = lambda example: example


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How one row of a table comes about.

    Attributes:
        name: The row's name.
        predictor: How predictors are trained.
        augmenter: Gives the new examples; None: the predictors see the original ones only.
        n: How many new examples.
        p_aug: The mixing rate; None: concatenation.
        accept: Which samples are kept, e.g. a fitted resampler.
    """

    name: str
    predictor: Recipe
    augmenter: Augmenter | Recombination | None = None
    n: int = 400
    p_aug: float | None = None
    accept: Validator | None = None


@dataclass
class Outcome:
    """What came of a plan.

    Attributes:
        name: The row's name.
        seeds: One predictor (and one learned augmenter) for each.
        exact_match: Share of test examples predicted exactly, by seed.
        samples: The new examples, by seed.
        audits: What they are worth, by seed; none for a seed without samples.
        seconds: Wall time by stage.
        predictor: How the predictors' training went.
        generator: How the generators' training went, if there were any.
    """

    name: str
    seeds: Sequence[int]
    exact_match: list[float] = field(default_factory=list)
    samples: list[Samples] = field(default_factory=list)
    audits: list[Audit] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    predictor: History | None = None
    generator: History | None = None

    @property
    def score(self) -> Summary:
        """Exact match over seeds."""
        return summarize(self.exact_match)

    @property
    def right(self) -> Summary | None:
        """The share of samples that are exactly right, over seeds; None if nobody can tell."""
        shares = [audit.right / audit.n for audit in self.audits if audit.right is not None and audit.n]
        return summarize(shares) if shares else None


def run(
    plan: Plan,
    task: Task,
    seeds: Sequence[int],
    *,
    device: str = "auto",
    say: Say = lambda _: None,
    progress: Progress = no_progress,
    neighborhoods: Neighborhoods | None = None,
    graphs: bool = True,
) -> Outcome:
    """Carries out a plan for a population of seeds.

    Args:
        plan: What to do.
        task: On what.
        seeds: One predictor, and one learned augmenter, for each.
        device: Where networks are trained.
        say: Is told what has been done.
        progress: Shows how training goes.
        neighborhoods: Those of the training examples, if they have been found before.
        graphs: Use CUDA graphs on a GPU.
    """
    outcome = Outcome(plan.name, seeds)
    if plan.augmenter is not None:
        outcome.samples = _augment(
            plan, task, outcome, say=say, progress=progress, neighborhoods=neighborhoods, graphs=graphs
        )
        outcome.audits = [
            audit(samples.examples, gold=task.gold, train=task.train, test=task.test)
            for samples in outcome.samples
            if samples.examples
        ]
    predictor = Predictor(plan.predictor, seeds=seeds, device=device)
    with _timed(outcome, "predictor"), progress(f"{plan.name}: predictor") as report:
        predictor.fit_each(
            task.train,
            [s.examples for s in outcome.samples] or [()] * len(seeds),
            p_aug=plan.p_aug,
            report=report,
            graphs=graphs,
        )
    outcome.predictor = predictor.fitted_.history
    with _timed(outcome, "test"):
        outcome.exact_match = predictor.score(task.test)
    say(f"{plan.name}: exact match {outcome.score.mean:.3f} ± {outcome.score.deviation:.3f}")
    return outcome


def _augment(
    plan: Plan,
    task: Task,
    outcome: Outcome,
    *,
    say: Say,
    progress: Progress,
    neighborhoods: Neighborhoods | None,
    graphs: bool,
) -> list[Samples]:
    augmenter = plan.augmenter
    if not isinstance(augmenter, Recombination):
        assert augmenter is not None
        with _timed(outcome, "sampling"):
            augmenter.fit(task.train)
            return [augmenter.sample(plan.n, seed, plan.accept) for seed in outcome.seeds]
    augmenter.seeds = tuple(outcome.seeds)
    if neighborhoods is None:
        with _timed(outcome, "neighborhoods"):
            neighborhoods = augmenter.rule.build(task.train, seed=0).require_rows()
        say(f"{plan.name}: {len(neighborhoods):,} ways to rebuild one example from others")
    with _timed(outcome, "generator"), progress(f"{plan.name}: recombination network") as report:
        augmenter.fit_on(task.train, neighborhoods, report=report, graphs=graphs)
    outcome.generator = augmenter.fitted_.history
    with _timed(outcome, "sampling"):
        samples = augmenter.sample_each(plan.n, 0, plan.accept)
    say(f"{plan.name}: {samples[0].account}")
    return samples


@contextmanager
def _timed(outcome: Outcome, stage: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    outcome.seconds[stage] = time.perf_counter() - began


def part_of(task: Task, keep: Callable[[Example], bool]) -> Task:
    """Returns the part of a task, training and test set alike, whose examples are kept."""
    return replace(
        task,
        train=[example for example in task.train if keep(example)],
        test=[example for example in task.test if keep(example)],
    )
