"""Neighborhoods of real data, held against counts that others have published or measured."""

import pytest

from recombine.data.scan import split
from recombine.example import Example
from recombine.neighborhoods.rules import LongLong
from recombine.paper.as_coded import LongShortAsCoded

pytestmark = pytest.mark.slow


def test_long_long_on_around_right_leaves_six_examples_without() -> None:
    found = LongLong(first=1, second=1).build(split("around-right").train)
    assert found.passed["distinct examples"] == 15_225
    assert found.passed["with a second prototype for it"] == 15_219


def test_the_authors_long_short_on_jump_leaves_a_third_without() -> None:
    train = split("jump").train
    found = LongShortAsCoded().build(train)
    assert 13_204 - found.passed["with a second prototype for these"] == pytest.approx(4_135, rel=0.05)
    assert len(found) == pytest.approx(38_500, rel=0.05)
    # Nothing else in the training set holds the word, so the paper's and the authors' conditions both rule it out.
    assert train.index(Example(("jump",), ("I_JUMP",))) not in found.rows
