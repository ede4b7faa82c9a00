"""The recombination network p(d | d'1..n) of section 3, and with x as its one prototype, the predictor p(y | x).

Read it beside section 3.2 and appendix A: `remember` encodes the prototypes, `_step` is one step of the decoder up to
the feed vector, `_scores` are those of writing and copying, `entries` turns them into a distribution over ways of
producing a token.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from recombine.data.vocabulary import BOS, PAD, UNK
from recombine.models import copying
from recombine.models.architecture import Architecture
from recombine.models.attention import MASKED, Attention, Memory
from recombine.models.copying import Scores
from recombine.models.fusion import Drop, Gates, Hoisted, OwnOutput, dropped, join, stacked
from recombine.models.lacking import lacking
from recombine.models.latent import Latent
from recombine.models.layers import BiLSTM, Embedding, Linear, LSTMWeights
from recombine.models.noise import Noise
from recombine.models.rows import taken

NEVER_WRITTEN = UNK + 1
"""Ids below this are never produced."""


class Context(NamedTuple):
    """The prototypes, encoded: what stays the same over decoding steps."""

    memory: Memory | None
    tokens: Tensor  # (R, B, K·S)
    state: "State"

    def taken(self, places: Tensor) -> "Context":
        """Returns the context of the examples at places (R, B') of the batch, any number of times."""
        replicas, batch = self.tokens.shape[:2]
        rows = (places + batch * torch.arange(replicas, device=places.device).unsqueeze(1)).flatten()
        memory = None if self.memory is None else self.memory.taken(rows)
        return Context(memory, taken(self.tokens, places), State(*(taken(x, places) for x in self.state)))

    def repeated(self, times: int) -> "Context":
        """Returns the same with every example repeated, for so many hypotheses of each."""
        replicas, batch = self.tokens.shape[:2]
        places = torch.arange(batch, device=self.tokens.device).repeat_interleave(times)
        return self.taken(places.expand(replicas, -1))


class State(NamedTuple):
    """The decoder between two steps."""

    h: Tensor  # (R, B, H)
    c: Tensor  # (R, B, H)
    feed: Tensor  # (R, B, feed)
    history: Tensor  # (R, B, t, H): the states that predicted the tokens so far, if the decoder attends to its output


class Step(NamedTuple):
    """What one decoding step computes."""

    fed: Tensor  # (R, B, feed): the feed vector that it was given
    h: Tensor  # (R, B, H)
    own: Tensor  # (R, B, t)
    prototypes: Tensor  # (R, B, K, S)


class Loop(NamedTuple):
    """What the decoder's steps share: all that is known before the first of them, and room for what they join."""

    x: tuple[Tensor, ...]  # of each step, [W_d d^(t-1), z] (R, B, E + latent)
    gates: Gates  # what x adds to them
    from_state: Hoisted  # from [feed, h] to the gates
    feed_and_h: Tensor  # (R, T, B, feed + H)
    to_feed: Hoisted  # from h_pre
    feed: Tensor  # room for what it gives (R, T, B, feed)
    h_pre: Tensor  # (R, T, B, H + what attention retrieves)
    own: OwnOutput | None  # if the decoder attends to it
    own_query: Callable[[Tensor], Tensor] | None  # from h
    feed_drops: Sequence[Drop | None]  # of each step
    state_drops: Sequence[Drop | None]
    start: int  # index of the first step


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
        start = State(zeros, _precise(zeros), zeros.new_zeros(replicas, batch, a.feed), zeros.unsqueeze(2)[:, :, :0])
        if not count:
            return Context(None, prototypes.flatten(2), start)
        seen = lacking(prototypes, a.vocabulary) if a.only_lacking else None
        read = prototypes if seen is None else seen.tokens
        states, h, c = self._encode(self.embed_prototype, read.flatten(1, 2), noise)
        if self.project is not None:
            states = self.project(states)
        states, real = _split(states, batch), prototypes != PAD
        if seen is not None:  # back to the places that tokens are copied from
            states, real = states.gather(3, seen.places.unsqueeze(-1).expand_as(states)), seen.shown
        memory = self.attention.remember(states, real)
        if a.start_from_encoder:
            h, c = (_split(final, batch).mean(2) for final in (h, c))
            start = start._replace(h=h, c=c)
        return Context(memory, prototypes.flatten(2), start)

    def _encode(self, embed: Embedding, sequences: Tensor, noise: Noise | None) -> tuple[Tensor, Tensor, Tensor]:
        """Encodes sequences (R, N, S): states (R, N, S, 2H), final h and c (R, N, H)."""
        x = self._dropped(embed(sequences.transpose(1, 2)), self.architecture.dropout, noise)
        lengths = (sequences != PAD).sum(-1).clamp(min=1)
        states, h, c = self.encoder(x, lengths)
        return states, h, c

    def _dropped(self, x: Tensor, rate: float, noise: Noise | None) -> Tensor:
        """Drops some of x (R, T, B, size) in training."""
        return _all_steps(x, self._drop(noise, rate, *x.shape[1:]))

    def _drop(self, noise: Noise | None, rate: float, *shape: int) -> Drop | None:
        """Returns where to drop in training, for so many steps and whatever axes follow them."""
        return noise.drop(rate, *shape) if noise and rate and self.training else None

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
        self, prototypes: Tensor, target: Tensor, noise: Noise | None = None, z: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Scores target sequences, given prototypes (teacher forcing).

        Args:
            prototypes: Token ids (R, B, K, S), padded.
            target: Token ids (R, B, T), each ending in EOS, then padded.
            noise: Where dropout comes from; None: nothing is dropped. In evaluation mode only `state_dropout` acts.
            z: The latent variable (R, B, latent), if the network has one; None: drawn from the proposal.

        Returns:
            Log-probabilities of the tokens (R, T, B), 0 at padding; and which of them count: real tokens that some
            entry could produce after write-dropout.
        """
        if self.latent is not None and z is None:
            assert noise is not None
            z = self.propose(prototypes, target, noise)
        return self.score(self.remember(prototypes, noise), target, noise, z)

    def score(
        self, context: Context, target: Tensor, noise: Noise | None = None, z: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Does the same, given prototypes that have been encoded."""
        a = self.architecture
        target = target.transpose(1, 2)  # (R, T, B)
        entries, sources = self._forced(context, target, noise, z)
        may_write = None
        if noise and a.write_dropout and sources.shape[-1] and self.training:
            may_write = ~noise.dropped(a.write_dropout, *target.shape[1:])
        log_p, possible = copying.target_log_probability(entries, sources, target, may_write=may_write)
        if a.copying == "reluctant" and sources.shape[-1] and self.training:
            log_p = log_p - copying.cost_of_copying(entries, sources.shape[-1])
        counts = possible & (target != PAD)
        return log_p.masked_fill(~counts, 0), counts

    def predicted(self, prototypes: Tensor, target: Tensor) -> Tensor:
        """Returns the most probable token (R, B, T) at each position, given the true ones before it.

        Greedy decoding gives the target exactly if this does.
        """
        entries, sources = self._forced(self.remember(prototypes), target.transpose(1, 2))
        steps, batch = entries.shape[1:3]
        each_step = sources.unsqueeze(1).expand(-1, steps, -1, -1).flatten(1, 2)
        p = copying.token_probabilities(entries.flatten(1, 2), each_step)
        return p.argmax(-1).view(-1, steps, batch).transpose(1, 2)

    def _forced(
        self, context: Context, target: Tensor, noise: Noise | None = None, z: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Decodes along a target (R, T, B): entries (R, T, B, V + C), and what the copy entries produce (R, B, C)."""
        previous = torch.cat([torch.full_like(target[:, :1], BOS), target[:, :-1]], dim=1)
        _, scores = self.decode(context, context.state, previous, noise=noise, z=z)
        own = target[:, :-1].transpose(1, 2) if self.architecture.own_attention else context.tokens[..., :0]
        return self.entries(scores), self.sources(context, own)

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
            The state after the last step, and the scores of all steps.
        """
        a = self.architecture
        steps, batch = previous.shape[1:]
        x = self._dropped(self.embed(previous), a.dropout, noise)  # (R, T, B, E)
        if z is not None:
            x = torch.cat([x, z.to(x.dtype).unsqueeze(1).expand(-1, steps, -1, -1)], dim=-1)
        feed_drop = self._drop(noise, a.dropout, steps, batch, a.feed)
        state_drop = noise.drop(a.state_dropout, steps, batch, a.hidden) if noise and a.state_dropout else None
        write_drop = self._drop(noise, a.feed_dropout, steps, batch, a.feed)
        if a.feed_dropped_twice and write_drop:
            feed_drop = write_drop.passed_on(feed_drop)
        to_feed = self.to_feed.hoisted()
        loop = Loop(
            x=x.unbind(1),  # not indexed: the gradient of an index is a tensor as large as all steps together
            gates=self.decoder.gates(x),
            from_state=self.decoder.from_state(),
            feed_and_h=x.new_empty(*x.shape[:3], a.feed + a.hidden),
            to_feed=to_feed,
            feed=to_feed.room(steps, batch),
            h_pre=x.new_empty(*x.shape[:3], self.to_feed.weight.shape[1]),
            own=OwnOutput(state.history, steps) if a.own_attention else None,
            own_query=self.own.hoisted() if a.own_attention else None,
            feed_drops=_each(feed_drop, steps),
            state_drops=_each(state_drop, steps),
            start=start,
        )
        outputs = []
        for t in range(steps):
            state, step = self._step(context, state, loop, t)
            outputs.append(step)
        # What a step was given is what the one before it writes from.
        feed = stacked([*(step.fed for step in outputs[1:]), state.feed])
        return state, self._scores(outputs, _all_steps(feed, write_drop))

    def _step(self, context: Context, state: State, loop: Loop, t: int) -> tuple[State, Step]:
        """Does one step: h_out from input^t, then what its attention retrieves, h_pre and feed (appendix A.2)."""
        feed_and_h, feed, fed = join(state.feed, loop.feed_drops[t], state.h, out=loop.feed_and_h[:, t])
        # The same h for each of its uses, whose gradients a kernel then adds up.
        (h, h_for_query, h_for_feed), c = loop.gates.cell(t, loop.from_state(feed_and_h), state.c, uses=3)
        history, own, scores = state.history, state.history[..., 0], c.new_zeros(*h.shape[:2], 0, 0)
        retrieved = []
        if loop.own is not None and loop.own_query is not None:
            own, own_context = loop.own.attend(loop.own_query(h))
            retrieved.append(own_context)
            loop.own.add(h)
            history = loop.own.states
        if context.memory is not None:
            query = h_for_query
            if self.architecture.attention:  # query^t = [h_out, input^t] (SCAN)
                query = torch.cat([h_for_query, loop.x[t], feed], dim=-1)
            scores, contexts = self.attention(query, context.memory, loop.start + t)
            retrieved.append(contexts)
        h_pre = join(h_for_feed, loop.state_drops[t], *retrieved, out=loop.h_pre[:, t]).all
        return State(h, c, loop.to_feed(h_pre, out=loop.feed[:, t]), history), Step(fed, h, own, scores)

    def _scores(self, steps: list[Step], feed: Tensor) -> Scores:
        """Returns the scores of all steps, given the feed vectors (R, T, B, feed) that they write from."""
        write = self.embed.scores(feed) if self.write is None else self.write(feed)
        write = _precise(write).masked_fill(self.unwritable, MASKED)
        longest = steps[-1].own.shape[-1]  # histories grow; what an earlier step has not generated yet is masked
        own = torch.stack(
            [nn.functional.pad(step.own, (0, longest - step.own.shape[-1]), value=MASKED) for step in steps], dim=1
        )
        gate = None
        if self.gate is not None:
            gated = self.architecture.copying == "gated"
            gate = _precise(self.gate(torch.stack([step.h for step in steps], dim=1) if gated else feed))
        return Scores(write, own, torch.stack([step.prototypes for step in steps], dim=1), gate)

    def entries(self, scores: Scores) -> Tensor:
        """Returns log-probabilities (R, T, B, V + C) of writing each token and of copying from each source."""
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


def _precise(x: Tensor) -> Tensor:
    """Returns x in single precision at least: cell states and probabilities add up small things."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _split(x: Tensor, batch: int) -> Tensor:
    """Splits the axis of all prototypes of a batch: (R, B·K, ...) to (R, B, K, ...)."""
    return x.reshape(x.shape[0], batch, -1, *x.shape[2:])


def _all_steps(x: Tensor, drop: Drop | None) -> Tensor:
    """Drops some of x (R, T, B, size)."""
    return x if drop is None else dropped(x.flatten(1, 2), drop._replace(bits=drop.bits.flatten(1, 2))).view_as(x)


def _each(drop: Drop | None, steps: int) -> Sequence[Drop | None]:
    """Returns where to drop at each step; None: nowhere."""
    return [None] * steps if drop is None else drop.steps()
