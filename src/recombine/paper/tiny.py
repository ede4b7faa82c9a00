"""A rehearsal of Table 1: every stage of every row within a minute or so on a CPU; the figures mean nothing."""

from dataclasses import replace
from functools import lru_cache

from recombine.paper import tasks
from recombine.paper.rows import Row
from recombine.paper.settings import Settings, settings
from recombine.paper.tasks import Task, part_of
from recombine.training.recipe import Recipe

LEFT_OUT = frozenset({"after", "look", "opposite", "thrice", "twice"})
"""Commands with these words are left out."""


@lru_cache(maxsize=2)
def tiny_task(split: str) -> Task:
    """Returns a small part of a split."""
    return part_of(tasks.task(split), lambda example: not LEFT_OUT & set(example.x))


def tiny_settings(row: Row, split: str) -> Settings:
    """Returns a row's settings with tiny networks, few steps and few samples."""
    found = settings(row, split)
    return replace(
        found,
        generator=replace(_tiny(found.generator), epochs=100, max_steps=160),
        predictor=replace(_tiny(found.predictor), epochs=2),
        sampling=replace(found.sampling, patience=20, batch=64, novelty="input"),
        direct=replace(found.direct, first=2, second=2),
        n=8,
    )


def _tiny(recipe: Recipe) -> Recipe:
    network = recipe.network
    small = replace(
        network,
        hidden=16,
        embedding=8,
        attention=min(16, network.attention),
        latent=min(4, network.latent),
        dropout=0.0,
        state_dropout=min(0.1, network.state_dropout),
        write_dropout=0.0,
    )
    return replace(recipe, network=small, batch=16, lr=0.02)
