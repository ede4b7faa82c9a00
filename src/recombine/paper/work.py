"""The stages of the rows of one split: what each depends on, how much work it is, and doing those not in the cache."""

import gc
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from recombine.augmentation.geca import GECA
from recombine.augmentation.paradigms import Paradigms
from recombine.augmentation.protocol import Augmenter, Samples, Validator, together
from recombine.augmentation.recombination import Prior, Recombination
from recombine.augmentation.resample import Oversampler, Resampler
from recombine.data import files
from recombine.data.formats import Format
from recombine.example import Example, Tokens
from recombine.execution.executor import SERIAL, Executor, in_order
from recombine.execution.progress import Progress, Report
from recombine.inflection import is_named_tag, tag_token
from recombine.neighborhoods import Neighborhoods, Omega, Tagged, compatible, focused
from recombine.own_data.augmenters import agreement_filter, all_of
from recombine.paper.as_coded import rare_focused
from recombine.paper.settings import Settings, described
from recombine.paper.stages import Cache, Done, Stage, digest_of
from recombine.paper.tasks import Task, different, of_each
from recombine.prediction.direct import DirectInference
from recombine.prediction.predictor import Predictor
from recombine.training.recipe import Recipe

LEARNED = ("recombination", "direct")
"""The methods that need recombination networks."""

ROWS, MODEL, ACCOUNT, PREDICTIONS = "rows.npz", "model", "account.json", "predictions.jsonl"

GENERATOR_STEP, NEIGHBORHOODS, SAMPLING, BEAM, BY_RULE, DIRECT = 1.6, 1.5, 2_000.0, 5.0, 500.0, 4_000.0
"""Efforts, about as measured on a GPU, the last two guessed: neighborhoods for each example; sampling, GECA (or
oversampling) and direct inference for each seed."""
TENSES = frozenset(map(tag_token, ("PST", "FUT")))
"""The tags that Table 2 has few examples of."""

PAIRS = (1, 10, 30)
"""The most tuples of prototypes that an example has, by the number of prototypes."""


@dataclass(frozen=True)
class Job:
    """One predictor to train on a task's originals and samples, if there are any, seen with probability `p_aug`.

    `inputs` are what its predictions depend on, except for those that are trained beside it. If `p_aug` is None, all
    examples count alike.
    """

    inputs: Mapping[str, Any]
    recipe: Recipe
    task: Task
    seed: int
    samples: Sequence[Example]
    p_aug: float | None

    @cached_property
    def key(self) -> str:
        """Tells it from other predictors."""
        return Stage("predictor", self.inputs).key

    @property
    def epoch(self) -> float:
        """How many examples an epoch has: the originals once, and the new ones between them."""
        originals = len(self.task.train)
        return originals + len(self.samples) if self.p_aug is None else originals / (1 - self.p_aug)


@dataclass(frozen=True)
class Population:
    """Predictors of one recipe that are trained as one."""

    jobs: Sequence[Job]

    @cached_property
    def shared(self) -> dict[str, Any]:
        """What each predictor has of the others: steps, held-out examples, vocabulary, room for outputs.

        All have as many steps as the longest epoch asks for, hold out as many examples as the smallest training set
        allows, and know the tokens of all. Two populations that agree in this give the same predictors.
        """
        data = [job.task.train for job in self.jobs] + [job.samples for job in self.jobs]
        examples = [example for each in {id(each): each for each in data}.values() for example in each]  # each set once
        return {
            "epoch": max(job.epoch for job in self.jobs),
            "fewest": min(len(job.task.train) for job in self.jobs),
            "longest": [max(len(example.x) for example in examples), max(len(example.y) for example in examples)],
            "tokens": sorted({token for example in examples for token in (*example.x, *example.y)}),
        }

    @property
    def effort(self) -> float:
        """How much work it is, roughly, in training steps of one predictor."""
        epoch = max(job.epoch for job in self.jobs)
        return float(self.jobs[0].recipe.duration(epoch).steps * len(self.jobs))

    def stage(self, job: Job) -> Stage:
        """The training of one of them, and its predictions for the test set."""
        return Stage("predictions", {**job.inputs, "population": self.shared})


@dataclass
class Work:
    """Does the stages of one split and keeps their results in a cache.

    Attributes:
        tasks: The data of each seed, as many for each; most often the same for all.
        seeds: One network of each kind for each.
        device: Where networks run; another kind of device draws other random numbers.
        by_rule: Who draws samples by rule, where seeds have data of their own: a fit of GECA may take half a minute.
        populations: By recipe of recombination networks that several splits train as one: the data and seeds of all.
    """

    split: str
    tasks: Sequence[Task]
    seeds: Sequence[int]
    cache: Cache
    device: torch.device
    progress: Progress
    graphs: bool = True
    by_rule: Executor = SERIAL
    populations: dict[str, list[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.digests = of_each(self.tasks, lambda task: (digest_of(task.train), digest_of(task.test)))
        self.shared = self.tasks[0] if len(different(self.tasks)) == 1 else None  # the task of all seeds, if it is one
        # What all seeds share is named once.
        self.train_digest, self.test_digest = (
            each[0] if self.shared else [*each] for each in zip(*self.digests, strict=True)
        )
        self.row = ""  # for which row the stages are done now, for people
        self._latest: tuple[str, Recombination] | None = None

    def stages(self, settings: Settings) -> dict[str, Stage]:
        """Returns the stages of samples by one method, or of direct inference, by kind and in order.

        Each names all that its result depends on, and nothing else, so that rows share stages.
        """
        found: dict[str, Stage] = {}
        rule, recipe, by_network = settings.neighborhood, settings.generator, settings.method in LEARNED
        if by_network and settings.prototypes:
            inputs: dict[str, Any] = {"train": self.train_digest, "rule": described(rule)}
            found["neighborhoods"] = Stage("neighborhoods", inputs, NEIGHBORHOODS * len(self.tasks[0].train))
        if by_network:
            inputs = {
                "train": self.train_digest,
                "neighborhoods": found["neighborhoods"].key if settings.prototypes else None,
                "prototypes": settings.prototypes,
                "recipe": described(recipe),
                "seeds": list(self.seeds),
                "device": self.device.type,
            }
            # Networks of several splits share a vocabulary and start from others than networks trained alone.
            if population := self.populations.get(recipe_of(settings)):
                inputs["population"] = population
            pairs = (1, rule.first, rule.first * rule.second) if isinstance(rule, Tagged) else PAIRS
            rows = len(self.tasks[0].train) * pairs[settings.prototypes] * (1 - recipe.held_out)
            effort = GENERATOR_STEP * recipe.duration(rows).steps * len(self.seeds)
            found["generator"] = Stage("generator", inputs, effort)
        if settings.method == "direct":
            inputs = {
                "generator": found["generator"].key,
                "direct": described(settings.direct),
                "test": self.test_digest,
            }
            found["direct"] = Stage("direct", inputs, DIRECT * len(self.seeds))
            return found
        by_rarity = settings.resampling or settings.agreement or settings.method == "oversample"
        asked = by_rarity or settings.omega in ("focused", "rare")
        inputs = {"n": settings.n, "resampler": described(settings.resampler) if asked else None}
        if settings.rare_tags != "all":
            inputs["rare tags"] = settings.rare_tags
        if settings.agreement:
            inputs["agreement"] = True
        if by_network:
            inputs["generator"] = found["generator"].key
            inputs |= {"sampling": described(settings.sampling), "deviations": settings.deviations}
            if settings.omega != "rule":
                inputs["omega"] = settings.omega
            effort = SAMPLING * (BEAM if settings.sampling.decoding.strategy == "beam" else 1.0)
        else:
            inputs |= {"train": self.train_digest, "seeds": list(self.seeds)}
            inputs[settings.method] = described(settings.geca) if settings.method == "geca" else True
            effort = BY_RULE
        found["samples"] = Stage("samples", inputs, effort * len(self.seeds))
        return found

    def before_predictors(self, settings: Settings) -> dict[str, Stage]:
        """Returns all stages of a row up to its samples, or direct inference, by name."""
        found = {}
        for source in settings.sources:
            for kind, stage in self.stages(source).items():
                by_one = kind == "samples" and len(settings.sources) > 1
                found[f"samples by {source.method}" if by_one else kind] = stage
        return found

    def result(self, settings: Settings) -> Stage:
        """Returns the last of the `stages`."""
        return [*self.stages(settings).values()][-1]

    def next_stage(self, settings: Settings) -> Stage:
        """Returns the stage to begin with where the result is missing: the search for neighborhoods, if none are there.

        Networks that are trained need none. What is drawn by rule has one stage only.
        """
        stages = self.stages(settings)
        networks = stages.get("generator", self.result(settings))
        search = stages.get("neighborhoods", networks)
        return networks if self.has(networks) or self.has(search) else search

    def has(self, stage: Stage) -> bool:
        """Tells whether a stage is done."""
        return self.cache.find(stage) is not None

    def make(self, row: str, settings: Settings) -> None:
        """Makes samples by one method, or direct inference, for a row, if they are missing."""
        self.row = row
        (self.direct if settings.method == "direct" else self.samples)(settings)

    def neighborhoods(self, settings: Settings) -> list[Neighborhoods]:
        """Returns the prototypes that each training example of each seed can be rebuilt from."""
        if not settings.prototypes:
            return [Neighborhoods(np.empty((0, 1), np.int32), settings.neighborhood.name)] * len(self.tasks)
        stage = self.stages(settings)["neighborhoods"]
        done = self.cache.find(stage)
        numbered = enumerate(different(self.tasks))
        names = {id(task): ROWS if self.shared else f"{number}.npz" for number, task in numbered}
        if done is None:
            with self._doing(stage, "neighborhoods") as (done, _):
                for task in different(self.tasks):
                    found = settings.neighborhood.build(task.train, seed=0).require_rows()
                    found.save(done.folder / names[id(task)])
        folder = done.folder
        return of_each(self.tasks, lambda task: Neighborhoods.load(folder / names[id(task)]))

    def generator(self, settings: Settings) -> Recombination:
        """Returns the recombination networks."""
        stage = self.stages(settings)["generator"]
        if self._latest is not None and self._latest[0] == stage.key:
            return self._latest[1]
        self.forget()
        done = self.cache.find(stage)
        if done is not None:
            augmenter = Recombination.load(done.folder / MODEL, device=str(self.device))
        else:
            neighborhoods, augmenter = self.neighborhoods(settings), self.untrained(settings, self.seeds)
            what = "1 recombination network" if len(self.seeds) == 1 else f"{len(self.seeds)} recombination networks"
            with self._training(stage) as state, self._doing(stage, what) as (done, report):
                if self.shared is not None:
                    examples = self.shared.train
                    augmenter.fit_on(examples, neighborhoods[0], report=report, checkpoint=state, graphs=self.graphs)
                else:
                    each = [task.train for task in self.tasks]
                    augmenter.fit_each(each, neighborhoods, report=report, checkpoint=state, graphs=self.graphs)
                augmenter.save(done.folder / MODEL)
        self._latest = stage.key, augmenter
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
        """Returns the new examples of each seed, those of several methods together."""
        found = []
        for source in settings.sources if settings.method != "direct" else ():
            stage = self.result(source)
            done = self.cache.find(stage)
            if done is None:
                # Trained before the clock of this stage starts.
                augmenter = self.generator(source) if source.method == "recombination" else None
                with self._doing(stage, "samples") as (done, _):
                    write_samples(drawn(source, self.tasks, self.seeds, augmenter, self.by_rule), done.folder)
            found.append(read_samples(done.folder))
        if len(found) == 1:
            return found[0]
        return [together([source[number] for source in found]) for number in range(len(self.seeds))]

    def direct(self, settings: Settings) -> list[list[Tokens]]:
        """Returns the recombination networks' own predictions for the test set, by seed."""
        stage = self.result(settings)
        done = self.cache.find(stage)
        if done is None:
            augmenter = self.generator(settings)
            with self._doing(stage, "direct inference") as (done, _):
                inference = DirectInference(augmenter, **described(settings.direct))
                for number, each in enumerate(inference.predict([example.x for example in self.tasks[0].test])):
                    write_predictions([prediction.y for prediction in each], done.folder / f"{number}.jsonl")
        return [read_predictions(done.folder / f"{number}.jsonl") for number in range(len(self.seeds))]

    def train(self, population: Population) -> None:
        """Trains predictors as one population and keeps the predictions that are not there yet."""
        self.forget()
        jobs = population.jobs
        predictor = Predictor(jobs[0].recipe, seeds=[job.seed for job in jobs], device=str(self.device))
        tasks = [job.task for job in jobs]
        originals = of_each(tasks, lambda task: [*map(task.as_predicted, task.train)])
        inputs = of_each(tasks, lambda task: [task.as_predicted(example).x for example in task.test])
        began = time.perf_counter()
        with self._training(population.stage(jobs[-1])) as state:
            with self.progress(f"{self.split}: {len(jobs)} predictors", population.effort) as report:
                predictor.fit_each(
                    originals if self.shared is None else originals[0],
                    [[*map(job.task.as_predicted, job.samples)] for job in jobs],
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
            history = predictor.fitted_.history
            for number, stage in enumerate(map(population.stage, jobs)):
                if not self.has(stage):
                    with self.cache.doing(stage) as done:
                        outputs = [prediction.y for prediction in found[number]]
                        write_predictions(outputs, done.folder / PREDICTIONS)
                        done.seconds, done.facts = seconds, {"epochs": history.epochs(number)}
                        if history.evaluation:
                            done.facts["held-out exact match"] = history.evaluation[-1][number]

    def predictions(self, stage: Stage) -> list[Tokens] | None:
        """Returns a predictor's outputs for the test set, if it has been trained."""
        done = self.cache.find(stage)
        return None if done is None else read_predictions(done.folder / PREDICTIONS)

    def predictors(self, settings: Settings, samples: Sequence[Sequence[Example]]) -> list[Job]:
        """Returns the predictors that a row needs, one for each seed, whose new examples are given.

        Samples count for what they are, however they were drawn.
        """
        jobs = []
        for task, seed, (train, test), new in zip(self.tasks, self.seeds, self.digests, samples, strict=True):
            p_aug = settings.p_aug if new else None
            inputs = {
                "train": train,
                "test": test,
                "samples": digest_of(new),
                "p_aug": p_aug,
                "recipe": described(settings.predictor),
                "seed": seed,
                "device": self.device.type,
            }
            jobs.append(Job(inputs, settings.predictor, task, seed, new, p_aug))
        return jobs

    def forget(self) -> None:
        """Lets recombination networks go, before others need the memory, on a GPU too."""
        self._latest = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _training(self, stage: Stage) -> AbstractContextManager[Path | None]:
        """Gives where the state of a training is saved: on a GPU, where it is large and training short, nowhere."""
        return self.cache.training(stage) if self.device.type == "cpu" else nullcontext()

    @contextmanager
    def _doing(self, stage: Stage, what: str) -> Iterator[tuple[Done, Report | None]]:
        shown = self.progress(f"{self.split}, {self.row}: {what}", stage.effort)
        with shown as report, self.cache.doing(stage) as done:
            began = time.perf_counter()
            yield done, report
            done.seconds = {stage.kind: time.perf_counter() - began}


def recipe_of(settings: Settings) -> str:
    """Names all that recombination networks of one population have in common."""
    rule = (settings.neighborhood.name, described(settings.neighborhood)) if settings.prototypes else None
    return repr((settings.prototypes, rule, described(settings.generator)))


def drawn(
    settings: Settings,
    tasks: Sequence[Task],
    seeds: Sequence[int],
    augmenter: Recombination | None,
    executor: Executor = SERIAL,
) -> list[Samples]:
    """Returns the new examples of each seed, by one method: by recombination networks, if they are given, or by rule.

    The executor draws by rule, where seeds have data of their own.
    """
    if augmenter is not None:
        augmenter.sampling, augmenter.deviations = settings.sampling, settings.deviations
        augmenter.omega = _prior(settings, tasks[0])
        return augmenter.sample_each(settings.n, 0, of_each(tasks, partial(_accept, settings)))
    found = different(tasks)

    def samples_of(number: int) -> list[Samples]:
        task = found[number]
        by_rule: Augmenter = Oversampler(_resampler(settings, task))
        accept = None
        if settings.method != "oversample":
            by_rule = GECA(**described(settings.geca)) if settings.method == "geca" else Paradigms()
            accept = _accept(settings, task)
        by_rule.fit(task.train)
        own = [seed for of, seed in zip(tasks, seeds, strict=True) if of is task]
        return [by_rule.sample(settings.n, seed, accept) for seed in own]

    made = in_order(executor if len(found) > 1 else SERIAL, samples_of, range(len(found)))
    samples = {id(task): iter(own) for task, own in zip(found, made, strict=True)}
    return [next(samples[id(task)]) for task in tasks]


def _resampler(settings: Settings, task: Task) -> Resampler:
    relevant = {"all": task.relevant, "named": is_named_tag, "tenses": TENSES.__contains__}[settings.rare_tags]
    return replace(settings.resampler, relevant=relevant)


def _accept(settings: Settings, task: Task) -> Validator | None:
    """Returns what decides which samples are kept: those that the task knows, and of these, if asked for, the rare."""
    if not settings.resampling and not settings.agreement:
        return task.reject
    rare = _resampler(settings, task).fit(task.train)
    return all_of(
        task.reject,
        agreement_filter(task.train, rare) if settings.agreement else None,
        rare if settings.resampling else None,
    )


def _prior(settings: Settings, task: Task) -> Prior | None:
    """Returns what gives the prototypes to sample with, if not the rule for neighborhoods does."""

    def prior(neighborhoods: Neighborhoods, examples: Sequence[Example]) -> Omega:
        rare = _resampler(settings, task).fit(examples)
        if settings.omega == "rare":
            return rare_focused(examples, rare=[token for rarity in rare.rare_ for token in rarity.ngram])
        whole = compatible(neighborhoods, examples, deviations=settings.deviations)
        return focused(whole, [bool(rare.weight(example)) for example in examples])

    return None if settings.omega == "rule" else prior


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
