"""Networks that train in a second or two."""

from dataclasses import replace

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
        write_dropout=0.3,
    ),
    batch=8,
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
    batch=8,
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
