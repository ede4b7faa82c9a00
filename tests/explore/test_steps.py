"""A network along a beginning, against one decoder step after another."""

import numpy as np
import pytest
import torch
from networks import VARIANTS, network, one_at_a_time

from recombine.data.vocabulary import EOS, UNK, Vocabulary
from recombine.example import SEPARATOR
from recombine.explore.steps import steps_along
from recombine.models.noise import Noise

VOCABULARY = Vocabulary(("a", "b"))
BEGINNING = ("a", SEPARATOR, "b", "a")
PROTOTYPES = (("a", "b", SEPARATOR, "a"), ("b", SEPARATOR, "b"), ("a", SEPARATOR, "b", "b", "b"))


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("length", [0, 1, 4])
def test_probabilities_are_those_of_single_steps(name: str, length: int) -> None:
    model = network(VARIANTS[name], seeds=(3, 4))
    prototypes = PROTOTYPES[: model.architecture.prototypes]
    found = steps_along(BEGINNING[:length], prototypes, model=model, vocabulary=VOCABULARY, seed=7)

    ids = [VOCABULARY.encode(tokens) for tokens in prototypes]
    width = max(map(len, ids), default=0)
    sources = torch.tensor([row + [0] * (width - len(row)) for row in ids], dtype=torch.long).view(len(ids), width)
    z = None if model.latent is None else model.latent.prior(1, Noise([7, 7], "cpu"))
    target = torch.tensor(VOCABULARY.encode(BEGINNING[:length]))
    with torch.no_grad():
        _, expected = one_at_a_time(model, sources.expand(2, 1, -1, -1), target.expand(2, 1, -1), z)
    np.testing.assert_allclose(found.probabilities, expected[0, :, 0].numpy(), atol=1e-9)
    assert len(found.probabilities) == length + 1


@pytest.mark.parametrize("name", VARIANTS)
def test_a_source_holds_the_token_that_comes_from_it(name: str) -> None:
    model = network(VARIANTS[name])
    prototypes = PROTOTYPES[: model.architecture.prototypes]
    found = steps_along(BEGINNING, prototypes, model=model, vocabulary=VOCABULARY)
    sequences = {"own": VOCABULARY.encode(BEGINNING)}
    sequences |= {str(k): VOCABULARY.encode(prototype) for k, prototype in enumerate(prototypes, start=1)}
    ways = {model.architecture.vocabulary + c: int(token) for c, token in enumerate(found.copied)}
    origins = set()
    for step in range(len(BEGINNING) + 1):
        for token in range(UNK + 1, len(VOCABULARY)):
            source = found.source(step, token)
            origins.add(source.origin)
            copies = [float(found.entries[step, entry]) for entry, made in ways.items() if made == token]
            is_written = float(found.entries[step, token]) >= max(copies, default=-np.inf)
            assert (source.origin == "written") == (source.place is None) == is_written
            if source.place is not None:
                assert sequences[source.origin][source.place] == token
                assert source.origin != "own" or source.place < step
    assert origins >= {"morphology": {"written", "1", "2"}, "reluctant-3": {"own"}}.get(name, set())


def test_the_end_is_among_what_comes_next() -> None:
    found = steps_along((), PROTOTYPES[:2], model=network(VARIANTS["scan"]), vocabulary=VOCABULARY)
    assert found.probabilities[0, EOS] > 0
    assert found.probabilities.sum() == pytest.approx(1)
