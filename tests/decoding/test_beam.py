from dataclasses import replace

import pytest
import torch
from networks import PLAIN, PRODUCIBLE, VARIANTS, batch, every_sequence, network

from recombine.data.vocabulary import EOS, PAD
from recombine.decoding.generate import Decoding, generate
from recombine.models.architecture import Architecture
from recombine.models.noise import Noise
from recombine.models.recombiner import Recombiner
from recombine.models.scoring import score

every_variant = pytest.mark.parametrize("architecture", PLAIN.values(), ids=PLAIN)


def total(model: Recombiner, prototypes: torch.Tensor, sequences: torch.Tensor) -> torch.Tensor:
    """Log-probabilities (count,) of sequences (count, T), given one tuple of prototypes (K, S)."""
    expanded = prototypes.expand(1, len(sequences), *prototypes.shape)
    return score(model, expanded, sequences.unsqueeze(0))[0].sum(1)[0]


@torch.no_grad()
@every_variant
def test_a_beam_wide_enough_for_every_prefix_finds_the_most_probable_sequence(architecture: Architecture) -> None:
    model = network(architecture)
    prototypes, _ = batch(model, 2)
    everything = every_sequence(4)
    beam = generate(model, prototypes, 4, Decoding("beam", width=len(everything)))
    for b in range(2):
        scores = total(model, prototypes[0, b], everything)
        assert beam.tokens[0, b].tolist() == everything[scores.argmax()].tolist()
        assert beam.log_probability[0, b].item() == pytest.approx(scores.max().item(), abs=1e-5)


def slow_beam(model: Recombiner, prototypes: torch.Tensor, steps: int, width: int) -> list[int]:
    """Hypotheses as lists, every extension scored from its beginning."""
    hypotheses: list[list[int]] = [[]]
    for _ in range(steps):
        candidates = []
        for hypothesis in hypotheses:
            ended = EOS in hypothesis
            candidates += [[*hypothesis, token] for token in ([PAD] if ended else PRODUCIBLE)]
        scores = total(model, prototypes, torch.tensor(candidates))
        hypotheses = [candidates[i] for i in scores.argsort(descending=True)[:width]]
    return hypotheses[0]


@torch.no_grad()
@every_variant
@pytest.mark.parametrize("width", [2, 3, 5])
def test_a_narrow_beam_keeps_the_best_prefixes_of_each_length(architecture: Architecture, width: int) -> None:
    model = network(architecture)
    prototypes, _ = batch(model, 3)
    beam = generate(model, prototypes, 6, Decoding("beam", width=width))
    for b in range(3):
        assert beam.tokens[0, b].tolist() == slow_beam(model, prototypes[0, b], 6, width)


@torch.no_grad()
@pytest.mark.parametrize("name", [name for name, a in VARIANTS.items() if a.latent])
def test_all_hypotheses_of_a_beam_share_one_latent_variable(name: str) -> None:
    """The score of what is found is that of one z, the one that a beam of one draws from the same noise."""
    model = network(replace(VARIANTS[name], state_dropout=0.0))
    prototypes, _ = batch(model, 3)
    beam = generate(model, prototypes, 5, Decoding("beam", width=4), Noise([1]))
    z = model.latent.prior(3, Noise([1])).double()
    log_p, _ = score(model, prototypes, beam.tokens, z=z)
    assert torch.allclose(beam.log_probability.double(), log_p.sum(1), atol=1e-5)
