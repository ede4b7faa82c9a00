"""How a network came to a finished sample: where it looked and what it would have said at each step (appendix G.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
import torch

from recombine.data.vocabulary import EOS, UNK, Vocabulary
from recombine.errors import RecombineError
from recombine.example import Tokens
from recombine.models import copying
from recombine.models.noise import Noise
from recombine.models.recombiner import Recombiner
from recombine.models.scoring import along
from recombine.training.corpus import encoded

END = "\n"
"""Stands for the end of a sequence. No token may hold a line break, so no token can be mistaken for it."""


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """T steps of a network over V ids, with K prototypes of at most S tokens.

    Attributes:
        tokens: What was produced at each step: x ▷ y and `END`.
        prototypes: The prototypes' tokens, x ▷ y and `END`.
        vocabulary: What each id means; ids that stand for no token of the data have no name.
        attention: How much of each prototype's attention goes to each of its tokens (K, T, S); 0 after its end.
        probabilities: Of every token at every step (T, V).
        written: The part of them that does not come from copying (T, V).
        shares: How probable it is, whichever token it gives, to write, to copy from the own output, and to copy from
            each prototype (T, 2 + K).
    """

    tokens: Tokens
    prototypes: tuple[Tokens, ...]
    vocabulary: Tokens
    attention: np.ndarray
    probabilities: np.ndarray
    written: np.ndarray
    shares: np.ndarray


@torch.no_grad()
def trace(
    model: Recombiner,
    vocabulary: Vocabulary,
    *,
    prototypes: Sequence[Tokens],
    d: Tokens,
) -> Trace:
    """Lets the first network of a population, in evaluation mode, produce a sample once more, without dropout.

    The prototypes and the sample d are tokens x ▷ y. A latent variable is drawn from the proposal q(z | d, prototypes).
    """
    expected = model.architecture.prototypes
    if len(prototypes) != expected:
        raise RecombineError(f"the network has {expected} prototypes, got {len(prototypes)}.")
    for token in chain(d, *prototypes):
        if UNK in vocabulary.encode((token,)):
            raise RecombineError(f"the network does not know the token {token!r}.")
    device = model.embed.weight.device
    target = encoded([d], vocabulary, device).expand(model.replicas, 1, -1)  # (R, 1, T)
    sources = encoded(prototypes, vocabulary, device).expand(model.replicas, 1, -1, -1)  # (R, 1, K, S)
    z = model.propose(sources, target, Noise([0] * model.replicas, device)) if model.latent is not None else None
    scores, entries, produced, own = along(model, sources, target, z)
    size = model.architecture.vocabulary  # stand-ins have ids, too, but no names
    written, copied = entries.exp().tensor_split([size], dim=-1)
    # Copy entries are those of the own output, then S for each prototype; there are none if copying is off.
    ends = [own + k * sources.shape[-1] for k in range(len(prototypes) + 1)]
    streams = [written, *(copied[:, start:end] for start, end in pairwise([0, *ends]))]
    unnamed = [""] * (size - len(vocabulary))
    attention = torch.softmax(scores.prototypes[0].squeeze(1), -1).transpose(0, 1)
    return Trace(
        tokens=(*d, END),
        prototypes=tuple((*tokens, END) for tokens in prototypes),
        vocabulary=(*[""] * EOS, END, *vocabulary.decode(range(EOS + 1, len(vocabulary))), *unnamed),
        attention=attention.cpu().numpy(),
        probabilities=copying.token_probabilities(entries, produced.expand(len(entries), -1)).cpu().numpy(),
        written=written.cpu().numpy(),
        shares=torch.stack([stream.sum(-1) for stream in streams], -1).cpu().numpy(),
    )
