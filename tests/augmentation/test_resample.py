"""What is rare, and originals that are repeated for it."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import pair, pairs

from recombine.augmentation.resample import NGRAMS, NOTHING, PAIRS, TOKENS, Oversampler, Resampler, find_rare
from recombine.errors import RecombineError
from recombine.example import Example

TRAIN = pairs("a b ▷ A B", "b a ▷ B A", "a a ▷ A A", "c ▷ C")

EXAMPLES = st.lists(
    st.builds(Example, *[st.lists(st.sampled_from("abcd"), min_size=1, max_size=5).map(tuple)] * 2),
    min_size=1,
    max_size=8,
)


def by_hand(examples: list[Example], candidate: Example, epsilon: float, side: str, relevant: str) -> float:
    """The equation, token by token, for tokens of one side or both that are among the relevant ones."""

    def tokens(of: Example) -> list[str]:
        sides = {"x": of.x, "y": of.y, "both": of.x + of.y}[side]
        return [token for token in sides if token in relevant]

    examples = list(dict.fromkeys(examples))
    shares = [sum(token in tokens(each) for each in examples) / len(examples) for token in tokens(candidate)]
    return float(min(shares, default=1.0) < epsilon)


@given(EXAMPLES, EXAMPLES, st.floats(0.01, 1), st.sampled_from(["x", "y", "both"]), st.sampled_from(["ab", "abcd"]))
def test_weight_is_the_equation(
    examples: list[Example], candidates: list[Example], epsilon: float, side: str, relevant: str
) -> None:
    resampler = Resampler(epsilon=epsilon, side=side, relevant=lambda token: token in relevant).fit(examples)
    for candidate in candidates:
        assert resampler.weight(candidate) == by_hand(examples, candidate, epsilon, side, relevant)
        assert (resampler(candidate) is None) == bool(resampler.weight(candidate))


def test_what_is_rare_follows_epsilon_after_fitting_too() -> None:
    resampler = Resampler(epsilon=0.2).fit(TRAIN)
    assert resampler.weight(TRAIN[-1]) == 0
    resampler.epsilon = 0.3
    assert resampler.weight(TRAIN[-1]) == 1


@given(EXAMPLES, st.integers(1, 3))
def test_an_ngram_is_never_more_probable_than_its_parts(examples: list[Example], n: int) -> None:
    shorter, longer = (Resampler(ngram=size).fit(examples) for size in (n, n + 1))
    for seen in examples:
        assert 0 < longer.rarest(seen).probability <= shorter.rarest(seen).probability


def test_rare_is_strictly_below_epsilon() -> None:
    assert Resampler(epsilon=0.25).fit(TRAIN)(pair("c ▷ C")) == "without a rare token"
    assert Resampler(epsilon=0.26).fit(TRAIN)(pair("c ▷ C")) is None


def test_what_was_never_seen_is_rare() -> None:
    assert Resampler(epsilon=0.01).fit(TRAIN)(pair("z ▷ A")) is None
    pairs = Resampler(epsilon=0.01, ngram=2).fit(TRAIN)
    assert pairs(pair("a c ▷ A")) is None
    assert pairs(pair("a b ▷ A")) == "without a rare n-gram"


def test_ngrams_do_not_cross_from_x_to_y() -> None:
    resampler = Resampler(epsilon=0.01, ngram=2).fit([pair("a ▷ b"), pair("b ▷ a")])
    assert resampler.weight(pair("b ▷ a")) == 0
    assert resampler.weight(pair("b a ▷ a")) == 1


def test_lists_what_is_rare_rarest_first() -> None:
    assert [str(rarity) for rarity in Resampler(epsilon=0.6).fit(TRAIN).rare_] == ["C (1)", "c (1)", "B (2)", "b (2)"]


@pytest.mark.parametrize("settings", [{"epsilon": 0}, {"epsilon": -0.5}, {"epsilon": 1.5}, {"ngram": 0}, {"side": "z"}])
def test_settings_that_make_no_sense(settings: dict[str, int | str]) -> None:
    with pytest.raises(RecombineError, match=str(next(iter(settings.values())))):
        Resampler(**settings).fit(TRAIN)


def test_has_to_be_fitted_to_something() -> None:
    with pytest.raises(RecombineError, match="at least 1 example"):
        Resampler().fit([])
    with pytest.raises(RecombineError, match="not been fitted"):
        Resampler()(TRAIN[0])
    with pytest.raises(RecombineError, match="not been fitted"):
        _ = Resampler().rare_


SQUARES = [pair(f"{a} {b} ▷ {a.upper()} {b.upper()}") for a in "abcdefgh" for b in "abcdefgh" if a != b]


def test_samples_and_test_items_are_rare_by_one_definition() -> None:
    rare = find_rare(SQUARES)
    assert rare.kind == PAIRS
    for x, expected in [("a a", True), ("a b", False), ("a b b", True)]:
        item = pair(f"{x} ▷ A")
        assert rare(item) is (rare.resampler(item) is None) is expected
    assert rare.seen == ()


def test_a_pair_that_few_examples_have_is_as_rare_as_one_that_none_has() -> None:
    whole = [pair(f"{a} {b} {c} ▷ A") for a in "abcdefgh" for b in "abcdefgh" for c in "abcdefgh"]
    some = [each for each in whole if ("b", "a") not in pairwise(each.x)]
    few = [pair("b a c ▷ A"), pair("b a d ▷ A")]
    for seen in ([each for each in some if ("b", "b") not in pairwise(each.x)], some):
        rare = find_rare([*seen, *few])
        assert (rare.kind, [rarity.ngram for rarity in rare.seen]) == (PAIRS, [("b", "a")])
        assert "in at most 5 examples" in rare.reason
        for x, expected in [("b a", True), ("a b", False), ("b b", seen is not some)]:
            assert rare(pair(f"{x} ▷ A")) is expected
    assert find_rare(whole).kind == NOTHING


def test_pairs_that_many_examples_have_are_not_rare_together() -> None:
    assert find_rare(SQUARES).seen == ()  # each is in one example, but all examples have one
    assert find_rare([*SQUARES, pair("z ▷ Z")]).kind == TOKENS


def test_what_is_rare_can_be_asked_for() -> None:
    assert [rarity.ngram for rarity in find_rare(TRAIN, epsilon=0.3).seen] == [("C",), ("c",)]
    nothing = find_rare(TRAIN, epsilon=0.1)
    assert (nothing.kind, nothing.resampler, nothing.seen) == (NOTHING, None, ())
    assert not nothing(TRAIN[0])
    pairs = find_rare(TRAIN, epsilon=0.1, ngram=2)
    assert pairs.kind == NGRAMS
    assert pairs(pair("b b ▷ B"))


def test_a_rare_word_one_letter_from_a_frequent_one_may_be_a_typing_error_unless_its_output_is_rare_too() -> None:
    common = [Example(("find", "the", word), (word.upper(),)) for word in ("house", "garden", "lamp", "stone", "room")]
    several = [Example((*each.x, time), (*each.y, time)) for each in common for time in ("now", "soon", "today")]
    others = pairs("find teh house twice ▷ HOUSE HOUSE", "find the loom ▷ LOOM", "find the room twice ▷ ROOM ROOM")
    assert find_rare([*several, *common, *others]).reason.endswith("; typing errors? teh (the)")


COMMON = pairs("a 0 ▷ A", "a 1 ▷ A", "a 0 1 ▷ A 0", "a 0 1 ▷ A 1")
RARE = pairs("r 0 ▷ A 0 1", "s 1 0 ▷ A 1 0", "t 1 ▷ A")
THIRD = Resampler(epsilon=1 / 3)


def test_repeats_the_rare_originals_equally_often() -> None:
    samples = Oversampler(THIRD).fit(COMMON + RARE + RARE[:1] * 50).sample(14)  # repetitions count once
    counts = Counter(samples)
    assert set(counts) == set(RARE)
    assert sorted(counts.values()) == [4, 5, 5]


def test_does_not_touch_the_resampler_it_was_given() -> None:
    resampler = Resampler(epsilon=1 / 3)
    Oversampler(resampler).fit(COMMON + RARE)
    with pytest.raises(RecombineError, match="not been fitted"):
        resampler(RARE[0])


def test_without_a_rare_original_there_is_nothing_to_repeat() -> None:
    samples = Oversampler(Resampler(epsilon=0.01)).fit(COMMON).sample(5)
    assert not samples
    assert samples.shortfall.startswith(
        "No original is rare at epsilon = 0.01: what is rarest is in 75.00% of the examples;"
    )


def test_without_a_resampler_all_originals_are_repeated() -> None:
    everywhere = [Example(("a",), ("A",)), Example(("a", "a"), ("A", "A"))]  # no epsilon makes these rare
    fitted = Oversampler(None).fit(everywhere * 2)
    assert Counter(fitted.sample(6)) == dict.fromkeys(everywhere, 3)
    assert fitted.sample(6, accept=lambda _: "no").shortfall == "All 2 originals were turned down."


def test_accept_chooses_among_the_rare_originals() -> None:
    fitted = Oversampler(THIRD).fit(COMMON + RARE)
    samples = fitted.sample(6, accept=lambda each: None if "r" in each.x else "no r")
    assert Counter(samples) == {RARE[0]: 6}
    assert samples.rejected == {"no r": 2}
    assert fitted.sample(6, accept=lambda _: "no").shortfall == "All 3 rare originals were turned down."
