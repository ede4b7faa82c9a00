from dataclasses import replace

import numpy as np
import pytest
import torch
from networks import MORPHOLOGY, NAMED, SCAN, A, B, network, one_at_a_time
from toy import CPU, EXAMPLES, schedule

from recombine.data.vocabulary import EOS, PAD, Vocabulary
from recombine.decoding.generate import Decoding, generate
from recombine.example import Example
from recombine.models.architecture import Architecture
from recombine.models.scoring import score
from recombine.training import fit as fit_module
from recombine.training.corpus import Corpus
from recombine.training.fit import exact_match, likelihood

ROWS = np.array([[3, 0, 7, 21, 12], [1, 30, 8, 2, 39]])
"""Each replica's own held-out rows."""


@pytest.fixture(params=[256, 2], autouse=True)
def _batches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_module, "BATCH", request.param)


def item(corpus: Corpus, replica: int, row: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A row's sources and target for both replicas, without any padding of the target."""
    index = torch.full((2, 1), row)
    sources, target = corpus.batch(index, corpus.longest, corpus.longest)
    ids = target[replica, 0].tolist()
    return (sources[replica].expand(2, -1, -1, -1), target[replica, :, : ids.index(EOS) + 1].expand(2, -1, -1))


@torch.no_grad()
@pytest.mark.parametrize("name", ["scan", "scan-0", "morphology", "scan-latent", "scan-no-copying"])
def test_likelihood_is_the_mean_of_each_replicas_own_rows(name: str) -> None:
    """A latent variable is at the centre of its prior: zero."""
    architecture = NAMED[name]
    model = network(architecture, seeds=(1, 2)).float()
    corpus = schedule((1, 2), prototypes=architecture.prototypes).corpus
    z = torch.zeros(2, 1, architecture.latent) if architecture.latent else None
    found = likelihood(corpus, ROWS)(model, range(2))
    for replica in range(2):
        singly = [one_at_a_time(model, *item(corpus, replica, row), z)[0][replica].sum() for row in ROWS[replica]]
        assert found[replica].item() == pytest.approx(torch.stack(singly).mean().item(), rel=1e-5)


@pytest.mark.parametrize("architecture", [NAMED["predictor"], SCAN, MORPHOLOGY], ids=["predictor", "scan", "own"])
def test_exact_match_is_the_share_that_greedy_decoding_gives(architecture: Architecture) -> None:
    """The targets are what each replica would say, but for the first or the last token of some."""
    model = network(architecture, seeds=(1, 2))
    corpus = schedule((1, 2), prototypes=architecture.prototypes).corpus
    sources, _ = corpus.batch(torch.arange(40).expand(2, -1), corpus.longest, corpus.longest)
    said = generate(model, sources, 8, Decoding("greedy")).tokens
    targets = said.clone()
    for replica, (every, last) in enumerate([(3, False), (4, True)]):
        for row in range(0, 40, every):
            place = int((said[replica, row] != PAD).sum()) - 1 if last else 0
            targets[replica, row, place] = A if said[replica, row, place] == B else B
    rows = corpus.rows.clone()
    rows[..., 0] = torch.arange(40)
    judged = Corpus.of(corpus.sources.numpy(), targets.numpy(), rows.numpy(), CPU)
    found = exact_match(judged, ROWS)(model, range(2))
    right = [[torch.equal(said[r, row], targets[r, row]) for row in ROWS[r]] for r in range(2)]
    assert right == [[row % 3 != 0 for row in ROWS[0]], [row % 4 != 0 for row in ROWS[1]]]
    assert found.tolist() == pytest.approx([sum(each) / len(each) for each in right])


def test_tokens_that_can_neither_be_written_nor_copied_leave_the_others_to_judge_by() -> None:
    """A token of a held-out row only: it must not drown what changes from epoch to epoch."""
    examples = [*EXAMPLES, Example(("a", "z"), ("z",))]
    vocabulary = Vocabulary.of(examples)
    rows = np.array([[number, number % 14] for number in range(15)])
    corpus = Corpus.for_recombination(examples, rows, vocabulary, CPU)
    architecture = replace(SCAN, vocabulary=len(vocabulary), prototypes=1, write_seen_only=True)
    model = network(architecture).float()
    model.write_only(corpus.written(len(vocabulary), [np.arange(14)]))
    without, with_z = (likelihood(corpus, np.array([held_out]))(model, [0]).item() for held_out in ([0, 1], [0, 1, 14]))
    assert -100 < with_z < 0
    others = score(model, *corpus.batch(torch.tensor([[14]]), corpus.longest, corpus.longest))[0]
    assert others.min() < -1e8
    assert 3 * with_z == pytest.approx(2 * without + others[others > -1e8].sum().item(), rel=1e-5)
