"""The recombination network p(d | d'1..n) of section 3; with x as its one prototype, the predictor p(y | x).

Read it beside section 3.2 and appendix A: `remember` encodes the prototypes, `step` is one step of the decoder, and
`entries` turns its scores into a distribution over ways of producing a token. `scoring` runs it along whole sequences,
`fast` computes the same for all steps of a known sequence at once.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from recombine.data.vocabulary import PAD, UNK
from recombine.models import copying
from recombine.models.architecture import Architecture
from recombine.models.attention import MASKED, Attention, Memory, OwnAttention, hide_shared_tokens
from recombine.models.copying import Scores
from recombine.models.latent import Latent
from recombine.models.layers import BiLSTM, Embedding, Linear, LSTMWeights, precise
from recombine.models.noise import Masks, Noise, drop_in_training, dropped
from recombine.models.packing import Packing, taken

NEVER_WRITTEN = UNK + 1
"""Ids below this are never produced."""


class State(NamedTuple):
    """The decoder between two steps."""

    h: Tensor  # (R, B, H)
    c: Tensor  # (R, B, H)
    feed: Tensor  # (R, B, feed)
    history: Tensor  # (R, B, t, H): the states that predicted the tokens so far, if the decoder attends to its output


class Context(NamedTuple):
    """The encoded prototypes, which stay the same over decoding steps, and the first state."""

    memory: Memory | None
    tokens: Tensor  # (R, B, K·S)
    state: State

    def taken(self, places: Tensor) -> "Context":
        """Returns the context of the examples at places (R, B') of the batch, any number of times."""
        memory = None if self.memory is None else Memory(*(taken(x, places) for x in self.memory))
        return Context(memory, taken(self.tokens, places), State(*(taken(x, places) for x in self.state)))


class Recombiner(nn.Module):
    """R replicas of a recombination network."""

    unwritable: Tensor  # (R, 1, 1, V); which tokens are never written may depend on a replica's training data

    def __init__(self, architecture: Architecture, replicas: int = 1) -> None:
        super().__init__()
        a = self.architecture = architecture
        self.replicas = replicas
        hidden = a.hidden
        self.embed = Embedding(replicas, a.vocabulary, a.embedding, tied=a.tied_output)
        if a.prototypes:
            own = None if a.shared_embedding else Embedding(replicas, a.vocabulary, a.embedding, tied=False)
            self.embed_prototype = self.embed if own is None else own
            self.project = Linear(replicas, 2 * hidden, hidden) if a.project_encoder else None
            self.attention = Attention(
                replicas,
                prototypes=a.prototypes,
                states=hidden if a.project_encoder else 2 * hidden,
                query=hidden + a.embedding + a.latent + a.feed if a.attention else hidden,
                projection=a.attention,
                reach=a.reach,
            )
        if a.prototypes or a.latent:
            self.encoder = BiLSTM(replicas, a.embedding, hidden, forget_bias=a.forget_bias)
        if a.own_attention:
            self.own = OwnAttention(replicas, hidden, hidden, bias=False)
        inputs, states = a.embedding + a.latent, a.feed + hidden
        self.decoder = LSTMWeights(replicas, 1, inputs, states, hidden, forget_bias=a.forget_bias)
        contexts = self.attention.value_size * a.prototypes if a.prototypes else 0
        self.to_feed = Linear(replicas, hidden * (1 + a.own_attention) + contexts, a.feed)
        self.write = None if a.tied_output else Linear(replicas, a.feed, a.vocabulary)
        # Symbols for copying are scored as what is written is, by the feed vector.
        self.gate = Linear(replicas, hidden if a.copying == "gated" else a.feed, a.gates) if a.gates else None
        self.latent = Latent(replicas, a) if a.latent else None
        self.register_buffer("unwritable", torch.zeros(replicas, 1, 1, a.vocabulary, dtype=torch.bool))
        self.unwritable[..., :NEVER_WRITTEN] = True

    def write_only(self, written: Tensor) -> None:
        """Lets each replica write only the tokens that are marked (R, V), if the architecture says so."""
        if self.architecture.write_seen_only:
            self.unwritable |= ~written.view_as(self.unwritable)

    def remember(self, prototypes: Tensor, noise: Noise | None = None) -> Context:
        """Encodes prototypes (R, B, K, S), padded: h_proto = proj(BiLSTM(W_e d'_k)) (appendix A.1)."""
        a = self.architecture
        replicas, batch, count, _ = prototypes.shape
        zeros = self.embed.weight.new_zeros(replicas, batch, a.hidden)
        start = State(zeros, precise(zeros), zeros.new_zeros(replicas, batch, a.feed), zeros.unsqueeze(2)[:, :, :0])
        if not count:
            return Context(None, prototypes.flatten(2), start)
        shortened = hide_shared_tokens(prototypes, a.vocabulary) if a.hide_shared_tokens else None
        read = prototypes if shortened is None else shortened.tokens
        states, h, c = self._encode(self.embed_prototype, read.flatten(1, 2), noise, self.project)
        states, real = _split(states, batch), prototypes != PAD
        if shortened is not None:  # back to the places that tokens are copied from
            states, real = states.gather(3, shortened.places.unsqueeze(-1).expand_as(states)), shortened.shown
        memory = self.attention.remember(states, real)
        if a.start_from_encoder:
            h, c = (_split(final, batch).mean(2) for final in (h, c))
            start = start._replace(h=h, c=c)
        return Context(memory, prototypes.flatten(2), start)

    def _encode(
        self, embed: Embedding, sequences: Tensor, noise: Noise | None, project: Linear | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Encodes sequences (R, N, S): states (R, N, S, 2H, or as projected), final h and c (R, N, H)."""
        packing = Packing.whole(sequences.shape[2], sequences.shape[1], sequences.device)
        a = self.architecture
        drop = drop_in_training(noise, a.dropout, packing, a.embedding) if self.training else None
        states, h, c = self.encoder(embed, sequences, drop, project)
        return states, h, c

    def propose(self, prototypes: Tensor, target: Tensor, noise: Noise) -> Tensor:
        """Draws z (R, B, latent) from q(z | d, d'1..n) (appendix F)."""
        assert self.latent is not None
        _, final, _ = self._encode(self.embed, target, noise)
        finals = [final]
        if prototypes.shape[2]:
            _, h, _ = self._encode(self.embed_prototype, prototypes.flatten(1, 2), noise)
            finals.append(_split(h, prototypes.shape[1]).flatten(2))
        return self.latent.propose(torch.cat(finals, dim=-1), noise)

    def step(
        self, context: Context, state: State, previous: Tensor, masks: Masks, *, z: Tensor | None = None, index: int = 0
    ) -> tuple[State, Scores]:
        """Does one step of the decoder, the one with this index, after the previous tokens (R, B) (appendix A.2)."""
        x = dropped(self.embed(previous), masks.embedding)  # W_d d^(t-1)
        x = x if z is None else torch.cat([x, z.to(x.dtype)], dim=-1)
        feed = dropped(state.feed, masks.feed)  # input^t = [x, feed]
        h, c = self.decoder.cell(x, torch.cat([feed, state.h], dim=-1), state.c)  # h_out
        query = torch.cat([h, x, feed], dim=-1) if self.architecture.attention else h
        own, from_own, history = self._attend_to_own(h, state.history)
        prototypes, from_prototypes = self._attend(query, context.memory, index)
        h_pre = torch.cat([dropped(h, masks.state), from_own, from_prototypes], dim=-1)
        feed = self.to_feed(h_pre)
        return State(h, c, feed, history), self.scores(dropped(feed, masks.write), h, own, prototypes)

    def _attend_to_own(self, h: Tensor, history: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Returns scores of own states before normalisation, what is retrieved (R, B, H), and the longer history."""
        if not self.architecture.own_attention:
            return precise(h[..., :0]), h[..., :0], history
        return *self.own.attend(h, history), torch.cat([history, h.unsqueeze(2)], dim=2)

    def _attend(self, query: Tensor, memory: Memory | None, index: int) -> tuple[Tensor, Tensor]:
        """Returns scores of prototypes before normalisation (R, B, K, S), and what is retrieved, side by side."""
        if memory is None:
            return precise(query[..., :0]).unsqueeze(-1), query[..., :0]
        scores, retrieved = self.attention(query, memory, index)
        return scores, retrieved

    def scores(self, feed: Tensor, h: Tensor, own: Tensor, prototypes: Tensor) -> Scores:
        """Returns the scores of writing and copying, given feed vectors (R, ·, feed) and states (R, ·, H)."""
        write = self.embed.scores(feed) if self.write is None else self.write(feed)
        write = precise(write).masked_fill(self.unwritable.squeeze(1), MASKED)
        if self.gate is None:
            return Scores(write, own, prototypes, None)
        return Scores(write, own, prototypes, precise(self.gate(h if self.architecture.copying == "gated" else feed)))

    def entries(self, scores: Scores) -> Tensor:
        """Returns log-probabilities (..., V + C) of writing each token and of copying from each source."""
        return copying.log_probabilities(scores, self.architecture.copying)

    def sources(self, context: Context, own: Tensor) -> Tensor:
        """Returns the tokens (R, B, C) that the copy entries produce, given the tokens generated so far (R, B, O)."""
        if self.architecture.copying == "none":
            return context.tokens[..., :0]
        return torch.cat([own, context.tokens], dim=-1)


def _split(x: Tensor, batch: int) -> Tensor:
    """Splits the axis of all prototypes of a batch: (R, B·K, ...) to (R, B, K, ...)."""
    return x.reshape(x.shape[0], batch, -1, *x.shape[2:])
