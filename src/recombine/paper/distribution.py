"""The stages of a table as lists of jobs that need not wait for one another, done here or elsewhere."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from recombine.execution.executor import Executor
from recombine.execution.jobs import Job
from recombine.execution.progress import no_progress
from recombine.paper.provenance import commit
from recombine.paper.settings import Settings
from recombine.paper.stages import Cache, Stage
from recombine.paper.work import Work

Do = Callable[[Work], object]
"""Does stages, whose results are then in the cache."""

Stages = Callable[[Work, Sequence["Source"]], dict[str, Do]]
"""Returns, of what a split lacks, the jobs of one kind by name."""


class Told(NamedTuple):
    """What is to be told of a stage that was done elsewhere: its name, effort and time."""

    what: str
    effort: float
    seconds: float


@dataclass(frozen=True)
class Source:
    """Something of a row that is needed before predictors can be trained.

    Attributes:
        row: The row's name.
        settings: How samples are drawn, by one method, or direct inference.
        stage: Where the result is kept.
    """

    row: str
    settings: Settings
    stage: Stage

    @property
    def is_learned(self) -> bool:
        """Whether recombination networks make it."""
        return self.settings.method in ("recombination", "direct")

    def do(self, work: Work) -> None:
        """Sees to it that the result is there."""
        work.row = self.row
        if self.settings.method == "direct":
            work.direct(self.settings)
        else:
            work.samples(self.settings)


def sources(work: Work, row: str, settings: Settings) -> list[Source]:
    """Returns what a row needs before its predictors can be trained; nothing for the baseline."""
    if settings.method == "direct":
        return [Source(row, settings, work.keys.direct(settings))]
    return [Source(row, source, work.keys.samples(source)) for source in settings.sources]


def by_rule(work: Work, missing: Sequence[Source]) -> dict[str, Do]:
    """Returns the jobs of a split that make samples by rule, by name."""
    jobs: dict[str, tuple[str, Do]] = {}
    for source in missing:
        if not source.is_learned:
            jobs.setdefault(source.stage.key, (f"{work.split}, {source.row}: samples", source.do))
    return dict(jobs.values())


def searches(work: Work, missing: Sequence[Source]) -> dict[str, Do]:
    """Returns the jobs of a split that find the neighborhoods that networks are to learn."""
    jobs: dict[str, tuple[str, Do]] = {}
    for source in missing:
        if source.is_learned and lacks_neighborhoods(work, source.settings):
            key = work.keys.neighborhoods(source.settings).key
            jobs.setdefault(key, (f"{work.split}, {source.row}: neighborhoods", partial(_search, source)))
    return dict(jobs.values())


def without_networks(work: Work, missing: Sequence[Source]) -> dict[str, Do]:
    """Returns the first jobs of a split by name: all that is done without networks."""
    return by_rule(work, missing) | searches(work, missing)


def with_networks(work: Work, missing: Sequence[Source]) -> dict[str, Do]:
    """Returns the next jobs: for each population of recombination networks, its training and all that it then gives.

    Where neighborhoods could not be found, there is nothing to train.
    """
    groups: dict[str, list[Source]] = {}
    for source in missing:
        if source.is_learned and not lacks_neighborhoods(work, source.settings):
            groups.setdefault(work.keys.generator(source.settings).key, []).append(source)
    return {f"{work.split}, {group[0].row}": partial(_each, group) for group in groups.values()}


def as_job(name: str, work: Work, do: Do, executor: Executor) -> Job[list[Told]]:
    """Returns a job for an executor, which gives what is to be told of its stages, unless they told it themselves."""
    if executor.here:
        return Job(name, partial(_here, work, do))
    # Where it is done, another folder may be the current one.
    apart = replace(work, cache=Cache(work.cache.folder.resolve()), progress=no_progress)
    return Job(name, partial(_elsewhere, apart, do, commit()))


def lacks_neighborhoods(work: Work, settings: Settings) -> bool:
    """Tells whether networks are to be trained on neighborhoods that are not there yet."""
    if not settings.prototypes or work.cache.find(work.keys.generator(settings)) is not None:
        return False
    return work.cache.find(work.keys.neighborhoods(settings)) is None


def _search(source: Source, work: Work) -> None:
    work.row = source.row
    work.neighborhoods(source.settings)


def _each(group: Sequence[Source], work: Work) -> None:
    for source in group:
        source.do(work)
    work.forget()


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
