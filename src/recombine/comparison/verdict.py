"""From right and wrong predictions to scores, p-values and a sentence: does it help, on the rare and on the rest?"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist, fmean
from typing import Literal

import numpy as np

from recombine.evaluation.significance import ALPHA, paired

Part = Literal["all", "rare", "other"]
"""All test examples, those with something rare in them, and the others."""

PLAIN, BOTH = "plain", "both"
"""The originals alone, which the methods are compared with; and the method that has samples of two others."""

TELLING = 8
"""On fewer test examples nothing can be told: even if all of them went from wrong to right, that could be chance."""

HELPS, DOES_NOT, HARMS, UNCLEAR, NO_GAIN = "helps", "does not help", "harms", "cannot tell", "nothing to gain"

MARGIN = 0.02  # a gain below this is called no help, if the test examples are many enough to rule out that it is more

LEARNED = 0.1
"""Predictors that get a smaller share right, of examples like those that they saw, have not learned the task: then
scores near nothing, with and without new examples, tell nothing about these."""

LISTED = 5  # the scores of more seeds than these are not listed in a sentence

Correct = np.ndarray
"""Whether each network's prediction for each test example is right (seeds, items)."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A method on one part of the test examples.

    Attributes:
        scores: The share predicted exactly, by seed; empty if the part is.
        p: Of the paired test against plain over seeds and test examples, times the number of methods compared
            (Bonferroni); None for plain, or if there are too few examples.
        torn: Whether it is unclear because of the seeds: they differ by more than the test examples.
    """

    scores: tuple[float, ...]
    p: float | None
    verdict: str
    torn: bool = False

    @property
    def mean(self) -> float:
        """The score over seeds; not a number if the part is empty."""
        return fmean(self.scores) if self.scores else math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """What about the training decides whether the want of a gain tells anything.

    Attributes:
        held_out: The plain predictors' share of right outputs on originals that were held out of training; not a
            number if none were.
        cut_short: Whether a bound on time ended it, or the drawing of samples.
        without_samples: The methods that gave no new examples.
        only_of_both: The only one of the two methods of ``both`` that gave any; empty if each did or none.
    """

    held_out: float = math.nan
    cut_short: bool = False
    without_samples: Sequence[str] = ()
    only_of_both: str = ""

    def has_learned(self, other: float) -> bool:
        """Tells whether plain predictors learned the task, given their score on test examples without rare things."""
        known = [score for score in (self.held_out, other) if not math.isnan(score)]
        return not known or max(known) >= LEARNED


FULL = Training()


def judge(
    correct: Mapping[str, Correct], rare: Sequence[bool], training: Training = FULL
) -> dict[str, dict[Part, Judged]]:
    """Judges every method on every part of the test examples.

    A method helps if it is significantly better, harms if it is significantly worse, and does not help if there is no
    room for a gain of ``MARGIN``: the test is `paired`, for which seeds count as well as test examples. The last two
    are said only of a method that gave new examples, where predictors were trained to the end and learned the task.
    """
    flags = np.asarray(rare, dtype=bool)
    chosen: dict[Part, np.ndarray] = {"all": np.ones_like(flags), "rare": flags, "other": ~flags}
    comparisons = max(1, len(correct) - 1)
    others = correct[PLAIN][:, ~flags]
    learned = training.has_learned(float(others.mean()) if others.size else math.nan)
    conclusive = learned and not training.cut_short

    def judged(method: str, where: np.ndarray) -> Judged:
        baseline = None if method == PLAIN else correct[PLAIN][:, where]
        found = _judged(correct[method][:, where], baseline, comparisons)
        tells = conclusive and method not in training.without_samples
        return found if tells or found.verdict == HELPS else replace(found, verdict=UNCLEAR)

    return {method: {part: judged(method, where) for part, where in chosen.items()} for method in correct}


def _judged(found: Correct, plain: Correct | None, comparisons: int) -> Judged:
    items = found.shape[1]
    scores = tuple(found.mean(axis=1).tolist()) if items else ()
    if plain is None or items < TELLING:
        return Judged(scores, None, UNCLEAR)
    test = paired([found], [plain])
    p, most = min(1.0, comparisons * test.p), min(test.difference + 2 * test.error, 1 - float(plain.mean()))
    if p < ALPHA:
        return Judged(scores, p, HELPS if test.difference > 0 else HARMS)
    if most < MARGIN:
        return Judged(scores, p, DOES_NOT)
    return Judged(scores, p, UNCLEAR, torn=test.by_networks > test.by_items)


def sentence(judged: Mapping[str, Mapping[Part, Judged]], rare: Sequence[bool], training: Training = FULL) -> str:
    """Says in one sentence which methods help, on rare and on other examples; arguments as for ``judge``."""
    if len(judged) < 2:
        return "Nothing was compared with the plain predictor."
    compared = {method: parts for method, parts in judged.items() if method not in training.without_samples}
    helped = any(part.verdict == HELPS for parts in compared.values() for part in parts.values())
    others = len(rare) - sum(rare)
    clauses = []
    if not helped and not training.has_learned(judged[PLAIN]["other"].mean):
        scores = {"held-out originals": training.held_out, _counted(others, "other"): judged[PLAIN]["other"].mean}
        said = ", ".join(f"{score:.3f} on {what}" for what, score in scores.items() if not math.isnan(score))
        clauses.append(f"cannot be told: the predictors have not learned the training data (exact match {said})")
    elif len(compared) > 1:
        counts: dict[Part, int] = {"rare": sum(rare), "other": others}
        clauses += [
            _of_part({method: parts[part] for method, parts in compared.items()}, part, count)
            for part, count in counts.items()
        ]
    if training.without_samples:
        same = "they are" if len(training.without_samples) > 1 else "it is"
        names = _listed([*map(_spoken, training.without_samples)])
        clauses.append(f"{names} made no samples, so {same} the plain predictor")
    if training.only_of_both:
        clauses.append(f"{_spoken(BOTH)} is {training.only_of_both} alone")
    if training.cut_short:
        clauses.append("training, or drawing samples, was cut short by a bound on time")
    text = "; ".join(clauses)
    return f"{text[0].upper()}{text[1:]}."


def recommended(judged: Mapping[str, Mapping[Part, Judged]]) -> tuple[str, str] | None:
    """Returns the method that helps most without harm, and what to say of it; None if no method is known to help."""
    parts: tuple[Part, ...] = ("rare", "other")
    for part in parts:
        helping = {
            method: found[part].mean
            for method, found in judged.items()
            if found[part].verdict == HELPS and not any(found[each].verdict == HARMS for each in parts)
        }
        if helping:
            best = max(helping, key=lambda method: helping[method])
            gain = f"exact match on {part} examples {judged[PLAIN][part].mean:.2f} → {helping[best]:.2f}"
            return best, f"Use {_spoken(best)}: {gain}."
    return None


def lacking(
    judged: Mapping[str, Mapping[Part, Judged]], rare: Sequence[bool], training: Training = FULL
) -> tuple[Literal["time", "epochs", "seeds", "tests", ""], int]:
    """Returns what more of would tell whether a method helps, and of test examples how many; "" if nothing would.

    What counts are rare test examples, if there are any, and predictors that are not right everywhere already.
    """
    part: Part = "rare" if any(rare) else "other"
    unclear = [
        found[part]
        for method, found in judged.items()
        if method not in (PLAIN, *training.without_samples) and found[part].verdict == UNCLEAR
    ]
    if not unclear or judged[PLAIN][part].mean == 1:
        return "", 0
    if training.cut_short:
        return "time", 0
    if not training.has_learned(judged[PLAIN]["other"].mean):
        return "epochs", 0
    if any(found.torn for found in unclear):
        return "seeds", 0
    least = min((found.p for found in unclear if found.p is not None), default=1.0)
    # A mean is as many standard errors from nothing as the root of the number of examples: 2.8 of them are seen in
    # four cases of five.
    seen = max(0.5, NormalDist().inv_cdf(1 - max(least, 1e-9) / 2))
    count = sum(rare) if part == "rare" else len(rare)
    return "tests", max(TELLING, math.ceil(count * (2.8 / seen) ** 2))


_CLAUSES = {
    NO_GAIN: ("there is nothing to gain by {}", "there is nothing to gain by {}"),
    HELPS: ("{} helps", "{} help"),
    DOES_NOT: ("{} does not help", "{} do not help"),
    HARMS: ("{} harms", "{} harm"),
    UNCLEAR: ("it cannot be told whether {} helps", "it cannot be told whether {} help"),
}
"""What is said of one method, and of several."""


def _of_part(judged: Mapping[str, Judged], part: Part, count: int) -> str:
    """Says of methods, among them plain, what they do on one part of the test examples."""
    if not count:
        return f"there are no {part} test examples"
    where, baseline = f"on {_counted(count, part)}", judged[PLAIN].mean
    if count < TELLING:
        scores = ", ".join(f"{_spoken(method)} {found.mean:.3f}" for method, found in judged.items())
        return f"{where}, fewer than {TELLING}, nothing can be told ({scores})"
    named: dict[str, list[str]] = {}
    for method, found in judged.items():
        if method != PLAIN:
            # Where plain is right everywhere, all that a method can do is harm.
            verdict = NO_GAIN if baseline == 1 and found.verdict != HARMS else found.verdict
            named.setdefault(verdict, []).append(f"{_spoken(method)} ({found.mean:.3f})")
    said = ["there is nothing to gain"] if baseline == 1 and NO_GAIN not in named else []
    for verdict, clauses in _CLAUSES.items():
        if names := named.get(verdict):
            said.append(clauses[len(names) > 1].format(_listed(names)))
    torn = [method for method, found in judged.items() if found.torn]
    if torn and UNCLEAR in named:
        scores = "; ".join(f"{_spoken(method)} {_by_seed(judged[method].scores)}" for method in [PLAIN, *torn])
        said[-1] += f" because seeds disagree ({scores}), of which more may tell (--seeds)"
    return f"{where} (plain {baseline:.3f}) {', '.join(said)}"


def _counted(count: int, part: str) -> str:
    return f"{count:,} {part} {'example' if count == 1 else 'examples'}"


def _by_seed(scores: Sequence[float]) -> str:
    if len(scores) > LISTED:
        return f"{min(scores):.2f} to {max(scores):.2f}"
    return ", ".join(f"{score:.2f}" for score in scores)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _spoken(method: str) -> str:
    """Returns a method's name for a sentence, in which "geca, recombine and both" would not be understood."""
    return f"{method} together" if method == BOTH else method
