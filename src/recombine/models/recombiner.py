"""The recombination network p(d | d'1..n) of section 3, and with x as its one prototype, the predictor p(y | x).

Read it beside section 3.2 and appendix A: `remember` encodes the prototypes, `step` is one step of the decoder, and
`entries` turns its scores into a distribution over ways of producing a token. Along a sequence that is known,
`fast.whole` computes the same for all steps at once.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from recombine.data.vocabulary import BOS, PAD, UNK
from recombine.models import copying
from recombine.models.architecture import Architecture
from recombine.models.attention import MASKED, Attention, Memory, lacking
from recombine.models.copying import Scores
from recombine.models.fast import whole
from recombine.models.latent import Latent
from recombine.models.layers import BiLSTM, Embedding, Linear, LSTMWeights
from recombine.models.noise import Drop, Noise, dropped
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
    """The prototypes, encoded: what stays the same over decoding steps."""

    memory: Memory | None
    tokens: Tensor  # (R, B, K·S)
    state: State

    def taken(self, places: Tensor) -> "Context":
        """Returns the context of the examples at places (R, B') of the batch, any number of times."""
        memory = None if self.memory is None else Memory(*(taken(x, places) for x in self.memory))
        return Context(memory, taken(self.tokens, places), State(*(taken(x, places) for x in self.state)))

    def repeated(self, times: int) -> "Context":
        """Returns the same with every example repeated, for so many hypotheses of each."""
        replicas, batch = self.tokens.shape[:2]
        places = torch.arange(batch, device=self.tokens.device).repeat_interleave(times)
        return self.taken(places.expand(replicas, -1))


class Masks(NamedTuple):
    """Where to drop at all positions (R, N, ·) of a sequence; None: nowhere."""

    embedding: Drop | None = None
    feed: Drop | None = None  # where it is fed back
    state: Drop | None = None
    write: Drop | None = None  # of the feed vector, before the output layer

    def at(self, positions: slice) -> "Masks":
        """Returns the masks of some positions."""
        return Masks(*(drop and drop.part(positions) for drop in self))


class Recombiner(nn.Module):
    """R replicas of a recombination network.

    Args:
        architecture: Its shape.
        replicas: R.
    """

    unwritable: Tensor

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
                states=a.encoder_states,
                query=hidden + a.embedding + a.latent + a.feed if a.attention else hidden,
                projection=a.attention,
                separate=a.separate_attention,
                reach=a.reach,
            )
        if a.prototypes or a.latent:
            self.encoder = BiLSTM(replicas, a.embedding, hidden, forget_bias=a.forget_bias)
        if a.own_attention:
            self.own = Linear(replicas, hidden, hidden, bias=False)
        inputs, states = a.embedding + a.latent, a.feed + hidden
        self.decoder = LSTMWeights(replicas, 1, inputs, states, hidden, forget_bias=a.forget_bias)
        contexts = self.attention.value_size * a.prototypes if a.prototypes else 0
        self.to_feed = Linear(replicas, hidden * (1 + a.own_attention) + contexts, a.feed)
        self.write = None if a.tied_output else Linear(replicas, a.feed, a.vocabulary)
        # Symbols for copying are scored as what is written is, by the feed vector.
        self.gate = Linear(replicas, hidden if a.copying == "gated" else a.feed, a.gates) if a.gates else None
        self.latent = self._latent() if a.latent else None
        # (R, 1, 1, V); which tokens are never written may depend on a replica's training data.
        self.register_buffer("unwritable", torch.zeros(replicas, 1, 1, a.vocabulary, dtype=torch.bool))
        self.unwritable[..., :NEVER_WRITTEN] = True

    def _latent(self) -> Latent:
        a = self.architecture
        inputs = a.hidden * (1 + a.prototypes)
        return Latent(
            self.replicas, size=a.latent, inputs=inputs, kappa=a.kappa, epsilon=a.epsilon, largest=a.largest_norm
        )

    def write_only(self, written: Tensor) -> None:
        """Lets each replica write nothing but the tokens (R, V) that are marked, if the architecture says so."""
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
        seen = lacking(prototypes, a.vocabulary) if a.only_lacking else None
        read = prototypes if seen is None else seen.tokens
        states, h, c = self._encode(self.embed_prototype, read.flatten(1, 2), noise, self.project)
        states, real = _split(states, batch), prototypes != PAD
        if seen is not None:  # back to the places that tokens are copied from
            states, real = states.gather(3, seen.places.unsqueeze(-1).expand_as(states)), seen.shown
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
        drop = self._drop(noise, self.architecture.dropout, packing, self.architecture.embedding)
        states, h, c = self.encoder(embed, sequences, drop, project)
        return states, h, c

    def _drop(self, noise: Noise | None, rate: float, packing: Packing, size: int) -> Drop | None:
        """Returns where to drop in training, at all positions."""
        return noise.drop(rate, packing, size) if noise and rate and self.training else None

    def _masks(self, noise: Noise | None, packing: Packing) -> Masks:
        """Draws where a decoder drops."""
        a = self.architecture
        embedding = self._drop(noise, a.dropout, packing, a.embedding)
        feed = self._drop(noise, a.dropout, packing, a.feed)
        state = noise.drop(a.state_dropout, packing, a.hidden) if noise and a.state_dropout else None
        write = self._drop(noise, a.feed_dropout, packing, a.feed)
        if a.feed_dropped_twice and write:
            feed = write.passed_on(feed, packing)
        return Masks(embedding, feed, state, write)

    def propose(self, prototypes: Tensor, target: Tensor, noise: Noise) -> Tensor:
        """Draws z (R, B, latent) from q(z | d, d'1..n) (appendix F)."""
        assert self.latent is not None
        _, final, _ = self._encode(self.embed, target, noise)
        finals = [final]
        if prototypes.shape[2]:
            _, h, _ = self._encode(self.embed_prototype, prototypes.flatten(1, 2), noise)
            finals.append(_split(h, prototypes.shape[1]).flatten(2))
        return self.latent.propose(torch.cat(finals, dim=-1), noise)

    def forward(
        self,
        prototypes: Tensor,
        target: Tensor,
        noise: Noise | None = None,
        z: Tensor | None = None,
        packing: Packing | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Scores target sequences, given prototypes (teacher forcing).

        Args:
            prototypes: Token ids (R, B, K, S), padded.
            target: Token ids (R, B, T), each ending in EOS, then padded.
            noise: Where dropout comes from; None: nothing is dropped. In evaluation mode only `state_dropout` acts.
            z: The latent variable (R, B, latent), if the network has one; None: drawn from the proposal.
            packing: Which rows each step has, all of whose tokens must be among them; None: all of them.

        Returns:
            Log-probabilities of the tokens (R, N), 0 at padding; and which of them count: real tokens that some entry
            could produce after write-dropout. Without a packing, (R, T, B) each.
        """
        if self.latent is not None and z is None:
            assert noise is not None
            z = self.propose(prototypes, target, noise)
        return self.score(self.remember(prototypes, noise), target, noise, z, packing)

    def score(
        self,
        context: Context,
        target: Tensor,
        noise: Noise | None = None,
        z: Tensor | None = None,
        packing: Packing | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Does the same, given prototypes that have been encoded."""
        a = self.architecture
        packed = packing or Packing.whole(target.shape[2], target.shape[1], target.device)
        tokens = packed.pack(target.transpose(1, 2))
        entries, sources = self._forced(context, target, packed, noise, z)
        may_write = None
        if noise and a.write_dropout and sources.shape[-1] and self.training:
            may_write = ~noise.drop(a.write_dropout, packed, 1).lost.squeeze(-1)
        log_p, possible = copying.target_log_probability(entries, sources, tokens, may_write=may_write)
        if a.copying == "reluctant" and sources.shape[-1] and self.training:
            log_p = log_p - copying.cost_of_copying(entries, sources.shape[-1])
        counts = possible & (tokens != PAD)
        log_p = log_p.masked_fill(~counts, 0)
        return (log_p, counts) if packing else (packed.unpack(log_p), packed.unpack(counts))

    def predicted(self, prototypes: Tensor, target: Tensor) -> Tensor:
        """Returns the most probable token (R, B, T) at each position, given the true ones before it.

        Greedy decoding gives the target exactly if this does.
        """
        packing = Packing.whole(target.shape[2], target.shape[1], target.device)
        entries, sources = self._forced(self.remember(prototypes), target, packing)
        return packing.unpack(copying.token_probabilities(entries, sources).argmax(-1)).transpose(1, 2)

    def _forced(
        self, context: Context, target: Tensor, packing: Packing, noise: Noise | None = None, z: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Decodes along a target (R, B, T): entries (R, N, V + C), and what the copy entries produce (R, N, C)."""
        previous = torch.cat([torch.full_like(target[..., :1], BOS), target[..., :-1]], dim=-1).transpose(1, 2)
        scores = whole.all_steps(self, context, packing.pack(previous), packing, self._masks(noise, packing), z)
        own = target[..., : packing.steps - 1] if self.architecture.own_attention else context.tokens[..., :0]
        return self.entries(scores), self.sources(context, own)[:, packing.rows]

    def decode(
        self,
        context: Context,
        state: State,
        previous: Tensor,
        *,
        noise: Noise | None = None,
        z: Tensor | None = None,
        start: int = 0,
    ) -> tuple[State, Scores]:
        """Runs the decoder over the previous tokens (R, T, B), T ≥ 1, from a state; `start` is the first step's index.

        Returns:
            The state after the last step, and the scores of all steps (R, T, B, ...).
        """
        packing = Packing.whole(previous.shape[1], previous.shape[2], previous.device)
        return self.decode_with(self._masks(noise, packing), context, state, previous, z=z, start=start)

    def decode_with(
        self,
        masks: Masks,
        context: Context,
        state: State,
        previous: Tensor,
        *,
        z: Tensor | None = None,
        start: int = 0,
    ) -> tuple[State, Scores]:
        """Does the same, given where to drop."""
        batch, steps = previous.shape[2], []
        for t in range(previous.shape[1]):
            now = masks.at(slice(t * batch, (t + 1) * batch))
            state, scores = self.step(context, state, previous[:, t], now, z=z, index=start + t)
            steps.append(scores)
        longest = steps[-1].own.shape[-1]  # histories grow; what an earlier step has not generated yet is masked
        padded = [s._replace(own=nn.functional.pad(s.own, (0, longest - s.own.shape[-1]), value=MASKED)) for s in steps]
        write, own, prototypes, gate = zip(*padded, strict=True)
        gates = None if self.gate is None else torch.stack(gate, dim=1)
        return state, Scores(torch.stack(write, 1), torch.stack(own, 1), torch.stack(prototypes, 1), gates)

    def step(
        self,
        context: Context,
        state: State,
        previous: Tensor,
        masks: Masks,
        *,
        z: Tensor | None = None,
        index: int = 0,
    ) -> tuple[State, Scores]:
        """Does one step, after the previous tokens (R, B) (appendix A.2)."""
        x = dropped(self.embed(previous), masks.embedding)  # W_d d^(t-1)
        x = x if z is None else torch.cat([x, z.to(x.dtype)], dim=-1)
        feed = dropped(state.feed, masks.feed)
        h, c = self.decoder.cell(x, torch.cat([feed, state.h], dim=-1), state.c)  # from input^t = [x, feed]
        own, scores = (
            c.new_zeros(*h.shape[:2], 0),
            c.new_zeros(*h.shape[:2], 0, 0),
        )  # of nothing, where there is nothing
        history = state.history
        h_pre = [dropped(h, masks.state)]
        if self.architecture.own_attention:
            own = precise((history @ self.own(h).unsqueeze(-1)).squeeze(-1))
            h_pre.append((torch.softmax(own, dim=-1).to(h.dtype).unsqueeze(2) @ history).squeeze(2))
            history = torch.cat([history, h.unsqueeze(2)], dim=2)
        if context.memory is not None:
            query = torch.cat([h, x, feed], dim=-1) if self.architecture.attention else h
            scores, contexts = self.attention(query, context.memory, index)
            h_pre.append(contexts)
        feed = self.to_feed(torch.cat(h_pre, dim=-1))
        return State(h, c, feed, history), self.scores(dropped(feed, masks.write), h, own, scores)

    def scores(self, feed: Tensor, h: Tensor, own: Tensor, prototypes: Tensor) -> Scores:
        """Returns the scores of writing and copying, given feed vectors (R, ·, feed) and states (R, ·, H)."""
        write = self.embed.scores(feed) if self.write is None else self.write(feed)
        write = precise(write).masked_fill(self.unwritable.squeeze(1), MASKED)
        if self.gate is None:
            return Scores(write, own, prototypes, None)
        return Scores(write, own, prototypes, precise(self.gate(h if self.architecture.copying == "gated" else feed)))

    def entries(self, scores: Scores) -> Tensor:
        """Returns log-probabilities (..., V + C) of writing each token and of copying from each source."""
        normalise = {
            "joint": copying.joint,
            "gated": copying.gated,
            "symbol": copying.by_symbol,
            "reluctant": copying.by_symbol,
            "none": copying.write_only,
        }
        return normalise[self.architecture.copying](scores)

    def sources(self, context: Context, own: Tensor) -> Tensor:
        """Returns the tokens (R, B, C) that the copy entries produce, given the tokens generated so far (R, B, O)."""
        if self.architecture.copying == "none":
            return context.tokens[..., :0]
        return torch.cat([own, context.tokens], dim=-1)


def precise(x: Tensor) -> Tensor:
    """Returns x in single precision at least: cell states and probabilities add up small things."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _split(x: Tensor, batch: int) -> Tensor:
    """Splits the axis of all prototypes of a batch: (R, B·K, ...) to (R, B, K, ...)."""
    return x.reshape(x.shape[0], batch, -1, *x.shape[2:])
