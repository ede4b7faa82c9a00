"""Networks that train in a second or two, and draw as fast."""

from collections.abc import Callable
from dataclasses import replace

from recombine.augmentation import recombination
from recombine.training import presets
from recombine.training.presets import (
    SMALL_GENERATOR,
    SMALL_PREDICTOR,
    SMALL_SPANS_GENERATOR,
    SMALL_WORD_FORM_GENERATOR,
    SMALL_WORD_FORM_PREDICTOR,
)

LITTLE, QUICK = {"embedding": 16}, {"lr": 0.02, "min_steps": 0}
GENERATOR = replace(
    SMALL_GENERATOR,
    # Without dropout, a hundred steps suffice to give samples.
    network=replace(
        SMALL_GENERATOR.network, **LITTLE, hidden=24, attention=16, dropout=0.0, state_dropout=0.0, write_dropout=0.0
    ),
    **QUICK,
    batch=16,
    epochs=6,
    max_steps=None,
)
SPANS_GENERATOR = replace(
    GENERATOR, network=replace(GENERATOR.network, reach=SMALL_SPANS_GENERATOR.network.reach), max_steps=120, epochs=40
)
PREDICTOR = replace(
    SMALL_PREDICTOR,
    network=replace(SMALL_PREDICTOR.network, **LITTLE, hidden=32, dropout=0.0, feed_dropout=0.0),
    **QUICK,
    batch=8,
    epochs=30,
    held_out=0.0,
)
WORD_FORM_NETWORK = replace(SMALL_WORD_FORM_GENERATOR.network, **LITTLE, hidden=24)
WORD_FORM_GENERATOR = replace(
    SMALL_WORD_FORM_GENERATOR, network=WORD_FORM_NETWORK, **QUICK, batch=32, epochs=6, max_steps=None
)
WORD_FORM_PREDICTOR = replace(
    SMALL_WORD_FORM_PREDICTOR,
    network=replace(SMALL_WORD_FORM_PREDICTOR.network, **LITTLE, hidden=32),
    **QUICK,
    batch=8,
    epochs=30,
)
SAMPLING = replace(recombination.DEFAULT_SAMPLING, patience=40, batch=128)
"""Gives up soon: of what networks that learned little draw, hardly any is new, and candidates are most of the work."""


def make_small_tiny(assign: Callable[[object, str, object], None] = setattr) -> None:
    """Has commands that take small networks take these; `assign` may be that of pytest, which undoes it."""
    assign(recombination, "DEFAULT_SAMPLING", SAMPLING)
    assign(presets, "SMALL_GENERATOR", GENERATOR)
    assign(presets, "SMALL_SPANS_GENERATOR", SPANS_GENERATOR)
    for name in ("SMALL_PREDICTOR", "SMALL_DATA_PREDICTOR"):
        assign(presets, name, PREDICTOR)
    assign(presets, "SMALL_WORD_FORM_GENERATOR", WORD_FORM_GENERATOR)
    assign(presets, "SMALL_WORD_FORM_PREDICTOR", WORD_FORM_PREDICTOR)
