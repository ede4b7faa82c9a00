from dataclasses import replace

import pytest
import torch
from networks import MORPHOLOGY, PLAIN, PRODUCIBLE, SCAN, VARIANTS, A, B, batch, every_sequence, network, one_at_a_time
from scipy import stats
from torch import Tensor

from recombine.data.vocabulary import EOS, PAD, SEP
from recombine.decoding.generate import Decoding, _Run, generate
from recombine.models.architecture import Architecture
from recombine.models.noise import Noise
from recombine.models.recombiner import Recombiner
from recombine.models.scoring import score

STRATEGIES = [Decoding("greedy"), Decoding("temperature", 1.3), Decoding("mixed", 0.7), Decoding("beam", width=3)]
every_strategy = pytest.mark.parametrize("decoding", STRATEGIES, ids=lambda decoding: decoding.strategy)
every_drawing = pytest.mark.parametrize("decoding", STRATEGIES[:3], ids=lambda decoding: decoding.strategy)
every_variant = pytest.mark.parametrize("architecture", PLAIN.values(), ids=PLAIN)
PARTS = ("log_probability", "output_log_probability", "least_log_probability")


def repeated(model: Recombiner, times: int) -> Tensor:
    """The prototypes of one example, many times."""
    return batch(model, 1)[0].expand(-1, times, -1, -1)


def after_separator(tokens: Tensor) -> Tensor:
    """Which tokens (R, B, T) come after ▷."""
    return (tokens == SEP).cumsum(-1) - (tokens == SEP).long() > 0


@torch.no_grad()
@every_variant
@every_strategy
def test_what_is_generated_ends_once_has_the_models_score_and_says_where_tokens_come_from(
    architecture: Architecture, decoding: Decoding
) -> None:
    model = network(architecture, seeds=(1, 2))
    prototypes, _ = batch(model, 4)
    generated = generate(model, prototypes, 7, decoding, Noise([3, 4]))
    assert generated.tokens.shape[:2] == (2, 4)
    log_p = score(model, prototypes, generated.tokens)[0].transpose(1, 2)
    of_y = log_p * after_separator(generated.tokens)
    for part, expected in zip(PARTS, (log_p.sum(-1), of_y.sum(-1), of_y.amin(-1)), strict=True):
        assert torch.allclose(getattr(generated, part).double(), expected, atol=1e-5)
    copied = 0
    for r in range(2):
        for b in range(4):
            tokens = generated.tokens[r, b].tolist()
            length = tokens.index(EOS) + 1 if EOS in tokens else len(tokens)
            assert all(token > EOS for token in tokens[: length - 1])
            assert all(token == PAD for token in tokens[length:])
            for t in range(length):
                own = tokens[:t] if architecture.own_attention else []
                assert generated.own[t] == len(own)
                produced = [*range(architecture.vocabulary), *own, *prototypes[r, b].flatten().tolist()]
                entry = generated.entries[r, b, t].item()
                assert produced[entry] == tokens[t]
                copied += entry >= architecture.vocabulary
    if architecture.copying == "none":
        assert copied == 0
    elif architecture.prototypes and decoding.strategy == "temperature":  # the likeliest tokens need not be copies
        assert copied > 0


@every_variant
def test_greedy_takes_the_most_probable_token_at_every_step_as_a_beam_of_one_does(architecture: Architecture) -> None:
    model = network(architecture, seeds=(1, 2))
    prototypes, _ = batch(model, 5)
    greedy = generate(model, prototypes, 9, Decoding("greedy"))
    _, distributions = one_at_a_time(model, prototypes, greedy.tokens, None)
    real = greedy.tokens != PAD
    assert torch.equal(distributions.argmax(-1).transpose(1, 2)[real], greedy.tokens[real])
    beam = generate(model, prototypes, 9, Decoding("beam", width=1))
    assert torch.equal(greedy.tokens, beam.tokens)
    assert torch.equal(greedy.entries[greedy.tokens != PAD], beam.entries[beam.tokens != PAD])
    assert greedy.own == beam.own
    assert torch.allclose(greedy.log_probability.double(), beam.log_probability.double(), atol=1e-5)


@pytest.mark.parametrize("architecture", [PLAIN["scan"], PLAIN["morphology"]], ids=["scan", "morphology"])
def test_mixed_sampling_draws_x_and_is_greedy_on_y(architecture: Architecture) -> None:
    model = network(architecture)
    prototypes = repeated(model, 200)
    generated = generate(model, prototypes, 8, Decoding("mixed", 1.0), Noise([1]))
    _, distributions = one_at_a_time(model, prototypes, generated.tokens, None)
    best = distributions.argmax(-1).transpose(1, 2)
    in_y = after_separator(generated.tokens)
    real = generated.tokens != PAD
    assert (in_y & real).any()
    assert torch.equal(generated.tokens[in_y & real], best[in_y & real])
    assert (generated.tokens[~in_y & real] != best[~in_y & real]).any()


@pytest.mark.parametrize("temperature", [0.4, 1.0, 2.5, 50.0])
@pytest.mark.parametrize("strategy", ["temperature", "mixed"])
def test_first_tokens_are_drawn_in_proportion_to_p_to_the_one_over_t(strategy: str, temperature: float) -> None:
    model = network(PLAIN["scan"], seeds=(1, 2))
    prototypes = repeated(model, 4000)
    generated = generate(model, prototypes, 1, Decoding(strategy, temperature), Noise([5, 6]))
    _, distributions = one_at_a_time(model, prototypes[:, :1], torch.full((2, 1, 1), EOS), None)
    for r in range(2):
        weights = distributions[r, 0, 0, EOS:] ** (1 / temperature)
        expected = 4000 * weights / weights.sum()
        counts = torch.bincount(generated.tokens[r].flatten(), minlength=model.architecture.vocabulary)
        assert counts[:EOS].sum() == 0
        assert stats.chisquare(counts[EOS:].double().numpy(), expected.detach().numpy()).pvalue > 1e-3


def test_whole_sequences_are_drawn_as_often_as_they_are_probable() -> None:
    model = network(MORPHOLOGY)
    everything = every_sequence(3)
    prototypes = repeated(model, 5000)
    drawn = generate(model, prototypes, 3, Decoding("temperature", 1.0), Noise([7])).tokens[0]
    observed = (drawn.unsqueeze(1) == everything).all(-1).sum(0).double()
    log_p, _ = score(model, prototypes[:, : len(everything)], everything.unsqueeze(0))
    expected = 5000 * log_p.detach().sum(1)[0].exp()
    assert expected.min() > 5
    assert stats.chisquare(observed.numpy(), expected.numpy()).pvalue > 1e-3


@every_strategy
@pytest.mark.parametrize("name", VARIANTS)
def test_a_replica_generates_the_same_alone_and_in_a_population(name: str, decoding: Decoding) -> None:
    population, alone = network(VARIANTS[name], seeds=(1, 2, 3)), network(VARIANTS[name], seeds=(2,))
    prototypes, _ = batch(population, 3)
    together = generate(population, prototypes, 6, decoding, Noise([4, 5, 6]))
    single = generate(alone, prototypes[1:2], 6, decoding, Noise([5]))
    assert torch.equal(together.tokens[1], single.tokens[0])
    assert torch.allclose(together.log_probability[1], single.log_probability[0], atol=1e-5)


@every_strategy
def test_dropout_acts_at_test_time_and_can_be_left_out(decoding: Decoding) -> None:
    model: Recombiner = network(SCAN)
    prototypes = repeated(model, 50)
    without = network(replace(SCAN, state_dropout=0.0))
    expected = generate(without, prototypes, 6, decoding, Noise([1]))
    found = generate(model, prototypes, 6, replace(decoding, dropout=False), Noise([1]))
    assert torch.equal(found.tokens, expected.tokens)
    assert torch.equal(found.log_probability, expected.log_probability)
    dropping = generate(model, prototypes, 6, decoding, Noise([1]))
    assert not torch.equal(found.log_probability, dropping.log_probability)
    if decoding.strategy == "greedy":
        assert len(dropping.tokens[0].unique(dim=0)) > 1
        assert len(found.tokens[0].unique(dim=0)) == 1


@every_drawing
@pytest.mark.parametrize("name", VARIANTS)
def test_inputs_with_nothing_of_worth_are_left_and_the_others_stay_as_they_are(name: str, decoding: Decoding) -> None:
    model = network(VARIANTS[name], seeds=(1, 2))
    prototypes = batch(model, 4)[0].repeat(1, 20, 1, 1)
    whole = generate(model, prototypes, 12, decoding, Noise([3, 4]))
    assert not whole.stopped.any()
    wanted = torch.zeros(2, model.architecture.vocabulary, dtype=torch.bool)
    wanted[0, SEP + 1 :: 2] = True  # by the second replica, nothing is
    found = generate(model, prototypes, 12, decoding, Noise([3, 4]), skip_without=wanted)
    in_x = ((whole.tokens == SEP).cumsum(-1) == 0) & (whole.tokens != PAD)
    of_worth = torch.stack([wanted[r][whole.tokens[r]] & in_x[r] for r in range(2)]).any(-1)
    expected = ~of_worth & (whole.tokens == SEP).any(-1)
    assert torch.equal(found.stopped, expected)
    steps = found.tokens.shape[-1]
    assert torch.equal(found.tokens[~expected], whole.tokens[~expected][:, :steps])
    assert torch.allclose(found.log_probability[~expected], whole.log_probability[~expected], atol=1e-5)
    stopped = whole.tokens.masked_fill(after_separator(whole.tokens), PAD)
    assert torch.equal(found.tokens[expected], stopped[expected][:, :steps])


@every_drawing
@pytest.mark.parametrize("name", VARIANTS)
def test_sequences_are_the_same_whether_or_not_ended_ones_are_left_behind(
    name: str, decoding: Decoding, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = network(VARIANTS[name], seeds=(1, 2))
    prototypes = batch(model, 4)[0].repeat(1, 20, 1, 1)
    kept: list[int] = []
    keep = _Run.keep

    def counting(run: _Run, rows: Tensor, noise: Noise | None) -> None:
        kept.append(rows.shape[1])
        keep(run, rows, noise)

    monkeypatch.setattr(_Run, "keep", counting)
    monkeypatch.setattr("recombine.decoding.generate.LOOK", 3)
    left_behind = generate(model, prototypes, 24, decoding, Noise([3, 4]))
    if decoding.strategy == "temperature":  # the likeliest tokens need not come to an end
        assert kept
    monkeypatch.setattr("recombine.decoding.generate.NARROWER", 0)
    kept.clear()
    all_the_way = generate(model, prototypes, 24, decoding, Noise([3, 4]))
    assert not kept
    assert torch.equal(left_behind.tokens, all_the_way.tokens)
    real = left_behind.tokens != PAD
    assert torch.equal(left_behind.entries[real], all_the_way.entries[real])
    assert left_behind.own == all_the_way.own
    for part in PARTS:
        assert torch.allclose(getattr(left_behind, part), getattr(all_the_way, part), atol=1e-5)


def some_prefix(replicas: int, size: int) -> Tensor:
    tokens = torch.tensor([A, B])[torch.randint(2, (replicas, size, 2))]
    return torch.cat([tokens, torch.full((replicas, size, 1), SEP)], dim=-1)


@torch.no_grad()
@every_variant
@every_strategy
def test_after_a_prefix_log_probability_is_that_of_what_follows_given_it(
    architecture: Architecture, decoding: Decoding
) -> None:
    model = network(architecture, seeds=(1, 2))
    prototypes, _ = batch(model, 4)
    prefix = some_prefix(2, 4)
    generated = generate(model, prototypes, 5, decoding, Noise([1, 2]), prefix=prefix)
    log_p, _ = score(model, prototypes, torch.cat([prefix, generated.tokens], dim=-1))  # (R, T, B)
    assert torch.allclose(generated.log_probability.double(), log_p[:, 3:].sum(1), atol=1e-5)


@every_variant
@pytest.mark.parametrize("decoding", [Decoding("greedy"), Decoding("beam", width=1)], ids=["greedy", "beam"])
def test_from_its_own_beginning_a_sequence_goes_on_as_it_did(architecture: Architecture, decoding: Decoding) -> None:
    model = network(architecture, seeds=(1, 2))
    prototypes, _ = batch(model, 12)
    whole = generate(model, prototypes, 7, decoding)
    alive = ~(whole.tokens[..., :2] == EOS).any(-1)
    assert alive.any()
    rest = generate(model, prototypes, 5, decoding, prefix=whole.tokens[..., :2])
    assert torch.equal(rest.tokens[alive], whole.tokens[..., 2:][alive])
    real = (rest.tokens != PAD) & alive.unsqueeze(-1)
    assert torch.equal(rest.entries[real], whole.entries[..., 2:][real])
    assert rest.own == whole.own[2:]


def test_after_a_prefix_with_all_of_x_mixed_sampling_is_greedy() -> None:
    model = network(PLAIN["scan"])
    prototypes, prefix = repeated(model, 50), some_prefix(1, 1).expand(-1, 50, -1)
    mixed = generate(model, prototypes, 6, Decoding("mixed", 3.0), Noise([1]), prefix=prefix)
    greedy = generate(model, prototypes, 6, Decoding("greedy"), prefix=prefix)
    assert torch.equal(mixed.tokens, greedy.tokens)
    drawn = generate(model, prototypes, 6, Decoding("mixed", 3.0), Noise([1]), prefix=prefix[..., :2])
    assert len(drawn.tokens[0].unique(dim=0)) > 1


def total(model: Recombiner, prototypes: Tensor, sequences: Tensor) -> Tensor:
    """Log-probabilities (count,) of sequences (count, T), given one tuple of prototypes (K, S)."""
    expanded = prototypes.expand(1, len(sequences), *prototypes.shape)
    return score(model, expanded, sequences.unsqueeze(0))[0].sum(1)[0]


@torch.no_grad()
@every_variant
@pytest.mark.parametrize("width", [2, 3, 5])
def test_a_narrow_beam_keeps_the_best_prefixes_of_each_length(architecture: Architecture, width: int) -> None:
    """Beside hypotheses as lists, every extension of which is scored from its beginning."""
    model = network(architecture)
    prototypes, _ = batch(model, 3)
    beam = generate(model, prototypes, 6, Decoding("beam", width=width))
    for b in range(3):
        hypotheses: list[list[int]] = [[]]
        for _ in range(6):
            candidates = [[*each, token] for each in hypotheses for token in ([PAD] if EOS in each else PRODUCIBLE)]
            scores = total(model, prototypes[0, b], torch.tensor(candidates))
            hypotheses = [candidates[i] for i in scores.argsort(descending=True)[:width]]
        assert beam.tokens[0, b].tolist() == hypotheses[0]


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
