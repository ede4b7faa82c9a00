"""How far sequences are from each other: normalised edit distance, and the tokens that one has and another lacks.

A sequence is a string here, one code point a token (``recombine.neighborhoods.index`` does the renaming): rapidfuzz
compares strings fastest, and whether a sequence holds a token is whether a string holds a character.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from recombine.neighborhoods.ragged import Integers

Strings = NDArray[np.object_]


def lev(a: str, b: str) -> float:
    """Returns the edit distance divided by the length of the longer sequence; 0 between empty ones."""
    return Levenshtein.distance(a, b) / max(len(a), len(b), 1)


def near(
    sequence: str, candidates: Iterable[Integers], *, strings: Strings, lengths: Integers, delta: float
) -> Iterator[Integers]:
    """Yields the candidates with lev < delta, in their order, batch by batch.

    Whoever wants only the first few hits pays for little more: batches are drawn, and distances computed, as needed.

    Args:
        sequence: The sequence to be near to.
        candidates: Positions in ``strings``, in batches.
        strings: All sequences.
        lengths: Their lengths.
        delta: The bound, itself excluded.
    """
    for batch in filter(len, candidates):
        others = strings[batch]
        longer = np.maximum(lengths[batch], max(len(sequence), 1))
        worst = int(delta * longer.max()) + 1
        edits = cdist([sequence], others, scorer=Levenshtein.distance, score_cutoff=worst, dtype=np.int32)[0]
        yield batch[edits / longer < delta]


def remainder(sequence: str, other: str) -> str:
    r"""Returns [a \ b]: the sequence without all tokens that the other one has."""
    return "".join([token for token in sequence if token not in other])


def distinct(sequence: str) -> str:
    """Returns the tokens of the sequence, each once, in the order in which they first come."""
    return "".join(dict.fromkeys(sequence))


def covers(sequence: str, tokens: str) -> bool:
    """Tells whether the sequence has all of the tokens."""
    return all(token in sequence for token in tokens)


def symmetric_difference(a: str, b: str) -> int:
    """Returns |a Δ b|: how many distinct tokens are in one sequence only."""
    return len(set(a) ^ set(b))
