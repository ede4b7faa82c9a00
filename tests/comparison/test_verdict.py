"""Scores, p-values and the sentence, on predictions made up for the purpose."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_rel

from recombine.comparison.compare import METHODS
from recombine.comparison.verdict import DOES_NOT, HARMS, HELPS, UNCLEAR, Training, judge, sentence

RARE = [True] * 20 + [False] * 100
RNG = np.random.default_rng(0)
PLAIN = np.concatenate([np.zeros((3, 20)), RNG.random((3, 100)) < 0.9], axis=1).astype(bool)
BETTER = PLAIN.copy()
BETTER[:, :18] = True
WORSE = PLAIN.copy()
WORSE[:, 20:80] = False


def test_scores_and_p_values_are_those_of_the_definition() -> None:
    other = RNG.random(PLAIN.shape) < 0.7
    found = judge({"plain": PLAIN, "one": other, "two": BETTER}, "plain", RARE)
    assert found["one"]["rare"].scores == pytest.approx(other[:, :20].mean(axis=1))
    assert found["one"]["other"].scores == pytest.approx(other[:, 20:].mean(axis=1))
    assert found["one"]["all"].scores == pytest.approx(other.mean(axis=1))
    expected = ttest_rel(other[:, 20:].mean(axis=0), PLAIN[:, 20:].mean(axis=0)).pvalue
    assert found["one"]["other"].p == pytest.approx(min(1, 2 * expected))  # two methods are compared with plain
    assert found["plain"]["rare"].p is None


def test_verdicts() -> None:
    found = judge({"plain": PLAIN, "better": BETTER, "worse": WORSE, "same": PLAIN}, "plain", RARE)
    assert [found[name]["rare"].verdict for name in ("better", "worse", "same")] == [HELPS, DOES_NOT, DOES_NOT]
    assert [found[name]["other"].verdict for name in ("better", "worse", "same")] == [DOES_NOT, HARMS, DOES_NOT]


def test_harm_is_called_harm_if_every_seed_agrees() -> None:
    said = sentence(judge({"plain": PLAIN, "worse": WORSE}, "plain", RARE), "plain", RARE)
    assert said.endswith(f"worse ({WORSE[:, 20:].mean():.3f}) harms.")
    torn = WORSE.copy()
    torn[2] = PLAIN[2]
    found = judge({"plain": PLAIN, "torn": torn}, "plain", RARE)["torn"]["other"]
    assert found.p is not None
    assert found.p < 0.05
    assert found.verdict == DOES_NOT  # one seed is as good as plain, none is better


def test_seeds_that_contradict_each_other_tell_nothing() -> None:
    """One seed gains what another loses: on average the examples show no gain, but which seed is right?"""
    torn = PLAIN.copy()
    torn[0, 20:], torn[1, 20:] = True, False
    torn[2, 20:] = PLAIN[2, 20:]
    found = judge({"plain": PLAIN, "torn": torn}, "plain", RARE)["torn"]["other"]
    gains = torn[:, 20:].mean(axis=1) - PLAIN[:, 20:].mean(axis=1)
    assert gains[0] > 0.02
    assert gains.mean() < 0
    assert found.verdict == UNCLEAR


def test_what_could_be_chance_is_not_called_help() -> None:
    lucky = PLAIN.copy()
    lucky[0, :2] = True  # 2 of 20 examples, in one seed of three
    assert judge({"plain": PLAIN, "lucky": lucky}, "plain", RARE)["lucky"]["rare"].verdict == UNCLEAR


def test_one_seed_against_the_others_is_not_called_help() -> None:
    torn = BETTER.copy()
    torn[2] = PLAIN[2]
    found = judge({"plain": PLAIN, "torn": torn}, "plain", RARE)["torn"]["rare"]
    assert found.p is not None
    assert found.p < 0.05
    assert found.verdict == UNCLEAR


def test_few_or_no_examples_tell_nothing() -> None:
    few = judge({"plain": PLAIN[:, :7], "better": BETTER[:, :7]}, "plain", [True] * 7)
    assert (few["better"]["rare"].p, few["better"]["rare"].verdict) == (None, UNCLEAR)
    assert few["better"]["other"].scores == ()
    assert math.isnan(few["better"]["other"].mean)
    said = sentence(few, "plain", [True] * 7)
    assert "there are no other test examples" in said
    assert "on 7 rare examples, fewer than 8, nothing can be told (plain 0.000, better 1.000)" in said.lower()


def seeds_right(*counts: int) -> np.ndarray:
    """Returns what is right if so many of the first of 28 rare examples are, by seed, and of 28 others all are."""
    return np.array([[place < count or place >= 28 for place in range(56)] for count in counts])


TWO_PARTS = [True] * 28 + [False] * 28


def test_a_seed_in_which_plain_is_right_everywhere_does_not_stand_in_the_way_of_help() -> None:
    plain, perfect = seeds_right(20, 28, 15), seeds_right(28, 28, 28)
    assert judge({"plain": plain, "geca": perfect}, "plain", TWO_PARTS)["geca"]["rare"].verdict == HELPS
    lower = judge({"plain": plain, "geca": seeds_right(28, 27, 28)}, "plain", TWO_PARTS)["geca"]["rare"]
    assert (lower.verdict, lower.torn) == (UNCLEAR, True)  # one seed is worse
    nothing, once = seeds_right(0, 0, 0), seeds_right(20, 0, 15)
    assert judge({"plain": once, "geca": nothing}, "plain", TWO_PARTS)["geca"]["rare"].verdict == HARMS
    same = judge({"plain": perfect, "geca": perfect}, "plain", TWO_PARTS)["geca"]["rare"]
    assert (same.p, same.verdict) == (1.0, DOES_NOT)


def test_where_p_is_small_and_nothing_can_be_told_the_seeds_are_said_to_disagree() -> None:
    correct = {"plain": seeds_right(20, 28, 15), "recombine": seeds_right(3, 11, 28)}
    found = judge(correct, "plain", TWO_PARTS)
    p = found["recombine"]["rare"].p
    assert p is not None
    assert p < 0.05
    assert sentence(found, "plain", TWO_PARTS).startswith(
        "On 28 rare examples (plain 0.750) it cannot be told whether recombine (0.500) helps because seeds disagree "
        "(plain 0.71, 1.00, 0.54; recombine 0.11, 0.39, 1.00), of which more may tell (--seeds); "
    )
    many = {method: np.concatenate([right, right]) for method, right in correct.items()}
    said = sentence(judge(many, "plain", TWO_PARTS), "plain", TWO_PARTS)
    assert "(plain 0.54 to 1.00; recombine 0.11 to 1.00)" in said


def test_where_plain_is_right_everywhere_there_is_nothing_to_gain() -> None:
    best = seeds_right(28, 28, 28)
    few, bad = best.copy(), best.copy()
    few[:, 28] = False  # by its deviation alone, a gain of more than MARGIN could not be ruled out
    bad[:, 28:50] = False
    said = sentence(judge({"plain": best, "few": few, "same": best}, "plain", TWO_PARTS), "plain", TWO_PARTS)
    score = f"{few[:, 28:].mean():.3f}"
    assert said.endswith(
        f"on 28 other examples (plain 1.000) there is nothing to gain by few ({score}) and same (1.000)."
    )
    worse = sentence(judge({"plain": best, "bad": bad}, "plain", TWO_PARTS), "plain", TWO_PARTS)
    assert worse.endswith("(plain 1.000) there is nothing to gain, bad (0.214) harms.")


def test_the_sentence() -> None:
    lucky = PLAIN.copy()
    lucky[0, :2] = True
    correct = {"plain": PLAIN, "same": PLAIN, "lucky": lucky, "better": BETTER}
    said = sentence(judge(correct, "plain", RARE), "plain", RARE)
    score = f"{PLAIN[:, 20:].mean():.3f}"
    assert said == (
        "On 20 rare examples (plain 0.000) better (0.900) helps, same (0.000) does not help, it cannot be told whether "
        f"lucky (0.033) helps; on 100 other examples (plain {score}) same ({score}), lucky ({score}) and better "
        f"({score}) do not help."
    )
    assert "Nothing was compared" in sentence(judge({"plain": PLAIN}, "plain", RARE), "plain", RARE)


def test_the_sentence_of_all_methods() -> None:
    lucky = PLAIN.copy()
    lucky[0, :2] = True
    correct = dict(zip(METHODS, (PLAIN, lucky, BETTER, BETTER, BETTER), strict=True))
    said = sentence(judge(correct, "plain", RARE), "plain", RARE)
    assert said.startswith(
        "On 20 rare examples (plain 0.000) geca (0.900), learned (0.900) and both together (0.900) help, it cannot "
        "be told whether oversample (0.033) helps; on 100 other examples"
    )


def test_networks_that_learned_nothing_tell_nothing() -> None:
    nothing = np.zeros((3, 120), dtype=bool)
    nothing[0, 20] = True  # 0.003 on other examples
    correct, training = {"plain": nothing, "geca": nothing}, Training(held_out=0.0)
    found = judge(correct, "plain", RARE, training)
    assert [found["geca"][part].verdict for part in ("rare", "other")] == [UNCLEAR] * 2
    assert sentence(found, "plain", RARE, training) == (
        "Cannot be told: the predictors have not learned the training data (exact match 0.000 on held-out originals, "
        "0.003 on 100 other examples)."
    )
    better = nothing.copy()
    better[:, :18] = True
    helped = judge({"plain": nothing, "better": better}, "plain", RARE, training)
    assert "better (0.900) helps" in sentence(helped, "plain", RARE, training)


def test_what_was_held_out_tells_that_a_predictor_learned_where_every_test_example_is_rare() -> None:
    nothing, rare = np.zeros((3, 20), dtype=bool), [True] * 20
    correct, training = {"plain": nothing, "geca": nothing}, Training(held_out=0.9)
    assert "geca (0.000) does not help" in sentence(judge(correct, "plain", rare, training), "plain", rare, training)


def test_a_method_without_samples_is_said_to_be_the_plain_predictor() -> None:
    training = Training(held_out=0.9, without_samples=["recombine"])
    correct = {"plain": PLAIN, "geca": WORSE, "recombine": PLAIN}
    said = sentence(judge(correct, "plain", RARE, training), "plain", RARE, training)
    assert said.endswith("; recombine made no samples, so it is the plain predictor.")
    assert "geca" in said
    assert said.count("recombine") == 1
    alone = judge({"plain": PLAIN, "recombine": PLAIN}, "plain", RARE, training)
    assert alone["recombine"]["other"].verdict == UNCLEAR
    said = sentence(alone, "plain", RARE, training)
    assert said == "Recombine made no samples, so it is the plain predictor."


def test_methods_without_samples_share_a_clause() -> None:
    training = Training(held_out=0.9, without_samples=["geca", "recombine", "both"])
    found = judge(dict.fromkeys(METHODS, PLAIN), "plain", RARE, training)
    said = sentence(found, "plain", RARE, training)
    assert said.endswith("; geca, recombine and both together made no samples, so they are the plain predictor.")


def test_if_both_has_the_samples_of_one_that_is_said() -> None:
    training = Training(held_out=0.9, only_of_both="recombine")
    said = sentence(judge({"plain": PLAIN, "both": BETTER}, "plain", RARE, training), "plain", RARE, training)
    assert said.startswith("On 20 rare examples (plain 0.000) both together (0.900) helps; ")
    assert said.endswith("; both together is recombine alone.")


def test_where_time_was_short_nothing_is_said_not_to_help() -> None:
    training = Training(held_out=0.9, cut_short=True)
    said = sentence(judge({"plain": PLAIN, "worse": WORSE}, "plain", RARE, training), "plain", RARE, training)
    assert "not help" not in said
    assert said.endswith("; training was cut short by a bound on time.")
