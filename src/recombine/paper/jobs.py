"""The stages of a table as lists of jobs that need not wait for one another, done here or elsewhere.

A GPU trains many networks in little more time than a few, so recombination networks of several splits may be one
population.
"""

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, pairwise

from recombine.augmentation.recombination import Recombination
from recombine.execution.executor import Executor, Job
from recombine.execution.progress import no_progress
from recombine.paper.keys import recipe_of
from recombine.paper.records import commit
from recombine.paper.settings import Settings, described
from recombine.paper.stages import Cache, Stage
from recombine.paper.work import MODEL, Work, drawn, write_samples

Do = Callable[[Work], object]
"""Does stages, whose results are then in the cache."""

Told = tuple[str, float, float]
"""A stage that was done elsewhere: its name, effort and seconds."""

BY_RULE, SEARCH, NETWORKS = "samples", "neighborhoods", "generator"
"""The kinds of jobs, after the stages that they begin with: samples drawn by rule; neighborhoods for networks to learn;
the training of recombination networks, and all that these then give."""


@dataclass(frozen=True)
class Source:
    """Something of a row that predictors need before they are trained: samples by one method, or direct inference."""

    row: str
    settings: Settings

    def stage(self, work: Work) -> Stage:
        """Returns where the result is kept."""
        return (work.keys.direct if self.settings.method == "direct" else work.keys.samples)(self.settings)

    def first_stage(self, work: Work) -> Stage:
        """Returns the stage to begin with, if the result is missing; its kind is that of the job to do."""
        if self.settings.method not in ("recombination", "direct"):
            return self.stage(work)
        search, networks = work.keys.neighborhoods(self.settings), work.keys.generator(self.settings)
        return networks if not self.settings.prototypes or work.has(networks) or work.has(search) else search

    def make(self, work: Work) -> None:
        """Makes the result if it is missing."""
        work.row = self.row
        (work.direct if self.settings.method == "direct" else work.samples)(self.settings)


def sources(row: str, settings: Settings) -> list[Source]:
    """Returns what a row needs before its predictors can be trained; nothing for the baseline."""
    return [Source(row, each) for each in ((settings,) if settings.method == "direct" else settings.sources)]


def jobs_of(work: Work, missing: Sequence[Source], kinds: Collection[str]) -> dict[str, Do]:
    """Returns the jobs of some kinds that a split needs now, by name. Sources that share a first stage share a job.

    Where neighborhoods could not be found, there is nothing to train.
    """
    groups: dict[tuple[str, str], list[Source]] = {}
    for source in missing:
        stage = source.first_stage(work)
        if stage.kind in kinds:
            groups.setdefault((stage.kind, stage.key), []).append(source)
    of = {BY_RULE: ": samples", SEARCH: ": neighborhoods", NETWORKS: ""}
    return {f"{work.split}, {group[0].row}{of[kind]}": partial(_do, kind, group) for (kind, _), group in groups.items()}


def _do(kind: str, group: Sequence[Source], work: Work) -> None:
    work.row = group[0].row
    if kind == SEARCH:
        work.neighborhoods(group[0].settings)
    elif kind == BY_RULE:
        group[0].make(work)
    else:
        for source in group:
            source.make(work)
        work.forget()


def as_job(name: str, work: Work, do: Do, executor: Executor) -> Job[list[Told]]:
    """Returns a job for an executor. Its result is the stages that were done elsewhere."""
    here, code = executor.here, commit()
    # Where it is done elsewhere, another folder may be the current one.
    apart = work if here else replace(work, cache=Cache(work.cache.folder.resolve()), progress=no_progress)

    def done() -> list[Told]:
        if here:
            do(apart)
            return []
        os.environ.setdefault("RECOMBINE_COMMIT", code)  # git may not be at hand there
        told: list[Told] = []

        @contextmanager
        def noting(what: str, effort: float = 1.0, /) -> Iterator[None]:
            began = time.perf_counter()
            yield
            told.append((what, effort, time.perf_counter() - began))

        do(replace(apart, progress=noting))
        return told

    return Job(name, done)


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
        first = next(iter(needs.values()))[0]
        self.settings, self.name = first.settings, f"{', '.join(needs)}, {first.row}"
        population = [[each.keys.train, each.keys.seeds] for each in self.work]
        for each in self.work:
            each.keys.populations[recipe_of(self.settings)] = population

    @property
    def is_missing(self) -> bool:
        """Whether something that is needed is still to be made."""
        own = zip(self.work, self.needs.values(), strict=True)
        return not all(work.has(source.stage(work)) for work, needed in own for source in needed)

    def part(self) -> None:
        """Leaves each split to train its networks alone."""
        for each in self.work:
            each.keys.populations.pop(recipe_of(self.settings), None)

    def train_and_draw(self) -> None:
        """Trains the networks, and draws whatever all splits need of them alike."""
        first = self.work[0]
        first.forget()
        tasks = [task for work in self.work for task in work.tasks]
        networks = first.untrained(self.settings, [seed for work in self.work for seed in work.seeds])
        neighborhoods = [each for work in self.work for each in work.neighborhoods(self.settings)]
        effort = sum(work.keys.generator(self.settings).effort for work in self.work)
        began = time.perf_counter()
        with first.progress(f"{self.name}: {len(tasks)} recombination networks", effort) as report:
            networks.fit_each([task.train for task in tasks], neighborhoods, report=report, graphs=first.graphs)
        seconds = (time.perf_counter() - began) / len(self.work)  # each split's share

        def keep(work: Work, own: Recombination) -> None:
            with work.cache.doing(work.keys.generator(self.settings)) as done:
                own.save(done.folder / MODEL)
                done.seconds = {"generator": seconds}

        # To keep gigabytes of weights is a matter of checksums and of the disk: meanwhile the GPU may draw.
        with ThreadPoolExecutor(len(self.work)) as beside:
            kept = []
            for work, part in zip(self.work, self._parts(), strict=True):
                own = networks.only(part)
                own.fitted_.model.cpu()  # the GPU's memory is for those that draw
                kept.append(beside.submit(keep, work, own))
            self._draw(networks)
        for each in kept:
            each.result()

    def _parts(self) -> list[range]:
        """Returns the numbers that the networks of each split have in the population."""
        borders = accumulate((len(work.seeds) for work in self.work), initial=0)
        return [range(start, end) for start, end in pairwise(borders)]

    def _draw(self, networks: Recombination) -> None:
        """Draws the samples that all splits need by the same settings, and keeps each split's by themselves."""
        wanted: dict[str, list[Source]] = {}
        for source in (source for needed in self.needs.values() for source in needed):
            if source.settings.method == "recombination":
                wanted.setdefault(f"{source.row}: {described(source.settings)}", []).append(source)
        tasks = [task for work in self.work for task in work.tasks]
        for source in (alike[0] for alike in wanted.values() if len(alike) == len(self.work)):
            stages = [source.stage(work) for work in self.work]
            if all(work.has(stage) for work, stage in zip(self.work, stages, strict=True)):  # rows may share samples
                continue
            began, effort = time.perf_counter(), sum(stage.effort for stage in stages)
            with self.work[0].progress(f"{', '.join(self.needs)}, {source.row}: samples", effort):
                samples = drawn(source.settings, tasks, networks.seeds, networks)
            seconds = (time.perf_counter() - began) / len(self.work)
            for work, stage, part in zip(self.work, stages, self._parts(), strict=True):
                with work.cache.doing(stage) as done:
                    write_samples(samples[part.start : part.stop], done.folder)
                    done.seconds = {"samples": seconds}


def join(missing: Mapping[str, Sequence[Source]], work: Mapping[str, Work]) -> list[Joint]:
    """Joins the splits that lack networks of one recipe, where data are each seed's own. `missing` is by split."""
    groups: dict[str, dict[str, list[Source]]] = {}
    for split, own in missing.items():
        for source in own if work[split].shared is None else ():
            stage = source.first_stage(work[split])
            if stage.kind == NETWORKS and not work[split].has(stage):
                groups.setdefault(recipe_of(source.settings), {}).setdefault(split, []).append(source)
    return [Joint(group, work) for group in groups.values() if len(group) > 1]
