"""Populations of predictors with original examples of their own."""

from dataclasses import replace

import pytest
from tiny_networks import WORD_FORM_PREDICTOR

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.prediction.predictor import Predictor

RECIPE = replace(WORD_FORM_PREDICTOR, epochs=20)
ONE = [Example(tuple(word), (*word, f"[{word[0]}]")) for word in ("ab", "ba", "aa", "bb", "abb")]
OTHER = [Example(tuple(word), (*reversed(word), f"[{word[0]}]")) for word in ("ab", "ba", "aa", "bb", "baa")]


def test_a_predictor_with_its_own_examples_is_the_one_trained_alone() -> None:
    both = Predictor(RECIPE, seeds=(1, 2), device="cpu").fit_each([ONE, OTHER], [(), ONE[:2]])
    alone = Predictor(RECIPE, seeds=(2,), device="cpu").fit(OTHER, ONE[:2])
    losses = [loss[1] for loss in both.fitted_.history.loss[:5]]
    assert losses == pytest.approx([loss[0] for loss in alone.fitted_.history.loss[:5]], rel=1e-3)


def test_each_network_predicts_for_its_own_inputs() -> None:
    predictor = Predictor(RECIPE, seeds=(1, 2), device="cpu").fit_each([ONE, OTHER], [(), ()])
    inputs = [[("a", "b", "b", "a"), ("a",), ("b", "a")], [("b",), ("a", "a"), ("b", "b", "b")]]
    together = predictor.predict_each(inputs)
    for replica, own in enumerate(inputs):
        expected = predictor.predict(own)[replica]
        assert [prediction.y for prediction in together[replica]] == [prediction.y for prediction in expected]


def test_every_network_needs_examples() -> None:
    with pytest.raises(RecombineError, match="a predictor needs at least 1 example"):
        Predictor(RECIPE, seeds=(1, 2), device="cpu").fit_each([ONE, []], [(), ()])
