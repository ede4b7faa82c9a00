"""Copying (section 3.2, appendix A.3): a distribution over ways to produce the next token.

Each step's distribution is over *entries*: writing one of V tokens, copying one of the tokens generated so far, or
copying one of the prototypes' tokens. The probability of a token is the sum over the entries that produce it, and the
entry that produced a token says where it came from.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from recombine.models.attention import MASKED


class Scores(NamedTuple):
    """What the decoder computes at some positions, before normalisation; their axes come after that of replicas."""

    write: Tensor  # (R, ..., V)
    own: Tensor  # (R, ..., O): scores of the O tokens generated so far; O = 0 without attention to them
    prototypes: Tensor  # (R, ..., K, S)
    gate: Tensor | None  # (R, ..., streams), for the gated mixture


def log_probabilities(scores: Scores, style: str) -> Tensor:
    """Returns log-probabilities (R, ..., V + O + K·S) of all entries, or (R, ..., V) of a network that does not copy.

    Of the styles of `Architecture.copying`, ``joint`` normalises write and copy scores together (SCAN, appendix A.3),
    and ``gated`` mixes one distribution per stream by a gate (section 3.2). In ``symbol`` and ``penalized``, each
    stream of copies is one more symbol to write, as in the authors' code for word forms.
    """
    if style == "none":
        return torch.log_softmax(scores.write, dim=-1)
    if style == "joint":
        return torch.log_softmax(torch.cat([scores.write, scores.own, scores.prototypes.flatten(-2)], dim=-1), dim=-1)
    gate = scores.gate  # (R, ..., 1 + copied streams), whose first place is that of writing
    assert gate is not None
    if style != "gated":
        gate = torch.cat([scores.write.logsumexp(-1, keepdim=True), gate], dim=-1)
    copies = scores.prototypes.unbind(-2)
    own = [scores.own] if gate.shape[-1] > 1 + len(copies) else []
    streams = [scores.write, *own, *copies]
    # A stream with nothing to offer (no output yet) gets no weight.
    empty = torch.stack([(stream > MASKED / 2).sum(-1) == 0 for stream in streams], dim=-1)
    weights = torch.log_softmax(gate.masked_fill(empty, MASKED), dim=-1)
    parts = [torch.log_softmax(s, dim=-1) + w.unsqueeze(-1) for s, w in zip(streams, weights.unbind(-1), strict=True)]
    return torch.cat(parts, dim=-1)


def target_log_probability(
    entries: Tensor, sources: Tensor, target: Tensor, *, may_write: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Sums, for every position, the entries (R, N, V + C) that produce the target token (R, N).

    `sources` says which token each of the C copy entries produces (R, N, C). Where `may_write` is False, the write
    entry is left out (write-dropout, appendix A.3). Returned are log-probabilities (R, N), and whether there is any
    entry at all that produces the token.
    """
    copies = sources.shape[-1]
    vocabulary = entries.shape[-1] - copies
    written = entries[..., :vocabulary].gather(-1, target.unsqueeze(-1)).squeeze(-1)
    possible = torch.ones_like(target, dtype=torch.bool) if may_write is None else may_write
    if may_write is not None:
        written = written.masked_fill(~may_write, MASKED)
    if not copies:
        return written, possible
    matches = sources == target.unsqueeze(-1)
    copied = entries[..., vocabulary:].masked_fill(~matches, MASKED).logsumexp(-1)
    # Tokens yet to be generated are masked: they match the target, but offer nothing to copy.
    return torch.logaddexp(written, copied), possible | (copied > MASKED / 2)


def cost_of_copying(entries: Tensor, copies: int) -> Tensor:
    """Returns log(1 + p(copy)) (R, N) of entries (R, N, V + copies), which training adds to a token's loss.

    The authors' code for word forms leaves the symbol for copying in the distribution, beside the tokens that it stands
    for, and normalises once more: a token that is only copied costs log 2 at least.
    """
    return entries[..., entries.shape[-1] - copies :].logsumexp(-1).exp().log1p()


def token_probabilities(entries: Tensor, sources: Tensor) -> Tensor:
    """Returns the distribution over tokens (R, N, V), given entries (R, N, V + C) whose copies are of `sources`."""
    copies = sources.shape[-1]
    vocabulary = entries.shape[-1] - copies
    probabilities = entries.exp()
    return probabilities[..., :vocabulary].scatter_add(-1, sources, probabilities[..., vocabulary:])


def best_entry(entries: Tensor, sources: Tensor, tokens: Tensor) -> Tensor:
    """Returns which entry (R, B) most probably produced the tokens (R, B), given one step's entries (R, B, V + C)."""
    vocabulary = entries.shape[-1] - sources.shape[-1]
    written = torch.arange(vocabulary, device=entries.device).expand(*sources.shape[:2], -1)
    produces = torch.cat([written, sources], dim=-1) == tokens.unsqueeze(-1)
    return entries.masked_fill(~produces, MASKED * 2).argmax(-1)
