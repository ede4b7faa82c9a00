"""Networks that train in a second or two, and draw as fast."""

from collections.abc import Callable
from dataclasses import replace

from recombine.augmentation import recombination
from recombine.training import presets
from recombine.training.presets import (
    SMALL_GENERATOR,
    SMALL_PREDICTOR,
    SMALL_WORD_FORM_GENERATOR,
    SMALL_WORD_FORM_PREDICTOR,
)

GENERATOR = replace(
    SMALL_GENERATOR,
    network=replace(
        SMALL_GENERATOR.network,
        hidden=24,
        embedding=16,
        attention=16,
        dropout=0.0,
        state_dropout=0.0,
        write_dropout=0.0,  # without, a hundred steps suffice to give samples
    ),
    batch=16,
    lr=0.02,
    epochs=6,
    min_steps=0,
    max_steps=None,
)
PREDICTOR = replace(
    SMALL_PREDICTOR,
    network=replace(SMALL_PREDICTOR.network, hidden=32, embedding=16, dropout=0.0, feed_dropout=0.0),
    batch=8,
    lr=0.02,
    epochs=30,
    min_steps=0,
    held_out=0.0,
)
WORD_FORM_GENERATOR = replace(
    SMALL_WORD_FORM_GENERATOR,
    network=replace(SMALL_WORD_FORM_GENERATOR.network, hidden=24, embedding=16),
    batch=32,
    lr=0.02,
    epochs=6,
    min_steps=0,
    max_steps=None,
)
WORD_FORM_PREDICTOR = replace(
    SMALL_WORD_FORM_PREDICTOR,
    network=replace(SMALL_WORD_FORM_PREDICTOR.network, hidden=32, embedding=16),
    batch=8,
    lr=0.02,
    epochs=30,
    min_steps=0,
)
SAMPLING = replace(recombination.DEFAULT_SAMPLING, patience=40, batch=128)
"""Gives up soon: of what networks that learned little draw, hardly any is new, and candidates are most of the work."""


def make_small_tiny(assign: Callable[[object, str, object], None] = setattr) -> None:
    """Has commands that take small networks take these; `assign` may be that of pytest, which undoes it."""
    assign(recombination, "DEFAULT_SAMPLING", SAMPLING)
    assign(presets, "SMALL_GENERATOR", GENERATOR)
    for name in ("SMALL_PREDICTOR", "SMALL_DATA_PREDICTOR"):
        assign(presets, name, PREDICTOR)
    assign(presets, "SMALL_WORD_FORM_GENERATOR", WORD_FORM_GENERATOR)
    assign(presets, "SMALL_WORD_FORM_PREDICTOR", WORD_FORM_PREDICTOR)
