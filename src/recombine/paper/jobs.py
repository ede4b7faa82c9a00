"""The stages of a table as lists of jobs that need not wait for one another, done here or elsewhere.

A GPU trains many networks in little more time than a few, so recombination networks of several splits may be one
population.
"""

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise

from recombine.augmentation.recombination import Recombination
from recombine.execution.executor import Executor, Job
from recombine.execution.progress import no_progress
from recombine.paper.records import commit
from recombine.paper.settings import Settings, described
from recombine.paper.stages import Cache
from recombine.paper.work import MODEL, Work, drawn, recipe_of, write_samples

Need = tuple[str, Settings]
"""Something of a row that predictors need before they are trained: the row's name, and by which settings samples are
drawn by one method, or direct inference is made."""

Do = Callable[[Work], object]
"""Does stages, whose results are then in the cache."""

Told = tuple[str, float, float]
"""A stage that was done elsewhere: its name, effort and seconds."""

BY_RULE, SEARCH, NETWORKS = "samples", "neighborhoods", "generator"
"""The kinds of jobs, after the stages that they begin with: samples drawn by rule; neighborhoods for networks to learn;
the training of recombination networks, and all that these then give."""


def jobs_of(work: Work, missing: Sequence[Need], kinds: Collection[str]) -> dict[str, Do]:
    """Returns the jobs of some kinds that a split needs now, by name. What has one first stage is one job.

    Where neighborhoods could not be found, there is nothing to train.
    """
    groups: dict[tuple[str, str], list[Need]] = {}
    for row, settings in missing:
        stage = work.next_stage(settings)
        if stage.kind in kinds:
            groups.setdefault((stage.kind, stage.key), []).append((row, settings))
    of = {BY_RULE: ": samples", SEARCH: ": neighborhoods", NETWORKS: ""}
    jobs: dict[str, Do] = {}
    for (kind, _), group in groups.items():
        row, settings = group[0]
        name = f"{work.split}, {row}{of[kind]}"
        # A row may have samples by two rules.
        jobs[f"{work.split}, {row} ({settings.method}){of[kind]}" if name in jobs else name] = partial(_do, kind, group)
    return jobs


def _do(kind: str, group: Sequence[Need], work: Work) -> None:
    if kind == SEARCH:
        work.row, settings = group[0]
        work.neighborhoods(settings)
        return
    for row, settings in group:
        work.make(row, settings)
    if kind == NETWORKS:
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
    alone. Their keys name the whole population. What a split needs of the networks are, first of all, themselves.
    """

    def __init__(self, needs: Mapping[str, Sequence[Need]], work: Mapping[str, Work]) -> None:
        self.needs, self.work = needs, [work[split] for split in needs]
        self.tasks = [task for work in self.work for task in work.tasks]
        row, self.settings = next(iter(needs.values()))[0]
        self.name = f"{', '.join(needs)}, {row}"
        population = [[each.train_digest, list(each.seeds)] for each in self.work]
        for each in self.work:
            each.populations[recipe_of(self.settings)] = population

    @property
    def is_missing(self) -> bool:
        """Whether something that is needed is still to be made."""
        own = zip(self.work, self.needs.values(), strict=True)
        return not all(work.has(work.result(settings)) for work, needed in own for _, settings in needed)

    def part(self) -> None:
        """Leaves each split to train its networks alone."""
        for each in self.work:
            each.populations.pop(recipe_of(self.settings), None)

    def train_and_draw(self) -> None:
        """Trains the networks, and draws whatever all splits need of them alike."""
        first = self.work[0]
        first.forget()
        networks = first.untrained(self.settings, [seed for work in self.work for seed in work.seeds])
        neighborhoods = [each for work in self.work for each in work.neighborhoods(self.settings)]
        stages = [work.stages(self.settings)["generator"] for work in self.work]
        effort, began = sum(stage.effort for stage in stages), time.perf_counter()
        with first.progress(f"{self.name}: {len(self.tasks)} recombination networks", effort) as report:
            networks.fit_each([task.train for task in self.tasks], neighborhoods, report=report, graphs=first.graphs)
        seconds = (time.perf_counter() - began) / len(self.work)  # each split's share

        def keep(number: int, own: Recombination) -> None:
            with self.work[number].cache.doing(stages[number]) as done:
                own.save(done.folder / MODEL)
                done.seconds = {"generator": seconds}

        borders = accumulate((len(work.seeds) for work in self.work), initial=0)
        parts = [range(start, end) for start, end in pairwise(borders)]  # the networks of each split, by number
        # To keep gigabytes of weights is a matter of checksums and of the disk: meanwhile the GPU may draw.
        with ThreadPoolExecutor(len(self.work)) as beside:
            kept = []
            for number, part in enumerate(parts):
                own = networks.only(part)
                own.fitted_.model.cpu()  # the GPU's memory is for those that draw
                kept.append(beside.submit(keep, number, own))
            self._draw(networks, parts)
        for each in kept:
            each.result()

    def _draw(self, networks: Recombination, parts: Sequence[range]) -> None:
        """Draws the samples that all splits need by the same settings, and keeps each split's by themselves."""
        wanted: dict[str, list[Need]] = {}
        for row, settings in (need for needed in self.needs.values() for need in needed):
            if settings.method == "recombination":
                wanted.setdefault(f"{row}: {described(settings)}", []).append((row, settings))
        for row, settings in (alike[0] for alike in wanted.values() if len(alike) == len(self.work)):
            stages = [work.result(settings) for work in self.work]
            if all(work.has(stage) for work, stage in zip(self.work, stages, strict=True)):  # rows may share samples
                continue
            began, effort = time.perf_counter(), sum(stage.effort for stage in stages)
            with self.work[0].progress(f"{', '.join(self.needs)}, {row}: samples", effort):
                samples = drawn(settings, self.tasks, networks.seeds, networks)
            seconds = (time.perf_counter() - began) / len(self.work)
            for work, stage, part in zip(self.work, stages, parts, strict=True):
                with work.cache.doing(stage) as done:
                    write_samples(samples[part.start : part.stop], done.folder)
                    done.seconds = {"samples": seconds}


def join(missing: Mapping[str, Sequence[Need]], work: Mapping[str, Work]) -> list[Joint]:
    """Joins the splits that lack networks of one recipe, where data are each seed's own. `missing` is by split."""
    groups: dict[str, dict[str, list[Need]]] = {}
    for split, own in missing.items():
        for row, settings in own if work[split].shared is None else ():
            stage = work[split].next_stage(settings)
            if stage.kind == NETWORKS and not work[split].has(stage):
                groups.setdefault(recipe_of(settings), {}).setdefault(split, []).append((row, settings))
    return [Joint(group, work) for group in groups.values() if len(group) > 1]
