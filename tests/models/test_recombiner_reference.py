from dataclasses import replace

import pytest
import torch
from networks import MORPHOLOGY, SCAN, batch, network
from slow_reference import Parameters, morphology, scan

from recombine.data.vocabulary import PAD


def unpadded(tokens: torch.Tensor) -> list[int]:
    return [token for token in tokens.tolist() if token != PAD]


@torch.no_grad()
@pytest.mark.parametrize("prototypes", [1, 2, 3])
@pytest.mark.parametrize(("architecture", "reference"), [(SCAN, scan), (MORPHOLOGY, morphology)])
def test_the_whole_network_is_the_papers_equations(architecture, reference, prototypes: int) -> None:  # noqa: ANN001
    model = network(replace(architecture, prototypes=prototypes), seeds=(4, 5))
    sources, targets = batch(model, 3)
    log_p, _ = model(sources, targets)
    for r in range(2):
        parameters = Parameters(model, r)
        for b in range(3):
            target = unpadded(targets[r, b])
            expected = reference(parameters, [unpadded(d) for d in sources[r, b]], target, architecture.hidden)
            assert log_p[r, : len(target), b].tolist() == pytest.approx(expected, abs=1e-10)
