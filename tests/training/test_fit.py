from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from toy import CPU, EXAMPLES, VOCABULARY, schedule

from recombine.errors import RecombineError
from recombine.models.architecture import Architecture
from recombine.training import fit as fit_module
from recombine.training.corpus import Corpus
from recombine.training.fit import exact_match, fit, hold_out, likelihood
from recombine.training.fitted import Fitted
from recombine.training.presets import SMALL_PREDICTOR, WORD_FORM_GENERATOR, WORD_FORM_PREDICTOR
from recombine.training.recipe import ROUNDS, Recipe
from recombine.training.renaming import SPARES
from recombine.training.schedule import Group, Schedule, mixture

TINY = Architecture(vocabulary=0, hidden=6, embedding=4, attention=3, dropout=0.2, state_dropout=0.1)
RECIPE = Recipe(network=TINY, batch=8, epochs=3, lr=0.01, held_out=0.2, keep_best=True, patience=1)
CORPUS = schedule((0,)).corpus


@pytest.fixture
def double() -> Iterator[None]:
    torch.set_default_dtype(torch.double)
    yield
    torch.set_default_dtype(torch.float)


def fitted(seeds: list[int], recipe: Recipe = RECIPE, *, corpus: Corpus = CORPUS) -> Fitted:
    groups = [[Group(np.arange(corpus.rows.shape[1]))]] * len(seeds)
    return fit(recipe, corpus, groups, seeds, vocabulary=len(VOCABULARY), judge=likelihood)


def assert_is_replica(many: Fitted, one: Fitted, replica: int, *, replicas: int) -> None:
    for theirs, mine in zip(many.model.parameters(), one.model.parameters(), strict=True):
        assert torch.allclose(theirs.chunk(replicas)[replica], mine, atol=1e-9)
    assert torch.equal(many.model.unwritable[replica], one.model.unwritable[0])
    for name in ("loss", "evaluation", "lr"):
        theirs = [epoch[replica] for epoch in getattr(many.history, name)]
        assert theirs == pytest.approx([epoch[0] for epoch in getattr(one.history, name)], rel=1e-9), name


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize(
    "recipe",
    [
        replace(RECIPE, stand_ins=0.5, network=replace(TINY, write_seen_only=True)),
        replace(RECIPE, held_out=0.0, loss_per="token", max_steps=11),
    ],
    ids=["stand-ins", "nothing held out"],
)
def test_a_population_is_each_of_its_networks_alone(recipe: Recipe) -> None:
    population = fitted([3, 4, 5], recipe)
    for replica, seed in [(0, 3), (2, 5)]:
        assert_is_replica(population, fitted([seed], recipe), replica, replicas=3)


def test_a_network_may_train_for_its_own_epochs_beside_one_with_more_rows() -> None:
    """Of 16 and 32 rows, in batches of 8: two and four steps an epoch, three epochs."""
    recipe = replace(RECIPE, held_out=0.0, patience=0, keep_best=False)
    groups = [[Group(np.arange(16))], [Group(np.arange(32))]]

    def trained(recipe: Recipe, chosen: list[int]) -> Fitted:
        return fit(recipe, CORPUS, [groups[n] for n in chosen], chosen, vocabulary=len(VOCABULARY), judge=likelihood)

    own, alike = (trained(replace(recipe, own_epochs=own), [0, 1]).history for own in (True, False))
    assert own.epoch_fraction == [0.5, 1.0]
    assert [rates[0] > 0 for rates in own.lr] == [True, True, False]  # one and a half, rounded
    assert [rates[1] > 0 for rates in own.lr] == [True] * 3
    assert [rates[0] > 0 for rates in alike.lr] == [True] * 3
    assert (own.epochs(0), own.epochs(1)) == (4, 3)
    for bound in ({"min_steps": 5}, {"max_steps": 5}):
        with pytest.raises(RecombineError, match="bounds in steps"):
            trained(replace(recipe, own_epochs=True, **bound), [0, 1])


def test_networks_have_as_many_tokens_as_the_data_and_stand_ins_are_more() -> None:
    for rate, tokens in [(0.0, 7), (0.5, 7 + SPARES)]:
        model = fitted([1], replace(RECIPE, epochs=1, stand_ins=rate)).model
        assert model.architecture.vocabulary == tokens == model.embed.weight.shape[1]
        writable = (~model.unwritable).flatten().nonzero().flatten().tolist()
        assert writable == [3, 4, 5, 6]  # the end, ▷, a and b: stand-ins are there to be copied


def test_stand_ins_need_a_second_prototype_to_show_them() -> None:
    recipe = replace(RECIPE, network=replace(TINY, prototypes=1))
    corpus = schedule((0,), prototypes=1).corpus
    assert fitted([1], replace(recipe, stand_ins=0.5), corpus=corpus).history.loss


@given(
    st.integers(1, 5000), st.integers(1, 70), st.integers(1, 30), st.integers(0, 400), st.none() | st.integers(1, 3000)
)
def test_steps_are_those_of_the_epochs_or_of_the_limits(
    rows: int, batch: int, epochs: int, least: int, most: int | None
) -> None:
    settings = replace(RECIPE, batch=batch, epochs=epochs, min_steps=least, max_steps=most).duration(rows)
    each = max(1, rows // batch)
    total = settings.epochs * settings.steps_per_epoch
    if most is None or most >= max(each * epochs, each * -(-least // each)):
        assert settings.steps_per_epoch == each
        assert total == each * epochs or each * epochs < least <= total < least + each
    else:
        assert settings.epochs <= ROUNDS
        assert most - ROUNDS < total <= most


def test_an_epoch_of_a_mixture_shows_the_originals_once() -> None:
    """Of 32 originals in a mixture with a share of 0.8, in batches of 4: 40 draws, 10 steps."""
    corpus = Corpus.for_prediction([EXAMPLES * 3], VOCABULARY, CPU)
    told: list[int] = []
    fit(
        replace(RECIPE, network=replace(TINY, prototypes=1), batch=4, epochs=1, held_out=0.0),
        corpus,
        [mixture(32, 10, 0.2)],
        [0],
        vocabulary=len(VOCABULARY),
        judge=exact_match,
        report=lambda steps, *_: told.append(steps),
    )
    assert told == [10]


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=4, unique=True), st.floats(0, 0.9))
def test_held_out_rows_are_a_share_of_the_originals_and_not_trained_on(seeds: list[int], share: float) -> None:
    groups = [[Group(np.arange(10, 40), 0.7), Group(np.arange(40, 50), 0.3)]] * len(seeds)
    training, held_out = hold_out(groups, seeds, share)
    assert held_out.shape == (len(seeds), int(share * 30))
    for number, seed in enumerate(seeds):
        originals, others = training[number]
        assert sorted([*originals.rows, *held_out[number]]) == list(range(10, 40))
        assert (originals.share, others) == (0.7, groups[0][1])
        [[alone, _]], [held_out_alone] = hold_out(groups[:1], [seed], share)
        assert np.array_equal(originals.rows, alone.rows)
        assert np.array_equal(held_out[number], held_out_alone)


def test_the_judge_gets_the_rows_that_are_held_out() -> None:
    asked = []

    def judge(corpus: Corpus, rows: np.ndarray):  # noqa: ANN202
        asked.append(rows)
        return likelihood(corpus, rows)

    groups = [[Group(np.arange(40))]] * 2
    history = fit(RECIPE, CORPUS, groups, [1, 2], vocabulary=len(VOCABULARY), judge=judge).history
    assert np.array_equal(asked[0], hold_out(groups, [1, 2], 0.2)[1])
    assert not np.array_equal(*asked[0])
    assert len(history.evaluation) == 3
    asked.clear()
    nothing = fit(replace(RECIPE, held_out=0.0), CORPUS, groups, [1, 2], vocabulary=len(VOCABULARY), judge=judge)
    assert (asked, nothing.history.evaluation) == ([], [])


def test_only_tokens_of_training_targets_are_written_if_the_network_says_so() -> None:
    """Rows 0 to 5 have no b in the target: who trains on nothing else never writes one."""
    corpus = Corpus.for_recombination(EXAMPLES, np.array([[0, 1, 2]] * 6 + [[1, 0, 2]] * 2), VOCABULARY, CPU)
    recipe = replace(RECIPE, network=replace(TINY, write_seen_only=True), epochs=1, held_out=0.0)
    groups = [[Group(np.arange(6))], [Group(np.arange(8))]]
    model = fit(recipe, corpus, groups, [1, 2], vocabulary=len(VOCABULARY), judge=likelihood).model
    assert (~model.unwritable).sum(-1).flatten().tolist() == [3, 4]
    assert model.unwritable[0, 0, 0, VOCABULARY.encode(("b",))[0]]


def test_patience_lasts_for_some_hundred_steps_however_short_an_epoch_is() -> None:
    patient = replace(SMALL_PREDICTOR, batch=64, patience=10)
    assert patient.duration(46).patience == 500
    assert patient.duration(64 * 200).patience == 10
    assert replace(patient, patience=0).duration(46).patience == 0
    # Bounded by steps it is judged in fewer rounds, and waits no longer for it: 10 epochs of 200 steps.
    bounded = replace(patient, epochs=150, max_steps=10_000).duration(64 * 200)
    assert (bounded.steps_per_epoch, bounded.patience) == (500, 4)


@pytest.mark.parametrize("sorting", [None, 4])
def test_batches_are_stratified_unless_they_are_to_be_sorted(
    monkeypatch: pytest.MonkeyPatch, sorting: int | None
) -> None:
    seen = []

    def schedule_of(*values: object, **settings: object) -> Schedule:
        seen.append((settings["fixed"], settings["sorting"]))
        return Schedule(*values, **settings)

    monkeypatch.setattr(fit_module, "Schedule", schedule_of)
    history = fitted([1], replace(RECIPE, sorting=sorting)).history
    assert len(history.loss) == 3
    assert seen == [(False, sorting)]
    assert (WORD_FORM_GENERATOR.sorting, WORD_FORM_PREDICTOR.sorting) == (16, None)
