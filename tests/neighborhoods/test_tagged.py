import literal_neighborhoods as literal
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import Inflection
from recombine.neighborhoods.tagged import Tagged


def build(words: list[Inflection], rule: Tagged, seed: int = 0) -> list[tuple[int, ...]]:
    return list(map(tuple, rule.build([word.for_generation for word in words], seed).rows.tolist()))


@given(literal.inflections(), st.integers(1, 5), st.integers(1, 5))
def test_two_prototypes_by_score_1_and_score_2(words: list[Inflection], first: int, second: int) -> None:
    found = build(words, Tagged(first=first, second=second))
    assert sorted(found) == sorted(literal.tagged(words, first=first, second=second))


@given(literal.inflections(), st.booleans(), st.booleans())
def test_one_prototype_by_score_1(words: list[Inflection], similar: bool, parity: bool) -> None:
    rule = Tagged(prototypes=1, lemma="similar" if similar else "dissimilar", parity=parity)
    sign = 1 if similar else -1
    expected = set()
    own = {words.index(word): word for word in words}
    for i, d in own.items():
        others = [j for j in own if j != i and not (parity and i % 2 == 0 and set(own[j].tags) == set(d.tags))]
        others.sort(
            key=lambda j: (len(set(d.tags) ^ set(own[j].tags)), sign * literal.jaccard(d.lemma, own[j].lemma), j)
        )
        expected |= {(i, j) for j in others[:4]}
    assert set(build(words, rule)) == expected


def test_a_second_prototype_with_other_tags_than_the_target() -> None:
    words = [
        Inflection("ab", ("V", "PST"), "x"),
        Inflection("ab", ("V", "FUT"), "y"),
        Inflection("cd", ("V", "PST"), "z"),
        Inflection("ef", ("V", "PST", "SG"), "w"),
    ]
    assert (0, 1, 2) in build(words, Tagged())
    other = [row for row in build(words, Tagged(second_tags="other")) if row[:2] == (0, 1)]
    assert other == [(0, 1, 3)]


def test_the_last_resort_is_the_best_other_first_prototype() -> None:
    words = [Inflection(lemma, ("V",), lemma) for lemma in ("abc", "abd", "xyz")]
    assert build(words, Tagged()) == []
    for seed in range(4):
        rows = [row for row in build(words, Tagged(first=1, fallback=True), seed) if row[0] == 0]
        assert rows in ([(0, 1, 2)], [(0, 2, 1)])


def test_examples_without_tags_are_an_error() -> None:
    with pytest.raises(RecombineError, match="no tags"):
        Tagged().build([Example(("a",), ("b",))])
