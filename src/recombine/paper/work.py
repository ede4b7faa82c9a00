"""Does the stages of the rows of one split that are not in the cache, and reads and writes the files of results."""

import gc
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from recombine.augmentation.protocol import Samples, together
from recombine.augmentation.recombination import Recombination
from recombine.data import files
from recombine.data.formats import Format
from recombine.example import Example, Tokens
from recombine.execution.executor import SERIAL, Executor
from recombine.execution.progress import Progress, Report
from recombine.neighborhoods import Neighborhoods
from recombine.paper.drawing import drawn
from recombine.paper.keys import Effort, Job, Keys, Population
from recombine.paper.settings import Settings, described
from recombine.paper.stages import Cache, Done, Stage
from recombine.paper.tasks import Task, different, of_each
from recombine.prediction.direct import DirectInference
from recombine.prediction.predictor import Prediction, Predictor
from recombine.training.loop import History

ROWS, MODEL, ACCOUNT, PREDICTIONS = "rows.npz", "model", "account.json", "predictions.jsonl"


@dataclass
class Work:
    """Does the stages of one split and keeps their results in a cache.

    Attributes:
        split: Its name, for people.
        tasks: The data of each seed, as many for each; most often the same for all.
        seeds: One network of each kind for each.
        cache: Where results are kept.
        device: Where networks run.
        progress: Shows how it goes.
        graphs: Use CUDA graphs on a GPU.
        by_rule: Who draws samples by rule, where seeds have data of their own: a fit of GECA may take half a minute.
    """

    split: str
    tasks: Sequence[Task]
    seeds: Sequence[int]
    cache: Cache
    device: torch.device
    progress: Progress
    graphs: bool = True
    by_rule: Executor = SERIAL

    def __post_init__(self) -> None:
        self.keys = Keys(self.tasks, self.seeds, self.device.type)
        self.effort = Effort(self.tasks[0], len(self.seeds))
        self.shared = self.tasks[0] if len(different(self.tasks)) == 1 else None  # the task of all seeds, if it is one
        self.row = ""  # for which row the stages are done now, for people
        self._latest: tuple[str, Recombination] | None = None

    def neighborhoods(self, settings: Settings) -> list[Neighborhoods]:
        """Returns the prototypes that each training example of each seed can be rebuilt from."""
        if not settings.prototypes:
            return of_each(self.tasks, lambda task: _alone(task, settings))
        stage = self.keys.neighborhoods(settings)
        done = self.cache.find(stage)
        names = {id(task): f"{number}.npz" for number, task in enumerate(different(self.tasks))}
        if self.shared is not None:
            names = {id(self.shared): ROWS}
        if done is None:
            with self._doing(stage, "neighborhoods", settings) as (done, _):
                for task in different(self.tasks):
                    found = settings.neighborhood.build(task.train, seed=0).require_rows()
                    found.save(done.folder / names[id(task)])
        folder = done.folder
        return of_each(self.tasks, lambda task: Neighborhoods.load(folder / names[id(task)]))

    def generator(self, settings: Settings) -> Recombination:
        """Returns the recombination networks."""
        stage = self.keys.generator(settings)
        if self._latest is not None and self._latest[0] == stage.key:
            return self._latest[1]
        self.forget()
        done = self.cache.find(stage)
        if done is not None:
            augmenter = Recombination.load(done.folder / MODEL, device=str(self.device))
        else:
            augmenter = self._trained(settings, stage)
        self._latest = stage.key, augmenter
        return augmenter

    def _trained(self, settings: Settings, stage: Stage) -> Recombination:
        neighborhoods = self.neighborhoods(settings)
        augmenter = self.untrained(settings, self.seeds)
        what = "1 recombination network" if len(self.seeds) == 1 else f"{len(self.seeds)} recombination networks"
        with self._training(stage) as state, self._doing(stage, what, settings) as (done, report):
            if self.shared is not None:
                examples = self.shared.train
                augmenter.fit_on(examples, neighborhoods[0], report=report, checkpoint=state, graphs=self.graphs)
            else:
                each = [task.train for task in self.tasks]
                augmenter.fit_each(each, neighborhoods, report=report, checkpoint=state, graphs=self.graphs)
            augmenter.save(done.folder / MODEL)
        return augmenter

    def untrained(self, settings: Settings, seeds: Sequence[int]) -> Recombination:
        """Returns recombination networks that are still to be trained."""
        return Recombination(
            settings.neighborhood,
            settings.generator,
            sampling=settings.sampling,
            prototypes=settings.prototypes,
            seeds=seeds,
            device=str(self.device),
        )

    def samples(self, settings: Settings) -> list[Samples]:
        """Returns the new examples of each seed."""
        sources = [self._samples(source) for source in settings.sources]
        if len(sources) == 1:
            return sources[0]
        return [together([source[number] for source in sources]) for number in range(len(self.seeds))]

    def _samples(self, settings: Settings) -> list[Samples]:
        stage = self.keys.samples(settings)
        done = self.cache.find(stage)
        if done is None:
            # Trained before the clock of this stage starts.
            augmenter = self.generator(settings) if settings.method == "recombination" else None
            with self._doing(stage, "samples", settings) as (done, _):
                write_samples(drawn(settings, self.tasks, self.seeds, augmenter, self.by_rule), done.folder)
        return read_samples(done.folder)

    def direct(self, settings: Settings) -> list[list[Tokens]]:
        """Returns the recombination networks' own predictions for the test set, by seed."""
        stage = self.keys.direct(settings)
        done = self.cache.find(stage)
        if done is None:
            augmenter = self.generator(settings)
            with self._doing(stage, "direct inference", settings) as (done, _):
                inference = DirectInference(augmenter, **described(settings.direct))
                for number, each in enumerate(inference.predict([example.x for example in self.tasks[0].test])):
                    write_predictions([prediction.y for prediction in each], done.folder / f"{number}.jsonl")
        return [read_predictions(done.folder / f"{number}.jsonl") for number in range(len(self.seeds))]

    def jobs(self, settings: Settings, samples: Sequence[Samples]) -> list[Job]:
        """Returns the predictors that a row needs, one for each seed."""
        return [
            Job(
                self.keys.predictor(settings, new.examples, seed),
                settings.predictor,
                task,
                seed,
                new.examples,
                settings.p_aug if new.examples else None,
            )
            for task, seed, new in zip(self.tasks, self.seeds, samples, strict=True)
        ]

    def train(self, population: Population) -> None:
        """Trains predictors as one population and keeps the predictions that are not there yet."""
        self.forget()
        jobs = population.jobs
        predictor = Predictor(jobs[0].recipe, seeds=[job.seed for job in jobs], device=str(self.device))
        tasks = [job.task for job in jobs]
        originals = of_each(tasks, lambda task: _as_predicted(task, task.train))
        inputs = of_each(tasks, lambda task: [example.x for example in _as_predicted(task, task.test)])
        shown = self.progress(f"{self.split}: {len(jobs)} predictors", self.effort.predictors(jobs))
        began = time.perf_counter()
        with self._training(population.stage(jobs[-1])) as state:
            with shown as report:
                predictor.fit_each(
                    originals if self.shared is None else originals[0],
                    [_as_predicted(job.task, job.samples) for job in jobs],
                    p_aug=[job.p_aug for job in jobs],
                    report=report,
                    checkpoint=state,
                    graphs=self.graphs,
                )
                trained = time.perf_counter()
                found = predictor.predict_each(inputs)
            tested = time.perf_counter()
            # Each has its share of what the population took.
            seconds = {"predictor": (trained - began) / len(jobs), "test": (tested - trained) / len(jobs)}
            for number, job in enumerate(jobs):
                stage = population.stage(job)
                if self.cache.find(stage) is None:
                    self._keep(stage, found[number], predictor.fitted_.history, number, seconds=seconds)

    def _keep(
        self,
        stage: Stage,
        predictions: Sequence[Prediction],
        history: History,
        number: int,
        *,
        seconds: dict[str, float],
    ) -> None:
        """Keeps what one predictor of a population predicts, and how it was trained."""
        with self.cache.doing(stage) as done:
            write_predictions([prediction.y for prediction in predictions], done.folder / PREDICTIONS)
            done.seconds = seconds
            done.facts = {"epochs": history.epochs(number)}
            if history.evaluation:
                done.facts["held-out exact match"] = history.evaluation[-1][number]

    def _training(self, stage: Stage) -> AbstractContextManager[Path | None]:
        """Gives where the state of a training is saved: on a GPU, where it is large and training short, nowhere."""
        return self.cache.training(stage) if self.device.type == "cpu" else nullcontext()

    def forget(self) -> None:
        """Lets recombination networks go, before others need the memory, on a GPU too."""
        self._latest = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def predictions(self, stage: Stage) -> list[Tokens] | None:
        """Returns a predictor's outputs for the test set, if it has been trained."""
        done = self.cache.find(stage)
        return None if done is None else read_predictions(done.folder / PREDICTIONS)

    @contextmanager
    def _doing(self, stage: Stage, what: str, settings: Settings) -> Iterator[tuple[Done, Report | None]]:
        effort = self.effort.of(stage.kind, settings)
        with self.progress(f"{self.split}, {self.row}: {what}", effort) as report, self.cache.doing(stage) as done:
            began = time.perf_counter()
            yield done, report
            done.seconds = {stage.kind: time.perf_counter() - began}


def _alone(task: Task, settings: Settings) -> Neighborhoods:
    """Returns neighborhoods in which each training example is a target without prototypes."""
    return Neighborhoods(np.arange(len(task.train), dtype=np.int32)[:, None], settings.neighborhood.name)


def _as_predicted(task: Task, examples: Sequence[Example]) -> list[Example]:
    """Returns examples in the order in which predictors see them."""
    return [task.as_predicted(example) for example in examples]


def write_samples(each: Sequence[Samples], folder: Path) -> None:
    """Writes the samples of each seed, and how many candidates were rejected and why."""
    for number, samples in enumerate(each):
        lines = "".join(f"{Format('jsonl').render(example)}\n" for example in samples)
        (folder / f"{number}.jsonl").write_text(lines, encoding="utf-8")
    accounts = [
        {"requested": samples.requested, "rejected": dict(samples.rejected), "shortfall": samples.shortfall}
        for samples in each
    ]
    (folder / ACCOUNT).write_text(json.dumps(accounts, indent=1), encoding="utf-8")


def read_samples(folder: Path) -> list[Samples]:
    """Reads what `write_samples` wrote."""
    accounts = json.loads((folder / ACCOUNT).read_text(encoding="utf-8"))
    return [
        Samples(tuple(files.iterate(folder / f"{number}.jsonl", format="jsonl")), **account)
        for number, account in enumerate(accounts)
    ]


def write_predictions(outputs: Sequence[Tokens], path: Path) -> None:
    """Writes one output a line."""
    path.write_text("".join(f"{json.dumps(y, ensure_ascii=False)}\n" for y in outputs), encoding="utf-8")


def read_predictions(path: Path) -> list[Tokens]:
    """Reads what `write_predictions` wrote."""
    return [tuple(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
