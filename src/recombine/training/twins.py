"""Twins: a word and what it stands for, found by where they occur, under names that say nothing of either.

"left" and I_TURN_LEFT are held by exactly the same examples, and differ from "right" and I_TURN_RIGHT only in what else
these examples hold. A network that saw "around" with one pair alone concludes that it goes with no other. Here twins
are renamed together, in d and in its prototypes, to one of a few pairs of names, drawn anew for every tuple, in
training and when samples are drawn (which are then named back): what one pair was seen to do, every pair can do. Not in
the paper.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

from recombine.data.vocabulary import PAD, SEP, UNK
from recombine.models.noise import Noise


@dataclass(frozen=True)
class Twins:
    """Pairs of tokens that are renamed together.

    Attributes:
        pairs: Ids of the input's and the output's token of each pair (C, 2).
        vocabulary: Number of ids that are tokens' own; from there on, every two are a pair of names.
        names: How many pairs of names there are.
    """

    pairs: Tensor
    vocabulary: int
    names: int

    @classmethod
    def of(cls, table: Tensor, vocabulary: int, names: int) -> Self:
        """Finds each input token and output token that the same examples hold, if it is one of each.

        Args:
            table: The examples, x ▷ y (N, S), padded.
            vocabulary: Number of token ids.
            names: How many pairs of names there are to be.
        """
        in_y = (table == SEP).cumsum(-1) > 0
        inputs, outputs = (_by_holders(table.masked_fill(side, PAD), vocabulary) for side in (in_y, ~in_y))
        found = [
            (*tokens, *outputs[holders])
            for holders, tokens in inputs.items()
            if len(tokens) == len(outputs.get(holders, ())) == 1
        ]
        return cls(torch.tensor(found, dtype=torch.long, device=table.device).view(-1, 2), vocabulary, names)

    def draw(self, sources: Tensor, noise: Noise) -> Tensor:
        """Draws what each id is called (R, B, ids) in tuples with prototypes (R, B, n, S).

        Pairs that the prototypes do not hold, or for which no names are left, keep their own.
        """
        replicas, batch = sources.shape[:2]
        own = self._own(sources).expand(replicas, batch, -1)
        held = torch.zeros_like(own, dtype=torch.bool).scatter(-1, sources.flatten(2), True)
        chosen = held[..., self.pairs].any(-1)  # (R, B, C)
        # The k-th pair held gets the k-th pair of names in random order.
        order = noise.uniform(batch, self.names).argsort(-1)
        return self._named(own, chosen, order)

    def _own(self, like: Tensor) -> Tensor:
        return torch.arange(self.vocabulary + 2 * self.names, device=like.device)

    def _named(self, own: Tensor, chosen: Tensor, order: Tensor) -> Tensor:
        place = chosen.cumsum(-1) - 1
        chosen = chosen & (place < self.names)
        name = self.vocabulary + 2 * order.gather(-1, place.clamp(0, self.names - 1))
        names = own
        for side in range(2):
            token = self.pairs[:, side].expand_as(name)
            names = names.scatter(-1, token, torch.where(chosen, name + side, token))
        return names

    def disguised(self, sources: Tensor, target: Tensor, noise: Noise) -> tuple[Tensor, Tensor]:
        """Renames the twins of prototypes (R, B, n, S) and targets (R, B, T)."""
        names = self.draw(sources, noise)
        return called(names, sources), called(names, target)

    def undone(self, names: Tensor) -> Tensor:
        """Returns what each id was called before (R, B, ids); a name that stands for nothing becomes unknown."""
        own = self._own(names).expand_as(names)
        nothing = own.masked_fill(own >= self.vocabulary, UNK)
        return nothing.scatter(-1, names[..., : self.vocabulary], own[..., : self.vocabulary])

    def fixed(self) -> Tensor:
        """Returns one way (ids,) to call every id, for judging a network that knows twins by no names of their own."""
        chosen = torch.ones(len(self.pairs), dtype=torch.bool, device=self.pairs.device)
        return self._named(self._own(self.pairs), chosen, torch.arange(self.names, device=self.pairs.device))


def called(names: Tensor, tokens: Tensor) -> Tensor:
    """Returns what tokens (R, B, ...) are called under names (R, B, ids)."""
    return names.gather(-1, tokens.flatten(2)).view_as(tokens)


def _by_holders(table: Tensor, vocabulary: int) -> dict[bytes, list[int]]:
    """Returns, for each set of rows that just these tokens are held by, the tokens.

    A set is known by the sum of its rows' random codes: a table of rows and tokens would be too large for many of both.
    """
    held = np.unique(np.arange(len(table))[:, None] * vocabulary + table.cpu().numpy())  # row · vocabulary + token
    held = held[np.argsort(held % vocabulary, kind="stable")]
    tokens, starts = np.unique(held % vocabulary, return_index=True)
    codes = np.random.default_rng(6).integers(0, 2**64, (len(table), 2), dtype=np.uint64)
    sums = np.add.reduceat(codes[held // vocabulary], starts, axis=0)
    grouped: dict[bytes, list[int]] = {}
    for token, code in zip(tokens.tolist(), sums, strict=True):
        if token > SEP:
            grouped.setdefault(code.tobytes(), []).append(token)
    return grouped
