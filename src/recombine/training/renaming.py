"""Training tuples in which tokens go by other names: stand-ins, twins and unknown words. None are in the paper.

Stand-ins. In some training tuples, each token that d holds, d1 lacks and another prototype supplies is renamed, in d
and in the prototypes, to a token drawn at random from those that the training rows do not hold (and some that no data
hold). What it means can be learned only from the prototype that shows it, as with a rare word in sampling.

Twins. An input token and an output token that exactly the same examples hold are renamed together to one of a few pairs
of names, drawn anew for every tuple, in training and in sampling (whose samples are then named back): what one pair was
seen to do, every pair can do. `docs/method.md` says why.
"""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from recombine.data.vocabulary import PAD, SEP, UNK, Holders, holders
from recombine.models.noise import Noise

SPARES = 16
"""Ids beyond the vocabulary, so that there are stand-ins where the data hold every token often."""


def called(names: Tensor, tokens: Tensor) -> Tensor:
    """Returns what tokens (R, B, ...) are called under names (R, B, ids)."""
    return names.gather(-1, tokens.flatten(2)).view_as(tokens)


def _held(tokens: Tensor, ids: int) -> Tensor:
    """Tells which ids (R, B, ids) occur among tokens (R, B, ...)."""
    marks = torch.zeros(*tokens.shape[:2], ids, dtype=torch.bool, device=tokens.device)
    return marks.scatter(-1, tokens.flatten(2), True)


def disguised(sources: Tensor, target: Tensor, pool: Tensor, rate: float, noise: Noise) -> tuple[Tensor, Tensor]:
    """Renames tokens of some tuples, at this rate, to stand-ins: in prototypes (R, B, n, S), n ≥ 2, and targets.

    `pool` says which ids are stand-ins (R, ids); what a tuple's own prototypes hold is none for it.
    """
    batch, ids = target.shape[1], pool.shape[1]
    supplied = _held(target, ids) & ~_held(sources[:, :, 0], ids) & _held(sources[:, :, 1:], ids)
    supplied[..., : SEP + 1] = False
    chosen = noise.uniform(batch, 1) < rate
    free = pool.unsqueeze(1) & ~_held(sources, ids)
    # The k-th token to rename gets the k-th of the stand-ins in random order.
    order = noise.uniform(batch, ids).masked_fill(~free, 2.0).argsort(-1)
    place = (supplied.cumsum(-1) - 1).clamp(min=0)
    renamed = supplied & chosen & (place < free.sum(-1, keepdim=True))
    names = torch.where(renamed, order.gather(-1, place), torch.arange(ids, device=target.device))
    return called(names, sources), called(names, target)


@dataclass(frozen=True)
class Twins:
    """Pairs of tokens that are renamed together."""

    pairs: Tensor  # ids of the input's and the output's token of each pair (C, 2)
    vocabulary: int  # number of ids that are tokens' own; from there on, every two are a pair of names
    names: int  # how many pairs of names there are

    @classmethod
    def of(cls, table: Tensor, vocabulary: int, names: int) -> Self:
        """Finds each input token and output token that the same examples (N, S) hold, if it is one of each."""
        in_y = (table == SEP).cumsum(-1) > 0
        inputs, outputs = (_by_holders(table.masked_fill(side, PAD)) for side in (in_y, ~in_y))
        both = ((tokens, outputs.get(held, [])) for held, tokens in inputs.items())
        found = [(*one, *other) for one, other in both if len(one) == len(other) == 1]
        return cls(torch.tensor(found, dtype=torch.long, device=table.device).view(-1, 2), vocabulary, names)

    def draw(self, sources: Tensor, noise: Noise) -> Tensor:
        """Draws what each id is called (R, B, ids) in tuples with prototypes (R, B, n, S).

        Pairs that the prototypes do not hold, or for which no names are left, keep their own.
        """
        replicas, batch = sources.shape[:2]
        own = self._own.expand(replicas, batch, -1)
        chosen = _held(sources, own.shape[-1])[..., self.pairs].any(-1)  # (R, B, C)
        # The k-th pair held gets the k-th pair of names in random order.
        order = noise.uniform(batch, self.names).argsort(-1)
        return self._named(own, chosen, order)

    @property
    def _own(self) -> Tensor:
        return torch.arange(self.vocabulary + 2 * self.names, device=self.pairs.device)

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
        own = self._own.expand_as(names)
        nothing = own.masked_fill(own >= self.vocabulary, UNK)
        return nothing.scatter(-1, names[..., : self.vocabulary], own[..., : self.vocabulary])

    def fixed(self) -> Tensor:
        """Returns one way (ids,) to call every id, for judging a network that knows twins by no names of their own."""
        chosen = torch.ones(len(self.pairs), dtype=torch.bool, device=self.pairs.device)
        return self._named(self._own, chosen, torch.arange(self.names, device=self.pairs.device))


def _by_holders(table: Tensor) -> dict[Holders, list[int]]:
    """Returns, for each set of rows that just these tokens are held by, the tokens."""
    grouped: dict[Holders, list[int]] = {}
    for token, held in sorted(holders(table.tolist()).items()):
        if token > SEP:
            grouped.setdefault(held, []).append(token)
    return grouped


def unknown(
    sources: Tensor, target: Tensor, ids: int, rate: float, noise: Noise, *, copied: bool
) -> tuple[Tensor, Tensor]:
    """Replaces some tokens of the sources, at this rate, by UNK, the token for what was never seen.

    A predictor meets names in new inputs that no training example holds. If it copies, it can write them all the same,
    but only if it has learned to copy what it does not know. If it does not, what it has to write stays as it is.
    """
    held = _held(sources, ids)
    held[..., : SEP + 1] = False
    renamed = held & (noise.uniform(target.shape[1], ids) < rate)
    names = torch.where(renamed, UNK, torch.arange(ids, device=target.device))
    return called(names, sources), called(names, target) if copied else target
