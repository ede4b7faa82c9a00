"""Scores, p-values and the sentence, on predictions made up for the purpose."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_rel

from recombine.comparison.methods import METHODS
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
    assert "there are no other test examples" in sentence(few, "plain", [True] * 7)


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
        "On 20 rare examples (plain 0.000) geca (0.900), recombine (0.900) and both together (0.900) help, it cannot "
        "be told whether oversampling (0.033) helps; on 100 other examples"
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
