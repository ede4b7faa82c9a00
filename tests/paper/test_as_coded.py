"""The rules of the authors' code, held against literal readings of it."""

from collections import defaultdict

import literal_neighborhoods as literal
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import Inflection
from recombine.neighborhoods import Neighborhoods
from recombine.paper.as_coded import LongLongAsCoded, LongShortAsCoded, TaggedAsCoded, rare_focused

EVERYTHING = 10**6


def rows(found: Neighborhoods) -> set[tuple[int, ...]]:
    return set(map(tuple, found.rows.tolist()))


def tagged(words: list[Inflection], rule: TaggedAsCoded, seed: int = 0) -> list[tuple[int, ...]]:
    return list(map(tuple, rule.build([word.for_generation for word in words], seed).rows.tolist()))


@given(literal.corpora(), literal.BOUNDS, st.booleans())
def test_second_prototypes_need_not_hold_all_that_is_lacking(
    examples: list[Example], delta: float, distinct: bool
) -> None:
    rule = LongShortAsCoded(delta=delta, first=None, removal="distinct" if distinct else "all", budget=EVERYTHING)
    expected = literal.long_short(examples, delta=delta, covering=False, distinct=distinct)
    found = rows(rule.build(examples))
    all_of = literal.data(examples)
    near = {i for i, d in all_of.items() for j, e in all_of.items() if i != j and literal.lev(d, e) < delta}
    assert {row for row in found if row[0] in near} == expected
    assert all(len({*row}) == 3 for row in found)  # the others have a random first prototype


def test_a_first_prototype_without_a_second_takes_a_place() -> None:
    words = [("a", "b"), ("a", "c"), ("c", "d", "e", "f"), ("b",)]
    examples = [Example(x, x) for x in words]
    expected = literal.long_short(examples, delta=0.8, covering=False, distinct=True)
    found = [rows(LongShortAsCoded(delta=0.8, first=1).build(examples, seed)) for seed in range(5)]
    assert set.union(*found) <= expected
    assert all(len({row[:2] for row in each if row[0] == 0}) <= 1 for each in found)
    assert min(map(len, found)) < max(map(len, found))


@given(literal.corpora())
def test_the_best_of_all_candidates(examples: list[Example]) -> None:
    rule = LongLongAsCoded(delta=0.7, first=3, second=3, candidates=100, budget=EVERYTHING)
    all_of = literal.data(examples)
    expected = set()
    for i, d in all_of.items():
        near = [j for j, e in all_of.items() if j != i and literal.lev(d, e) < 0.7 and len(set(d) - set(e)) == 1]
        near.sort(key=lambda j: (literal.lev(d, all_of[j]), j))
        for j in near[:3]:
            seconds = [k for k in near if k != j and not literal.left_over(d, all_of[j], all_of[k])]
            expected |= {(i, j, k) for k in seconds[:3]}
    assert rows(rule.build(examples)) == expected


def test_both_prototypes_come_from_the_same_few_candidates() -> None:
    examples = [Example((a, b, "z"), (c, "z", "z", "z")) for a in "abc" for b in "abc" for c in "abc"]
    members = defaultdict(set)
    for target, *prototypes in LongLongAsCoded(candidates=4, second=None).build(examples).rows.tolist():
        members[target].update(prototypes)
    assert members
    assert max(map(len, members.values())) <= 4
    with pytest.raises(RecombineError, match="candidates is 0"):
        LongLongAsCoded(candidates=0)


@given(literal.inflections())
def test_the_least_similar_lemmas_come_first_and_every_second_target_does_without_its_own_tags(
    words: list[Inflection],
) -> None:
    expected = literal.tagged_firsts(words, first=4, similar=False, parity=True)
    assert set(tagged(words, TaggedAsCoded(prototypes=1))) == expected


def test_second_prototypes_have_other_tags_than_the_target() -> None:
    words = [
        Inflection("ab", ("V", "PST"), "x"),
        Inflection("ab", ("V", "FUT"), "y"),
        Inflection("cd", ("V", "PST"), "z"),
        Inflection("ef", ("V", "PST", "SG"), "w"),
    ]
    assert [row for row in tagged(words, TaggedAsCoded(second=4)) if row[:2] == (0, 1)] == [(0, 1, 3)]


def test_the_last_resort_is_the_best_other_first_prototype() -> None:
    words = [Inflection(lemma, ("V",), lemma) for lemma in ("pqr", "abc", "abd", "xyz")]
    for seed in range(4):
        found = [row for row in tagged(words, TaggedAsCoded(first=1), seed) if row[0] == 1]
        assert found in ([(1, 0, 3)], [(1, 3, 0)])


def test_pairs_around_rare_tags() -> None:
    rows = rare_focused(literal.WORDS, rare=["[SG]"])(10, np.random.default_rng(0)).tolist()
    assert len(rows) == 10
    fours = [rows[:4], rows[4:8]]
    assert all((a, b) == (d, c) and (e, f) == (h, g) for (a, b), (e, f), (c, d), (g, h) in fours)
    rare = {3, 7}
    for (i1, i2), (_, i3), *_ in fours:
        assert i1 in rare
        assert i2 != i3
    # By overlap alone, the other form with SG (three tags in common), then the first with V and PST (two).
    assert [rows[0][1], rows[1][1]] == [next(iter(rare - {rows[0][0]})), 0]
    with pytest.raises(RecombineError, match="rare tag"):
        rare_focused(literal.WORDS, rare=["[IMP]"])
