"""Direct inference's questions: inputs on their way to an answer, and the batches in which they go."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from recombine.example import Tokens
from recombine.neighborhoods.index import Integers
from recombine.prediction.predictor import Prediction


@dataclass(frozen=True, slots=True)
class Candidate:
    """An output that was found.

    Attributes:
        ids: Its token ids, up to EOS.
        y: What they mean.
    """

    ids: np.ndarray
    y: Tokens


@dataclass
class Question:
    """An input on its way to an answer.

    Attributes:
        x: The input.
        tuples: Its prototypes (tuples, n): positions among the training examples.
        prefix: The ids of x ▷, which every output follows.
        candidates: The different outputs that each replica found.
        scores: Their log-probabilities.
    """

    x: Tokens
    tuples: Integers
    prefix: list[int]
    candidates: list[list[Candidate]] = field(default_factory=list)
    scores: list[list[float]] = field(default_factory=list)

    @property
    def longest(self) -> int:
        """The length of the longest candidate, with x ▷ before it."""
        return len(self.prefix) + max(len(candidate.ids) for found in self.candidates for candidate in found)

    @property
    def sequences(self) -> np.ndarray:
        """How many sequences each replica has to judge: every candidate with every tuple."""
        return len(self.tuples) * np.array([len(found) for found in self.candidates])

    def ranked(self) -> list[list[Prediction]]:
        """Returns the candidates of each replica, best first; of equals, the one found first."""
        return [
            sorted(
                [Prediction(candidate.y, score) for candidate, score in zip(found, scores, strict=True)],
                key=lambda prediction: -prediction.log_probability,
            )
            for found, scores in zip(self.candidates, self.scores, strict=True)
        ]


def chunks(
    questions: Sequence[Question],
    batch: int,
    *,
    sequences: Callable[[Question], int | np.ndarray],
    alike: Callable[[Question], int] = lambda _: 0,
) -> Iterator[list[Question]]:
    """Yields questions in order, as many as have at most so many sequences together, or one.

    Args:
        questions: What to divide.
        batch: The most sequences of a chunk.
        sequences: How many a question has: for all replicas, or for each.
        alike: What all questions of a chunk must have in common.
    """
    chunk: list[Question] = []
    total: int | np.ndarray = 0
    for question in questions:
        own = sequences(question)
        if chunk and (np.max(total + own) > batch or alike(question) != alike(chunk[0])):
            yield chunk
            chunk, total = [], 0
        chunk.append(question)
        total = total + own
    if chunk:
        yield chunk
