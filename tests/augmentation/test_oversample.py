from collections import Counter

import pytest

from recombine.augmentation.resample import Oversampler, Resampler
from recombine.errors import RecombineError
from recombine.example import Example

COMMON = [Example(("a", str(n % 2)), ("A",)) for n in range(2)] + [
    Example(("a", "0", "1"), ("A", str(n))) for n in "01"
]
RARE = [Example(("r", "0"), ("A", "0", "1")), Example(("s", "1", "0"), ("A", "1", "0")), Example(("t", "1"), ("A",))]
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
