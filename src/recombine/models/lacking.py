"""Later prototypes that show only what the first one lacks.

Where d1 and d2 both hold a token, nothing says from which of them to take it, and what stands beside it in d2 is copied
along: "around" only ever with "left". Shortened to what d1 lacks, d2 says what to add and not where. Not in the paper.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from recombine.data.vocabulary import PAD, SEP


class Lacking(NamedTuple):
    """Prototypes (R, B, K, S), of which the later ones are shortened.

    Attributes:
        tokens: What is left of each, then padding.
        shown: Which of the original places are left.
        places: Where in `tokens` each original place is now; anywhere in the padding if it is not left.
    """

    tokens: Tensor
    shown: Tensor
    places: Tensor


def lacking(prototypes: Tensor, vocabulary: int) -> Lacking:
    """Removes from all prototypes (R, B, K, S) but the first the tokens that the first one holds."""
    replicas, batch = prototypes.shape[:2]
    held = torch.zeros(replicas, batch, vocabulary, dtype=torch.bool, device=prototypes.device)
    held = held.scatter(-1, prototypes[:, :, 0], True)
    held[..., : SEP + 1] = False
    hidden = held.gather(-1, prototypes.flatten(2)).view_as(prototypes)
    hidden[:, :, 0] = False
    shown = ~hidden & (prototypes != PAD)
    order = (~shown).byte().argsort(dim=-1, stable=True)
    tokens = prototypes.masked_fill(~shown, PAD).gather(-1, order)
    return Lacking(tokens, shown, order.argsort(-1))
