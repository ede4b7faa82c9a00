from collections import Counter
from itertools import product

import literal_neighborhoods as literal
import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import Inflection
from recombine.neighborhoods.neighborhood import Neighborhoods
from recombine.neighborhoods.omega import Omega, compatible, focused
from recombine.neighborhoods.omega import product as product_of
from recombine.neighborhoods.rules import LongLong, LongShort, OnePrototype, Tagged

EXAMPLES = [Example((a, b), (b, *c)) for a in "ab" for b in "abc" for c in ("", "a", "cc")] * 2


def drawn(omega: Omega, n: int = 40_000) -> Counter[tuple[int, ...]]:
    rows = omega(n, np.random.default_rng(0))
    assert rows.dtype == np.int32
    assert len(rows) == n
    assert np.array_equal(rows, omega(n, np.random.default_rng(0)))
    return Counter(map(tuple, rows.tolist()))


def assert_uniform(counts: Counter[tuple[int, ...]], expected: set[tuple[int, ...]]) -> None:
    assert set(counts) == expected
    mean = counts.total() / len(expected)
    assert all(abs(count - mean) < 6 * mean**0.5 for count in counts.values())


def bound(rows: np.ndarray, deviations: float) -> float:
    lengths = [len(EXAMPLES[place].d) for place in rows.tolist()]
    mean = sum(lengths) / len(lengths)
    return mean + deviations * (sum((length - mean) ** 2 for length in lengths) / len(lengths)) ** 0.5


@pytest.mark.parametrize("deviations", [0.0, 1.0, None])
@pytest.mark.parametrize(
    "rule", [OnePrototype(), LongShort(delta=0.8), LongLong(delta=0.8), LongLong(delta=0.8, difference="one-sided")]
)
def test_draws_are_uniform(rule: OnePrototype | LongShort | LongLong, deviations: float | None) -> None:
    found = rule.build(EXAMPLES)
    all_of = literal.data(EXAMPLES)
    pools = [
        [i for i, d in all_of.items() if deviations is None or len(d) <= bound(column, deviations)]
        for column in found.rows.T[1:]
    ]
    expected = set(product(*pools))
    if rule.name == "long-long":
        one_sided = rule.difference == "one-sided"
        tokens = {i: set(d) for i, d in all_of.items()}
        expected = {
            (i, j) for i, j in expected if len(tokens[i] - tokens[j] if one_sided else tokens[i] ^ tokens[j]) == 1
        }
    assert expected
    assert_uniform(drawn(compatible(found, EXAMPLES, deviations=deviations)), expected)


@given(literal.corpora())
@settings(max_examples=30)
def test_one_apart_is_uniform_on_any_corpus(examples: list[Example]) -> None:
    all_of = literal.data(examples)
    expected = {(i, j) for i, j in product(all_of, repeat=2) if len(set(all_of[i]) ^ set(all_of[j])) == 1}
    found = Neighborhoods(np.array([[0, 0, 0]], np.int32), "long-long")
    if not expected:
        with pytest.raises(RecombineError, match="no compatible prototypes"):
            compatible(found, examples, deviations=None)
        return
    assert_uniform(drawn(compatible(found, examples, deviations=None), 200 * len(expected)), expected)


def test_pairs_by_tags_and_sets_without_members() -> None:
    tags = [{token for token in word.x if len(token) > 1} for word in literal.WORDS]
    different = {(i, j) for i, j in product(range(len(literal.WORDS)), repeat=2) if tags[i] != tags[j]}
    assert_uniform(drawn(compatible(Tagged().build(literal.WORDS), literal.WORDS)), different)
    alike = [Inflection(lemma, ("V",), lemma).for_generation for lemma in ("a", "b")]
    found = Neighborhoods(np.array([[0, 1, 1]], np.int32), "tagged")
    with pytest.raises(RecombineError, match="no compatible prototypes"):
        compatible(found, alike)(1, np.random.default_rng(0))
    for width, message in ((3, "no compatible prototypes"), (1, "without prototypes")):
        with pytest.raises(RecombineError, match=message):
            compatible(Neighborhoods(np.empty((0, width), np.int32), "long-short"), EXAMPLES)


def test_a_focused_set_has_the_rows_with_a_wanted_last_prototype_and_draws_them_evenly() -> None:
    whole = product_of([np.arange(6, dtype=np.int32), np.arange(3, dtype=np.int32)])
    rows = focused(whole, [number == 1 for number in range(6)])(8000, np.random.default_rng(0))
    counts = Counter(map(tuple, rows.tolist()))
    assert set(counts) == {(d1, 1) for d1 in range(6)}
    assert scipy.stats.chisquare(list(counts.values())).pvalue > 0.001
    assert focused(whole, [False] * 6) is whole
