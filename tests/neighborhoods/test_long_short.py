from collections import Counter

import literal_neighborhoods as literal
from hypothesis import given
from hypothesis import strategies as st

from recombine.example import Example
from recombine.neighborhoods.long_short import LongShort
from recombine.neighborhoods.neighborhood import Neighborhoods

EVERYTHING = 10**6


def rows(found: Neighborhoods) -> set[tuple[int, ...]]:
    assert len(set(map(tuple, found.rows.tolist()))) == len(found.rows)
    return set(map(tuple, found.rows.tolist()))


@given(literal.corpora(), literal.BOUNDS)
def test_without_limits_equals_the_definition(examples: list[Example], delta: float) -> None:
    found = LongShort(delta=delta, first=None, second=None, budget=EVERYTHING).build(examples)
    assert rows(found) == literal.long_short(examples, delta=delta)


@given(literal.corpora(), literal.BOUNDS, st.booleans())
def test_the_authors_conditions(examples: list[Example], delta: float, distinct: bool) -> None:
    rule = LongShort(
        delta=delta,
        first=None,
        second=None,
        covering=False,
        removal="distinct" if distinct else "all",
        budget=EVERYTHING,
    )
    assert rows(rule.build(examples)) == literal.long_short(examples, delta=delta, covering=False, distinct=distinct)


@given(literal.corpora(), st.integers(1, 3), st.integers(1, 2), st.integers(0, 3))
def test_with_limits_as_many_as_possible(examples: list[Example], first: int, second: int, seed: int) -> None:
    whole = literal.long_short(examples, delta=0.7)
    found = rows(LongShort(delta=0.7, first=first, second=second, budget=EVERYTHING).build(examples, seed))
    assert found <= whole
    pairs, possible = Counter(row[:2] for row in found), Counter(row[:2] for row in whole)
    assert all(count == min(second, possible[pair]) for pair, count in pairs.items())
    firsts, wanted = Counter(pair[0] for pair in pairs), Counter(pair[0] for pair in possible)
    assert firsts == {target: min(first, count) for target, count in wanted.items()}


def test_a_vocabulary_larger_than_a_mask() -> None:
    examples = [
        Example((f"{i}", f"{i % 7}"), (f"{i % 7}", f"{j}")) for i in range(25) for j in (i, 3 * i % 25, 100 + i)
    ]
    examples += [Example((f"{i}",), (f"{i}",)) for i in range(25)]
    found = LongShort(delta=0.7, first=None, second=None, budget=EVERYTHING).build(examples)
    assert len(found)
    assert rows(found) == literal.long_short(examples, delta=0.7)


def test_a_first_prototype_without_a_second_takes_a_place_only_if_told() -> None:
    words = [("a", "b"), ("a", "c"), ("c", "d", "e", "f"), ("b",)]
    examples = [Example(x, x) for x in words]
    assert LongShort(delta=0.8, first=1).build(examples).coverage(examples) > 0
    for seed in range(5):
        picked = LongShort(delta=0.8, first=1, pairs=False).build(examples, seed)
        assert rows(picked) <= literal.long_short(examples, delta=0.8)


def test_fallback_gives_a_first_prototype_to_those_that_have_none() -> None:
    examples = [Example(("a",), ("b", "b", "b", "b", "b")), Example(("c",), ("d",)), Example(("a",), ("b",))]
    lonely = LongShort(delta=0.3, covering=False).build(examples)
    assert lonely.passed["with a near first prototype"] == 0
    assert not len(lonely)
    helped = LongShort(delta=0.7, covering=False, fallback=True).build(examples)
    assert all(len(set(row)) == 3 for row in helped.rows.tolist())


def test_the_account_says_where_the_search_ended() -> None:
    examples = [Example(("a", "b"), ("c",)), Example(("a", "b"), ("d",))]
    found = LongShort().build(examples)
    assert found.passed == {
        "distinct examples": 2,
        "with a near first prototype": 2,
        "with tokens left over": 2,
        "with a second prototype for these": 0,
    }
