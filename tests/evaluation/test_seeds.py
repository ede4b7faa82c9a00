import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import RecombineError
from recombine.evaluation.seeds import Summary, combined, summarize

scores = st.lists(st.floats(0, 1), min_size=1, max_size=10)


@given(scores)
def test_mean_and_population_deviation(values: list[float]) -> None:
    summary = summarize(values)
    assert math.isclose(summary.mean, np.mean(values), abs_tol=1e-12)
    assert math.isclose(summary.deviation, np.std(values, ddof=0), abs_tol=1e-12)
    assert summary.n == len(values)


def test_by_hand() -> None:
    assert summarize([0.5, 0.7]) == Summary(mean=0.6, deviation=pytest.approx(0.1), n=2)
    assert str(Summary(0.7234, 0.0151, 5)) == "0.72 ± 0.02"


def test_future_and_past_together() -> None:
    both = combined(Summary(0.6, 0.03, 5), Summary(0.8, 0.04, 5))
    assert both == Summary(mean=pytest.approx(0.7), deviation=pytest.approx(math.sqrt(0.03**2 + 0.04**2) / 2), n=5)


def test_one_part_is_itself() -> None:
    assert combined(Summary(0.5, 0.25, 3)) == Summary(0.5, 0.25, 3)


def test_what_cannot_be_summarized() -> None:
    with pytest.raises(RecombineError, match="no scores"):
        summarize([])
    with pytest.raises(RecombineError, match="different numbers of seeds: 5, 4"):
        combined(Summary(0.5, 0.1, 5), Summary(0.5, 0.1, 4))
    with pytest.raises(RecombineError, match="none"):
        combined()
