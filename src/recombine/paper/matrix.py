"""The whole table in one go: all networks that make samples first, then predictors in large populations."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from itertools import chain, pairwise
from operator import methodcaller
from pathlib import Path
from typing import Any

import torch

from recombine.augmentation.protocol import Samples
from recombine.errors import RecombineError
from recombine.example import Tokens
from recombine.execution.executor import SERIAL, Executor, Processes, Run
from recombine.execution.executor import Job as Planned
from recombine.execution.progress import Progress
from recombine.paper.jobs import BY_RULE, NETWORKS, SEARCH, Need, Told, as_job, jobs_of, join
from recombine.paper.records import items, provenance, sampled_part, scored_part, word_form_part, write_record
from recombine.paper.rows import Row
from recombine.paper.scale import Scale
from recombine.paper.settings import Settings, described
from recombine.paper.stages import Cache, Stage
from recombine.paper.work import Job, Population, Work


@dataclass
class Experiment:
    """One row on one split, on its way: its samples by seed, predictors to train, and outputs for the test set by seed.

    A dash or direct inference needs no predictors.
    """

    row: str
    settings: Settings
    work: Work
    samples: list[Samples] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    outputs: list[list[Tokens]] = field(default_factory=list)
    is_recorded: bool = False

    @property
    def is_dash(self) -> bool:
        """Whether all samples of all seeds were rejected, so that there is nothing to learn from."""
        return self.settings.method not in ("none", "direct") and not any(map(len, self.samples))


@dataclass
class Matrix:
    """Rows on those of the splits that they have, with one network of each kind for each of the seeds.

    Attributes:
        output: The folder for records.
        cache: Where finished stages are kept; whoever it tells of damage is told what has been done, too.
        expect: Is told how much effort is left.
        elsewhere: Is told of each stage that was done elsewhere: its name, effort and seconds.
        known: All rows there are, among them the reference.
        command: The words that were typed, for the records.
        population: How many predictors are trained as one.
        executor: Who does the work; if machines other than this one, they share the cache's folder.
    """

    rows: Sequence[Row]
    splits: Sequence[str]
    seeds: Sequence[int]
    _: KW_ONLY
    output: Path
    cache: Cache
    device: torch.device
    progress: Progress
    expect: Callable[[float], None] = lambda _: None
    elsewhere: Callable[[str, float, float], None] = lambda *_: None
    scale: Scale = field(default_factory=Scale)
    known: Sequence[Row] = ()
    command: Sequence[str] = ()
    population: int = 100
    graphs: bool = True
    executor: Executor = SERIAL

    def __post_init__(self) -> None:
        # All settings are read before anything is done.
        chosen = [(row, split) for split in self.splits for row in self.rows if row.runs_on(split)]
        settings = [self.scale.settings(row, split) for row, split in chosen]
        reference = [row for row in (*self.rows, *self.known) if row.name == self.scale.reference][:1]
        self.references = {split: self.scale.settings(row, split) for split in self.splits for row in reference}
        by_rule = Processes() if self.executor.here else SERIAL  # others have all processors at work already
        self.work = {}
        for split in self.splits:
            tasks = [self.scale.task(split, seed) for seed in self.seeds]
            own = (self.seeds, self.cache, self.device, self.progress, self.graphs, by_rule)
            self.work[split] = Work(split, tasks, *own)
        self.experiments = [
            Experiment(row.name, found, self.work[split]) for (row, split), found in zip(chosen, settings, strict=True)
        ]

    def run(self) -> None:
        """Does what is not done yet, and writes a record of each experiment as soon as its figures are there.

        What fails leaves the rest alone, and is an error when all else is done.
        """
        run, on_device = Run(), self.executor.on(self.device.type)
        self.expect(self._left())
        if self.executor.here and self.device.type == "cuda":
            self._do(run, self.executor, SEARCH)
            with self._drawing_by_rule():
                self._do_jointly()
                self._do(run, self.executor, NETWORKS)
            self._do(run, self.executor, BY_RULE)
        else:
            self._do(run, self.executor, BY_RULE, SEARCH)
            self._do(run, on_device, NETWORKS)
        self._take_up(some_failed=bool(run.failures))
        self._record_finished()
        populations = self._missing_populations()
        self.expect(sum(population.effort for _, population in populations))
        jobs = []
        for work, population in populations:
            name = f"{work.split}: {len(population.jobs)} predictors"
            jobs.append(as_job(name, work, methodcaller("train", population), on_device))
        for told in run.finished(jobs, on_device):
            self._tell([told])
            self._record_finished()
        run.check()

    @contextmanager
    def _drawing_by_rule(self) -> Iterator[None]:
        """Draws samples by rule beside networks on a GPU, which need few processors. What fails is left to be done."""
        processes, beside = Processes(), Run()
        if not processes.here:  # a job has processes of its own, one for each seed
            processes = Processes(max(2, processes.workers // len(self.seeds)))
        with beside.started(self._jobs(processes, BY_RULE), processes) as drawn:
            yield
            self._tell(drawn)
        for name, error in beside.failures:
            self.cache.say(f"{name}: not beside networks. {error}")

    def _do_jointly(self) -> None:
        """Does what splits can do together. What fails, for want of memory, say, each does by itself afterwards."""
        run = Run()
        joined = join({split: self._missing(work) for split, work in self.work.items()}, self.work)
        jobs = [Planned(joint.name, joint.train_and_draw) for joint in joined if joint.is_missing]
        list(run.finished(jobs, self.executor))
        for name, error in run.failures:
            self.cache.say(f"{name}: not in one go. {error}")
            for joint in joined:
                if joint.name == name and joint.is_missing:
                    joint.part()

    def _do(self, run: Run, executor: Executor, *kinds: str) -> None:
        self._tell(run.finished(self._jobs(executor, *kinds), executor))

    def _tell(self, jobs: Iterable[list[Told]]) -> None:
        for stage in chain.from_iterable(jobs):
            self.elsewhere(*stage)

    def _jobs(self, executor: Executor, *kinds: str) -> list[Planned[list[Told]]]:
        return [
            as_job(name, work, do, executor)
            for work in self.work.values()
            for name, do in jobs_of(work, self._missing(work), kinds).items()
        ]

    def _missing(self, work: Work) -> list[Need]:
        """Returns what a split needs before predictors and does not have yet."""
        own = [each for each in self.experiments if each.work is work]
        needed = [(each.row, source) for each in own for source in each.settings.sources]
        return [(row, source) for row, source in needed if not work.has(work.result(source))]

    def _take_up(self, *, some_failed: bool) -> None:
        """Reads what there is before predictors; experiments that lack something, since it failed, are given up."""
        missing = {(split, row) for split, work in self.work.items() for row, _ in self._missing(work)}
        if missing and not some_failed:
            raise RecombineError(
                "what other machines wrote here cannot be seen from this one.",
                place=str(self.cache.folder),
                hint="Name a folder that all machines share with `cache`.",
            )
        self.experiments = [each for each in self.experiments if (each.work.split, each.row) not in missing]
        for each in self.experiments:
            each.samples = each.work.samples(each.settings)
            if each.settings.method == "direct":
                each.outputs = each.work.direct(each.settings)
            elif each.is_dash:
                account = each.samples[0].account
                self.cache.say(f"{each.work.split}, {each.row}: all samples were rejected. {account}")
            else:
                each.jobs = each.work.predictors(each.settings, [new.examples for new in each.samples])
        self._divide()

    def _divide(self) -> None:
        """Divides the predictors of a split into as few populations of one recipe as possible, all about as large.

        Predictors that are trained already count, too: whom a predictor is trained beside has a part in what comes out.
        """
        recipes: dict[tuple[str, str], dict[str, Job]] = {}  # each predictor once, though rows may share some
        for each in self.experiments:
            for job in each.jobs:
                recipes.setdefault((each.work.split, repr(each.settings.predictor)), {})[job.key] = job
        self.populations: list[tuple[Work, Population]] = []
        self.predictors: dict[tuple[str, str], Stage] = {}  # the stage of each, by split and key
        for (split, _), unique in recipes.items():
            jobs = list(unique.values())
            count = -(-len(jobs) // self.population)
            borders = [len(jobs) * number // count for number in range(count + 1)]
            for population in (Population(jobs[start:end]) for start, end in pairwise(borders)):
                self.populations.append((self.work[split], population))
                self.predictors |= {(split, job.key): population.stage(job) for job in population.jobs}

    def _missing_populations(self) -> list[tuple[Work, Population]]:
        """Returns the populations to train: those of which a predictor is missing, without the others if they can."""
        found = []
        for work, population in self.populations:
            if missing := [job for job in population.jobs if not work.has(population.stage(job))]:
                fewer = Population(missing)
                found.append((work, fewer if fewer.shared == population.shared else population))
        return found

    def _left(self) -> float:
        """Returns the effort that is left, as far as it can be told before there are samples."""
        left: dict[tuple[str, str], float] = {}
        for each in self.experiments:
            work, found = each.work, each.settings
            for source in found.sources:
                stages = [*work.stages(source).values()]
                # Where the last of them is done, none of the others is needed again.
                if not work.has(stages[-1]):
                    left |= {(work.split, stage.key): stage.effort for stage in stages if not work.has(stage)}
            if found.method != "direct":
                jobs = work.predictors(found, [()] * len(self.seeds))
                left[work.split, each.row] = sum(Population([job]).effort for job in jobs)
        return sum(left.values())

    def _record_finished(self) -> None:
        """Writes the records of the experiments whose figures have come in since the last time."""
        for each in (each for each in self.experiments if not each.is_recorded):
            if each.jobs:
                stages = [self.predictors[each.work.split, job.key] for job in each.jobs]
                outputs = [each.work.predictions(stage) for stage in stages]
                each.outputs = [found for found in outputs if found is not None]
                if len(each.outputs) < len(outputs):
                    continue
            path = write_record(self._record(each), self.output)
            each.is_recorded = True
            self.cache.say(f"Written: {path}")

    def _record(self, experiment: Experiment) -> dict[str, Any]:
        work, samples, outputs = experiment.work, experiment.samples, experiment.outputs
        stages = work.before_predictors(experiment.settings)
        stages |= {f"predictions {job.seed}": self.predictors[work.split, job.key] for job in experiment.jobs}
        done = {name: found for name, stage in stages.items() if (found := work.cache.find(stage)) is not None}
        training: dict[str, list[float]] = {}  # what is known of it, for each predictor
        seconds: dict[str, float] = {}  # by part, seeds together
        for each in done.values():
            for name, value in each.facts.items():
                training.setdefault(name, []).append(value)
            for part, took in each.seconds.items():
                seconds[part] = seconds.get(part, 0.0) + took
        shown: list[dict[str, Any]] = []
        reference = self.references.get(work.split)
        if outputs and reference is not None and work.has(work.result(reference)):  # from this run or another
            shown = items(work.tasks[0], work.samples(reference)[0], outputs[0])
        without = [job.seed for job in experiment.jobs if experiment.settings.method != "none" and not job.samples]
        origin = provenance(["recombine", *self.command], str(self.device))
        return {
            "row": experiment.row,
            "column": work.split,
            "seeds": list(self.seeds),
            "dash": experiment.is_dash,
            "originals_only": without,  # seeds whose samples were all rejected
            **scored_part(outputs, work.tasks),
            **sampled_part(samples, work.tasks, self.seeds),
            **word_form_part(outputs, samples, work.tasks),
            "items": shown,
            "training": training,
            "seconds": seconds,
            "stages": {name: stage.key for name, stage in stages.items()},
            "settings": described(experiment.settings),
            "provenance": {**origin, "stages": {name: found.commit for name, found in done.items()}},
        }
