"""Table 2 at the paper's size, at one for a CPU, and as a rehearsal whose figures mean nothing."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from recombine.data.sigmorphon import FewShot
from recombine.paper.matrix import Scale
from recombine.paper.rows import Row
from recombine.paper.settings import WORD_FORMS, Settings, settings
from recombine.paper.word_form_scores import word_form_part
from recombine.paper.word_forms import WordFormTasks
from recombine.training.presets import SMALL_WORD_FORM_GENERATOR, SMALL_WORD_FORM_PREDICTOR
from recombine.training.recipe import Recipe

Size = Literal["paper", "small", "tiny"]

SMALL = replace(
    WORD_FORMS,
    generator=SMALL_WORD_FORM_GENERATOR,
    predictor=replace(SMALL_WORD_FORM_PREDICTOR, min_steps=0, own_epochs=True),  # there are steps enough
)


def word_form_scale(source: Path | None, size: Size = "paper") -> Scale:
    """Returns what the experiments of Table 2 are made on and with.

    Args:
        source: A folder with the shared task's files; None to download them.
        size: Of the networks; ``tiny`` is a rehearsal on a part of the data.
    """
    tiny = size == "tiny"
    base = WORD_FORMS if size == "paper" else SMALL

    def of(row: Row, split: str) -> Settings:
        found = settings(row, split, base)
        return _tiny(found) if tiny else found

    tasks = WordFormTasks(source, _small_part) if tiny else WordFormTasks(source)
    return Scale(tasks, of, reference=None, further=word_form_part)  # type: ignore[arg-type]


def _small_part(split: FewShot) -> FewShot:
    # Hints come last.
    train = (*split.train[:60], *split.train[-16:])
    return FewShot(train, split.past[:6], split.future[:6], split.other[:6])


def _tiny(found: Settings) -> Settings:
    return replace(
        found,
        generator=replace(_tiny_recipe(found.generator), epochs=100, max_steps=120),
        predictor=replace(_tiny_recipe(found.predictor), epochs=2),
        sampling=replace(found.sampling, patience=20, batch=64),
        resampler=replace(found.resampler, epsilon=0.2),
        n=8,
    )


def _tiny_recipe(recipe: Recipe) -> Recipe:
    return replace(
        recipe, network=replace(recipe.network, hidden=16, embedding=16), batch=16, lr=0.02, min_steps=0, max_steps=None
    )
