import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from recombine.errors import RecombineError
from recombine.evaluation.significance import Summary, against_best, combined, compare, paired, summarize


def paired_p(first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray) -> float:
    """Returns the p of two systems with one network each, by its scores on items."""
    return paired([np.array([first])], [np.array([second])]).p


def p_by_hand(difference: float, error: float, degrees: float) -> float:
    """The two-sided tail of Student's density beyond t, integrated."""
    norm = math.gamma((degrees + 1) / 2) / (math.sqrt(degrees * math.pi) * math.gamma(degrees / 2))
    tail, _ = integrate.quad(
        lambda u: norm * (1 + u * u / degrees) ** (-(degrees + 1) / 2), abs(difference) / error, math.inf
    )
    return 2 * tail


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 40))
def test_with_one_network_it_is_the_paired_t_test_over_items(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.random(n), rng.random(n)
    assert math.isclose(paired_p(first, second), stats.ttest_rel(first, second).pvalue, rel_tol=1e-9)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 10), st.integers(2, 40))
def test_with_several_networks_it_is_min_f_prime_of_networks_and_items(seed: int, networks: int, items: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.random((2, networks, items))
    test = paired([first], [second])
    by_networks = stats.ttest_rel(first.mean(axis=1), second.mean(axis=1)).statistic ** 2
    by_items = stats.ttest_rel(first.mean(axis=0), second.mean(axis=0)).statistic ** 2
    min_f = by_networks * by_items / (by_networks + by_items)
    degrees = (by_networks + by_items) ** 2 / (by_networks**2 / (items - 1) + by_items**2 / (networks - 1))
    assert test.difference == pytest.approx((first - second).mean())
    assert (test.difference / test.error) ** 2 == pytest.approx(min_f)
    assert test.p == pytest.approx(stats.f.sf(min_f, 1, degrees))
    assert test.p == pytest.approx(p_by_hand(test.difference, test.error, degrees), rel=1e-5, abs=1e-8)


def test_where_each_split_has_its_own_items_splits_stand_for_networks() -> None:
    rng = np.random.default_rng(3)
    first = [rng.random((2, 30)), rng.random((1, 20)), rng.random((1, 25))]
    second = [each - 0.1 + 0.2 * rng.random(each.shape) for each in first]
    test = paired(first, second)
    means = [(one - other).mean() for one, other in zip(first, second, strict=True)]
    assert test.difference == pytest.approx(np.mean(means))
    assert test.by_networks == pytest.approx(np.var(means, ddof=1) / 3)
    nothing = np.empty((1, 0))
    assert paired([*first, nothing], [*second, nothing]) == test  # a split with no such items


@pytest.mark.parametrize("splits", [1, 5])
def test_seeds_times_items_are_not_independent(splits: int) -> None:
    """Of systems that differ by chance alone, the test finds few to differ, and a t-test over all scores finds many."""
    rng = np.random.default_rng(0)
    found = naive = 0
    for _ in range(400):
        noise = rng.normal(0, 0.3, (5, 100)) + rng.normal(0, 0.1, (5, 1))
        noise += rng.normal(0, 0.2, (1, 100)) if splits == 1 else 0
        scores = [noise] if splits == 1 else [*noise[:, None]]
        found += paired(scores, [np.zeros_like(each) for each in scores]).p < 0.05
        naive += stats.ttest_1samp(noise.ravel(), 0).pvalue < 0.05
    assert found <= 0.08 * 400
    assert naive > 0.3 * 400


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
    assert paired_p(first, first - 0.1) == pytest.approx(expected)
    assert paired_p(first - 0.1, first) == pytest.approx(expected)


def test_bonferroni_over_all_pairs_in_the_order_given() -> None:
    rng = np.random.default_rng(1)
    base = rng.random(50)
    scores = {"c": base, "a": base + 0.05 * rng.random(50), "b": base + 0.002 * rng.standard_normal(50)}
    found = compare({name: [values[None]] for name, values in scores.items()})
    assert [(one.first, one.second) for one in found] == [("c", "a"), ("c", "b"), ("a", "b")]
    for one in found:
        p = stats.ttest_rel(scores[one.first], scores[one.second]).pvalue
        assert math.isclose(one.p, p, rel_tol=1e-9)
        assert math.isclose(one.corrected_p, min(1.0, 3 * p), rel_tol=1e-9)
        assert math.isclose(one.difference, scores[one.first].mean() - scores[one.second].mean(), abs_tol=1e-12)
        assert one.is_significant == (3 * p < 0.05)
    assert found[0].is_significant
    assert not found[1].is_significant


def test_each_system_is_compared_with_the_best_and_corrected_for_that_many_comparisons() -> None:
    rng = np.random.default_rng(2)
    base = rng.random((1, 200))
    scores = {
        "baseline": [base - 0.2 + 0.01 * rng.random(200)],
        "good": [base],
        "as good": [base - 0.001 * rng.random(200)],
    }
    scores["as good"][0][0, 0] += 0.15
    found = {(each.first, each.second): each for each in against_best(scores)}
    assert list(found) == [("as good", "baseline"), ("as good", "good")]
    assert [each.is_significant for each in found.values()] == [True, False]
    assert all(each.corrected_p == min(1, 2 * each.p) for each in found.values())
    assert against_best({"a": [base]}) == against_best({}) == ()


def test_what_cannot_be_compared() -> None:
    with pytest.raises(RecombineError, match="the same networks and the same items"):
        paired([np.ones((2, 3))], [np.ones((3, 3))])
    with pytest.raises(RecombineError, match="at least 2 items; found 1"):
        compare({"a": [np.ones((5, 1))], "b": [np.zeros((5, 1))]})
    assert compare({"a": [np.ones((1, 2))]}) == ()
    # A system that is right on the same items in every seed is no more certain for it.
    one, other = np.array([[1.0, 1.0, 0.0]]), np.array([[0.0, 1.0, 0.0]])
    assert paired([one.repeat(10, axis=0)], [other.repeat(10, axis=0)]).p == pytest.approx(paired([one], [other]).p)


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
