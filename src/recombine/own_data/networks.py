"""What "auto" stands for in networks: how large they are, by which tricks they generalise, and how long they train."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from recombine.data.vocabulary import Vocabulary
from recombine.errors import unknown
from recombine.example import Example
from recombine.inflection import are_inflections, are_word_forms
from recombine.models.device import resolve
from recombine.own_data.choices import PAIRS, Choice
from recombine.training import presets
from recombine.training.corpus import encoded
from recombine.training.loop import History
from recombine.training.recipe import Recipe
from recombine.training.renaming import Twins

SMALL, PAPER = SIZES = ("small", "paper")
"""The sizes of networks."""

FEW = 500
"""With fewer examples than that, a small network does on a GPU, too."""

MANY = 2000
"""With so many examples, a predictor has larger batches and less dropout."""

ENOUGH = 1 / 8
"""A predictor stops when its rate has been halved so far, each time because held-out accuracy no longer rose."""

AVERAGED = 500
"""Over how many steps the parameters of predictors are averaged."""

TWIN_NAMES = 8
"""How many pairs of names twins go by, as in the row of Table 1."""

GENERATOR_STEPS, PREDICTOR_STEPS = 10_000, 50_000
"""The most steps of training at the paper's size: a little more than the authors' code takes for SCAN."""

SMALL_STEPS = 5_000
"""The most steps of a small recombination network: 2,500 were not always enough to learn to swap parts of commands."""


def size(examples: Sequence[Example], device: str = "auto") -> Choice[str]:
    """Chooses how large networks are: the paper's size where there are a GPU and data for it, else small.

    Args:
        examples: The training examples.
        device: Where networks are to be trained.
    """
    count = len(dict.fromkeys(examples))
    # What is named may be another machine's.
    if not (str(resolve(device)) if device == "auto" else device).startswith("cuda"):
        return Choice(SMALL, SMALL, "they are trained on a CPU")
    if count < FEW:
        return Choice(SMALL, SMALL, f"there are only {count:,} different examples")
    return Choice(PAPER, PAPER, f"there are a GPU and {count:,} different examples")


def asked_or_chosen(asked: str, examples: Sequence[Example], device: str = "auto") -> Choice[str]:
    """Returns the size that a user asked for, or for ``"auto"`` the one that is chosen."""
    if asked == "auto":
        return size(examples, device)
    if asked not in SIZES:
        raise unknown("size", asked, ("auto", *SIZES))
    return Choice(asked, asked, "as was asked for")


def generator(examples: Sequence[Example], size: str, *, rare: str = "tokens", prototypes: int = 2) -> Choice[Recipe]:
    """Chooses a recombination network.

    Word forms have a network that copies through gates, as in the paper. Else what the data lack decides: uses of
    single tokens call for stand-ins, pairs of tokens for twins, if there are any (docs/method.md describes both).

    Args:
        examples: The training examples.
        size: One of ``SIZES``.
        rare: What is rare in them: the name of a choice of rarity.
        prototypes: How many prototypes the network has.
    """
    if are_inflections(examples):
        recipe = _sized(size, small=presets.SMALL_WORD_FORM_GENERATOR, paper=presets.WORD_FORM_GENERATOR)
        return Choice("gated copying", recipe, "word forms")
    small = replace(presets.SMALL_GENERATOR, max_steps=SMALL_STEPS)
    recipe = _sized(size, small=small, paper=presets.SCAN_GENERATOR)
    network = recipe.network
    if prototypes < 2:
        return Choice("plain", recipe, "of one prototype, nothing is lacking that another could supply")
    twins = _count_twins(examples) if rare == PAIRS else 0
    if twins:
        network = replace(network, only_lacking=True, write_seen_only=False)
        recipe = replace(recipe, network=network, twins=TWIN_NAMES, stand_ins=0.0)
        return Choice("twins", recipe, f"pairs of tokens are missing, and {twins} tokens have a twin in the output")
    recipe = replace(recipe, network=replace(network, write_seen_only=True), stand_ins=0.5)
    return Choice("stand-ins", recipe, "tokens that are seen in few examples must be used as others are")


def predictors(examples: Sequence[Example], size: str) -> dict[str, Recipe]:
    """Returns the predictors to choose among (see ``choosing``), by name, the most promising ones first.

    Word forms have the paper's predictor, which copies reluctantly. What has some tokens in common on both sides may be
    copied, or not. Few examples have smaller batches than many, and may have more dropout.

    Args:
        examples: The training examples.
        size: One of ``SIZES``.
    """
    if are_word_forms(examples):
        recipe = _sized(size, small=presets.SMALL_WORD_FORM_PREDICTOR, paper=presets.WORD_FORM_PREDICTOR)
        recipe = replace(recipe, held_out=0.05, patience=3, stop_at_lr=ENOUGH)
        return {"reluctant copying": recipe, "copying, with dropout": _varied(recipe, copying="joint", dropout=0.3)}
    plain = replace(_sized(size, small=presets.SMALL_PREDICTOR, paper=presets.SCAN_PREDICTOR), stop_at_lr=ENOUGH)
    copies = any(token in example.x for example in examples for token in example.y)
    if len(dict.fromkeys(examples)) < MANY:
        strong = presets.SMALL_DATA_PREDICTOR if size == SMALL else presets.SMALL_DATA_GPU_PREDICTOR
        light = _varied(strong, dropout=0.2, state_dropout=0.0)
        found = {"no copying, little dropout": light, "no copying, much dropout": strong}
        if copies:
            ways = {"copying, much dropout": strong, "copying, little dropout": light}
            found = {name: _varied(recipe, copying="joint") for name, recipe in ways.items()} | found
        return found
    if not copies:
        return {"no copying": plain}
    recipe = replace(plain, patience=3, averaging=AVERAGED) if size == SMALL else presets.LARGE_DATA_GPU_PREDICTOR
    return {"copying": _varied(recipe, copying="joint"), "no copying": recipe}


def _varied(recipe: Recipe, **network: Any) -> Recipe:  # noqa: ANN401
    """Returns a recipe whose network differs in some settings, and whose parameters are averaged."""
    return replace(recipe, network=replace(recipe.network, **network), averaging=AVERAGED)


def length(recipe: Recipe, *, most: int) -> Choice[Recipe]:
    """Chooses how long a network trains: the epochs of its recipe, within bounds, for data of any size.

    What goes by the names of twins is learned late, so with twins the least is twice as much.

    Args:
        recipe: How the network is built and trained.
        most: The most steps, unless the recipe has a bound of its own.
    """
    least, bound = recipe.min_steps * (2 if recipe.twins else 1), recipe.max_steps or most
    name = f"{least:,} to {bound:,} steps"
    reason = f"{recipe.epochs} epochs, or as many as small data need, or as few as large data leave time for"
    return Choice(name, replace(recipe, min_steps=least, max_steps=bound), reason)


def given(recipe: Recipe) -> dict[str, Choice[Recipe]]:
    """Returns the choices that a recipe of a user's own makes for us."""
    return {
        "network": Choice("your own", recipe, "as given"),
        "length": Choice(f"{recipe.epochs:,} epochs", recipe, "as given"),
    }


def asked_length(length: Choice[Recipe], *, epochs: int | None = None, max_time: float | None = None) -> Choice[Recipe]:
    """Returns how long a network trains, where a user asks for epochs or a bound on time (seconds), else as chosen."""
    recipe = bounded(length.value, epochs=epochs, max_time=max_time)
    if epochs is not None:
        length = Choice(f"{epochs:,} epochs", recipe, "as given")
    limit = "" if max_time is None else f", but not beyond max_time={max_time:g}"
    return replace(length, value=recipe, reason=f"{length.reason}{limit}")


def taken_length(length: Choice[Recipe], history: History) -> Choice[Recipe]:
    """Returns how long a network was to train, and whether the bound on time ended it."""
    if not history.stopped_early:
        return length
    return replace(length, reason=f"{length.reason}; max_time stopped it after {len(history.loss):,} epochs")


def bounded(recipe: Recipe, *, epochs: int | None = None, max_time: float | None = None) -> Recipe:
    """Returns the recipe with as many epochs and as much time (seconds) as a user asks for; None: not asked for.

    Raises:
        RecombineError: If there are no such epochs, or is no such time.
    """
    if epochs is not None:
        recipe = replace(recipe, epochs=epochs, min_steps=0, max_steps=None)
    if max_time is not None:
        recipe = replace(recipe, max_time=max_time)
    recipe.check()
    return recipe


def _sized(size: str, *, small: Recipe, paper: Recipe) -> Recipe:
    # The paper's recipes count epochs only, and an epoch of few data is a few steps.
    return small if size == SMALL else replace(paper, min_steps=max(paper.min_steps, small.min_steps))


def _count_twins(examples: Sequence[Example]) -> int:
    vocabulary = Vocabulary.of(examples)
    table = encoded([example.d for example in examples], vocabulary, torch.device("cpu"))
    return len(Twins.of(table, len(vocabulary), TWIN_NAMES).pairs)
