"""Populations whose networks have training examples of their own."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tiny_networks import WORD_FORM_GENERATOR

from recombine.augmentation.recombination import Recombination
from recombine.augmentation.sampler import SamplingSettings
from recombine.decoding.generate import Decoding
from recombine.example import Example
from recombine.inflection import Inflection
from recombine.neighborhoods import Neighborhoods, Omega, Tagged, compatible

ENDINGS = {"PRS": "ir", "PROG": "iyor", "PST": "di"}
RECIPE = replace(WORD_FORM_GENERATOR, batch=8, epochs=100, max_steps=40)


def forms(*lemmas: str) -> list[Example]:
    return [
        Inflection(lemma, ("V", tense), lemma + ending).for_generation
        for lemma in lemmas
        for tense, ending in ENDINGS.items()
    ]


# The same tokens and lengths, so that a network is the same alone and beside the other.
ONE, OTHER = forms("abk", "kab", "bka", "aab"), forms("kba", "akb", "bak", "bba")


def learned(prototypes: int = 2, *, seeds: tuple[int, ...] = (3, 4)) -> Recombination:
    sampling = SamplingSettings(decoding=Decoding("mixed", 1.0), novelty="pair", batch=64, patience=50)
    rule = Tagged(first=2, second=2)
    return Recombination(rule, RECIPE, sampling=sampling, prototypes=prototypes, seeds=seeds, device="cpu")


@cache
def fitted(prototypes: int = 2) -> Recombination:
    rule = Tagged(first=2, second=2)
    return learned(prototypes).fit_each([ONE, OTHER], [rule.build(ONE), rule.build(OTHER)])


@pytest.mark.slow
@pytest.mark.parametrize("prototypes", [0, 1, 2])
def test_a_network_learns_from_its_own_examples_alone(prototypes: int) -> None:
    both = fitted(prototypes).fitted_.history.loss
    alone = learned(prototypes, seeds=(4,)).fit_on(OTHER, Tagged(first=2, second=2).build(OTHER)).fitted_.history.loss
    assert [loss[1] for loss in both[:5]] == pytest.approx([loss[0] for loss in alone[:5]], rel=1e-3)


@pytest.mark.slow
def test_prototypes_and_novelty_are_of_a_networks_own_examples() -> None:
    model = fitted()
    for own, samples in zip((ONE, OTHER), model.sample_each(4, seed=1), strict=True):
        assert len(samples)
        for sample in samples:
            assert set(sample.provenance.prototypes) <= set(own)
            assert sample not in own


def test_a_saved_population_knows_whose_examples_are_whose(tmp_path: Path) -> None:
    model = fitted()
    model.save(tmp_path / "model")
    again = Recombination.load(tmp_path / "model", device="cpu")
    assert again.sizes_ == (12, 12)
    assert repr(again) == repr(model)
    assert again.sample_each(3, seed=1) == model.sample_each(3, seed=1)


@pytest.mark.parametrize("prototypes", [0, 2])
def test_some_networks_are_a_population_of_their_own(prototypes: int, tmp_path: Path) -> None:
    model = fitted(prototypes)
    for number, own in enumerate((ONE, OTHER)):
        model.only(range(number, number + 1)).save(tmp_path / str(number))
        part = Recombination.load(tmp_path / str(number), device="cpu")
        assert (part.seeds, part.sizes_, part.examples_) == (model.seeds[number : number + 1], (12,), tuple(own))
        assert part.fitted_.history.loss == [[each[number]] for each in model.fitted_.history.loss]
        assert part.sample_each(3, seed=1) == [model.sample_each(3, seed=1)[number]]


def test_the_prior_over_prototypes_can_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def pairs(found: Neighborhoods, examples: list[Example]) -> Omega:
        asked.append(examples)
        return compatible(found, examples)

    model = fitted()
    monkeypatch.setattr(model, "omega", pairs)
    assert all(map(len, model.sample_each(2)))
    assert [list(examples) for examples in asked] == [ONE, OTHER]
