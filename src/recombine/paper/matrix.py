"""The whole table in one go: all networks that make samples first, then predictors in large populations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from recombine.augmentation.protocol import Samples
from recombine.example import Tokens
from recombine.experiment import Task
from recombine.paper.provenance import provenance
from recombine.paper.records import items, sampled_part, scored_part, with_predictions, write_record
from recombine.paper.rows import Row
from recombine.paper.settings import Settings, settings
from recombine.paper.stages import Cache, Done
from recombine.paper.strict import described
from recombine.paper.tasks import task
from recombine.paper.work import Job, Progress, Work


@dataclass(frozen=True, kw_only=True)
class How:
    """How the table is computed; but for how long an epoch of a population is, of no consequence to its figures.

    Attributes:
        output: The folder for records.
        cache: Where finished stages are kept.
        device: Where networks run.
        command: The words that were typed, for the records.
        population: How many predictors are trained as one.
        graphs: Use CUDA graphs on a GPU.
    """

    output: Path
    cache: Cache
    device: torch.device
    command: Sequence[str] = ()
    population: int = 100
    graphs: bool = True


@dataclass(frozen=True)
class Scale:
    """What the experiments are made on and with; a rehearsal makes both smaller.

    Attributes:
        task: Gives the data of a split for a seed; for seeds that share data, the same object.
        settings: Gives the settings of a row on a split.
        reference: The row whose samples say which test items are shown for all rows of a split; None: none are.
        further: Gives what else a record is to say, from outputs, samples and tasks by seed.
    """

    task: Callable[[str, int], Task] = lambda split, _: task(split)
    settings: Callable[[Row, str], Settings] = settings
    reference: str | None = "recomb-2"
    further: Callable[[Sequence[Sequence[Tokens]], Sequence[Samples], Sequence[Task]], dict[str, Any]] = lambda *_: {}


@dataclass
class Experiment:
    """One row on one split, on its way.

    Attributes:
        row: The row's name.
        settings: How it comes about.
        samples: The new examples of each seed, once there are any.
        jobs: The predictors that it needs; none for a dash or direct inference.
        outputs: Predictions for the test set by seed, once there are any.
        is_recorded: Whether its record is written.
    """

    row: str
    settings: Settings
    samples: list[Samples] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    outputs: list[list[Tokens]] = field(default_factory=list)
    is_recorded: bool = False

    @property
    def draws(self) -> bool:
        """Whether there are samples to be learned from."""
        return bool(self.settings.sources)

    @property
    def is_dash(self) -> bool:
        """Whether all samples of all seeds were rejected, so that there is nothing to learn from."""
        return self.draws and not any(map(len, self.samples))

    @property
    def originals_only(self) -> list[int]:
        """The seeds, not all of them, whose samples were all rejected: their predictors see the originals alone."""
        return [job.seed for job in self.jobs if self.draws and not job.samples]


class Matrix:
    """Rows on splits, for a number of seeds.

    Args:
        rows: Which.
        splits: On which splits; a row is run on those of them that it has.
        seeds: One network of each kind for each.
        how: Where and how to compute.
        progress: Shows how it goes.
        expect: Is told how much effort is left.
        say: Is told what has been done.
        scale: What the experiments are made on and with.
        known: All rows there are, among them the reference.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        splits: Sequence[str],
        seeds: Sequence[int],
        how: How,
        *,
        progress: Progress,
        expect: Callable[[float], None] = lambda _: None,
        say: Callable[[str], None] = lambda _: None,
        scale: Scale | None = None,
        known: Sequence[Row] = (),
    ) -> None:
        scale = scale or Scale()
        self.how, self.seeds, self.say, self.expect, self.further = how, seeds, say, expect, scale.further
        # All settings are read before anything is done.
        self.experiments = {
            split: [Experiment(row.name, scale.settings(row, split)) for row in rows if split in row.splits]
            for split in splits
        }
        references = {row.name: row for row in (*known, *rows) if row.name == scale.reference}
        self.references = {split: scale.settings(row, split) for row in references.values() for split in splits}
        self.work = {
            split: Work(
                split,
                [scale.task(split, seed) for seed in seeds],
                seeds,
                how.cache,
                how.device,
                progress,
                graphs=how.graphs,
            )
            for split in splits
        }

    def run(self) -> None:
        """Does what is not done yet, and writes a record of each experiment as soon as its figures are there."""
        self.expect(sum(map(self._left, self.work)))
        for split, work in self.work.items():
            for experiment in self._by_generator(split):
                self._sample(work, experiment)
        self.expect(sum(map(self._left_to_predict, self.work)))
        for split, work in self.work.items():
            self._record_finished(split)
            for population in self._populations(split):
                work.train(population)
                self._record_finished(split)

    def _by_generator(self, split: str) -> list[Experiment]:
        """Returns the experiments, those that share recombination networks one after the other."""
        keys = self.work[split].keys
        order: dict[str, list[Experiment]] = {}
        for experiment in self.experiments[split]:
            order.setdefault(keys.generator(experiment.settings).key, []).append(experiment)
        return [experiment for together in order.values() for experiment in together]

    def _sample(self, work: Work, experiment: Experiment) -> None:
        work.row = experiment.row
        experiment.samples = work.samples(experiment.settings)
        if experiment.settings.method == "direct":
            experiment.outputs = work.direct(experiment.settings)
        elif experiment.is_dash:
            self.say(f"{work.split}, {experiment.row}: all samples were rejected. {experiment.samples[0].account}")
        else:
            experiment.jobs = work.jobs(experiment.settings, experiment.samples)

    def _missing(self, split: str) -> list[Job]:
        """Returns the predictors that have not been trained, each once, though rows may share some."""
        work = self.work[split]
        jobs = {job.stage.key: job for experiment in self.experiments[split] for job in experiment.jobs}
        return [job for job in jobs.values() if work.cache.find(job.stage) is None]

    def _populations(self, split: str) -> list[list[Job]]:
        """Divides the predictors to train into as few populations of one recipe as possible, all about as large."""
        recipes: dict[str, list[Job]] = {}
        for job in self._missing(split):
            recipes.setdefault(repr(job.recipe), []).append(job)
        populations = []
        for jobs in recipes.values():
            count = -(-len(jobs) // self.how.population)
            borders = [len(jobs) * number // count for number in range(count + 1)]
            populations += [jobs[start:end] for start, end in pairwise(borders)]
        return populations

    def _left(self, split: str) -> float:
        """Returns the effort that is left, as far as it can be told before there are samples."""
        work = self.work[split]
        left: dict[str, float] = {}
        for experiment in self.experiments[split]:
            found = experiment.settings
            for source in found.sources or (found,):
                stages = work.keys.before_predictors(source)
                # Where the last of them is done, none of the others is needed again.
                if stages and work.cache.find([*stages.values()][-1]) is None:
                    missing = [(name, stage) for name, stage in stages.items() if work.cache.find(stage) is None]
                    left |= {stage.key: work.effort.of(name, source) for name, stage in missing}
            if found.method != "direct":
                jobs = work.jobs(found, [Samples((), 0)] * len(self.seeds))
                left[experiment.row] = sum(work.effort.predictors([job]) for job in jobs)
        return sum(left.values())

    def _left_to_predict(self, split: str) -> float:
        return sum(self.work[split].effort.predictors(population) for population in self._populations(split))

    def _record_finished(self, split: str) -> None:
        """Writes the records of the experiments whose figures have come in since the last time."""
        work = self.work[split]
        for experiment in (each for each in self.experiments[split] if not each.is_recorded):
            if experiment.jobs:
                outputs = [work.predictions(job) for job in experiment.jobs]
                experiment.outputs = [each for each in outputs if each is not None]
                if len(experiment.outputs) < len(outputs):
                    continue
            path = write_record(self._record(split, experiment), self.how.output)
            experiment.is_recorded = True
            self.say(f"Written: {path}")

    def _record(self, split: str, experiment: Experiment) -> dict[str, Any]:
        work = self.work[split]
        stages = work.keys.before_predictors(experiment.settings)
        stages |= {f"predictions {job.seed}": job.stage for job in experiment.jobs}
        done = {name: found for name, stage in stages.items() if (found := work.cache.find(stage)) is not None}
        shown = self._items(split)
        origin = provenance(["recombine", *self.how.command], str(self.how.device))
        return {
            "row": experiment.row,
            "column": split,
            "seeds": list(self.seeds),
            "dash": experiment.is_dash,
            "originals_only": experiment.originals_only,
            **scored_part(experiment.outputs, work.tasks),
            **sampled_part(experiment.samples, work.tasks, self.seeds),
            **self.further(experiment.outputs, experiment.samples, work.tasks),
            "items": with_predictions(shown, work.tasks[0], experiment.outputs[0]) if experiment.outputs else [],
            "training": _facts(done),
            "seconds": _seconds(done),
            "stages": {name: stage.key for name, stage in stages.items()},
            "settings": described(experiment.settings),
            "provenance": {**origin, "stages": {name: found.commit for name, found in done.items()}},
        }

    def _items(self, split: str) -> list[dict[str, Any]]:
        """Returns the test items to show, if the reference's samples are there, from this run or another."""
        work = self.work[split]
        if split not in self.references or work.cache.find(work.keys.samples(self.references[split])) is None:
            return []
        return items(work.tasks[0], work.samples(self.references[split])[0])


def _facts(stages: Mapping[str, Done]) -> dict[str, list[float]]:
    """Returns what is known of the predictors' training, by name, for each of them."""
    found: dict[str, list[float]] = {}
    for done in stages.values():
        for name, value in done.facts.items():
            found.setdefault(name, []).append(value)
    return found


def _seconds(stages: Mapping[str, Done]) -> dict[str, float]:
    """Returns what the stages took by part, seeds together."""
    total: dict[str, float] = {}
    for done in stages.values():
        for part, seconds in done.seconds.items():
            total[part] = total.get(part, 0.0) + seconds
    return total
