"""The whole table in one go: all networks that make samples first, then predictors in large populations."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from recombine.augmentation.protocol import Samples
from recombine.errors import RecombineError
from recombine.example import Tokens
from recombine.execution.executor import SERIAL, Executor, Processes, Run
from recombine.execution.executor import Job as Planned
from recombine.execution.progress import Progress
from recombine.paper.jobs import (
    Source,
    Stages,
    Told,
    as_job,
    by_rule,
    join,
    searches,
    sources,
    with_networks,
    without_networks,
)
from recombine.paper.keys import Job, Population
from recombine.paper.records import items, provenance, sampled_part, scored_part, with_predictions, write_record
from recombine.paper.rows import Row
from recombine.paper.scale import Scale
from recombine.paper.settings import Settings, described
from recombine.paper.stages import Cache, Done, Stage
from recombine.paper.work import Work


@dataclass(frozen=True, kw_only=True)
class How:
    """How the table is computed.

    Attributes:
        output: The folder for records.
        cache: Where finished stages are kept.
        device: Where networks run.
        command: The words that were typed, for the records.
        population: How many predictors are trained as one.
        graphs: Use CUDA graphs on a GPU.
        executor: Who does the work; if machines other than this one, they share the cache's folder.
    """

    output: Path
    cache: Cache
    device: torch.device
    command: Sequence[str] = ()
    population: int = 100
    graphs: bool = True
    executor: Executor = SERIAL


@dataclass
class Experiment:
    """One row on one split, on its way.

    Attributes:
        row: The row's name.
        settings: How it comes about.
        samples: The new examples of each seed, once there are any.
        jobs: The predictors that it needs; none for a dash or direct inference.
        stages: Where the predictions of each are kept, once populations are known.
        outputs: Predictions for the test set by seed, once there are any.
        is_recorded: Whether its record is written.
    """

    row: str
    settings: Settings
    samples: list[Samples] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
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
        elsewhere: Is told of each stage that was done elsewhere: its name, effort and seconds.
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
        elsewhere: Callable[[str, float, float], None] = lambda *_: None,
        say: Callable[[str], None] = lambda _: None,
        scale: Scale | None = None,
        known: Sequence[Row] = (),
    ) -> None:
        scale = scale or Scale()
        self.how, self.seeds, self.further = how, seeds, scale.further
        self.say, self.expect, self.elsewhere = say, expect, elsewhere
        # All settings are read before anything is done.
        self.experiments = {
            split: [Experiment(row.name, scale.settings(row, split)) for row in rows if row.runs_on(split)]
            for split in splits
        }
        self.populations: dict[str, list[Population]] = {}
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
                by_rule=Processes() if how.executor.here else SERIAL,  # others have all processors at work already
            )
            for split in splits
        }

    def run(self) -> None:
        """Does what is not done yet, and writes a record of each experiment as soon as its figures are there.

        What fails leaves the rest alone.

        Raises:
            RecombineError: When all else is done, if something failed.
        """
        run, executor = Run(), self.how.executor
        self.expect(sum(map(self._left, self.work)))
        if executor.here and self.how.device.type == "cuda":
            self._do(run, searches, executor)
            with self._drawing_by_rule():
                self._do_jointly(executor)
                self._do(run, with_networks, executor)
            self._do(run, by_rule, executor)
        else:
            self._do(run, without_networks, executor)
            self._do(run, with_networks, executor.on(self.how.device.type))
        for split in self.work:
            self._take_up(split, some_failed=bool(run.failures))
        self.expect(sum(map(self._left_to_predict, self.work)))
        self._train(run, executor.on(self.how.device.type))
        run.check()

    @contextmanager
    def _drawing_by_rule(self) -> Iterator[None]:
        """Draws samples by rule beside networks on a GPU, which need few processors. What fails is left to be done."""
        processes, beside = Processes(), Run()
        if not processes.here:  # a job has processes of its own, one for each seed
            processes = Processes(max(2, processes.workers // len(self.seeds)))
        with beside.started(self._jobs(by_rule, processes), processes) as drawn:
            yield
            for told in drawn:
                self._tell(told)
        self._say_failures(beside, "not beside networks")

    def _do_jointly(self, executor: Executor) -> None:
        """Does what splits can do together. What fails, for want of memory, say, each does by itself afterwards."""
        run = Run()
        joined = join({split: self._missing_sources(split) for split in self.work}, self.work)
        jobs = [Planned(joint.name, joint.train_and_draw) for joint in joined if joint.is_missing]
        list(run.finished(jobs, executor))
        if run.failures:
            failed = {name for name, _ in run.failures}
            for joint in joined:
                if joint.name in failed and joint.is_missing:
                    joint.part()
        self._say_failures(run, "not in one go")

    def _say_failures(self, run: Run, how: str) -> None:
        for name, error in run.failures:
            self.say(f"{name}: {how}. {error}")

    def _do(self, run: Run, stages: Stages, executor: Executor) -> None:
        for told in run.finished(self._jobs(stages, executor), executor):
            self._tell(told)

    def _jobs(self, stages: Stages, executor: Executor) -> list[Planned[list[Told]]]:
        return [
            as_job(name, work, do, executor)
            for split, work in self.work.items()
            for name, do in stages(work, self._missing_sources(split)).items()
        ]

    def _train(self, run: Run, executor: Executor) -> None:
        jobs = []
        for split, work in self.work.items():
            self._record_finished(split)
            for population in self._missing(split):
                name = f"{split}: {len(population.jobs)} predictors"
                jobs.append(as_job(name, work, partial(_train, population), executor))
        for told in run.finished(jobs, executor):
            self._tell(told)
            for split in self.work:
                self._record_finished(split)

    def _tell(self, stages: Sequence[Told]) -> None:
        for stage in stages:
            self.elsewhere(*stage)

    def _missing_sources(self, split: str) -> list[Source]:
        """Returns what is needed before predictors and not there yet."""
        work = self.work[split]
        needed = [each for found in self.experiments[split] for each in sources(found.row, found.settings)]
        return [source for source in needed if source.is_missing(work)]

    def _take_up(self, split: str, *, some_failed: bool) -> None:
        """Reads what there is before predictors; experiments that lack something, since it failed, are given up."""
        work, missing = self.work[split], self._missing_sources(split)
        if missing and not some_failed:
            raise RecombineError(
                "what other machines wrote here cannot be seen from this one.",
                place=str(self.how.cache.folder),
                hint="Name a folder that all machines share with `cache`.",
            )
        failed = {source.row for source in missing}
        self.experiments[split] = [each for each in self.experiments[split] if each.row not in failed]
        for experiment in self.experiments[split]:
            self._read(work, experiment)
        self._divide(split)

    def _read(self, work: Work, experiment: Experiment) -> None:
        experiment.samples = work.samples(experiment.settings)
        if experiment.settings.method == "direct":
            experiment.outputs = work.direct(experiment.settings)
        elif experiment.is_dash:
            self.say(f"{work.split}, {experiment.row}: all samples were rejected. {experiment.samples[0].account}")
        else:
            experiment.jobs = work.jobs(experiment.settings, experiment.samples)

    def _divide(self, split: str) -> None:
        """Divides the predictors of a split into as few populations of one recipe as possible, all about as large.

        Predictors that are trained already count, too: whom a predictor is trained beside has a part in what comes out.
        """
        recipes: dict[str, dict[str, Job]] = {}  # each predictor once, though rows may share some
        for job in (job for experiment in self.experiments[split] for job in experiment.jobs):
            recipes.setdefault(repr(job.recipe), {})[job.key] = job
        stages: dict[str, Stage] = {}
        self.populations[split] = []
        for jobs in map(list, (each.values() for each in recipes.values())):
            count = -(-len(jobs) // self.how.population)
            borders = [len(jobs) * number // count for number in range(count + 1)]
            for population in (Population(jobs[start:end]) for start, end in pairwise(borders)):
                self.populations[split].append(population)
                stages |= {job.key: population.stage(job) for job in population.jobs}
        for experiment in self.experiments[split]:
            experiment.stages = [stages[job.key] for job in experiment.jobs]

    def _missing(self, split: str) -> list[Population]:
        """Returns the populations to train: those of which a predictor is missing, without the others if they can."""
        found = []
        for population in self.populations[split]:
            missing = [job for job in population.jobs if self.work[split].cache.find(population.stage(job)) is None]
            if missing:
                fewer = Population(missing)
                found.append(fewer if fewer.shared == population.shared else population)
        return found

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
        return sum(self.work[split].effort.predictors(population.jobs) for population in self._missing(split))

    def _record_finished(self, split: str) -> None:
        """Writes the records of the experiments whose figures have come in since the last time."""
        work = self.work[split]
        for experiment in (each for each in self.experiments[split] if not each.is_recorded):
            if experiment.jobs:
                outputs = [work.predictions(stage) for stage in experiment.stages]
                experiment.outputs = [each for each in outputs if each is not None]
                if len(experiment.outputs) < len(outputs):
                    continue
            path = write_record(self._record(split, experiment), self.how.output)
            experiment.is_recorded = True
            self.say(f"Written: {path}")

    def _record(self, split: str, experiment: Experiment) -> dict[str, Any]:
        work = self.work[split]
        stages = work.keys.before_predictors(experiment.settings)
        predictors = zip(experiment.jobs, experiment.stages, strict=True)
        stages |= {f"predictions {job.seed}": stage for job, stage in predictors}
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


def _train(population: Population, work: Work) -> None:
    work.train(population)


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
