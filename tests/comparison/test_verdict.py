"""Scores, p-values and the sentence, on predictions made up for the purpose."""

import math

import numpy as np
import pytest

from recombine.comparison.verdict import (
    DOES_NOT,
    FULL,
    HARMS,
    HELPS,
    UNCLEAR,
    Judged,
    Part,
    Training,
    judge,
    lacking,
    recommended,
    sentence,
)
from recombine.evaluation.significance import paired

METHODS = ("plain", "oversample", "geca", "spans", "learned", "both")
RARE = [True] * 20 + [False] * 100
RNG = np.random.default_rng(0)
PLAIN = np.concatenate([np.zeros((3, 20)), RNG.random((3, 100)) < 0.9], axis=1).astype(bool)
BETTER = PLAIN.copy()
BETTER[:, :18] = True
WORSE = PLAIN.copy()
WORSE[:, 20:80] = False
LUCKY = PLAIN.copy()
LUCKY[0, :2] = True  # 2 of 20 rare examples, in one seed of three
TWO_PARTS = [True] * 28 + [False] * 28


def changed(correct: np.ndarray, places: slice, right: bool | np.ndarray) -> np.ndarray:
    """Returns predictions of which some are others, with every seed or with the seeds of an array."""
    found = correct.copy()
    found[:, places] = right
    return found


def seeds_right(*counts: int) -> np.ndarray:
    """Returns what is right if so many of the first of 28 rare examples are, by seed, and of 28 others all are."""
    return np.array([[place < count or place >= 28 for place in range(56)] for count in counts])


def found_of(method: np.ndarray, part: Part, plain: np.ndarray = PLAIN, rare: list[bool] = RARE) -> Judged:
    return judge({"plain": plain, "method": method}, rare)["method"][part]


def said(correct: dict[str, np.ndarray], rare: list[bool] = RARE, training: Training = FULL) -> str:
    return sentence(judge(correct, rare, training), rare, training)


def test_scores_and_p_values_are_those_of_the_definition() -> None:
    other = RNG.random(PLAIN.shape) < 0.7
    found = judge({"plain": PLAIN, "one": other, "two": BETTER}, RARE)
    assert found["one"]["rare"].scores == pytest.approx(other[:, :20].mean(axis=1))
    assert found["one"]["other"].scores == pytest.approx(other[:, 20:].mean(axis=1))
    assert found["one"]["all"].scores == pytest.approx(other.mean(axis=1))
    expected = paired([other[:, 20:]], [PLAIN[:, 20:]]).p
    assert found["one"]["other"].p == pytest.approx(min(1, 2 * expected))  # two methods are compared with plain
    assert found["plain"]["rare"].p is None


@pytest.mark.parametrize(
    ("method", "rare", "other"), [(BETTER, HELPS, DOES_NOT), (WORSE, DOES_NOT, HARMS), (PLAIN, DOES_NOT, DOES_NOT)]
)
def test_verdicts(method: np.ndarray, rare: str, other: str) -> None:
    assert [found_of(method, "rare").verdict, found_of(method, "other").verdict] == [rare, other]


def test_what_only_some_seeds_show_could_be_chance() -> None:
    """Many test examples do not make up for seeds that contradict each other."""
    one_is_plain = BETTER.copy()
    one_is_plain[2] = PLAIN[2]
    found = found_of(one_is_plain, "rare")
    assert (found.verdict, found.torn) == (UNCLEAR, True)
    assert found_of(LUCKY, "rare").verdict == UNCLEAR
    torn = PLAIN.copy()
    torn[0, 20:], torn[1, 20:] = True, False  # one gains what another loses
    assert found_of(torn, "other").verdict == UNCLEAR
    many = np.tile(seeds_right(28, 28, 0), 50)  # 2,800 examples
    assert judge({"plain": 0 * many, "method": many}, TWO_PARTS * 50)["method"]["rare"].verdict == UNCLEAR


def test_seeds_that_differ_alike_with_every_method_do_not_stand_in_the_way() -> None:
    plain, better, worse = seeds_right(8, 12, 4), seeds_right(22, 28, 20), seeds_right(0, 1, 0)
    assert found_of(better, "rare", plain, TWO_PARTS).verdict == HELPS
    assert found_of(worse, "rare", better, TWO_PARTS).verdict == HARMS
    same = found_of(plain, "rare", plain, TWO_PARTS)
    assert (same.verdict, same.p) == (DOES_NOT, 1.0)


def test_few_or_no_examples_tell_nothing() -> None:
    few = {"plain": PLAIN[:, :7], "better": BETTER[:, :7]}
    found = judge(few, [True] * 7)["better"]
    assert (found["rare"].p, found["rare"].verdict, found["other"].scores) == (None, UNCLEAR, ())
    assert math.isnan(found["other"].mean)
    words = said(few, [True] * 7)
    assert "there are no other test examples" in words
    assert "on 7 rare examples, fewer than 8, nothing can be told (plain 0.000, better 1.000)" in words.lower()


def test_where_nothing_can_be_told_because_of_the_seeds_their_scores_are_said() -> None:
    correct = {"plain": seeds_right(20, 28, 15), "recombine": seeds_right(3, 11, 28)}
    assert said(correct, TWO_PARTS).startswith(
        "On 28 rare examples (plain 0.750) it cannot be told whether recombine (0.500) helps because seeds disagree "
        "(plain 0.71, 1.00, 0.54; recombine 0.11, 0.39, 1.00), of which more may tell (--seeds); "
    )
    many = {method: np.concatenate([right, right]) for method, right in correct.items()}
    assert "(plain 0.54 to 1.00; recombine 0.11 to 1.00)" in said(many, TWO_PARTS)


def test_where_plain_is_right_everywhere_there_is_nothing_to_gain() -> None:
    best = seeds_right(28, 28, 28)
    few, bad = changed(best, slice(28, 29), False), changed(best, slice(28, 50), False)
    score = f"{few[:, 28:].mean():.3f}"  # by its deviation alone, a gain of more than MARGIN could not be ruled out
    assert said({"plain": best, "few": few, "same": best}, TWO_PARTS).endswith(
        f"on 28 other examples (plain 1.000) there is nothing to gain by few ({score}) and same (1.000)."
    )
    worse = said({"plain": best, "bad": bad}, TWO_PARTS)
    assert worse.endswith("(plain 1.000) there is nothing to gain, bad (0.214) harms.")


def test_the_sentence() -> None:
    score = f"{PLAIN[:, 20:].mean():.3f}"
    assert said({"plain": PLAIN, "same": PLAIN, "lucky": LUCKY, "better": BETTER}) == (
        "On 20 rare examples (plain 0.000) better (0.900) helps, same (0.000) does not help, it cannot be told whether "
        "lucky (0.033) helps because seeds disagree (plain 0.00, 0.00, 0.00; lucky 0.10, 0.00, 0.00), of which more "
        f"may tell (--seeds); on 100 other examples (plain {score}) same ({score}), lucky ({score}) and better "
        f"({score}) do not help."
    )
    assert said(dict(zip(METHODS, (PLAIN, LUCKY, BETTER, BETTER, BETTER, BETTER), strict=True))).startswith(
        "On 20 rare examples (plain 0.000) geca (0.900), spans (0.900), learned (0.900) and both together (0.900) "
        "help, it cannot be told whether oversample (0.033) helps because seeds disagree"
    )
    assert said({"plain": PLAIN, "worse": WORSE}).endswith(f"worse ({WORSE[:, 20:].mean():.3f}) harms.")
    assert "Nothing was compared" in said({"plain": PLAIN})


def test_the_method_that_helps_most_without_harm_is_recommended() -> None:
    best = BETTER.copy()
    best[:, :20] = True
    harmful = best.copy()
    harmful[:, 20:80] = False
    methods = {"plain": PLAIN, "better": BETTER, "both": best, "harmful": harmful, "same": PLAIN}
    found = recommended(judge(methods, RARE))
    assert found == ("both", "Use both together: exact match on rare examples 0.00 → 1.00.")
    others = judge({"plain": WORSE, "method": PLAIN}, RARE)
    assert recommended(others) == (
        "method",
        f"Use method: exact match on other examples {WORSE[:, 20:].mean():.2f} → {PLAIN[:, 20:].mean():.2f}.",
    )
    assert recommended(judge({"plain": PLAIN, "same": PLAIN, "worse": WORSE}, RARE)) is None


def test_networks_that_learned_nothing_tell_nothing() -> None:
    nothing = np.zeros((3, 120), dtype=bool)
    nothing[0, 20] = True  # 0.003 on other examples
    correct, training = {"plain": nothing, "geca": nothing}, Training(held_out=0.0)
    found = judge(correct, RARE, training)
    assert [found["geca"][part].verdict for part in ("rare", "other")] == [UNCLEAR] * 2
    assert said(correct, RARE, training) == (
        "Cannot be told: the predictors have not learned the training data (exact match 0.000 on held-out originals, "
        "0.003 on 100 other examples)."
    )
    better = changed(nothing, slice(18), True)
    assert "better (0.900) helps" in said({"plain": nothing, "better": better}, RARE, training)
    rare = {"plain": nothing[:, :20], "geca": nothing[:, :20]}  # what was held out tells that they learned
    assert "geca (0.000) does not help" in said(rare, [True] * 20, Training(held_out=0.9))


def test_methods_without_samples_share_a_clause_and_are_said_to_be_the_plain_predictor() -> None:
    training = Training(held_out=0.9, without_samples=["recombine"])
    words = said({"plain": PLAIN, "geca": WORSE, "recombine": PLAIN}, RARE, training)
    assert words.endswith("; recombine made no samples, so it is the plain predictor.")
    assert "geca" in words
    assert words.count("recombine") == 1
    alone = {"plain": PLAIN, "recombine": PLAIN}
    assert judge(alone, RARE, training)["recombine"]["other"].verdict == UNCLEAR
    assert said(alone, RARE, training) == "Recombine made no samples, so it is the plain predictor."
    training = Training(held_out=0.9, without_samples=["geca", "recombine", "both"])
    words = said(dict.fromkeys(METHODS, PLAIN), RARE, training)
    assert words.endswith("; geca, recombine and both together made no samples, so they are the plain predictor.")


def test_what_both_is_made_of_and_that_time_was_short_is_said() -> None:
    one = Training(held_out=0.9, only_of_both="recombine")
    words = said({"plain": PLAIN, "both": BETTER}, RARE, one)
    assert words.startswith("On 20 rare examples (plain 0.000) both together (0.900) helps; ")
    assert words.endswith("; both together is recombine alone.")
    words = said({"plain": PLAIN, "worse": WORSE}, RARE, Training(held_out=0.9, cut_short=True))
    assert "not help" not in words
    assert words.endswith("; training, or drawing samples, was cut short by a bound on time.")


@pytest.mark.parametrize(
    ("method", "training", "what"),
    [
        (seeds_right(28, 28, 28), FULL, ""),  # it helps
        (seeds_right(0, 0, 0), FULL, ""),  # it does not
        (seeds_right(28, 28, 0), FULL, "seeds"),
        (seeds_right(2, 2, 2), FULL, "tests"),
        (seeds_right(2, 2, 2), Training(cut_short=True), "time"),
    ],
)
def test_what_would_tell_more(method: np.ndarray, training: Training, what: str) -> None:
    judged = judge({"plain": seeds_right(0, 0, 0), "method": method}, TWO_PARTS, training)
    found, count = lacking(judged, TWO_PARTS, training)
    assert found == what
    assert (count > 28) == (what == "tests")


def test_what_has_not_learned_takes_longer_and_few_rare_examples_take_more() -> None:
    nothing = np.zeros((3, 56), dtype=bool)
    few = [True] * 3 + [False] * 53
    for rare, what in ((TWO_PARTS, "epochs"), (few, "epochs")):
        assert lacking(judge({"plain": nothing, "method": nothing}, rare), rare)[0] == what
    found = judge({"plain": ~nothing[:, ::-1] & ~nothing, "method": ~nothing}, few)
    assert lacking(found, few) == ("", 0)  # plain is right everywhere
    correct = seeds_right(0, 0, 0)
    found = judge({"plain": correct, "method": correct}, few)
    assert lacking(found, few)[0] == "tests"
