from dataclasses import replace

import pytest
import torch
from networks import MORPHOLOGY, PLAIN, SCAN, VARIANTS, batch, every_sequence, network, one_at_a_time
from scipy import stats
from torch import Tensor

from recombine.data.vocabulary import EOS, PAD, SEP
from recombine.decoding.generate import Decoding, Generated, _Run, generate
from recombine.models.architecture import Architecture
from recombine.models.noise import Noise
from recombine.models.recombiner import Recombiner
from recombine.models.scoring import score

STRATEGIES = [Decoding("greedy"), Decoding("temperature", 1.3), Decoding("mixed", 0.7), Decoding("beam", width=3)]
every_strategy = pytest.mark.parametrize("decoding", STRATEGIES, ids=lambda decoding: decoding.strategy)
every_variant = pytest.mark.parametrize("architecture", PLAIN.values(), ids=PLAIN)


def lengths(generated: Generated) -> Tensor:
    return (generated.tokens != PAD).sum(-1)


@every_variant
@every_strategy
def test_log_probability_is_the_models_score(architecture: Architecture, decoding: Decoding) -> None:
    model = network(architecture, seeds=(1, 2))
    prototypes, _ = batch(model, 4)
    generated = generate(model, prototypes, 7, decoding, Noise([1, 2]))
    assert generated.tokens.shape[:2] == (2, 4)
    log_p, _ = score(model, prototypes, generated.tokens)
    assert torch.allclose(generated.log_probability.double(), log_p.sum(1), atol=1e-5)
    separators = (generated.tokens == SEP).transpose(1, 2).int()
    after = separators.cumsum(1) - separators > 0
    assert torch.allclose(generated.output_log_probability.double(), (log_p * after).sum(1), atol=1e-5)
    assert torch.allclose(generated.least_log_probability.double(), (log_p * after).amin(1), atol=1e-5)


@every_variant
@every_strategy
def test_sequences_end_once_and_are_padded(architecture: Architecture, decoding: Decoding) -> None:
    model = network(architecture, seeds=(1, 2))
    prototypes, _ = batch(model, 6)
    for row in generate(model, prototypes, 10, decoding, Noise([1, 2])).tokens.flatten(0, 1).tolist():
        length = row.index(EOS) + 1 if EOS in row else len(row)
        assert all(token > EOS for token in row[: length - 1])
        assert all(token == PAD for token in row[length:])


@every_variant
@every_strategy
def test_entries_point_at_the_token_that_was_produced(architecture: Architecture, decoding: Decoding) -> None:
    model = network(architecture, seeds=(1, 2))
    prototypes, _ = batch(model, 4)
    generated = generate(model, prototypes, 7, decoding, Noise([3, 4]))
    copied = 0
    for r in range(2):
        for b in range(4):
            for t in range(int(lengths(generated)[r, b])):
                tokens = generated.tokens[r, b].tolist()
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
def test_greedy_takes_the_most_probable_token_at_every_step(architecture: Architecture) -> None:
    model = network(architecture, seeds=(1, 2))
    prototypes, _ = batch(model, 5)
    generated = generate(model, prototypes, 7, Decoding("greedy"))
    _, distributions = one_at_a_time(model, prototypes, generated.tokens, None)
    real = generated.tokens != PAD
    assert torch.equal(distributions.argmax(-1).transpose(1, 2)[real], generated.tokens[real])


@every_variant
def test_greedy_is_a_beam_of_one(architecture: Architecture) -> None:
    model = network(architecture, seeds=(1, 2))
    prototypes, _ = batch(model, 5)
    greedy = generate(model, prototypes, 9, Decoding("greedy"))
    beam = generate(model, prototypes, 9, Decoding("beam", width=1))
    assert torch.equal(greedy.tokens, beam.tokens)
    assert torch.equal(greedy.entries[greedy.tokens != PAD], beam.entries[beam.tokens != PAD])
    assert greedy.own == beam.own
    assert torch.allclose(greedy.log_probability.double(), beam.log_probability.double(), atol=1e-5)


@pytest.mark.parametrize("architecture", [PLAIN["scan"], PLAIN["morphology"]], ids=["scan", "morphology"])
def test_mixed_sampling_draws_x_and_is_greedy_on_y(architecture: Architecture) -> None:
    model = network(architecture)
    prototypes = batch(model, 1)[0].expand(-1, 200, -1, -1)
    generated = generate(model, prototypes, 8, Decoding("mixed", 1.0), Noise([1]))
    _, distributions = one_at_a_time(model, prototypes, generated.tokens, None)
    best = distributions.argmax(-1).transpose(1, 2)
    in_y = (generated.tokens == SEP).cumsum(-1) - (generated.tokens == SEP).long() > 0
    real = generated.tokens != PAD
    assert (in_y & real).any()
    assert torch.equal(generated.tokens[in_y & real], best[in_y & real])
    assert (generated.tokens[~in_y & real] != best[~in_y & real]).any()


@pytest.mark.parametrize("temperature", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("strategy", ["temperature", "mixed"])
def test_first_tokens_are_drawn_in_proportion_to_p_to_the_one_over_t(strategy: str, temperature: float) -> None:
    model = network(PLAIN["scan"], seeds=(1, 2))
    prototypes = batch(model, 1)[0].expand(-1, 4000, -1, -1)
    generated = generate(model, prototypes, 1, Decoding(strategy, temperature), Noise([5, 6]))
    _, distributions = one_at_a_time(model, prototypes[:, :1], torch.full((2, 1, 1), EOS), None)
    for r in range(2):
        weights = distributions[r, 0, 0, EOS:] ** (1 / temperature)
        expected = 4000 * weights / weights.sum()
        counts = torch.bincount(generated.tokens[r].flatten(), minlength=model.architecture.vocabulary)
        assert counts[:EOS].sum() == 0
        assert stats.chisquare(counts[EOS:].double().numpy(), expected.detach().numpy()).pvalue > 1e-3


def test_what_has_no_probability_is_not_drawn_at_any_temperature() -> None:
    model = network(PLAIN["scan"])
    prototypes = batch(model, 1)[0].expand(-1, 2000, -1, -1)
    generated = generate(model, prototypes, 1, Decoding("temperature", 50.0), Noise([5]))
    assert (generated.tokens >= EOS).all()


def test_whole_sequences_are_drawn_as_often_as_they_are_probable() -> None:
    model = network(MORPHOLOGY)
    everything = every_sequence(3)
    prototypes = batch(model, 1)[0].expand(-1, 5000, -1, -1)
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


def test_dropout_that_acts_at_test_time_makes_greedy_decoding_vary() -> None:
    model: Recombiner = network(SCAN)
    prototypes = batch(model, 1)[0].expand(-1, 50, -1, -1)
    assert len(generate(model, prototypes, 6, Decoding("greedy"), Noise([1])).tokens[0].unique(dim=0)) > 1
    assert len(generate(model, prototypes, 6, Decoding("greedy")).tokens[0].unique(dim=0)) == 1


@every_strategy
def test_dropout_that_acts_at_test_time_can_be_left_out(decoding: Decoding) -> None:
    model: Recombiner = network(SCAN)
    prototypes = batch(model, 1)[0].expand(-1, 50, -1, -1)
    without = network(replace(SCAN, state_dropout=0.0))
    expected = generate(without, prototypes, 6, decoding, Noise([1]))
    found = generate(model, prototypes, 6, replace(decoding, dropout=False), Noise([1]))
    assert torch.equal(found.tokens, expected.tokens)
    assert torch.equal(found.log_probability, expected.log_probability)
    assert not torch.equal(found.log_probability, generate(model, prototypes, 6, decoding, Noise([1])).log_probability)


@pytest.mark.parametrize("decoding", STRATEGIES[:3], ids=lambda decoding: decoding.strategy)
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
    upto = (whole.tokens == SEP).cumsum(-1) - (whole.tokens == SEP).long() == 0  # ▷ included
    stopped = whole.tokens.masked_fill(~upto, PAD)
    assert torch.equal(found.tokens[expected], stopped[expected][:, :steps])


@pytest.mark.parametrize("decoding", STRATEGIES[:3], ids=lambda decoding: decoding.strategy)
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
    for part in ("log_probability", "output_log_probability", "least_log_probability"):
        assert torch.allclose(getattr(left_behind, part), getattr(all_the_way, part), atol=1e-5)
