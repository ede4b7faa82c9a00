"""The stages of a table as lists of jobs that need not wait for one another, done here or elsewhere.

A GPU trains many networks in little more time than a few, so recombination networks of several splits may be one
population.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from recombine.augmentation.recombination import Recombination
from recombine.execution.executor import Executor, Job
from recombine.execution.progress import no_progress
from recombine.paper.drawing import drawn
from recombine.paper.keys import recipe_of
from recombine.paper.records import commit
from recombine.paper.settings import Settings, described
from recombine.paper.stages import Cache, Stage
from recombine.paper.tasks import Task
from recombine.paper.work import MODEL, Work, write_samples

Do = Callable[[Work], object]
"""Does stages, whose results are then in the cache."""

Stages = Callable[[Work, Sequence["Source"]], dict[str, Do]]
"""Returns the jobs of one kind by name, for what a split lacks."""


class Told(NamedTuple):
    """A stage that was done elsewhere: its name, effort and time."""

    what: str
    effort: float
    seconds: float


@dataclass(frozen=True)
class Source:
    """Something of a row that is needed before predictors can be trained.

    Attributes:
        row: The row's name.
        settings: How samples are drawn, by one method, or direct inference.
    """

    row: str
    settings: Settings

    @property
    def is_learned(self) -> bool:
        """Whether recombination networks make it."""
        return self.settings.method in ("recombination", "direct")

    def stage(self, work: Work) -> Stage:
        """Returns where the result is kept."""
        return (work.keys.direct if self.settings.method == "direct" else work.keys.samples)(self.settings)

    def is_missing(self, work: Work) -> bool:
        """Tells whether the result is still to be made."""
        return work.cache.find(self.stage(work)) is None

    def lacks_neighborhoods(self, work: Work) -> bool:
        """Tells whether networks are to be trained on neighborhoods that are not there yet."""
        if not self.settings.prototypes or work.cache.find(work.keys.generator(self.settings)) is not None:
            return False
        return work.cache.find(work.keys.neighborhoods(self.settings)) is None

    def search(self, work: Work) -> None:
        """Finds the neighborhoods that networks are to learn."""
        work.row = self.row
        work.neighborhoods(self.settings)

    def make(self, work: Work) -> None:
        """Makes the result if it is missing."""
        work.row = self.row
        (work.direct if self.settings.method == "direct" else work.samples)(self.settings)


def sources(row: str, settings: Settings) -> list[Source]:
    """Returns what a row needs before its predictors can be trained; nothing for the baseline."""
    return [Source(row, each) for each in ((settings,) if settings.method == "direct" else settings.sources)]


def by_rule(work: Work, missing: Sequence[Source]) -> dict[str, Do]:
    """Returns the jobs of a split that make samples by rule, by name."""
    found: dict[str, Source] = {}
    for source in missing:
        if not source.is_learned:
            found.setdefault(source.stage(work).key, source)
    return {f"{work.split}, {source.row}: samples": source.make for source in found.values()}


def searches(work: Work, missing: Sequence[Source]) -> dict[str, Do]:
    """Returns the jobs of a split that find the neighborhoods that networks are to learn."""
    found: dict[str, Source] = {}
    for source in missing:
        if source.is_learned and source.lacks_neighborhoods(work):
            found.setdefault(work.keys.neighborhoods(source.settings).key, source)
    return {f"{work.split}, {source.row}: neighborhoods": source.search for source in found.values()}


def without_networks(work: Work, missing: Sequence[Source]) -> dict[str, Do]:
    """Returns the first jobs of a split by name: all that is done without networks."""
    return by_rule(work, missing) | searches(work, missing)


def with_networks(work: Work, missing: Sequence[Source]) -> dict[str, Do]:
    """Returns the next jobs: for each population of recombination networks, its training and all that it then gives.

    Where neighborhoods could not be found, there is nothing to train.
    """
    groups: dict[str, list[Source]] = {}
    for source in missing:
        if source.is_learned and not source.lacks_neighborhoods(work):
            groups.setdefault(work.keys.generator(source.settings).key, []).append(source)
    return {f"{work.split}, {group[0].row}": partial(_make_each, group) for group in groups.values()}


def _make_each(group: Sequence[Source], work: Work) -> None:
    for source in group:
        source.make(work)
    work.forget()


def as_job(name: str, work: Work, do: Do, executor: Executor) -> Job[list[Told]]:
    """Returns a job for an executor. Its result is the stages that were done elsewhere."""
    if executor.here:
        return Job(name, partial(_here, work, do))
    # Where it is done, another folder may be the current one.
    apart = replace(work, cache=Cache(work.cache.folder.resolve()), progress=no_progress)
    return Job(name, partial(_elsewhere, apart, do, commit()))


def _here(work: Work, do: Do) -> list[Told]:
    do(work)
    return []


def _elsewhere(work: Work, do: Do, code: str) -> list[Told]:
    os.environ.setdefault("RECOMBINE_COMMIT", code)  # git may not be at hand there
    told: list[Told] = []

    @contextmanager
    def noting(what: str, effort: float = 1.0, /) -> Iterator[None]:
        began = time.perf_counter()
        yield
        told.append(Told(what, effort, time.perf_counter() - began))

    do(replace(work, progress=noting))
    return told


class Joint:
    """Splits that train recombination networks of one recipe as one population, and what each needs of them.

    Networks of a population know the tokens of all splits, so that they start from other weights than networks trained
    alone. Their keys name the whole population.

    Args:
        needs: What each split needs of the networks, first of all the networks themselves.
        work: The work on each split.
    """

    def __init__(self, needs: Mapping[str, Sequence[Source]], work: Mapping[str, Work]) -> None:
        self.needs, self.work = needs, [work[split] for split in needs]
        self.settings = next(iter(needs.values()))[0].settings
        population = [[each.keys.train, each.keys.seeds] for each in self.work]
        for each in self.work:
            each.keys.populations[recipe_of(self.settings)] = population
        self.name = f"{', '.join(needs)}, {next(iter(needs.values()))[0].row}"

    @property
    def is_missing(self) -> bool:
        """Whether something that is needed is still to be made."""
        return any(
            source.is_missing(work) for work, own in zip(self.work, self.needs.values(), strict=True) for source in own
        )

    def part(self) -> None:
        """Leaves each split to train its networks alone."""
        for each in self.work:
            each.keys.populations.pop(recipe_of(self.settings), None)

    def train_and_draw(self) -> None:
        """Trains the networks, and draws whatever all splits need of them alike."""
        networks, seconds = self._trained()
        # To keep gigabytes of weights is a matter of checksums and of the disk: meanwhile the GPU may draw.
        with ThreadPoolExecutor(len(self.work)) as beside:
            kept = [
                beside.submit(self._keep, work, _on_host(networks.only(part)), seconds / len(self.work))
                for work, part in self._parts()
            ]
            for source in self._alike():
                if any(source.is_missing(work) for work in self.work):  # rows may share samples
                    self._draw(source, networks)
        for each in kept:
            each.result()

    def _alike(self) -> list[Source]:
        """Returns the samples that all splits need by the same settings."""
        found: dict[str, list[Source]] = {}
        for own in self.needs.values():
            for source in own:
                if source.settings.method == "recombination":
                    found.setdefault(f"{source.row}: {described(source.settings)}", []).append(source)
        return [each[0] for each in found.values() if len(each) == len(self.work)]

    def _trained(self) -> tuple[Recombination, float]:
        """Trains the networks; returns them, and the seconds that it took."""
        first = self.work[0]
        first.forget()
        tasks, seeds = self._everybody()
        neighborhoods = [each for work in self.work for each in work.neighborhoods(self.settings)]
        networks = first.untrained(self.settings, seeds)
        effort = sum(work.effort.of("generator", self.settings) for work in self.work)
        began = time.perf_counter()
        with first.progress(f"{self.name}: {len(tasks)} recombination networks", effort) as report:
            networks.fit_each([task.train for task in tasks], neighborhoods, report=report, graphs=first.graphs)
        return networks, time.perf_counter() - began

    def _keep(self, work: Work, networks: Recombination, seconds: float) -> None:
        """Keeps the networks of one split, and its share of what the population took."""
        with work.cache.doing(work.keys.generator(self.settings)) as done:
            networks.save(done.folder / MODEL)
            done.seconds = {"generator": seconds}

    def _draw(self, source: Source, networks: Recombination) -> None:
        """Draws the samples of a row on all splits, and keeps each split's by themselves."""
        effort = sum(work.effort.of("samples", source.settings) for work in self.work)
        began = time.perf_counter()
        with self.work[0].progress(f"{', '.join(self.needs)}, {source.row}: samples", effort):
            samples = drawn(source.settings, *self._everybody(), networks)
        seconds = time.perf_counter() - began
        for work, part in self._parts():
            with work.cache.doing(source.stage(work)) as done:
                write_samples(samples[part.start : part.stop], done.folder)
                done.seconds = {"samples": seconds / len(self.work)}

    def _everybody(self) -> tuple[list[Task], list[int]]:
        """Returns the data and seeds of all networks of the population."""
        return [task for work in self.work for task in work.tasks], [seed for work in self.work for seed in work.seeds]

    def _parts(self) -> Iterator[tuple[Work, range]]:
        """Yields each split with the numbers of its networks in the population."""
        start = 0
        for work in self.work:
            yield work, range(start, start + len(work.seeds))
            start += len(work.seeds)


def join(missing: Mapping[str, Sequence[Source]], work: Mapping[str, Work]) -> list[Joint]:
    """Joins the splits that lack networks of one recipe, where data are each seed's own.

    Args:
        missing: What is not there yet, by split, of networks that are trained alone.
        work: The work on each split.
    """
    groups: dict[str, dict[str, list[Source]]] = {}
    for split, own in missing.items():
        for source in own:
            if _can_join(work[split], source):
                groups.setdefault(recipe_of(source.settings), {}).setdefault(split, []).append(source)
    return [Joint(group, work) for group in groups.values() if len(group) > 1]


def _can_join(work: Work, source: Source) -> bool:
    alone = work.shared is None and work.cache.find(work.keys.generator(source.settings)) is None
    return source.is_learned and alone and not source.lacks_neighborhoods(work)


def _on_host(networks: Recombination) -> Recombination:
    networks.fitted_.model.cpu()  # the GPU's memory is for those that draw
    return networks
