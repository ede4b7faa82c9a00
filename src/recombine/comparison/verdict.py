"""From right and wrong predictions to scores, p-values and a sentence: does it help, on the rare and on the rest?"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import numpy as np

from recombine.evaluation.significance import ALPHA, paired_p

Part = Literal["all", "rare", "other"]
PARTS: tuple[Part, ...] = ("all", "rare", "other")
"""Of the test examples: all, those with something rare in them, the others."""

HELPS, DOES_NOT, UNCLEAR = "helps", "does not help", "cannot tell"

LEAST = 8
"""On fewer test examples nothing is said: even if all of them went from wrong to right, that could be chance."""

MARGIN = 0.02
"""A gain below this is called no help, if the test examples are many enough to rule out that it is more."""

Correct = np.ndarray
"""Whether each network's prediction for each test example is right (seeds, items)."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A method on one part of the test examples.

    Attributes:
        scores: The share predicted exactly, by seed; empty if the part is.
        p: Of the paired test against plain over test examples, times the number of methods compared (Bonferroni);
            None for plain, or if there are too few examples.
        verdict: ``HELPS``, ``DOES_NOT`` or ``UNCLEAR``.
    """

    scores: tuple[float, ...]
    p: float | None
    verdict: str

    @property
    def mean(self) -> float:
        """The score over seeds; not a number if the part is empty."""
        return fmean(self.scores) if self.scores else math.nan


def judge(correct: Mapping[str, Correct], plain: str, rare: Sequence[bool]) -> dict[str, dict[Part, Judged]]:
    """Judges every method on every part of the test examples.

    Items are what the test counts: each item's score is its mean over seeds, so that several seeds do not pass for
    several times the examples. A method helps if it is significantly better and every seed agrees.

    Args:
        correct: By method.
        plain: The method that the others are compared with.
        rare: Tells of each test example whether there is something rare in it.
    """
    flags = np.asarray(rare, dtype=bool)
    chosen: dict[Part, np.ndarray] = {"all": np.ones_like(flags), "rare": flags, "other": ~flags}
    comparisons = max(1, len(correct) - 1)
    return {
        method: {
            part: _judged(found[:, where], None if method == plain else correct[plain][:, where], comparisons)
            for part, where in chosen.items()
        }
        for method, found in correct.items()
    }


def _judged(found: Correct, plain: Correct | None, comparisons: int) -> Judged:
    items = found.shape[1]
    scores = tuple(found.mean(axis=1).tolist()) if items else ()
    if plain is None or items < LEAST:
        return Judged(scores, None, UNCLEAR)
    means, baseline = found.mean(axis=0), plain.mean(axis=0)
    p = min(1.0, comparisons * paired_p(means.tolist(), baseline.tolist()))
    gains, by_seed = means - baseline, found.mean(axis=1) - plain.mean(axis=1)
    if p < ALPHA and (by_seed > 0).all():
        return Judged(scores, p, HELPS)
    most = gains.mean() + 2 * gains.std() / math.sqrt(items)
    hurts = p < ALPHA and (by_seed < 0).all()
    return Judged(scores, p, DOES_NOT if hurts or most < MARGIN else UNCLEAR)


def sentence(judged: Mapping[str, Mapping[Part, Judged]], plain: str, rare: Sequence[bool]) -> str:
    """Says in one sentence which methods help, on rare and on other examples; arguments as for ``judge``."""
    if len(judged) < 2:
        return "Nothing was compared with the plain predictor."
    counts = {"rare": sum(rare), "other": len(rare) - sum(rare)}
    rest: tuple[Part, Part] = ("rare", "other")
    clauses = []
    for part in rest:
        if not counts[part]:
            clauses.append(f"there are no {part} test examples")
            continue
        said = [_clause(judged, plain, part, verdict) for verdict in (HELPS, DOES_NOT, UNCLEAR)]
        examples = "example" if counts[part] == 1 else "examples"
        where = f"on {counts[part]:,} {part} {examples} (plain {judged[plain][part].mean:.3f})"
        clauses.append(f"{where} {', '.join(filter(None, said))}")
    text = "; ".join(clauses)
    return f"{text[0].upper()}{text[1:]}."


def _clause(judged: Mapping[str, Mapping[Part, Judged]], plain: str, part: Part, verdict: str) -> str:
    named = [
        f"{method} ({parts[part].mean:.3f})"
        for method, parts in judged.items()
        if method != plain and parts[part].verdict == verdict
    ]
    if not named:
        return ""
    names = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    several = len(named) > 1
    if verdict == UNCLEAR:
        return f"it cannot be told whether {names} {'help' if several else 'helps'}"
    if verdict == HELPS:
        return f"{names} {'help' if several else 'helps'}"
    return f"{names} {'do' if several else 'does'} not help"
