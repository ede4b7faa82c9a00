import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from recombine.errors import RecombineError
from recombine.evaluation.significance import Summary, best, combined, compare, item_means, paired_p, summarize


def p_by_hand(first: np.ndarray, second: np.ndarray) -> float:
    """The two-sided tail of Student's density beyond t, integrated."""
    differences = first - second
    n = len(differences)
    t = abs(differences.mean()) / (differences.std(ddof=1) / math.sqrt(n))
    degrees = n - 1
    norm = math.gamma((degrees + 1) / 2) / (math.sqrt(degrees * math.pi) * math.gamma(degrees / 2))
    tail, _ = integrate.quad(lambda u: norm * (1 + u * u / degrees) ** (-(degrees + 1) / 2), t, math.inf)
    return 2 * tail


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 40))
def test_p_equals_scipy_and_the_integral(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.random(n), rng.random(n)
    p = paired_p(first.tolist(), second.tolist())
    assert math.isclose(p, stats.ttest_rel(first, second).pvalue, rel_tol=1e-12)
    assert math.isclose(p, p_by_hand(first, second), rel_tol=1e-5, abs_tol=1e-8)


def test_a_textbook_example_and_systems_that_do_not_differ() -> None:
    # Differences 1, 2, 3: mean 2, deviation 1, t = 2 sqrt(3) with 2 degrees, for which p = 1 - t / sqrt(t² + 2).
    t = 2 * math.sqrt(3)
    assert math.isclose(paired_p([2, 4, 6], [1, 2, 3]), 1 - t / math.sqrt(t * t + 2))
    for one, same in (([0.1, 0.9, 0.5], [0.1, 0.9, 0.5]), ([True, False], [True, False]), ([0.1 + 0.2, 1], [0.3, 1])):
        assert paired_p(one, same) == 1.0  # without a warning, and rounding is no difference
    assert 0 < paired_p([1.0] * 5000, [0.0] * 5000) < 1e-200  # no p is zero however many items agree


@pytest.mark.parametrize("items", [2, 3, 8, 30])
def test_a_constant_difference_has_the_p_of_the_sign_test(items: int) -> None:
    first = np.linspace(0.3, 0.9, items)
    expected = stats.binomtest(items, items).pvalue
    assert paired_p(first.tolist(), (first - 0.1).tolist()) == pytest.approx(expected)
    assert paired_p((first - 0.1).tolist(), first.tolist()) == pytest.approx(expected)


def test_bonferroni_over_all_pairs_in_the_order_given() -> None:
    rng = np.random.default_rng(1)
    base = rng.random(50)
    scores = {"c": base, "a": base + 0.05 * rng.random(50), "b": base + 0.002 * rng.standard_normal(50)}
    found = compare({name: values.tolist() for name, values in scores.items()})
    assert [(one.first, one.second) for one in found] == [("c", "a"), ("c", "b"), ("a", "b")]
    for one in found:
        p = stats.ttest_rel(scores[one.first], scores[one.second]).pvalue
        assert math.isclose(one.p, p, rel_tol=1e-9)
        assert math.isclose(one.corrected_p, min(1.0, 3 * p), rel_tol=1e-9)
        assert math.isclose(one.difference, scores[one.first].mean() - scores[one.second].mean(), abs_tol=1e-12)
        assert one.is_significant == (3 * p < 0.05)
    assert found[0].is_significant
    assert not found[1].is_significant


def test_bold_are_those_not_worse_than_the_best() -> None:
    rng = np.random.default_rng(2)
    base = rng.random(200)
    scores = {
        "baseline": (base - 0.2 + 0.01 * rng.random(200)).tolist(),
        "good": base.tolist(),
        "as good": (base + 0.001 * rng.standard_normal(200)).tolist(),
    }
    assert best(scores) == ("good", "as good")
    # Nothing is bold if nothing differs.
    assert best({"a": [0.1, 0.5, 0.3], "b": [0.1, 0.5, 0.3]}) == ()
    assert best({"a": [0.1, 0.5]}) == ()


def test_what_cannot_be_compared_and_seeds_are_no_further_items() -> None:
    with pytest.raises(RecombineError, match="2 and 3 scores"):
        paired_p([1, 2], [1, 2, 3])
    with pytest.raises(RecombineError, match="at least 2 items"):
        compare({"a": [1.0], "b": [0.0]})
    with pytest.raises(RecombineError, match="no systems"):
        best({})
    assert compare({"a": [1.0, 2.0]}) == ()
    # A system that is right on the same items in every seed is no more certain for it.
    one, other = [[1.0, 1.0, 0.0]] * 10, [[0.0, 1.0, 0.0]] * 10
    assert item_means(one).tolist() == one[0]
    assert paired_p(item_means(one), item_means(other)) == paired_p(one[0], other[0])


seed_scores = st.lists(st.floats(0, 1), min_size=1, max_size=10)


@given(seed_scores)
def test_mean_and_population_deviation(values: list[float]) -> None:
    summary = summarize(values)
    assert math.isclose(summary.mean, np.mean(values), abs_tol=1e-12)
    assert math.isclose(summary.deviation, np.std(values, ddof=0), abs_tol=1e-12)
    assert summary.n == len(values)


def test_summaries_by_hand_and_those_of_future_and_past_together() -> None:
    assert summarize([0.5, 0.7]) == Summary(mean=0.6, deviation=pytest.approx(0.1), n=2)
    assert str(Summary(0.7234, 0.0151, 5)) == "0.72 ± 0.02"
    both = combined(Summary(0.6, 0.03, 5), Summary(0.8, 0.04, 5))
    assert both == Summary(mean=pytest.approx(0.7), deviation=pytest.approx(math.sqrt(0.03**2 + 0.04**2) / 2), n=5)
    assert combined(Summary(0.5, 0.25, 3)) == Summary(0.5, 0.25, 3)
    with pytest.raises(RecombineError, match="no scores"):
        summarize([])
    with pytest.raises(RecombineError, match="different numbers of seeds: 5, 4"):
        combined(Summary(0.5, 0.1, 5), Summary(0.5, 0.1, 4))
    with pytest.raises(RecombineError, match="none"):
        combined()
