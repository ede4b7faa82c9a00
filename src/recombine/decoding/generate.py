"""From a network to token ids: greedy, temperature and mixed sampling, and beam search, for a population at once."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from recombine.data.vocabulary import BOS, EOS, PAD, SEP
from recombine.models import copying
from recombine.models.device import fast_products
from recombine.models.noise import Masks, Noise
from recombine.models.packing import Packing, taken
from recombine.models.recombiner import Recombiner, State
from recombine.models.scoring import decode, shifted

Strategy = Literal["greedy", "temperature", "mixed", "beam"]

LOOK, NARROWER, ROWS = 8, 0.75, 16
"""Every `LOOK` steps it is seen how many sequences go on. If at most the share `NARROWER`, the others are left behind;
how many stay is rounded up to a multiple of `ROWS`, so that kernels see few shapes."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """How tokens are chosen.

    Attributes:
        strategy: ``greedy``; ``temperature``: every token is drawn; ``mixed``: tokens of x are drawn, those of y are
            the most probable (appendix B); ``beam``: the most probable of `width` hypotheses.
        temperature: Probabilities are raised to 1/T before drawing.
        temperatures: One for each replica, instead of one for all.
        width: Hypotheses of a beam.
        dropout: Whether the network's `state_dropout` acts, as in the paper, where it makes a beam's samples differ;
            without it, more of them are right.
    """

    strategy: Strategy = "greedy"
    temperature: float = 1.0
    temperatures: tuple[float, ...] | None = None
    width: int = 4
    dropout: bool = True


@dataclass(frozen=True, slots=True)
class Generated:
    """Sequences of a population.

    Attributes:
        tokens: Token ids (R, B, T), each up to EOS, then PAD; a sequence without EOS did not end in time.
        entries: The entry that most probably produced each token (R, B, T): ids below the vocabulary's size are
            written, then come the O own tokens, then the prototypes' tokens.
        own: O at each step (T,): how many own tokens the copy entries counted.
        log_probability: Of each sequence, at temperature 1 (R, B); if it goes on from a prefix, given that.
        output_log_probability: Of what comes after ▷, given what comes before it (R, B); 0 where there is no ▷.
        least_log_probability: Of the least probable token after ▷, the end included (R, B); 0 where there is no ▷.
        stopped: Which sequences were left at ▷ since no token before it was worth going on for (R, B).
    """

    tokens: Tensor
    entries: Tensor
    own: list[int]
    log_probability: Tensor
    output_log_probability: Tensor
    least_log_probability: Tensor
    stopped: Tensor


@torch.no_grad()
def generate(
    model: Recombiner,
    prototypes: Tensor,
    steps: int,
    decoding: Decoding,
    noise: Noise | None = None,
    *,
    prefix: Tensor | None = None,
    skip_without: Tensor | None = None,
) -> Generated:
    """Generates one sequence from each tuple of prototypes.

    Args:
        model: In evaluation mode.
        prototypes: Token ids (R, B, K, S), padded.
        steps: The most tokens a sequence may have.
        decoding: How tokens are chosen.
        noise: For drawing tokens, z, and dropout that acts at test time; None: as if there were none of them.
        prefix: Token ids (R, B, P), all of one length P ≥ 1, that every sequence has to begin with; what is generated
            comes after them and does not hold them.
        skip_without: Ids (R, V) of which a sequence must have one before ▷; without, it is left at ▷, unless it goes on
            from a prefix. A beam leaves none.
    """
    with fast_products():
        run = _Run(model, prototypes, noise, decoding, prefix)
        return _beam(run, steps) if decoding.strategy == "beam" else _draw(run, steps, noise, skip_without)


def _draw(run: "_Run", steps: int, noise: Noise | None, skip_without: Tensor | None) -> Generated:
    """Chooses one token after the other, and leaves sequences that have ended behind: the same, but for rounding."""
    decoding, (replicas, batch), device = run.decoding, run.previous.shape, run.previous.device
    tokens = torch.full((replicas, batch, steps), PAD, device=device)
    entries, own = torch.zeros_like(tokens), []
    total, of_y, least = torch.zeros(3, replicas, batch, device=device)
    left = torch.zeros_like(total, dtype=torch.bool)
    temperature = total.new_tensor(decoding.temperatures or [decoding.temperature]).view(-1, 1, 1)
    # Of the sequences that go on: their places in the batch, and whether the end, ▷ and a wanted token have come.
    places = torch.arange(batch, device=device).expand(replicas, -1)
    ended, in_y = torch.zeros_like(left), run.begin_in_y
    wanted = torch.full_like(ended, skip_without is None or run.index > 0)
    for step in range(steps):
        log_entries, sources = run.step()
        p = copying.token_probabilities(log_entries, sources)
        token = p.argmax(-1)
        if decoding.strategy != "greedy":
            assert noise is not None
            uniform = noise.among(batch, places).uniform(*p.shape[1:])
            gumbel = -torch.log(-torch.log(uniform.clamp(1e-20, 1 - 1e-7)))
            drawn = (p.log() / temperature + gumbel).argmax(-1)  # log 0 is never the largest
            token = torch.where(in_y, token, drawn) if decoding.strategy == "mixed" else drawn
        token = token.masked_fill(ended, PAD)
        log_p = p.gather(-1, token.unsqueeze(-1)).squeeze(-1).clamp(min=1e-30).log().masked_fill(ended, 0).to(total)
        if skip_without is not None:
            wanted |= skip_without.gather(1, token)
        stopped = (token == SEP) & ~in_y & ~wanted
        own.append(run.own.shape[-1])
        tokens[..., step].scatter_(1, places, token)
        entries[..., step].scatter_(1, places, copying.best_entry(log_entries, sources, token))
        total.scatter_add_(1, places, log_p)
        gained = log_p.masked_fill(~in_y, 0)
        of_y.scatter_add_(1, places, gained)
        least.scatter_reduce_(1, places, gained, "amin")
        left.scatter_(1, places, left.gather(1, places) | stopped)
        in_y |= token == SEP
        ended |= (token == EOS) | stopped
        going_on = int((~ended).sum(1).max()) if step % LOOK == LOOK - 1 else batch
        if not going_on:
            break
        run.advance(token)
        if (room := -(-going_on // ROWS) * ROWS) <= NARROWER * ended.shape[1]:
            rows = ended.byte().argsort(dim=1, stable=True)[:, :room]
            places, ended, in_y, wanted = (each.gather(1, rows) for each in (places, ended, in_y, wanted))
            run.keep(rows, None if run.noise is None else run.noise.among(batch, places))
    return Generated(tokens[..., : len(own)], entries[..., : len(own)], own, total, of_y, least, left)


class _Run:
    """A decoder on its way: the context, the state, the tokens so far; as many sequences a tuple as a beam is wide."""

    def __init__(
        self, model: Recombiner, prototypes: Tensor, noise: Noise | None, decoding: Decoding, prefix: Tensor | None
    ) -> None:
        self.model, self.decoding, self.noise, self.z = model, decoding, noise if decoding.dropout else None, None
        width = decoding.width if decoding.strategy == "beam" else 1
        if model.latent is not None:
            assert noise is not None
            self.z = model.latent.prior(prototypes.shape[1], noise).repeat_interleave(width, dim=1)
        self.context = model.remember(prototypes)
        if width > 1:
            places = torch.arange(prototypes.shape[1], device=prototypes.device).repeat_interleave(width)
            self.context = self.context.taken(places.expand(len(prototypes), -1))
        self.state: State = self.context.state
        replicas, batch = self.context.tokens.shape[:2]
        self.previous = prototypes.new_full((replicas, batch), BOS)
        self.own = prototypes.new_empty(replicas, batch, 0)
        self.begin_in_y = torch.zeros_like(self.previous, dtype=torch.bool)  # which sequences already have their ▷
        self.index = 0
        if prefix is not None:
            prefix = prefix.repeat_interleave(width, dim=1)
            self.begin_in_y = (prefix == SEP).any(-1)
            self.index = prefix.shape[-1]
            forced, masks = shifted(prefix).transpose(1, 2), self._masks(self.index)
            self.state, _ = decode(model, self.context, self.state, forced, masks, z=self.z)
            self.previous = prefix[..., -1]
            self.own = prefix if model.architecture.own_attention else self.own

    def _masks(self, steps: int) -> Masks:
        packing = Packing.whole(steps, self.previous.shape[1], self.previous.device)
        return Masks.draw(self.model.architecture, self.noise, packing, training=self.model.training)

    def step(self) -> tuple[Tensor, Tensor]:
        """Returns the next token's entries (R, B, V + C) and the copy entries' tokens (R, B, C)."""
        model = self.model
        self.state, scores = model.step(
            self.context, self.state, self.previous, self._masks(1), z=self.z, index=self.index
        )
        return model.entries(scores), model.sources(self.context, self.own)

    def advance(self, token: Tensor) -> None:
        """Goes on with the tokens (R, B) that were chosen."""
        self.previous = token
        if self.model.architecture.own_attention:
            self.own = torch.cat([self.own, token.unsqueeze(-1)], dim=-1)
        self.index += 1

    def reorder(self, parent: Tensor) -> None:
        """Lets hypothesis i go on from hypothesis parent[r, i] (R, B)."""
        self.state = State(*(taken(x, parent) for x in self.state))
        self.own = taken(self.own, parent)

    def keep(self, rows: Tensor, noise: Noise | None) -> None:
        """Goes on with the sequences rows[r, i] (R, B') only, whose noise it is given."""
        self.reorder(rows)
        self.context, self.noise = self.context.taken(rows), noise
        self.previous = taken(self.previous, rows)
        self.z = None if self.z is None else taken(self.z, rows)


def _beam(run: _Run, steps: int) -> Generated:
    """Keeps the `width` most probable prefixes; scores are sums of log-probabilities, not normalised by length."""
    width, device = run.decoding.width, run.previous.device
    replicas, batch = len(run.begin_in_y), run.begin_in_y.shape[1] // width
    in_y = run.begin_in_y.view(replicas, batch, width)
    total = torch.full(in_y.shape, float("-inf"), device=device)
    total[..., 0] = 0  # all hypotheses start alike: one of them is enough
    ended = torch.zeros_like(in_y)
    of_y = least = torch.zeros_like(total)
    tokens = entries = run.previous.new_empty(*in_y.shape, 0)
    own = []
    first = torch.arange(batch, device=device).view(1, -1, 1) * width
    for step in range(steps):
        log_entries, sources = run.step()
        log_p = copying.token_probabilities(log_entries, sources).clamp(min=1e-30).log()
        vocabulary = log_p.shape[-1]
        log_p = log_p.view(replicas, batch, width, vocabulary)
        # A finished hypothesis goes on with padding, at no cost.
        padding = torch.full_like(log_p, float("-inf"))
        padding[..., PAD] = 0
        scores = total.unsqueeze(-1) + torch.where(ended.unsqueeze(-1), padding, log_p)
        before = total
        total, best = scores.flatten(2).topk(width, dim=-1)
        parent, token = best // vocabulary, best % vocabulary
        gained = (total - before.gather(2, parent)).masked_fill(~in_y.gather(2, parent), 0)
        of_y, least = of_y.gather(2, parent) + gained, torch.minimum(least.gather(2, parent), gained)
        in_y = in_y.gather(2, parent) | (token == SEP)
        flat = (first + parent).flatten(1)
        own.append(run.own.shape[-1])
        run.reorder(flat)
        log_entries, sources = (taken(x, flat) for x in (log_entries, sources))
        entry = copying.best_entry(log_entries, sources, token.flatten(1)).view_as(token)
        history = parent.unsqueeze(-1).expand(-1, -1, -1, tokens.shape[-1])
        tokens = torch.cat([tokens.gather(2, history), token.unsqueeze(-1)], dim=-1)
        entries = torch.cat([entries.gather(2, history), entry.unsqueeze(-1)], dim=-1)
        ended = ended.gather(2, parent) | (token == EOS)
        if step % LOOK == LOOK - 1 and bool(ended.all()):
            break
        run.advance(token.flatten(1))
    tokens, entries, total, of_y, least = (each[:, :, 0] for each in (tokens, entries, total, of_y, least))
    return Generated(tokens, entries, own, total, of_y, least, stopped=torch.zeros_like(total, dtype=torch.bool))
