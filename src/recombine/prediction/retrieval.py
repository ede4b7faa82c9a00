"""Prototypes for an input whose output nobody knows: the neighborhood conditioned on x alone (appendix E)."""

from collections.abc import Iterator, Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from recombine.example import Example, Tokens
from recombine.neighborhoods.index import Integers
from recombine.neighborhoods.search import check_counts, check_delta, distinct, remainder

CHUNK = 256
"""So many sequences at a time are compared with all training inputs."""


class Retriever:
    r"""Finds tuples of prototypes for inputs; outputs play no part.

    A first prototype's input x1 is near to x, 0 < lev < delta, and lacks some of its tokens. A second one's is near to
    [x\x1], the sequence of the distinct tokens that x1 lacks, lev < delta; as in the authors' code it need not hold all
    of them. The nearest are taken and, of those equally near, the ones that come first among the examples. Where none
    is near, random ones take their place: they depend on x and the seed, not on the other inputs.

    Args:
        examples: The training examples, all different, at least two.
        prototypes: n: 0, 1 or 2.
        first: How many first prototypes an input has at most.
        second: How many second prototypes each of them has at most.
        delta: The bound on both distances, itself excluded.
        seed: Same seed, same random prototypes.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        prototypes: int,
        *,
        first: int = 5,
        second: int = 5,
        delta: float = 0.5,
        seed: int = 0,
    ) -> None:
        check_counts(first=first, second=second)
        check_delta(delta)
        self.prototypes, self.first, self.second, self.delta, self.seed = prototypes, first, second, delta, seed
        tokens = dict.fromkeys(token for example in examples for token in example.x)
        self._names = {token: chr(number) for number, token in enumerate(tokens)}
        self._inputs = [self._renamed(example.x) for example in examples]
        self._lengths = np.array([len(x) for x in self._inputs])

    def retrieve(self, inputs: Sequence[Tokens]) -> list[Integers]:
        """Returns each input's tuples of prototypes: positions among the examples (tuples, n), at least one tuple."""
        if not self.prototypes:
            return [np.empty((1, 0), np.int32) for _ in inputs]
        xs = [self._renamed(x) for x in inputs]
        rngs = [np.random.default_rng([self.seed, *map(ord, x)]) for x in xs]
        firsts = [
            self._firsts(x, near) or self._random(self.first, rng)
            for x, near, rng in zip(xs, self._by_distance(xs), rngs, strict=True)
        ]
        if self.prototypes == 1:
            return [np.array(found, np.int32).reshape(-1, 1) for found in firsts]
        seconds = self._seconds([self._rest(x, d1) for x, found in zip(xs, firsts, strict=True) for d1 in found])
        tuples = []
        for x, found, rng in zip(xs, firsts, rngs, strict=True):
            pairs = [(d1, seconds[self._rest(x, d1)] or self._random(self.second, rng, but=d1)) for d1 in found]
            tuples.append(np.array([(d1, d2) for d1, others in pairs for d2 in others], np.int32))
        return tuples

    def _renamed(self, x: Tokens) -> str:
        """Returns the input as a string, one code point a token; the names of unknown tokens hold for this input."""
        names = self._names
        unknown = dict.fromkeys(token for token in x if token not in names)
        if unknown:
            names = names | {token: chr(len(names) + number) for number, token in enumerate(unknown)}
        return "".join([names[token] for token in x])

    def _by_distance(self, sequences: Sequence[str]) -> Iterator[list[int]]:
        """Yields, for each sequence, the examples whose inputs are within delta of it, nearest first."""
        for start in range(0, len(sequences), CHUNK):
            chunk = sequences[start : start + CHUNK]
            cutoff = int(self.delta * max(self._lengths.max(), *map(len, chunk))) + 1
            edits = cdist(chunk, self._inputs, scorer=Levenshtein.distance, score_cutoff=cutoff, dtype=np.int32)
            for sequence, row in zip(chunk, edits, strict=True):
                lev = row / np.maximum(self._lengths, len(sequence))
                near = np.flatnonzero(lev < self.delta)
                yield near[lev[near].argsort(kind="stable")].tolist()

    def _firsts(self, x: str, near: list[int]) -> list[int]:
        found = []
        for d1 in near:
            if self._rest(x, d1):  # and so the two inputs differ
                found.append(d1)
                if len(found) == self.first:
                    break
        return found

    def _seconds(self, rests: Sequence[str]) -> dict[str, list[int]]:
        """Returns the second prototypes for each of the sequences of tokens that are left over."""
        different = list(dict.fromkeys(rests))  # they recur from input to input
        return {rest: near[: self.second] for rest, near in zip(different, self._by_distance(different), strict=True)}

    def _rest(self, x: str, d1: int) -> str:
        return distinct(remainder(x, self._inputs[d1]))

    def _random(self, count: int, rng: np.random.Generator, *, but: int | None = None) -> list[int]:
        others = len(self._inputs) - (but is not None)
        drawn: list[int] = rng.choice(others, min(count, others), replace=False).tolist()
        return [place + (but is not None and place >= but) for place in drawn]
