from collections import Counter

import literal_neighborhoods as literal
from hypothesis import given
from hypothesis import strategies as st

from recombine.example import Example
from recombine.neighborhoods.swap import Swap

EVERYTHING = 10**6


@given(literal.corpora(), literal.BOUNDS)
def test_without_limits_equals_the_definition(examples: list[Example], delta: float) -> None:
    all_of = literal.data(examples)
    expected = [
        (i, j, k)
        for i, d in all_of.items()
        for j, d1 in all_of.items()
        if literal.lev(d, d1) < delta and set(d) - set(d1)
        for k, d2 in all_of.items()
        if k != i and set(d) - set(d1) <= set(d2)
    ]
    rule = Swap(delta=delta, first=None, second=None, budget=EVERYTHING)
    assert list(map(tuple, rule.build(examples).rows.tolist())) == sorted(expected)


@given(literal.corpora(), st.integers(1, 3), st.integers(1, 2), st.integers(0, 3))
def test_first_prototypes_are_those_that_lack_least(
    examples: list[Example], first: int, second: int, seed: int
) -> None:
    all_of = literal.data(examples)
    whole = Swap(delta=0.7, first=None, second=None, budget=EVERYTHING).build(examples)
    found = Swap(delta=0.7, first=first, second=second, budget=EVERYTHING).build(examples, seed)
    pairs = Counter((i, j) for i, j, _ in found.rows.tolist())
    possible = Counter((i, j) for i, j, _ in whole.rows.tolist())
    assert all(count == min(second, possible[pair]) for pair, count in pairs.items())
    for target in {i for i, _ in possible}:
        ranked = sorted(
            (len(set(all_of[target]) - set(all_of[j])), literal.lev(all_of[target], all_of[j]))
            for i, j in possible
            if i == target
        )
        chosen = sorted(
            (len(set(all_of[target]) - set(all_of[j])), literal.lev(all_of[target], all_of[j]))
            for i, j in pairs
            if i == target
        )
        assert chosen == ranked[:first]


def test_words_that_all_examples_share_do_not_hide_the_one_that_differs() -> None:
    commands = [
        Example(tuple(f"{verb} the {color} plate".split()), tuple(f"{verb.upper()} ( PLATE {color.upper()} )".split()))
        for verb in ("cut", "lift", "weld")
        for color in ("red", "blue", "green")
    ]
    for target, d1, d2 in Swap().build(commands).rows.tolist():
        shared = [set(commands[target].d) & set(commands[prototype].d) for prototype in (d1, d2)]
        assert shared[0] | shared[1] == set(commands[target].d)
        assert len(set(commands[target].d) - shared[0]) == 2  # a word and its meaning
