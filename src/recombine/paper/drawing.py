"""How the new examples of a row are drawn, by whichever method."""

from collections.abc import Sequence
from dataclasses import replace

from recombine.augmentation.geca import GECA
from recombine.augmentation.protocol import Augmenter, Samples, Validator
from recombine.augmentation.recombination import Prior, Recombination
from recombine.augmentation.resample import Oversampler, Resampler
from recombine.example import Example
from recombine.execution.executor import SERIAL, Executor, in_order
from recombine.inflection import is_named_tag
from recombine.neighborhoods import Neighborhoods, Omega, compatible, focused
from recombine.own_data.augmenters import agreement_filter, all_of
from recombine.paper.as_coded import RareFocused
from recombine.paper.settings import Settings, described
from recombine.paper.tasks import Task, different, of_each


def drawn(
    settings: Settings,
    tasks: Sequence[Task],
    seeds: Sequence[int],
    augmenter: Recombination | None,
    executor: Executor = SERIAL,
) -> list[Samples]:
    """Returns the new examples of each seed.

    Args:
        settings: How; the method is one that makes samples by itself.
        tasks: The data of each seed.
        seeds: The seeds.
        augmenter: The recombination networks, if it is they that make them.
        executor: Who draws by rule, where seeds have data of their own.
    """
    if settings.method == "oversample":
        return _by_rule(Oversampler, settings, tasks, seeds, executor)
    if augmenter is None:
        return _by_rule(GECA, settings, tasks, seeds, executor)
    augmenter.sampling, augmenter.deviations = settings.sampling, settings.deviations
    augmenter.omega = _prior(settings, tasks[0])
    return augmenter.sample_each(settings.n, 0, of_each(tasks, lambda task: _accept(settings, task)))


def _by_rule(
    kind: type[GECA] | type[Oversampler],
    settings: Settings,
    tasks: Sequence[Task],
    seeds: Sequence[int],
    executor: Executor,
) -> list[Samples]:
    def fitted(task: Task) -> Augmenter:
        if kind is Oversampler:
            return Oversampler(_resampler(settings, task)).fit(task.train)
        return GECA(**described(settings.geca)).fit(task.train)

    found = different(tasks)

    def samples_of(number: int) -> list[Samples]:
        task = found[number]
        augmenter, accept = fitted(task), None if kind is Oversampler else _accept(settings, task)
        own = [seed for of, seed in zip(tasks, seeds, strict=True) if of is task]
        return [augmenter.sample(settings.n, seed, accept) for seed in own]

    executor = executor if len(found) > 1 else executor.alone()
    made = zip(found, in_order(executor, samples_of, range(len(found))), strict=True)
    samples = {id(task): iter(own) for task, own in made}
    return [next(samples[id(task)]) for task in tasks]


def _resampler(settings: Settings, task: Task) -> Resampler:
    relevant = is_named_tag if settings.rare_tags == "named" else task.relevant
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
    if settings.omega == "focused":

        def with_something_rare(neighborhoods: Neighborhoods, examples: Sequence[Example]) -> Omega:
            rare = _resampler(settings, task).fit(examples)
            whole = compatible(neighborhoods, examples, deviations=settings.deviations)
            return focused(whole, [bool(rare.weight(example)) for example in examples])

        return with_something_rare
    if settings.omega == "rare":

        def around_rare(_: Neighborhoods, examples: Sequence[Example]) -> Omega:
            found = _resampler(settings, task).fit(examples).rare_
            return RareFocused(examples, rare=[token for rarity in found for token in rarity.ngram])

        return around_rare
    return None
