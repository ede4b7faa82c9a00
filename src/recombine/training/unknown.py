"""Unknown words: training examples in which some tokens are replaced by UNK, the token for what was never seen.

A predictor meets names in new inputs that no training example holds. If it copies, it can write them all the same, but
only if it has learned to copy what it does not know. Here every token of an input has a small chance to be unknown,
there and in the output. Not in the paper.
"""

import torch
from torch import Tensor

from recombine.data.vocabulary import SEP, UNK
from recombine.models.noise import Noise


def unknown(
    sources: Tensor, target: Tensor, ids: int, rate: float, noise: Noise, *, copied: bool
) -> tuple[Tensor, Tensor]:
    """Renames tokens to UNK.

    Args:
        sources: Prototypes (R, B, n, S).
        target: Targets (R, B, T).
        ids: Number of token ids.
        rate: How often a token of the sources is renamed.
        noise: Where the choice comes from.
        copied: Whether the network copies. Else what it has to write stays as it is.

    Returns:
        Prototypes and targets of the same shapes.
    """
    replicas, batch = target.shape[:2]
    held = torch.zeros(replicas, batch, ids, dtype=torch.bool, device=target.device)
    held = held.scatter(-1, sources.flatten(2), True)
    held[..., : SEP + 1] = False
    renamed = held & (noise.uniform(batch, ids) < rate)
    names = torch.where(renamed, UNK, torch.arange(ids, device=target.device))
    sources = names.gather(-1, sources.flatten(2)).view_as(sources)
    return sources, names.gather(-1, target) if copied else target
