"""Training data as tensors on a device: padded tables of sequences, and rows that say what is rebuilt from what."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Self

import numpy as np
import torch
from torch import Tensor

from recombine.data.vocabulary import PAD, Vocabulary, check_table
from recombine.example import Example, Tokens


@dataclass(frozen=True)
class Corpus:
    """Rows (target, source 1..n) over tables of token ids, per replica or shared by all (a leading axis of 1)."""

    sources: Tensor  # what is read (1 or R, N, S), padded
    targets: Tensor  # what is written (1 or R, M, T), padded
    rows: Tensor  # indices (1 or R, m, 1 + n): into targets, then into sources
    target_lengths: np.ndarray  # of each row's target (1 or R, m), on the host
    source_lengths: np.ndarray  # of each row's longest source (1 or R, m), on the host; 0 if there is none

    @property
    def longest(self) -> int:
        """The number of steps of the longest sequence."""
        return max(self.sources.shape[-1], self.targets.shape[-1])

    @classmethod
    def for_recombination(
        cls, examples: Sequence[Example], rows: np.ndarray, vocabulary: Vocabulary, device: torch.device
    ) -> Self:
        """Every row (target, prototypes...) rebuilds one example from others."""
        table = padded([vocabulary.encode(example.d) for example in examples])
        return cls.of(table[None], table[None], rows[None].astype(np.int64), device)

    @classmethod
    def for_prediction(cls, data: Sequence[Sequence[Example]], vocabulary: Vocabulary, device: torch.device) -> Self:
        """Every example's y is predicted from its x; `data` holds one training set for each replica, or one for all."""
        encode = cache(vocabulary.encode)  # most examples are in every replica's training set
        count = max(map(len, data))

        def stacked(side: Callable[[Example], Tokens]) -> np.ndarray:
            """Returns the tables of all replicas, padded in both directions."""
            own = [[encode(side(example)) for example in examples] for examples in data]
            flat = padded([ids for table in own for ids in [*table, *[[]] * (count - len(table))]])
            return flat.reshape(len(data), count, -1)

        sources, targets = stacked(lambda example: example.x), stacked(lambda example: example.y)
        index = np.arange(count)
        return cls.of(sources, targets, np.stack([index, index], axis=1)[None], device)

    @classmethod
    def of(cls, sources: np.ndarray, targets: np.ndarray, rows: np.ndarray, device: torch.device) -> Self:
        """Puts padded tables and rows (see the attributes) on a device."""

        def lengths(table: np.ndarray, index: np.ndarray) -> np.ndarray:
            each = (table != PAD).sum(-1)
            replicas = max(len(each), len(index))
            each, index = (np.broadcast_to(a, (replicas, *a.shape[1:])) for a in (each, index))
            return np.stack([row[i] for row, i in zip(each, index, strict=True)])

        longest = lengths(sources, rows[..., 1:]).max(-1) if rows.shape[-1] > 1 else np.zeros(rows.shape[:2], int)
        tables = [torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in (sources, targets, rows)]
        return cls(tables[0], tables[1], tables[2], lengths(targets, rows[..., 0]), longest)

    def written(self, vocabulary: int, rows: Sequence[np.ndarray]) -> Tensor:
        """Returns which tokens (R, vocabulary) occur in the targets of the given rows of each replica."""
        marks = torch.zeros(len(rows), vocabulary, dtype=torch.bool, device=self.rows.device)
        for replica, chosen in enumerate(rows):
            index = torch.from_numpy(chosen).to(self.rows.device)
            targets = self.rows[replica % len(self.rows), index, 0]
            marks[replica, self.targets[replica % len(self.targets), targets].flatten()] = True
        return marks

    def renamed(self, names: Tensor) -> Self:
        """Returns the corpus with every id called what `names` (ids,) says."""
        return replace(self, sources=names[self.sources], targets=names[self.targets])

    def only(self, chosen: Sequence[int]) -> Self:
        """Returns the corpus of the chosen replicas, by number."""
        tables = {name: table for name, table in vars(self).items() if len(table) not in (1, len(chosen))}
        return replace(self, **{name: table[list(chosen)] for name, table in tables.items()})

    def batch(self, index: Tensor, source_steps: int, target_steps: int) -> tuple[Tensor, Tensor]:
        """Looks up rows (R, B): sources (R, B, n, source_steps) and targets (R, B, target_steps)."""
        replica = torch.arange(len(index), device=index.device).view(-1, 1)
        rows = self.rows[replica % len(self.rows), index]  # (R, B, 1 + n)
        targets = self.targets[replica % len(self.targets), rows[..., 0]]
        sources = self.sources[replica.unsqueeze(-1) % len(self.sources), rows[..., 1:]]
        return sources[..., :source_steps], targets[..., :target_steps]


def padded(sequences: Sequence[Sequence[int]]) -> np.ndarray:
    """Returns sequences as rows of a table, padded to the longest."""
    longest = max(map(len, sequences), default=0)
    check_table(len(sequences), longest)
    table = np.full((len(sequences), longest), PAD, dtype=np.int64)
    for row, sequence in zip(table, sequences, strict=True):
        row[: len(sequence)] = sequence
    return table


def encoded(sequences: Sequence[Tokens], vocabulary: Vocabulary, device: torch.device) -> Tensor:
    """Returns token sequences as one padded table of ids on a device."""
    return torch.from_numpy(padded([vocabulary.encode(tokens) for tokens in sequences])).to(device)
