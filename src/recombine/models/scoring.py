"""How probable whole sequences are to a `Recombiner`, which is given the true tokens before each (teacher forcing)."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from recombine.data.vocabulary import BOS, PAD
from recombine.models import copying
from recombine.models.attention import MASKED
from recombine.models.copying import Scores
from recombine.models.fast.decoder import all_steps
from recombine.models.noise import Masks, Noise
from recombine.models.packing import Packing
from recombine.models.recombiner import Context, Recombiner, State


def score(
    model: Recombiner,
    prototypes: Tensor | Context,
    target: Tensor,
    noise: Noise | None = None,
    z: Tensor | None = None,
    packing: Packing | None = None,
) -> tuple[Tensor, Tensor]:
    """Scores target sequences, given prototypes.

    Args:
        model: The network.
        prototypes: Token ids (R, B, K, S), padded, or what `Recombiner.remember` made of them.
        target: Token ids (R, B, T), each ending in EOS, then padded.
        noise: Where dropout comes from; None: nothing is dropped. In evaluation mode only `state_dropout` acts.
        z: The latent variable (R, B, latent), if the network has one; None: drawn from the proposal.
        packing: Which rows each step has, all of whose tokens must be among them; None: all of them.

    Returns:
        Log-probabilities of the tokens (R, N), 0 at padding; and which of them count: real tokens that some entry
        could produce after write-dropout. Without a packing, (R, T, B) each.
    """
    a = model.architecture
    if isinstance(prototypes, Tensor):
        if model.latent is not None and z is None:
            assert noise is not None
            z = model.propose(prototypes, target, noise)
        prototypes = model.remember(prototypes, noise)
    packed = packing or Packing.whole(target.shape[2], target.shape[1], target.device)
    tokens = packed.pack(target.transpose(1, 2))
    entries, sources = _forced(model, prototypes, target, packed, noise, z)
    may_write = None
    if noise and a.write_dropout and sources.shape[-1] and model.training:
        may_write = ~noise.drop(a.write_dropout, packed, 1).lost.squeeze(-1)
    log_p, possible = copying.target_log_probability(entries, sources, tokens, may_write=may_write)
    if a.copying == "penalized" and sources.shape[-1] and model.training:
        log_p = log_p - copying.cost_of_copying(entries, sources.shape[-1])
    counts = possible & (tokens != PAD)
    log_p = log_p.masked_fill(~counts, 0)
    return (log_p, counts) if packing else (packed.unpack(log_p), packed.unpack(counts))


def predicted(model: Recombiner, prototypes: Tensor, target: Tensor) -> Tensor:
    """Returns the most probable token (R, B, T) at each position, given the true ones before it.

    Greedy decoding gives the target exactly if this does.
    """
    packing = Packing.whole(target.shape[2], target.shape[1], target.device)
    entries, sources = _forced(model, model.remember(prototypes), target, packing)
    return packing.unpack(copying.token_probabilities(entries, sources).argmax(-1)).transpose(1, 2)


def _forced(
    model: Recombiner,
    context: Context,
    target: Tensor,
    packing: Packing,
    noise: Noise | None = None,
    z: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Decodes along a target (R, B, T): entries (R, N, V + C), and what the copy entries produce (R, N, C)."""
    a, previous = model.architecture, packing.pack(shifted(target).transpose(1, 2))
    masks = Masks.draw(a, noise, packing, training=model.training)
    # Relative positions, which only rows as in the authors' code have, are known to the plain decoder alone.
    compute = plain_steps if a.reach else all_steps
    scores = compute(model, context, previous, packing, masks, z)
    own = target[..., : packing.steps - 1] if a.own_attention else context.tokens[..., :0]
    return model.entries(scores), model.sources(context, own)[:, packing.rows]


def plain_steps(
    model: Recombiner, context: Context, previous: Tensor, packing: Packing, masks: Masks, z: Tensor | None
) -> Scores:
    """Returns what `fast.decoder.all_steps` does, by one step after the other."""
    everywhere = Masks(*(drop and drop._replace(bits=packing.unpack(drop.bits).flatten(1, 2)) for drop in masks))
    _, scores = decode(model, context, context.state, packing.unpack(previous, fill=BOS), everywhere, z=z)
    return Scores(*(None if each is None else packing.pack(each) for each in scores))  # type: ignore[arg-type]


def along(model: Recombiner, sources: Tensor, target: Tensor, z: Tensor | None) -> tuple[Scores, Tensor, Tensor, int]:
    """Lets the first network go along one target (R, 1, T), given prototypes (R, 1, K, S), step by step.

    Returned are all scores, the entries (T, V + C), the tokens that copy entries produce (C,), and how many of these
    are the target's own.
    """
    context = model.remember(sources)
    _, scores = decode(model, context, context.state, shifted(target).transpose(1, 2), z=z)
    own = target[..., :-1] if model.architecture.own_attention else target[..., :0]
    return scores, model.entries(scores)[0].squeeze(1).double(), model.sources(context, own)[0, 0], own.shape[-1]


def shifted(target: Tensor) -> Tensor:
    """Returns the token before each of a target (R, B, T)."""
    return torch.cat([torch.full_like(target[..., :1], BOS), target[..., :-1]], dim=-1)


def decode(
    model: Recombiner,
    context: Context,
    state: State,
    previous: Tensor,
    masks: Masks | None = None,
    *,
    z: Tensor | None = None,
) -> tuple[State, Scores]:
    """Runs the decoder over the previous tokens (R, T, B), T ≥ 1: its last state, and all scores (R, T, B, ...)."""
    batch, steps, masks = previous.shape[2], [], masks or Masks()
    for t in range(previous.shape[1]):
        now = masks.at(slice(t * batch, (t + 1) * batch))
        state, scores = model.step(context, state, previous[:, t], now, z=z, index=t)
        steps.append(scores)
    longest = steps[-1].own.shape[-1]  # histories grow; what an earlier step has not generated yet is masked
    padded = [s._replace(own=pad(s.own, (0, longest - s.own.shape[-1]), value=MASKED)) for s in steps]
    write, own, prototypes, gate = zip(*padded, strict=True)
    gates = None if model.gate is None else torch.stack(gate, dim=1)
    return state, Scores(torch.stack(write, 1), torch.stack(own, 1), torch.stack(prototypes, 1), gates)
