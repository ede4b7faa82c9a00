"""Which rows each replica sees at each step: shuffled, mixed, and put into batches that waste no padding."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from recombine.training.corpus import Corpus

ROUNDING = 4
"""The steps of batches of one length, which are sorted, are a multiple of this where CUDA graphs need few shapes."""


class Batch(NamedTuple):
    """One step of training."""

    rows: np.ndarray  # (R, B): which rows of the corpus, those with the longest targets first
    source_steps: int
    counts: tuple[int, ...]  # how many of the rows each step of the targets has


@dataclass(frozen=True)
class Group:
    """Rows that are drawn together."""

    rows: np.ndarray  # indices, which are gone through in shuffled order, again and again
    share: float = 1.0  # the probability that a draw comes from this group


def mixture(originals: int, augmented: int, p_aug: float | None) -> list[Group]:
    """Mixes rows 0 … originals-1 with the augmented ones after them (appendix D).

    `p_aug` is the probability that a training example is an augmented one; None: all rows alike (concatenation).
    """
    if not augmented:
        return [Group(np.arange(originals))]
    # Two groups even where all count alike: what is held out to judge by comes from the originals.
    share = augmented / (originals + augmented) if p_aug is None else p_aug
    return [Group(np.arange(originals), 1 - share), Group(np.arange(originals, originals + augmented), share)]


@dataclass
class Schedule:
    """An endless sequence of batches, the same for the same seeds; a replica's batches do not depend on the others.

    Batches are stratified. A pool of rows is drawn and cut, by the length of targets, into as many strata as a batch
    has rows; each batch has one row of each. So all batches have short and long targets in the same proportions, and
    nearly the same number of rows goes on at each step: what a network learns of short targets and of long ones it
    learns together, without padding. Batches of one length alone cost predictors generalisation (docs/results.md).

    Attributes:
        corpus: The rows.
        groups: For each replica, the groups of rows that it draws from.
        seeds: One per replica.
        batch: B.
        pool: How many batches are drawn at a time; stratified ones, no more than make a pass over the rows.
        sorting: If given, batches are not stratified: rows share batches whose lengths, rounded up to a multiple of
            this, are alike. The longer of source and target counts first: by targets alone, batches of short ones would
            hold sources of all lengths.
        fixed: Give batches one of a few shapes, as CUDA graphs need it; else each its own.
        active: The replicas that batches are for, all of them at first; may become fewer on the way.
    """

    corpus: Corpus
    groups: Sequence[Sequence[Group]]
    seeds: Sequence[int]
    batch: int
    pool: int = 64
    sorting: int | None = None
    fixed: bool = False

    def __post_init__(self) -> None:
        self.active = list(range(len(self.seeds)))

    def mean_tokens(self) -> list[float]:
        """Returns how many tokens the targets of each replica have on average, as often as they are drawn."""
        return [float(self._reaching(replica).sum()) for replica in range(len(self.seeds))]

    def __iter__(self) -> Iterator[Batch]:
        streams = {replica: self._batches(replica) for replica in self.active}
        shapes: _Shapes | None = None
        while True:
            rows = np.stack([next(streams[replica]) for replica in self.active])
            targets, sources = zip(*map(self._lengths, self.active), strict=True)
            longest = np.max([each[row] for each, row in zip(targets, rows, strict=True)], axis=0)  # of each place
            source = max(int(each[row].max()) for each, row in zip(sources, rows, strict=True))
            batch = Batch(rows, source, tuple((longest > np.arange(longest[0])[:, None]).sum(1).tolist()))
            if self.fixed and self.sorting is None:
                if shapes is None or shapes.replicas != self.active:
                    shapes = _Shapes(self)
                batch = shapes.fit(batch)
            elif self.fixed:
                steps = min(_rounded(len(batch.counts), ROUNDING), self.corpus.targets.shape[-1])
                source_steps = min(_rounded(source, ROUNDING), self.corpus.sources.shape[-1])
                batch = Batch(rows, source_steps, (self.batch,) * steps)
            yield batch

    def _batches(self, replica: int) -> Iterator[np.ndarray]:
        """Yields the batches of one replica, each with the rows that have the longest targets first."""
        rng = np.random.default_rng([1, self.seeds[replica]])
        order = np.random.default_rng(0)  # the same for all, so that long batches of all replicas go together
        targets, sources = self._lengths(replica)
        for pool in self._pools(replica, rng):
            if self.sorting is None:
                rows = pool[np.lexsort((-sources[pool], -targets[pool]))].reshape(self.batch, -1)
                # The longest rows stay in order, so that batches stand by their length.
                batches = np.concatenate([rows[:1], rng.permuted(rows[1:], axis=1)]).T
            else:
                t, s = (_rounded(lengths[pool], self.sorting) for lengths in (targets, sources))
                batches = pool[np.lexsort((s, t, np.maximum(t, s)))].reshape(-1, self.batch)
                longest_first = (-targets[batches]).argsort(axis=1, kind="stable")
                batches = np.take_along_axis(batches, longest_first, axis=1)
            yield from batches[order.permutation(len(batches))]

    def pool_of(self, replica: int) -> int:
        """Returns how many batches of a replica are drawn at a time."""
        if self.sorting is not None:  # of one pass, sorted, the same rows would share a batch every time
            return self.pool
        first = self.groups[replica][0]
        return max(1, min(self.pool, int(len(first.rows) / first.share) // self.batch))

    def _pools(self, replica: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yields pools of row indices for one replica."""
        groups, size = self.groups[replica], self.pool_of(replica) * self.batch
        shares = np.array([group.share for group in groups]) / sum(group.share for group in groups)
        decks = [np.empty(0, dtype=np.int64) for _ in groups]
        while True:
            which = rng.choice(len(groups), size=size, p=shares)
            pool = np.empty(size, dtype=np.int64)
            for number, group in enumerate(groups):
                here = which == number
                count = int(here.sum())
                while len(decks[number]) < count:
                    decks[number] = np.concatenate([decks[number], rng.permutation(group.rows)])
                pool[here], decks[number] = decks[number][:count], decks[number][count:]
            yield pool

    def _lengths(self, replica: int) -> tuple[np.ndarray, np.ndarray]:
        targets, sources = self.corpus.target_lengths, self.corpus.source_lengths
        return targets[replica % len(targets)], sources[replica % len(sources)]

    def _reaching(self, replica: int) -> np.ndarray:
        """Returns the share of a replica's targets (T,), as often as they are drawn, that reach each step."""
        lengths, _ = self._lengths(replica)
        steps = np.arange(max(int(lengths[group.rows].max()) for group in self.groups[replica]))
        each = [np.mean(lengths[group.rows][:, None] > steps, axis=0) for group in self.groups[replica]]
        found: np.ndarray = np.average(each, axis=0, weights=[group.share for group in self.groups[replica]])
        return found.clip(max=1.0)  # which rounding may exceed


class _Shapes:
    """The few shapes that all batches of a schedule have.

    Each step has room for more rows than almost any pool needs. If a pool needs more, the shapes grow for good. Batches
    without the longest rows end sooner: at one of `LENGTHS` steps, chosen to leave as few steps as can be to go.
    """

    LENGTHS = 3
    MARGIN = 4.0
    """How many standard deviations the number of rows may be above its mean before the shapes have to change."""

    def __init__(self, schedule: Schedule) -> None:
        self.replicas = list(schedule.active)
        reaching = [schedule._reaching(replica) for replica in self.replicas]
        steps = max(map(len, reaching))
        self.counts = np.ones(steps, dtype=np.int64)
        self.source_steps = 0
        longest = np.zeros(schedule.pool)  # of the batches of a pool, in order
        for replica, share in zip(self.replicas, reaching, strict=True):
            pool = schedule.pool_of(replica)
            size = pool * schedule.batch
            most = size * share + self.MARGIN * np.sqrt(size * share * (1 - share))
            counts = np.minimum(np.ceil(most / pool), schedule.batch).astype(np.int64)
            self.counts[: len(counts)] = np.maximum(self.counts[: len(counts)], counts)
            own = (share > (np.arange(pool)[:, None] + 0.5) / size).sum(1)
            longest = np.maximum(longest, own[np.arange(schedule.pool) * pool // schedule.pool])
            _, sources = schedule._lengths(replica)
            own_sources = [int(sources[group.rows].max()) for group in schedule.groups[replica]]
            self.source_steps = max(self.source_steps, *own_sources)
        self.counts[0] = schedule.batch
        self.lengths = [steps]

        def total(length: int) -> int:  # the steps of all batches, each made as long as the next of the lengths
            cuts = np.array(sorted({*self.lengths, length}))
            return int(cuts[np.searchsorted(cuts, longest)].sum())

        while len(self.lengths) < self.LENGTHS:
            self.lengths.append(min(map(int, longest), key=total))
        self.lengths = sorted({*self.lengths})

    def fit(self, batch: Batch) -> Batch:
        """Returns a batch in one of the shapes; where it fits none, they grow."""
        own = np.array(batch.counts)
        self.counts[: len(own)] = np.maximum(self.counts[: len(own)], own)
        steps = next(length for length in self.lengths if length >= len(own))
        return batch._replace(source_steps=self.source_steps, counts=tuple(self.counts[:steps].tolist()))


def _rounded(steps: int | np.ndarray, multiple: int) -> Any:  # noqa: ANN401
    return -(-steps // multiple) * multiple
