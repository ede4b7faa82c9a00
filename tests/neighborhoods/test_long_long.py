from collections import Counter, defaultdict

import literal_neighborhoods as literal
from hypothesis import given
from hypothesis import strategies as st

from recombine.example import Example
from recombine.neighborhoods.long_long import LongLong

EVERYTHING = 10**6


@given(literal.corpora(), literal.BOUNDS, st.booleans())
def test_without_limits_equals_the_definition(examples: list[Example], delta: float, one_sided: bool) -> None:
    difference = "one-sided" if one_sided else "symmetric"
    rule = LongLong(delta=delta, first=None, second=None, difference=difference, budget=EVERYTHING)
    found = list(map(tuple, rule.build(examples).rows.tolist()))
    assert sorted(found) == sorted(literal.long_long(examples, delta=delta, one_sided=one_sided))


@given(literal.corpora(), st.integers(1, 3), st.integers(1, 2), st.integers(0, 3))
def test_with_limits_as_many_as_possible(examples: list[Example], first: int, second: int, seed: int) -> None:
    whole = literal.long_long(examples, delta=0.7)
    rule = LongLong(delta=0.7, first=first, second=second, budget=EVERYTHING)
    found = set(map(tuple, rule.build(examples, seed).rows.tolist()))
    assert found <= whole
    pairs, possible = Counter(row[:2] for row in found), Counter(row[:2] for row in whole)
    assert all(count == min(second, possible[pair]) for pair, count in pairs.items())
    firsts, wanted = Counter(pair[0] for pair in pairs), Counter(pair[0] for pair in possible)
    assert firsts == {target: min(first, count) for target, count in wanted.items()}


@given(literal.corpora())
def test_the_best_of_all_candidates(examples: list[Example]) -> None:
    rule = LongLong(delta=0.7, first=3, second=3, difference="one-sided", candidates=100, budget=EVERYTHING)
    all_of = literal.data(examples)
    expected = set()
    for i, d in all_of.items():
        near = [j for j, e in all_of.items() if j != i and literal.lev(d, e) < 0.7 and len(set(d) - set(e)) == 1]
        near.sort(key=lambda j: (literal.lev(d, all_of[j]), j))
        for j in near[:3]:
            seconds = [k for k in near if k != j and not literal.left_over(d, all_of[j], all_of[k])]
            expected |= {(i, j, k) for k in seconds[:3]}
    assert set(map(tuple, rule.build(examples).rows.tolist())) == expected


def test_both_prototypes_come_from_the_same_few_candidates() -> None:
    examples = [Example((a, b, "z"), (c, "z", "z", "z")) for a in "abc" for b in "abc" for c in "abc"]
    rule = LongLong(difference="one-sided", candidates=4, first=3, second=None)
    members = defaultdict(set)
    for target, *prototypes in rule.build(examples).rows.tolist():
        members[target].update(prototypes)
    assert members
    assert max(map(len, members.values())) <= 4
