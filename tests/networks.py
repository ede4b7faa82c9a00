"""Tiny networks of every kind, and batches for them, for the tests of models, training and decoding."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import torch
from torch import Tensor

from recombine.data.vocabulary import BOS, EOS, PAD, SEP, Vocabulary
from recombine.decoding.trace import Trace, trace
from recombine.example import SEPARATOR, Tokens
from recombine.models.architecture import Architecture
from recombine.models.copying import target_log_probability, token_probabilities
from recombine.models.layers import initialize
from recombine.models.recombiner import Masks, Recombiner
from recombine.training.presets import WORD_FORM_GENERATOR

A, B = SEP + 1, SEP + 2
"""The two tokens of the smallest language."""
PRODUCIBLE = (EOS, SEP, A, B)

SCAN = Architecture(vocabulary=7, hidden=4, embedding=3, attention=2)
MORPHOLOGY = replace(WORD_FORM_GENERATOR.network, vocabulary=7, hidden=4, embedding=3, write_seen_only=False)

PREDICTOR = replace(MORPHOLOGY, prototypes=1, own_attention=False, copying="none", dropout=0.5, feed_dropout=0.5)

NAMED = {
    "scan": SCAN,
    "scan-0": replace(SCAN, prototypes=0),
    "scan-1": replace(SCAN, prototypes=1),
    "scan-own-attention": replace(SCAN, own_attention=True),
    "scan-reach": replace(SCAN, reach=2),
    "scan-untied": replace(SCAN, tied_output=False, shared_embedding=False, feed_dropout=0.3),
    "scan-no-copying": replace(SCAN, copying="none"),
    "scan-latent": replace(SCAN, latent=3),
    "morphology": MORPHOLOGY,
    "morphology-0": replace(MORPHOLOGY, prototypes=0),
    "morphology-1": replace(MORPHOLOGY, prototypes=1),
    "morphology-dropout": replace(MORPHOLOGY, dropout=0.4, state_dropout=0.3, write_dropout=0.5),
    "morphology-penalized": replace(MORPHOLOGY, copying="penalized"),
    "gated-tanh-attention": replace(SCAN, copying="gated", own_attention=True),
    "predictor": PREDICTOR,
}
"""The paper's networks, and some that differ from them in one thing, for tests that are about that thing."""

FEATURES: dict[str, Callable[[Architecture], object]] = {
    "prototypes": lambda a: min(a.prototypes, 2),  # three are as good as two
    "copying": lambda a: a.copying.replace("penalized", "symbol"),  # they differ in the loss alone
    "projected attention": lambda a: a.attention > 0,
    "own attention": lambda a: a.own_attention,
    "shared embedding": lambda a: a.shared_embedding,
    "tied output": lambda a: a.tied_output,
    "projected encoder": lambda a: a.project_encoder,
    "start from encoder": lambda a: a.start_from_encoder,
    "relative positions": lambda a: a.reach > 0,
    "latent variable": lambda a: a.latent > 0,
    "dropout of the feed vector": lambda a: a.feed_dropout > 0,
    "dropout of states": lambda a: a.state_dropout > 0,
}
"""What networks differ in: where two of these are implemented together, they may be implemented wrongly together."""


def _mixed(copying: str, prototypes: int, features: str, **others: object) -> Architecture:
    """A network that has the features named, and no others."""
    given = set(features.split())
    return Architecture(
        vocabulary=7,
        hidden=4,
        embedding=3,
        prototypes=prototypes,
        copying=copying,
        attention=2 * ("projected" in given),
        own_attention="own" in given,
        shared_embedding="shared" in given,
        tied_output="tied" in given,
        project_encoder="encoder" in given,
        start_from_encoder="start" in given,
        reach=2 * ("reach" in given),
        latent=2 * ("latent" in given),
        feed_dropout=0.3 * ("feed" in given),
        state_dropout=0.3 * ("state" in given),
        **others,
    )


VARIANTS = {
    "scan": SCAN,
    "morphology": MORPHOLOGY,
    "predictor": PREDICTOR,
    "joint-0": _mixed("joint", 0, "own encoder reach latent feed state"),
    "joint-1": _mixed("joint", 1, "projected shared encoder start reach feed"),
    "gated-0": _mixed("gated", 0, "projected shared tied encoder reach latent"),
    "gated-0-states": _mixed("gated", 0, "projected tied start feed state", write_dropout=0.0),
    "gated-1": _mixed("gated", 1, "shared encoder feed state", feed_dropped_twice=True),
    "symbol-1": _mixed("symbol", 1, "projected own shared tied start reach latent feed"),
    "penalized-1": _mixed("penalized", 1, "latent state", dropout=0.0),
    "penalized-3": _mixed("penalized", 3, "own tied encoder start feed"),
    "written-2": _mixed("none", 2, "own shared tied reach latent feed state"),
    "written-3": _mixed("none", 3, "projected shared encoder start state"),
}
"""Networks in which all `FEATURES` are combined, two by two: every two values of any two features occur together in one
of them at least (`test_networks` checks it). A defect that takes two features to show therefore shows here; one that
takes three need not, and none of that kind is known. All combinations would be some twelve thousand networks."""

CALLING_ALL_KERNELS = ("scan", "morphology", "predictor", "joint-1", "gated-0", "gated-0-states", "written-2")
"""Variants that call every kernel with and without each argument that may be None, in a minute of interpretation."""

PLAIN = {name: replace(a, state_dropout=0.0, latent=0) for name, a in VARIANTS.items()}
"""The same without what is drawn at test time, which makes a network another one at every look."""


def network(architecture: Architecture, seeds: Sequence[int] = (0,)) -> Recombiner:
    """A network in evaluation mode, in double precision, with larger weights than at the start of training."""
    model = Recombiner(architecture, len(seeds))
    initialize(model, seeds)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    return model.double().eval()


def sequences(*shape: int, longest: int, vocabulary: int = 7, seed: int = 0) -> Tensor:
    """Random token ids (*shape, longest): one to `longest` - 1 tokens, EOS, padding; the first one is the longest."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(SEP, vocabulary, (*shape, longest), generator=generator)
    lengths = torch.randint(1, longest, (*shape, 1), generator=generator)
    lengths.view(-1)[0] = longest - 1
    position = torch.arange(longest)
    tokens = torch.where(position == lengths, EOS, tokens)
    return tokens.masked_fill(position > lengths, PAD)


def batch(
    model: Recombiner, size: int = 3, *, source: int = 5, target: int = 6, seed: int = 0
) -> tuple[Tensor, Tensor]:
    """Prototypes (R, size, K, source) and targets (R, size, target)."""
    a, r = model.architecture, model.replicas
    if not a.prototypes:
        return torch.empty(r, size, 0, 0, dtype=torch.long), sequences(r, size, longest=target, seed=seed)
    prototypes = sequences(r, size, a.prototypes, longest=source, seed=seed + 1)
    return prototypes, sequences(r, size, longest=target, seed=seed)


def some_z(model: Recombiner, size: int) -> Tensor | None:
    """A value of the latent variable (R, size, latent) for a network that has one."""
    generator = torch.Generator().manual_seed(5)
    shape = (model.replicas, size, model.architecture.latent)
    return torch.randn(shape, generator=generator, dtype=torch.double) if model.latent is not None else None


def one_at_a_time(model: Recombiner, prototypes: Tensor, target: Tensor, z: Tensor | None) -> tuple[Tensor, Tensor]:
    """Log-probabilities (R, T, B) and distributions over tokens (R, T, B, V), from one decoder step after another."""
    context = model.remember(prototypes)
    state, previous, own = context.state, torch.full_like(target[..., 0], BOS), target[..., :0]
    scores, distributions = [], []
    for step, token in enumerate(target.unbind(-1)):
        state, step_scores = model.step(context, state, previous, Masks(), z=z, index=step)
        entries, sources = model.entries(step_scores), model.sources(context, own)
        scores.append(target_log_probability(entries, sources, token)[0])
        distributions.append(token_probabilities(entries, sources))
        previous = token
        if model.architecture.own_attention:
            own = torch.cat([own, token.unsqueeze(-1)], dim=-1)
    return torch.stack(scores, 1).masked_fill(target.transpose(1, 2) == PAD, 0), torch.stack(distributions, 1)


def every_sequence(steps: int) -> Tensor:
    """All there is to generate in so many steps (count, steps): sequences that end, and prefixes that do not yet."""
    rows = [[*words, EOS] for length in range(steps) for words in product((SEP, A, B), repeat=length)]
    rows += [list(words) for words in product((SEP, A, B), repeat=steps)]
    return torch.tensor([row + [PAD] * (steps - len(row)) for row in rows])


CAPITALS = Vocabulary(("A", "B"))
PROTOTYPES: list[Tokens] = [("A", SEPARATOR, "A", "A", "B"), ("B", SEPARATOR, "B"), ("A", "B", SEPARATOR, "A")]
D: Tokens = ("B", "A", SEPARATOR, "B", "B", "A")


def traced(model: Recombiner, d: Tokens = D) -> Trace:
    """How a network generates d from as many prototypes as it takes."""
    return trace(model, CAPITALS, prototypes=PROTOTYPES[: model.architecture.prototypes], d=d)
