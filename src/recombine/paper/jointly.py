"""Recombination networks of several splits as one population, and what is drawn from them.

A GPU trains many networks in little more time than a few.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from recombine.augmentation.recombination import Recombination
from recombine.execution.jobs import Job
from recombine.paper.distribution import Source, lacks_neighborhoods
from recombine.paper.drawing import drawn
from recombine.paper.files import write_samples
from recombine.paper.settings import Settings, described
from recombine.paper.tasks import Task
from recombine.paper.work import MODEL, Work

Needs = Sequence[tuple[Work, Source]]
"""Splits, and something of each that cannot be had without networks."""


def joint_jobs(missing: Mapping[str, Sequence[Source]], work: Mapping[str, Work]) -> list[Job[None]]:
    """Returns a job for each recipe of networks that more than one split lacks and whose data are each seed's own.

    Args:
        missing: What is not there yet, by split.
        work: The work on each split.
    """
    groups: dict[str, dict[str, list[Source]]] = {}
    for split, sources in missing.items():
        for source in sources:
            if _can_join(work[split], source):
                groups.setdefault(_recipe(source.settings), {}).setdefault(split, []).append(source)
    return [_job(group, work) for group in groups.values() if len(group) > 1]


def _job(group: Mapping[str, Sequence[Source]], work: Mapping[str, Work]) -> Job[None]:
    """Returns the job of training one population, and of drawing whatever all splits need of it alike."""
    first = [(work[split], sources[0]) for split, sources in group.items()]
    alike: dict[str, list[tuple[Work, Source]]] = {}
    for split, sources in group.items():
        for source in sources:
            if source.settings.method == "recombination":
                alike.setdefault(f"{source.row}: {described(source.settings)}", []).append((work[split], source))
    rows = [row for row in alike.values() if len(row) == len(group)]
    return Job(_name(first), partial(_train_and_draw, first, rows))


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


def _name(needs: Needs) -> str:
    return f"{', '.join(work.split for work, _ in needs)}, {needs[0][1].row}"


def _train_and_draw(needs: Needs, rows: Sequence[Needs]) -> None:
    networks, seconds = _trained(needs)
    # To keep gigabytes of weights is a matter of checksums and of the disk: meanwhile the GPU may draw.
    with ThreadPoolExecutor(len(needs)) as beside:
        kept = [
            beside.submit(_keep, work, source, _on_host(networks.only(part)), seconds / len(needs))
            for work, source, part in _parts(needs)
        ]
        for row in rows:
            if any(work.cache.find(source.stage) is None for work, source in row):  # rows may share samples
                _draw(row, networks)
    for each in kept:
        each.result()


def _trained(needs: Needs) -> tuple[Recombination, float]:
    """Trains the networks of several splits as one population; returns them, and the seconds that it took.

    They know the tokens of all splits, so that they start from other weights than networks trained alone.
    """
    first, settings = needs[0][0], needs[0][1].settings
    first.forget()
    tasks, seeds = _everybody(needs)
    neighborhoods = [each for work, source in needs for each in work.neighborhoods(source.settings)]
    networks = first.untrained(settings, seeds)
    effort = sum(work.effort.of("generator", settings) for work, _ in needs)
    began = time.perf_counter()
    with first.progress(f"{_name(needs)}: {len(tasks)} recombination networks", effort) as report:
        networks.fit_each([task.train for task in tasks], neighborhoods, report=report, graphs=first.graphs)
    return networks, time.perf_counter() - began


def _on_host(networks: Recombination) -> Recombination:
    networks.fitted_.model.cpu()  # the GPU's memory is for those that draw
    return networks


def _keep(work: Work, source: Source, networks: Recombination, seconds: float) -> None:
    """Keeps the networks of one split, and its share of what the population took."""
    with work.cache.doing(work.keys.generator(source.settings)) as done:
        networks.save(done.folder / MODEL)
        done.seconds = {"generator": seconds}


def _draw(needs: Needs, networks: Recombination) -> None:
    """Draws the samples of a row on several splits, and keeps each split's by themselves."""
    first, settings = needs[0][0], needs[0][1].settings
    effort = sum(work.effort.of("samples", settings) for work, _ in needs)
    began = time.perf_counter()
    with first.progress(f"{_name(needs)}: samples", effort):
        samples = drawn(settings, *_everybody(needs), networks)
    seconds = time.perf_counter() - began
    for work, source, part in _parts(needs):
        with work.cache.doing(source.stage) as done:
            write_samples(samples[part.start : part.stop], done.folder)
            done.seconds = {"samples": seconds / len(needs)}


def _everybody(needs: Needs) -> tuple[list[Task], list[int]]:
    """Returns the data and seeds of all networks of the population."""
    return [task for work, _ in needs for task in work.tasks], [seed for work, _ in needs for seed in work.seeds]


def _parts(needs: Needs) -> Iterator[tuple[Work, Source, range]]:
    """Yields each split with the numbers of its networks in the population."""
    start = 0
    for work, source in needs:
        part = range(start, start + len(work.seeds))
        yield work, source, part
        start = part.stop
