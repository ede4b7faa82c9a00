"""The paper's settings, as its appendices have them."""

from recombine.training.presets import (
    SCAN_PREDICTOR,
    WORD_FORM_GENERATOR,
    WORD_FORM_PREDICTOR,
)
from recombine.training.recipe import Duration


def test_the_predictor_for_scan_learns_as_that_for_word_forms_but_for_what_the_authors_code_has() -> None:
    assert SCAN_PREDICTOR.loss_per == WORD_FORM_PREDICTOR.loss_per
    assert (SCAN_PREDICTOR.lr, SCAN_PREDICTOR.clip, SCAN_PREDICTOR.batch, SCAN_PREDICTOR.epochs) == (1e-3, 1, 64, 150)
    network = SCAN_PREDICTOR.network
    assert (network.hidden, network.embedding, network.copying, network.own_attention) == (512, 64, "none", False)
    assert (network.dropout, network.feed_dropout, network.feed_dropped_twice) == (0.5, 0.5, True)


def test_networks_for_word_forms_are_those_of_the_appendices() -> None:
    network = WORD_FORM_GENERATOR.network
    assert (network.hidden, network.embedding, network.feed, network.project_encoder) == (1024, 1024, 1024, True)
    assert (network.attention, network.reach, network.own_attention, network.copying) == (0, 0, True, "gated")
    assert network.project_encoder
    assert network.start_from_encoder
    assert not network.shared_embedding
    assert not network.tied_output
    assert network.dropout == network.state_dropout == network.feed_dropout == network.write_dropout == 0
    predictor = WORD_FORM_PREDICTOR.network
    assert (predictor.prototypes, predictor.own_attention, predictor.copying) == (1, False, "penalized")
    assert (predictor.hidden, predictor.embedding) == (1024, 1024)


def test_training_on_word_forms_is_that_of_the_appendices() -> None:
    for recipe in (WORD_FORM_GENERATOR, WORD_FORM_PREDICTOR):
        assert (recipe.lr, recipe.clip, recipe.loss_per, recipe.held_out, recipe.batch) == (1e-4, None, "token", 0, 64)
        assert (recipe.patience, recipe.keep_best, recipe.stop_at_lr) == (0, False, 0)
        assert recipe.sorting == (16 if recipe is WORD_FORM_GENERATOR else None)
    assert WORD_FORM_GENERATOR.duration(4000) == Duration(25, 62)
    assert WORD_FORM_PREDICTOR.duration(1000) == Duration(100, 15)
    assert (WORD_FORM_GENERATOR.decay_at, WORD_FORM_PREDICTOR.decay_at, WORD_FORM_PREDICTOR.decay) == (0, 50, 0.1)
