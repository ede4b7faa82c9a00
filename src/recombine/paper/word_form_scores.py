"""What records of Table 2 say beyond those of Table 1: counts for every test item, and the classes of samples."""

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from recombine.augmentation.protocol import Samples
from recombine.evaluation.metrics import Counts, analysis_elements, novel
from recombine.evaluation.seeds import Summary, combined, summarize
from recombine.example import Example, Tokens
from recombine.inflection import Inflection
from recombine.paper.error_classes import CLASSES, KNOWN, RIGHT, UNJUDGED, Judge
from recombine.paper.records import LISTED, packed, unpacked
from recombine.paper.tasks import of_each
from recombine.paper.word_forms import SETS, WordFormTask

Metric = Literal["f1", "exact-match"]
FEW_SHOT = ("FUT", "PST")
"""The test sets that the table's first columns average over."""


def word_form_part(
    outputs: Sequence[Sequence[Tokens]], samples: Sequence[Samples], tasks: Sequence[WordFormTask]
) -> dict[str, Any]:
    """Returns the part of a record that only word forms have.

    Args:
        outputs: Predictions for the test examples, by seed; none for a dash.
        samples: The new examples, by seed.
        tasks: The data of each seed.
    """
    judges = of_each(tasks, lambda task: Judge(task.train, task.attested))
    judged = [[(sample, judge(sample)) for sample in new] for judge, new in zip(judges, samples, strict=True)]
    return {
        "sets": dict(zip(SETS, tasks[0].sets, strict=True)),
        "novel": [packed(np.array(novel(task.test, task.train))) for task in tasks],
        "counts": [_packed_counts(each, task) for each, task in zip(outputs, tasks, strict=False)],
        "classes": [_in_order(Counter(name for _, name in each)) for each in judged],
        "listing": _listing([pair for each in judged for pair in each]),
    }


def _listing(judged: Sequence[tuple[Example, str]]) -> list[dict[str, Any]]:
    """Returns some samples of all seeds, drawn at random, with their classes."""
    order = np.random.default_rng(0).permutation(len(judged))[:LISTED]
    return [
        {
            "x": f"{word.lemma} {';'.join(word.tags)}",
            "y": word.form,
            "right": None if name == UNJUDGED else name in (RIGHT, KNOWN),
            "class": name,
        }
        for sample, name in (judged[place] for place in order)
        for word in [Inflection.from_fields(sample.x, sample.y)]
    ]


def _in_order(counts: Counter[str]) -> dict[str, int]:
    return {name: counts[name] for name in CLASSES}


def _packed_counts(outputs: Sequence[Tokens], task: WordFormTask) -> str:
    """Returns what F1 is computed of, for each test item, as text."""
    golds = [task.as_predicted(example).y for example in task.test]
    found = [Counts.of(analysis_elements(gold), analysis_elements(y)) for gold, y in zip(golds, outputs, strict=True)]
    rows = [(each.true_positives, each.false_positives, each.false_negatives) for each in found]
    return base64.b64encode(np.array(rows, np.uint8).tobytes()).decode()


@dataclass(frozen=True)
class Scores:
    """What a record says of every test item of every seed.

    Attributes:
        sets: Which items are of which set.
        counts: True positives, false positives and false negatives (seeds, items, 3).
        correct: Which items are exactly right (seeds, items).
        novel: Which have tags that were never seen in training (seeds, items).
    """

    sets: Mapping[str, slice]
    counts: np.ndarray
    correct: np.ndarray
    novel: np.ndarray

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self | None:
        """Reads a record; None for a dash."""
        if not record["counts"]:
            return None
        ends = np.cumsum([0, *record["sets"].values()]).tolist()
        tested = ends[-1]
        counts = [np.frombuffer(base64.b64decode(each), np.uint8).reshape(tested, 3) for each in record["counts"]]
        return cls(
            {name: slice(start, end) for name, start, end in zip(record["sets"], ends, ends[1:], strict=False)},
            np.stack(counts).astype(int),
            np.stack([unpacked(each, tested) for each in record["correct"]]),
            np.stack([unpacked(each, tested) for each in record["novel"]]),
        )

    def summary(self, sets: Sequence[str], metric: Metric, *, novel_only: bool = False) -> Summary | None:
        """Returns mean and deviation over seeds, averaged over test sets; None if there is nothing to score.

        Seeds for which one of the sets has no item to score do not count.
        """
        scores = [[self._score(name, seed, metric, novel_only) for name in sets] for seed in range(len(self.counts))]
        complete = [each for each in scores if None not in each]
        if not complete:
            return None
        return combined(*(summarize([float(each[number] or 0) for each in complete]) for number in range(len(sets))))

    def _score(self, name: str, seed: int, metric: Metric, novel_only: bool) -> float | None:
        chosen = self.novel[seed, self.sets[name]] | (not novel_only)
        if not chosen.any():
            return None
        if metric == "exact-match":
            return float(self.correct[seed, self.sets[name]][chosen].mean())
        true, false, missed = self.counts[seed, self.sets[name]][chosen].sum(axis=0).tolist()
        return Counts(true, false, missed).f1

    def items(self, sets: Sequence[str], metric: Metric, *, novel_only: bool = False) -> list[float]:
        """Returns the score of every item of the sets, seed after seed: what the paired t-test compares."""
        found: list[float] = []
        for seed in range(len(self.counts)):
            for name in sets:
                chosen = self.novel[seed, self.sets[name]] | (not novel_only)
                if metric == "exact-match":
                    found += self.correct[seed, self.sets[name]][chosen].astype(float).tolist()
                else:
                    found += [Counts(*each).f1 for each in self.counts[seed, self.sets[name]][chosen].tolist()]
        return found
