"""What a network would produce after any beginning of a sample, and where each token would come from.

Axes: R replicas, of which the first counts; T steps; V written tokens, C copy entries; K prototypes of S tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from recombine.data.vocabulary import BOS, PAD, UNK, Vocabulary
from recombine.example import Tokens
from recombine.models import copying
from recombine.models.noise import Noise
from recombine.models.recombiner import Recombiner
from recombine.training.renaming import Twins, called


@dataclass(frozen=True, slots=True)
class Source:
    """Where a token comes from.

    Attributes:
        origin: ``"written"``, ``"own"`` for the sample itself, or the number of a prototype, from ``"1"``.
        place: Which token of that sequence x ▷ y it is a copy of, from 0; its end counts as a token. None if written.
    """

    origin: str
    place: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The steps of a network along a beginning: the last one is what may come after it.

    Attributes:
        probabilities: Of every id of the vocabulary at every step (T, ids); 0 for those that are never produced.
        entries: Log-probabilities of writing and copying (T, V + C).
        copied: Which token each copy entry produces (C,).
        names: What the network calls each id of the vocabulary (ids,).
        own: How many of the copy entries are tokens of the sample itself.
        width: How many belong to each prototype.
    """

    probabilities: np.ndarray
    entries: Tensor
    copied: Tensor
    names: Tensor
    own: int
    width: int

    def source(self, step: int, token: int) -> Source:
        """Returns where a token most probably comes from if it is produced at a step."""
        named = self.names[token].view(1, 1)
        entry = copying.best_entry(self.entries[None, [step]], self.copied[None, None], named)
        place = int(entry) - (self.entries.shape[-1] - len(self.copied))
        if place < 0:
            return Source("written", None)
        if place < self.own:
            return Source("own", place)
        k, j = divmod(place - self.own, self.width)
        return Source(str(k + 1), j)


@torch.no_grad()
def steps_along(
    beginning: Tokens,
    prototypes: Sequence[Tokens],
    *,
    model: Recombiner,
    vocabulary: Vocabulary,
    twins: Twins | None = None,
    seed: int = 0,
) -> Steps:
    """Lets the first network of a population go along a beginning, without dropout.

    Args:
        beginning: Tokens of x ▷ y; perhaps none.
        prototypes: The tokens x ▷ y of each prototype.
        model: In evaluation mode.
        vocabulary: Says what its ids mean.
        twins: Which tokens the networks know by drawn names, if they do.
        seed: For the names of twins, and for z if the network has a latent variable.
    """
    device = model.embed.weight.device
    noise = Noise([seed] * model.replicas, device)
    sources = _padded([vocabulary.encode(tokens) for tokens in prototypes])
    sources = sources.to(device).expand(model.replicas, 1, -1, -1)  # (R, 1, K, S)
    target = torch.tensor(vocabulary.encode(beginning), device=device).expand(model.replicas, 1, -1)  # (R, 1, T)
    names = torch.arange(len(vocabulary), device=device)
    if twins is not None:
        drawn = twins.draw(sources, noise)
        sources, target = called(drawn, sources), called(drawn, target)
        names = drawn[0, 0, : len(vocabulary)]
    z = None if model.latent is None else model.latent.prior(1, noise)
    context = model.remember(sources)
    previous = torch.cat([torch.full_like(target[..., :1], BOS), target[..., :-1]], dim=-1)
    _, scores = model.decode(context, context.state, previous.transpose(1, 2), z=z)
    own = target[..., :-1] if model.architecture.own_attention else target[..., :0]
    entries = model.entries(scores)[0].squeeze(1).double()  # (T, V + C)
    copied = model.sources(context, own)[0, 0]  # (C,)
    p = copying.token_probabilities(entries[None], copied.expand(1, len(entries), -1))[0][:, names].cpu().numpy()
    p[:, : UNK + 1] = 0
    return Steps(p, entries, copied, names, own=own.shape[-1], width=sources.shape[-1])


def _padded(sequences: Sequence[Sequence[int]]) -> Tensor:
    """Returns sequences of ids as one tensor (K, S)."""
    if not sequences:
        return torch.empty(0, 0, dtype=torch.long)
    return pad_sequence([torch.tensor(ids) for ids in sequences], batch_first=True, padding_value=PAD)
