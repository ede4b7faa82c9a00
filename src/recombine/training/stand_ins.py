"""Stand-ins: training tuples in which what the first prototype lacks goes by a name never seen before.

A word that occurs once in the data is a prototype when samples are drawn, but never in training: it has no neighbors.
So a network learns to recombine words that it knows. Here some training tuples are disguised: each token that d holds,
d1 lacks and another prototype supplies is renamed, in d and in the prototypes, to a token drawn at random from those
that the training rows do not hold (and some that no data hold). What such a token means can be learned only from the
prototype that shows it: one-shot learning, of which the rare word is then one case more. Not in the paper.
"""

import torch
from torch import Tensor

from recombine.data.vocabulary import SEP
from recombine.models.noise import Noise

SPARES = 16
"""Ids beyond the vocabulary, so that there are stand-ins where the data hold every token often."""


def disguised(sources: Tensor, target: Tensor, pool: Tensor, rate: float, noise: Noise) -> tuple[Tensor, Tensor]:
    """Renames tokens of some tuples.

    Args:
        sources: Prototypes (R, B, n, S), n ≥ 2.
        target: Targets (R, B, T).
        pool: Which ids are stand-ins (R, ids); what a tuple's own prototypes hold is none for it.
        rate: The share of tuples to disguise.
        noise: Where the choice of tuples and of stand-ins comes from.

    Returns:
        Prototypes and targets of the same shapes.
    """
    replicas, batch = target.shape[:2]
    ids = pool.shape[1]

    def held(tokens: Tensor) -> Tensor:
        marks = torch.zeros(replicas, batch, ids, dtype=torch.bool, device=tokens.device)
        return marks.scatter(-1, tokens.flatten(2), True)

    supplied = held(target) & ~held(sources[:, :, 0]) & held(sources[:, :, 1:])
    supplied[..., : SEP + 1] = False
    chosen = noise.uniform(batch, 1) < rate
    free = pool.unsqueeze(1) & ~held(sources)
    # The k-th token to rename gets the k-th of the stand-ins in random order.
    order = noise.uniform(batch, ids).masked_fill(~free, 2.0).argsort(-1)
    place = (supplied.cumsum(-1) - 1).clamp(min=0)
    renamed = supplied & chosen & (place < free.sum(-1, keepdim=True))
    same = torch.arange(ids, device=target.device).expand(replicas, batch, -1)
    names = torch.where(renamed, order.gather(-1, place), same)
    return names.gather(-1, sources.flatten(2)).view_as(sources), names.gather(-1, target)
