from dataclasses import replace

import numpy as np
import pytest
import torch
from networks import MORPHOLOGY, SCAN, VARIANTS, network, one_at_a_time
from slow_reference import Parameters, attend, decoder_cell, encode, softmax
from torch import Tensor

from recombine.data.vocabulary import BOS, EOS, Vocabulary
from recombine.decoding.trace import END, Trace, trace
from recombine.errors import RecombineError
from recombine.example import SEPARATOR, Tokens
from recombine.models.noise import Noise
from recombine.models.recombiner import Recombiner

VOCABULARY = Vocabulary(("A", "B"))
PROTOTYPES: list[Tokens] = [("A", SEPARATOR, "A", "A", "B"), ("B", SEPARATOR, "B"), ("A", "B", SEPARATOR, "A")]
D: Tokens = ("B", "A", SEPARATOR, "B", "B", "A")

every_network = pytest.mark.parametrize("name", VARIANTS)


def traced(model: Recombiner, *, replica: int = 0) -> Trace:
    return trace(
        model, VOCABULARY, prototypes=PROTOTYPES[: model.architecture.prototypes], d=D, replica=replica, seed=3
    )


def ids(tokens: Tokens) -> list[int]:
    return VOCABULARY.encode(tokens)


def as_tensors(model: Recombiner) -> tuple[Tensor, Tensor]:
    """The prototypes (R, 1, K, S) and the target (R, 1, T), padded by hand."""
    count = model.architecture.prototypes
    rows = [ids(tokens) for tokens in PROTOTYPES[:count]]
    width = max(map(len, rows), default=0)
    table = torch.tensor([row + [0] * (width - len(row)) for row in rows], dtype=torch.long).view(1, 1, count, width)
    target = torch.tensor(ids(D)).view(1, 1, -1)
    return table.expand(model.replicas, -1, -1, -1), target.expand(model.replicas, -1, -1)


@torch.no_grad()
@every_network
def test_probabilities_are_those_of_one_decoder_step_after_another(name: str) -> None:
    model = network(VARIANTS[name], seeds=(1, 2))
    prototypes, target = as_tensors(model)
    z = None if model.latent is None else model.propose(prototypes, target, Noise([3, 3]))
    _, distributions = one_at_a_time(model, prototypes, target, z)
    for replica in range(2):
        found = traced(model, replica=replica)
        assert found.probabilities == pytest.approx(distributions[replica, :, 0].numpy(), abs=1e-12)


@every_network
def test_everything_adds_up(name: str) -> None:
    model = network(VARIANTS[name])
    found = traced(model)
    count, steps = model.architecture.prototypes, len(D) + 1
    assert found.shares.shape == (steps, 2 + count)
    assert found.attention.shape[:2] == (count, steps)
    assert found.probabilities.shape == found.written.shape == (steps, len(VOCABULARY))
    assert found.probabilities.sum(-1) == pytest.approx(1)
    assert found.shares.sum(-1) == pytest.approx(1)
    assert found.attention.sum(-1) == pytest.approx(1)
    assert found.written.sum(-1) == pytest.approx(found.shares[:, 0])
    assert (found.written <= found.probabilities + 1e-12).all()
    for weights, tokens in zip(found.attention, PROTOTYPES, strict=False):
        assert not weights[:, len(tokens) + 1 :].any()


@every_network
def test_shares_are_nothing_where_nothing_can_be_copied(name: str) -> None:
    architecture = VARIANTS[name]
    found = traced(network(architecture))
    if architecture.copying == "none":
        assert not found.shares[:, 1:].any()
    else:
        assert (found.shares[:, 2:] > 0).all()
        assert (found.shares[1:, 1] > 0).all() == architecture.own_attention
    assert found.shares[0, 1] == 0  # there is no output yet


def test_names_of_tokens() -> None:
    found = traced(network(SCAN))
    assert found.tokens == (*D, END)
    assert found.prototypes == ((*PROTOTYPES[0], END), (*PROTOTYPES[1], END))
    assert found.vocabulary == ("", "", "", END, SEPARATOR, "A", "B")


def test_stand_ins_are_ids_without_a_name() -> None:
    found = traced(network(replace(SCAN, vocabulary=len(VOCABULARY) + 3)))
    assert found.vocabulary == ("", "", "", END, SEPARATOR, "A", "B", "", "", "")
    assert found.probabilities.shape == found.written.shape == (len(D) + 1, 10)
    assert found.written.sum(-1) == pytest.approx(found.shares[:, 0])
    assert found.shares.sum(-1) == pytest.approx(1)


def test_what_the_network_could_not_have_done_is_said() -> None:
    model = network(SCAN)
    with pytest.raises(RecombineError, match="has 2 prototypes, got 1"):
        trace(model, VOCABULARY, prototypes=PROTOTYPES[:1], d=D)
    with pytest.raises(RecombineError, match="does not know the token 'C'"):
        trace(model, VOCABULARY, prototypes=PROTOTYPES[:2], d=("C", SEPARATOR, "A"))


def scan_by_hand(p: Parameters, hidden: int) -> tuple[list[list[list[float]]], list[list[float]]]:
    """The SCAN network's attention to each of two prototypes, and its shares, at each step: loops over vectors."""
    prototypes = [ids(tokens) for tokens in PROTOTYPES[:2]]
    table = p("embed.weight")
    ones = torch.ones(9, 1)
    states = [encode(p, "embed.weight", prototype, hidden, ones)[0] for prototype in prototypes]
    keys = [torch.tanh(p.linear("attention.key", s, k)) for k, s in enumerate(states)]
    values = [torch.tanh(p.linear("attention.value", s, k)) for k, s in enumerate(states)]
    cell = decoder_cell(p, table.shape[1], table.shape[1])
    h = c = torch.zeros(1, hidden, dtype=table.dtype)
    feed = torch.zeros(table.shape[1], dtype=table.dtype)
    attention: list[list[list[float]]] = [[], []]
    shares = []
    for previous in [BOS, *ids(D)[:-1]]:
        h, c = cell(torch.cat([table[previous], feed])[None], (h, c))
        query = torch.tanh(p.linear("attention.query", torch.cat([h[0], table[previous], feed]))).view(2, -1)
        scores = [[float(key @ q) / query.shape[1] ** 0.5 for key in ks] for ks, q in zip(keys, query, strict=True)]
        weights = [softmax(each) for each in scores]
        feed = p.linear(
            "to_feed", torch.cat([h[0], *(attend(w, list(v)) for w, v in zip(weights, values, strict=True))])
        )
        write = [float(table[i] @ feed) for i in range(EOS, len(table))]
        everything = softmax([*write, *scores[0], *scores[1]])
        middle, end = len(write), len(write) + len(scores[0])
        shares.append([sum(everything[:middle]), 0.0, sum(everything[middle:end]), sum(everything[end:])])
        for each, w in zip(attention, weights, strict=True):
            each.append(w)
    return attention, shares


@torch.no_grad()
def test_attention_and_shares_are_the_papers_equations() -> None:
    model = network(SCAN, seeds=(4, 5))
    for replica in range(2):
        found = traced(model, replica=replica)
        attention, shares = scan_by_hand(Parameters(model, replica), SCAN.hidden)
        assert found.shares == pytest.approx(np.array(shares), abs=1e-10)
        for weights, expected in zip(found.attention, attention, strict=True):
            assert weights[:, : len(expected[0])] == pytest.approx(np.array(expected), abs=1e-10)


def test_a_gate_says_what_is_written_and_what_is_copied() -> None:
    """With all the gate's weights at zero the streams that have something to offer count alike."""
    model = network(replace(MORPHOLOGY, prototypes=2))
    assert model.gate is not None
    with torch.no_grad():
        model.gate.weight.zero_()
        model.gate.bias.zero_()
    shares = traced(model).shares
    assert shares[0] == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3])
    assert shares[1:] == pytest.approx(np.full((len(D), 4), 1 / 4))
