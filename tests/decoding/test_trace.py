from dataclasses import replace

import numpy as np
import pytest
import torch
from networks import CAPITALS, MORPHOLOGY, PROTOTYPES, SCAN, VARIANTS, D, network, traced
from slow_reference import Masks, Parameters, scan_steps

from recombine.decoding.trace import END, trace
from recombine.errors import RecombineError
from recombine.example import SEPARATOR

every_network = pytest.mark.parametrize("name", VARIANTS)


@every_network
def test_everything_adds_up_and_nothing_is_copied_where_nothing_can_be(name: str) -> None:
    model = network(VARIANTS[name])
    found = traced(model)
    count, steps = model.architecture.prototypes, len(D) + 1
    assert found.shares.shape == (steps, 2 + count)
    assert found.attention.shape[:2] == (count, steps)
    assert found.probabilities.shape == found.written.shape == (steps, len(CAPITALS))
    assert found.probabilities.sum(-1) == pytest.approx(1)
    assert found.shares.sum(-1) == pytest.approx(1)
    assert found.attention.sum(-1) == pytest.approx(1)
    assert found.written.sum(-1) == pytest.approx(found.shares[:, 0])
    assert (found.written <= found.probabilities + 1e-12).all()
    for weights, tokens in zip(found.attention, PROTOTYPES, strict=False):
        assert not weights[:, len(tokens) + 1 :].any()
    assert found.shares[0, 1] == 0  # there is no output yet
    if model.architecture.copying == "none":
        assert not found.shares[:, 1:].any()
    else:
        assert (found.shares[:, 2:] > 0).all()
        assert (found.shares[1:, 1] > 0).all() == model.architecture.own_attention


@pytest.mark.parametrize("stand_ins", [0, 3])
def test_names_of_tokens_of_which_stand_ins_have_none(stand_ins: int) -> None:
    found = traced(network(replace(SCAN, vocabulary=len(CAPITALS) + stand_ins)))
    assert found.tokens == (*D, END)
    assert found.prototypes == ((*PROTOTYPES[0], END), (*PROTOTYPES[1], END))
    assert found.vocabulary == ("", "", "", END, SEPARATOR, "A", "B", *[""] * stand_ins)
    assert found.probabilities.shape == found.written.shape == (len(D) + 1, 7 + stand_ins)
    assert found.written.sum(-1) == pytest.approx(found.shares[:, 0])
    assert found.shares.sum(-1) == pytest.approx(1)


def test_what_the_network_could_not_have_done_is_said() -> None:
    model = network(SCAN)
    with pytest.raises(RecombineError, match="has 2 prototypes, got 1"):
        trace(model, CAPITALS, prototypes=PROTOTYPES[:1], d=D)
    with pytest.raises(RecombineError, match="does not know the token 'C'"):
        trace(model, CAPITALS, prototypes=PROTOTYPES[:2], d=("C", SEPARATOR, "A"))


@torch.no_grad()
def test_attention_and_shares_are_the_papers_equations() -> None:
    model = network(SCAN, seeds=(4, 5))
    prototypes, target, size = (
        [CAPITALS.encode(tokens) for tokens in PROTOTYPES[:2]],
        CAPITALS.encode(D),
        SCAN.vocabulary,
    )
    masks = Masks(torch.ones(2, 9, 1), *torch.ones(2, len(target), 1), torch.ones(len(target), SCAN.hidden))
    found = traced(model)
    for t, step in enumerate(scan_steps(Parameters(model, 0), prototypes, target, masks)):
        end = size + len(prototypes[0])
        shares = [sum(step.entries[:size]), 0, sum(step.entries[size:end]), sum(step.entries[end:])]
        assert found.shares[t] == pytest.approx(shares, abs=1e-10)
        for weights, expected in zip(found.attention[:, t], step.attention, strict=True):
            assert weights[: len(expected)] == pytest.approx(expected, abs=1e-10)


def test_a_gate_says_what_is_written_and_what_is_copied() -> None:
    """With all the gate's weights at zero the streams that have something to offer count alike."""
    model = network(replace(MORPHOLOGY, prototypes=2))
    with torch.no_grad():
        model.gate.weight.zero_()
        model.gate.bias.zero_()
    shares = traced(model).shares
    assert shares[0] == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3])
    assert shares[1:] == pytest.approx(np.full((len(D), 4), 1 / 4))
