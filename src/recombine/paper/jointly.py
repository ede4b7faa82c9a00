"""Recombination networks of several splits as one population: a GPU trains many in little more time than a few."""

import time
from collections.abc import Mapping, Sequence
from functools import partial

from recombine.execution.jobs import Job
from recombine.paper.distribution import Source, lacks_neighborhoods
from recombine.paper.settings import Settings
from recombine.paper.strict import described
from recombine.paper.work import MODEL, Work

Needs = list[tuple[Work, Source]]
"""Splits, and what of each cannot be had without networks."""


def joint_jobs(missing: Mapping[str, Sequence[Source]], work: Mapping[str, Work]) -> list[Job[None]]:
    """Returns a job for each recipe of networks that more than one split lacks and whose data are each seed's own.

    Args:
        missing: What is not there yet, by split.
        work: The work on each split.
    """
    groups: dict[str, dict[str, tuple[Work, Source]]] = {}
    for split, sources in missing.items():
        for source in sources:
            if _can_join(work[split], source):
                groups.setdefault(_recipe(source.settings), {}).setdefault(split, (work[split], source))
    return [
        Job(f"{', '.join(group)}, {needs[0][1].row}", partial(train_jointly, needs))
        for group in groups.values()
        if len(needs := list(group.values())) > 1
    ]


def _can_join(work: Work, source: Source) -> bool:
    found = source.settings
    return (
        source.is_learned
        and work.shared is None
        and work.cache.find(work.keys.generator(found)) is None
        and not lacks_neighborhoods(work, found)
    )


def _recipe(settings: Settings) -> str:
    """Names all that the networks of a population have in common."""
    rule = (settings.neighborhood.name, described(settings.neighborhood)) if settings.prototypes else None
    return repr((settings.prototypes, rule, described(settings.generator)))


def train_jointly(needs: Needs) -> None:
    """Trains the networks of several splits as one population, and keeps each split's by themselves.

    They know the tokens of all splits, so that they start from other weights than networks trained alone.
    """
    first, settings = needs[0][0], needs[0][1].settings
    first.forget()
    tasks = [task for work, _ in needs for task in work.tasks]
    neighborhoods = [each for work, source in needs for each in work.neighborhoods(source.settings)]
    augmenter = first.untrained(settings, [seed for work, _ in needs for seed in work.seeds])
    splits = ", ".join(work.split for work, _ in needs)
    effort = sum(work.effort.of("generator", settings) for work, _ in needs)
    began = time.perf_counter()
    with first.progress(f"{splits}, {needs[0][1].row}: {len(tasks)} recombination networks", effort) as report:
        augmenter.fit_each([task.train for task in tasks], neighborhoods, report=report, graphs=first.graphs)
    seconds = (time.perf_counter() - began) / len(needs)  # each has its share of what the population took
    start = 0
    for work, source in needs:
        end = start + len(work.tasks)
        with work.cache.doing(work.keys.generator(source.settings)) as done:
            augmenter.only(range(start, end)).save(done.folder / MODEL)
            done.seconds = {"generator": seconds}
        start = end
