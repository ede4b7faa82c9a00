"""What experiments are made on and with: at the paper's size, at one for a CPU, or as a rehearsal.

The figures of a rehearsal mean nothing: every stage of every row within a minute or so on a CPU.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from recombine.data.sigmorphon import FewShot
from recombine.paper.rows import Row
from recombine.paper.settings import WORD_FORMS, Settings, settings
from recombine.paper.tasks import Task, WordFormTasks, part_of, task
from recombine.training.presets import SMALL_WORD_FORM_GENERATOR, SMALL_WORD_FORM_PREDICTOR
from recombine.training.recipe import Recipe

LEFT_OUT = frozenset({"after", "look", "opposite", "thrice", "twice"})
"""Commands with these words are left out, but for words that the split is named after."""

Size = Literal["paper", "small", "tiny"]

SMALL = replace(
    WORD_FORMS,
    generator=SMALL_WORD_FORM_GENERATOR,
    predictor=replace(SMALL_WORD_FORM_PREDICTOR, min_steps=0, own_epochs=True),  # there are steps enough
)


@dataclass(frozen=True)
class Scale:
    """What the experiments are made on (for seeds that share data, the same object) and with.

    The samples of the reference say which test items are shown for all rows of a split; None: none are.
    """

    task: Callable[[str, int], Task] = lambda split, _: task(split)
    settings: Callable[[Row, str], Settings] = settings
    reference: str | None = "recomb-2"


@lru_cache(maxsize=2)
def tiny_task(split: str) -> Task:
    """Returns a small part of a split."""
    left_out = LEFT_OUT.difference(split.split("-"))
    return part_of(task(split), lambda example: not left_out & set(example.x))


def tiny_settings(row: Row, split: str) -> Settings:
    """Returns a row's settings with tiny networks, few steps and few samples."""
    found = _tiny(settings(row, split))
    sampling, direct = replace(found.sampling, novelty="input"), replace(found.direct, first=2, second=2)
    return replace(found, sampling=sampling, direct=direct)


def word_form_scale(source: Path | None, size: Size = "paper") -> Scale:
    """Returns what the experiments of Table 2 are made on and with; ``tiny`` is a rehearsal on a part of the data."""

    def of(row: Row, split: str) -> Settings:
        found = settings(row, split, WORD_FORMS if size == "paper" else SMALL)
        if size != "tiny":
            return found
        return replace(_tiny(found), resampler=replace(found.resampler, epsilon=0.2))

    def part(split: FewShot) -> FewShot:
        train = (*split.train[:60], *split.train[-16:])  # hints come last
        return FewShot(train, split.past[:6], split.future[:6], split.other[:6])

    tasks = WordFormTasks(source, part) if size == "tiny" else WordFormTasks(source)
    return Scale(tasks, of, reference=None)


def _tiny(found: Settings) -> Settings:
    """Returns settings with tiny networks, few steps and few samples."""

    def tiny(recipe: Recipe, epochs: int, max_steps: int | None) -> Recipe:
        network = replace(
            recipe.network,
            hidden=16,
            embedding=16,
            attention=min(16, recipe.network.attention),
            latent=min(4, recipe.network.latent),
            dropout=0.0,
            state_dropout=min(0.1, recipe.network.state_dropout),
            write_dropout=0.0,
        )
        return replace(recipe, network=network, batch=16, lr=0.02, epochs=epochs, min_steps=0, max_steps=max_steps)

    return replace(
        found,
        generator=tiny(found.generator, 100, 160),
        predictor=tiny(found.predictor, 2, None),
        sampling=replace(found.sampling, patience=20, batch=64),
        n=8,
        paradigms=8,
    )
