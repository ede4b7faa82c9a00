import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import RecombineError
from recombine.evaluation.metrics import (
    Audit,
    analysis_elements,
    audit,
    contradicted,
    correct,
    elements_of,
    exact_match,
    item_counts,
    micro_f1,
    novel,
)
from recombine.example import Example, Provenance, Tokens
from recombine.inflection import Inflection, reordered

outputs = st.lists(st.sampled_from([*"abc", "[V]", "[PST]"]), max_size=6).map(tuple)
pairs = st.lists(st.tuples(outputs, outputs), min_size=1, max_size=6)


def transcribed_f1(gold: list[list[str]], predicted: list[list[str]]) -> float:
    """The authors' measure, word for word, on lists of [lemma, tag, tag, ...]."""
    tp = fp = fn = 0
    for reference, prediction in zip(gold, predicted, strict=True):
        for element in prediction:
            if element in reference:
                tp += 1
            else:
                fp += 1
        for element in reference:
            if element not in prediction:
                fn += 1
    if tp == 0:
        return 1.0 if fp == fn == 0 else 0.0
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    return 2 * precision * recall / (precision + recall)


@given(pairs)
def test_f1_equals_the_transcription(items: list[tuple[Tokens, Tokens]]) -> None:
    predicted = [guess for _, guess in items]
    for end, elements in ((("[N]",), analysis_elements), (("d",), tuple)):  # analyses, and other outputs
        gold = [right + end for right, _ in items]
        lists = [[list(elements(output)) for output in side] for side in (gold, predicted)]
        assert math.isclose(micro_f1(gold, predicted, elements=elements), transcribed_f1(*lists))
        for single, right, guess in zip(item_counts(gold, predicted, elements=elements), *lists, strict=True):
            assert math.isclose(single.f1, transcribed_f1([right], [guess]))


@given(pairs)
def test_exact_match_equals_a_count(items: list[tuple[Tokens, Tokens]]) -> None:
    gold, predicted = [right for right, _ in items], [guess for _, guess in items]
    assert exact_match(gold, predicted) == sum(right == guess for right, guess in items) / len(items)
    assert correct(gold, predicted) == tuple(right == guess for right, guess in items)
    assert exact_match(gold, gold) == micro_f1(gold, gold) == 1.0


def analysis(lemma: str, *tags: str) -> Tokens:
    return Inflection(lemma, tags, "x").for_generation.x


def test_elements_are_chosen_by_the_gold_outputs() -> None:
    tagged, plain = analysis("ev", "N"), ("I_JUMP", "I_JUMP")
    assert elements_of([tagged, tagged])(tagged) == ("ev", "[N]")
    assert elements_of([tagged, plain])(plain) == plain
    # A prediction without tags is one wrong lemma, not two right characters.
    assert item_counts([tagged], [("e", "v", "i")])[0].f1 == 0.0
    # A malformed analysis has the elements that it has.
    assert analysis_elements(()) == ()
    assert analysis_elements(("[V]",)) == ("[V]",)
    assert analysis_elements(("a", "[V]", "b", "[N]")) == ("a[V]b", "[N]")


@pytest.mark.parametrize("score", [exact_match, micro_f1, item_counts, correct])
def test_what_cannot_be_scored(score: type) -> None:
    with pytest.raises(RecombineError, match="nothing to score"):
        score([], [])
    with pytest.raises(RecombineError, match="1 gold outputs and 2 predicted"):
        score([("a",)], [("a",), ("b",)])


def test_novel_tags_are_ordered_and_the_same_in_any_order_of_sides() -> None:
    training = [Inflection("a", ("V", "PST"), "b"), Inflection("a", ("N",), "b")]
    items = [
        Inflection("c", ("V", "PST"), "d"),
        Inflection("c", ("PST", "V"), "d"),
        Inflection("c", ("V",), "d"),
        Inflection("c", ("N",), "d"),
    ]
    generated = [item.for_generation for item in training]
    inflections = [item.for_generation for item in items]
    for ordered in (inflections, map(reordered, inflections)):
        assert novel(ordered, generated) == (False, True, True, False)
    with pytest.raises(RecombineError, match="no tags"):
        novel([Example(("jump",), ("I_JUMP",))], [])


def upper(x: Tokens) -> Tokens | None:
    """The right output of letters is their capitals; digits are not well formed."""
    return None if any(token.isdigit() for token in x) else tuple(token.upper() for token in x)


def example(x: str, y: str, method: str | None = None) -> Example:
    return Example(tuple(x), tuple(y), Provenance(method) if method else None)


TRAIN = [example("a", "A"), example("b", "B")]
TEST = [example("ab", "AB"), example("ba", "BA")]
SAMPLES = [
    example("ab", "AB", "geca"),  # right, novel, a test pair
    example("ba", "AB", "geca"),  # wrong, novel, a test input
    example("a", "A", "geca"),  # right, but a training pair
    example("a1", "A1", "geca"),  # malformed
    example("ab", "AB", "other"),  # right, repeated
]


def test_counts_by_hand_and_shares_of_all_samples() -> None:
    known = {"n": 5, "novel": 4, "duplicates": 1}
    judged = {"well_formed": 4, "right": 3, "right_and_novel": 2}
    found = Audit(**known, **judged, inputs_in_test=3, pairs_in_test=2)
    assert audit(SAMPLES, gold=upper, train=TRAIN, test=TEST) == found
    assert audit(SAMPLES, gold=None, train=iter(TRAIN)) == Audit(**known)  # as far as asked for
    assert audit([example("1", "1")], gold=upper, train=[]).right == 0  # no malformed input is right
    with pytest.raises(RecombineError, match="no samples"):
        audit([], gold=None, train=TRAIN)
    shares = {name: count / 5 for name, count in {**known, **judged, "contradicted": 0}.items() if name != "n"}
    assert audit(SAMPLES, gold=upper, train=TRAIN).shares == {**shares, "inputs_in_test": None, "pairs_in_test": None}


def test_of_several_outputs_for_one_input_at_most_one_is_right() -> None:
    samples = [example("ab", "AB"), example("ab", "BA"), example("ab", "AB"), example("ba", "BA"), example("ba", "BA")]
    assert contradicted(samples) == 3  # the last two are one sample, twice
    assert audit(samples, gold=None, train=TRAIN).contradicted == 3
