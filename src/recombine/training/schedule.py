"""Which rows each replica sees at each step: shuffled, mixed, and sorted by length so that batches waste no padding."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recombine.training.corpus import Corpus


class Batch(NamedTuple):
    """One step of training."""

    rows: np.ndarray  # (R, B): which rows of the corpus
    source_steps: int
    target_steps: int


@dataclass(frozen=True)
class Group:
    """Rows that are drawn together.

    Attributes:
        rows: Indices of rows; they are gone through in shuffled order, again and again.
        share: The probability that a draw comes from this group.
        weights: How likely each row is to be drawn, with replacement, instead of going through all in turn.
    """

    rows: np.ndarray
    share: float = 1.0
    weights: np.ndarray | None = None

    def drawn(self, count: int, deck: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draws rows: (the rows, what is left of the shuffled deck)."""
        if self.weights is not None:
            return rng.choice(self.rows, size=count, p=self.weights / self.weights.sum()), deck
        while len(deck) < count:
            deck = np.concatenate([deck, rng.permutation(self.rows)])
        return deck[:count], deck[count:]


def mixture(originals: int, augmented: int, p_aug: float | None, weights: Sequence[float] | None = None) -> list[Group]:
    """Mixes rows 0 … originals-1 with the augmented ones after them (appendix D).

    Args:
        originals: Number of original rows.
        augmented: Number of augmented rows.
        p_aug: The probability that a training example is an augmented one; None: all rows alike (concatenation).
        weights: u(d) of equation 1: how much each augmented row counts among them; None: all alike. With weights and
            no p_aug, an original counts as much as a weight of one.
    """
    if not augmented:
        return [Group(np.arange(originals))]
    each = None if weights is None else np.asarray(weights, dtype=float)
    # Two groups even where all count alike: what is held out to judge by comes from the originals.
    counts = float(augmented if each is None else each.sum())
    share = counts / (originals + counts) if p_aug is None else p_aug
    return [
        Group(np.arange(originals), 1 - share),
        Group(np.arange(originals, originals + augmented), share, each),
    ]


@dataclass
class Schedule:
    """An endless sequence of batches, the same for the same seeds; a replica's batches do not depend on the others.

    A pool of batches is drawn at a time and sorted within each replica, by the longer of source and target first: by
    targets alone, batches of short ones would hold sources of all lengths. Then batches of about the same length in
    every replica go together, in an order that all share.

    Attributes:
        corpus: The rows.
        groups: For each replica, the groups of rows that it draws from.
        seeds: One per replica.
        batch: B.
        pool: How many batches are drawn and sorted at a time.
        rounding: Batches' steps are rounded up to a multiple of this, so that there are few different shapes.
        sorting: Rows are sorted by lengths that are rounded up to a multiple of this; None: of `rounding`. The larger,
            the more lengths are mixed in a batch.
        active: The replicas that batches are for, all of them at first; may become fewer on the way.
    """

    corpus: Corpus
    groups: Sequence[Sequence[Group]]
    seeds: Sequence[int]
    batch: int
    pool: int = 64
    rounding: int = 4
    sorting: int | None = None

    def __post_init__(self) -> None:
        self.active = list(range(len(self.seeds)))

    def mean_tokens(self) -> list[float]:
        """Returns how many tokens the targets of each replica have on average, as often as they are drawn."""
        found = []
        for replica, groups in enumerate(self.groups):
            lengths, _ = self._lengths(replica)
            means = [np.average(lengths[group.rows], weights=group.weights) for group in groups]
            found.append(float(np.average(means, weights=[group.share for group in groups])))
        return found

    def __iter__(self) -> Iterator[Batch]:
        order = np.random.default_rng(0)
        streams = {replica: self._stream(replica) for replica in self.active}
        drawn: dict[int, np.ndarray] = {}
        while True:
            for replica in self.active:
                drawn[replica] = self._sorted(replica, next(streams[replica]))
            for number in order.permutation(self.pool):
                chosen = slice(number * self.batch, (number + 1) * self.batch)
                yield self._shaped(np.stack([drawn[replica][chosen] for replica in self.active]))

    def _stream(self, replica: int) -> Iterator[np.ndarray]:
        """Yields pools of row indices for one replica."""
        rng = np.random.default_rng([1, self.seeds[replica]])
        groups = self.groups[replica]
        shares = np.array([group.share for group in groups]) / sum(group.share for group in groups)
        decks = [np.empty(0, dtype=np.int64) for _ in groups]
        while True:
            which = rng.choice(len(groups), size=self.pool * self.batch, p=shares)
            pool = np.empty(len(which), dtype=np.int64)
            for number, group in enumerate(groups):
                here = which == number
                pool[here], decks[number] = group.drawn(int(here.sum()), decks[number], rng)
            yield pool

    def _lengths(self, replica: int) -> tuple[np.ndarray, np.ndarray]:
        targets, sources = self.corpus.target_lengths, self.corpus.source_lengths
        return targets[replica % len(targets)], sources[replica % len(sources)]

    def _sorted(self, replica: int, pool: np.ndarray) -> np.ndarray:
        """Sorts by rounded lengths only, so that copies of a row from later passes do not end up side by side."""
        targets, sources = (
            _rounded(lengths[pool], self.sorting or self.rounding) for lengths in self._lengths(replica)
        )
        return pool[np.lexsort((sources, targets, np.maximum(targets, sources)))]

    def _shaped(self, index: np.ndarray) -> Batch:
        targets, sources = (
            np.array([max(int(lengths[row].max()) for lengths, row in zip(each, index, strict=True))])
            for each in zip(*map(self._lengths, self.active), strict=True)
        )
        return Batch(index, *(int(_rounded(steps, self.rounding)[0]) for steps in (sources, targets)))


def _rounded(steps: np.ndarray, multiple: int) -> np.ndarray:
    return -(-steps // multiple) * multiple
