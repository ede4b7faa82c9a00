import literal_neighborhoods as literal
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods.one_prototype import OnePrototype

WEIGHTS = st.sampled_from([0.0, 0.25, 1.0])


@given(literal.corpora(), WEIGHTS, WEIGHTS, st.sampled_from([0.3, 0.5, 1.0, 1.5]))
def test_without_limits_equals_the_definition(examples: list[Example], alpha: float, beta: float, delta: float) -> None:
    found = OnePrototype(alpha=alpha, beta=beta, delta=delta, first=None, budget=10**6).build(examples)
    assert set(map(tuple, found.rows.tolist())) == literal.one_prototype(examples, alpha=alpha, beta=beta, delta=delta)


def test_negative_weights_are_an_error() -> None:
    with pytest.raises(RecombineError, match="negative"):
        OnePrototype(alpha=-1.0)
