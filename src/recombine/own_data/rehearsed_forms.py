"""Rehearsal of word forms: frequent tags are made rare, and the forms that were taken out judge those that are made."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np

from recombine.augmentation.paradigms import Paradigms
from recombine.augmentation.protocol import Validator
from recombine.example import Example
from recombine.inflection import split_analysis
from recombine.own_data.rehearsal import DRAWS, INTERVAL, TOGETHER, Rehearsal

BOUNDS = (0.5, 0.8, 0.95)
"""Forms count as alike if what speaks for them (`likely`) is between the same two of these bounds."""

BASE = 10
"""The estimate for forms that are alike counts these, and so many of all."""


@dataclass(frozen=True)
class RehearsedForms:
    """What the rehearsal of `Paradigms` showed.

    Attributes:
        what: What was made rare, in words.
        judged: Of each form that was made of an input that was taken out: the place of what was made rare, what speaks
            for the form, and whether it is right.
        sets: Forms were made of so many sets of tags that were left; of so many others; and of so many of these there
            were forms that were taken out.
        known: The sets of tags of the examples.
    """

    what: str
    judged: tuple[tuple[int, float, bool], ...]
    sets: tuple[int, int, int]
    known: frozenset[frozenset[str]]

    @property
    def samples(self) -> int:
        """How many forms were judged."""
        return len(self.judged)

    @property
    def share(self) -> float:
        """The estimated share of forms that are right."""
        left, others, taken = self.sets
        valid = (left + taken + 1) / (left + others + 1)
        return valid * self._right if self.judged else 0.0

    @property
    def _right(self) -> float:
        return float(np.mean([right for *_, right in self.judged]))

    def probability(self, sample: Example) -> float:
        """Returns the estimated probability that a sample is right."""
        assert sample.provenance is not None
        level = np.searchsorted(BOUNDS, sample.provenance.details["likely"])
        alike = [right for _, likely, right in self.judged if np.searchsorted(BOUNDS, likely) == level]
        _, others, taken = self.sets
        valid = 1.0 if _set_of(sample) in self.known else (taken + 1) / (others + 2)
        return valid * (sum(alike) + BASE * self._right) / (len(alike) + BASE)

    def limits(self, mean: float, samples: int) -> tuple[float, float]:
        """Returns between which shares of so many samples are right, of whom a share `mean` is expected to be."""
        rng = np.random.default_rng(0)
        counts = np.bincount([item for item, *_ in self.judged])
        known = float(sum(count / (1 + (count - 1) * TOGETHER) for count in counts if count))
        shares = rng.beta(0.5 + mean * known, 0.5 + (1 - mean) * known, DRAWS)
        low, high = np.percentile(rng.binomial(samples, shares) / samples, INTERVAL)
        return float(low), float(high)

    def __str__(self) -> str:
        if not self.judged:
            return f"rehearsed {self.what}: no form could be judged"
        low, high = self.limits(self.share, self.samples)
        return f"rehearsed {self.what}: about {self.share:.0%} right ({low:.0%} to {high:.0%})"


def rehearse_forms(
    examples: Sequence[Example],
    rehearsal: Rehearsal,
    keep: Callable[[Sequence[Example], str], Validator | None],
    *,
    seconds: float,
) -> RehearsedForms:
    """Judges `Paradigms`.

    Args:
        examples: The training examples, all different.
        rehearsal: Has what is made rare in them.
        keep: Returns which samples would be kept if a tag were rare in examples.
        seconds: Nothing further is made rare after this time of computing.
    """
    began, judged, sets = process_time(), list[tuple[int, float, bool]](), np.zeros(3, dtype=int)
    for place, item in enumerate(rehearsal.items):
        outputs: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for example in item.taken:
            outputs.setdefault(example.x, set()).add(example.y)
        shows = keep(item.left, *item.ngram)
        answers, made = Paradigms(shows).fit(item.left).answers(outputs)
        for answer in answers:
            if answer.provenance is not None and (shows is None or shows(answer) is None):
                judged.append(
                    (place, float(answer.provenance.details["likely"]), answer.y in outputs.get(answer.x, ()))
                )
        of_left, of_taken = ({*map(_set_of, part)} for part in (item.left, item.taken))
        others = {*made} - of_left
        sets += len(made) - len(others), len(others), len(others & of_taken)
        if process_time() - began > seconds:
            break
    left, others, taken = sets.tolist()
    return RehearsedForms(rehearsal.what, tuple(judged), (left, others, taken), frozenset(map(_set_of, examples)))


def _set_of(example: Example) -> frozenset[str]:
    return frozenset(split_analysis(example.x)[1])
