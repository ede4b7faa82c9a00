import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from recombine.models.attention import MASKED
from recombine.models.copying import (
    Scores,
    best_entry,
    cost_of_copying,
    log_probabilities,
    target_log_probability,
    token_probabilities,
)

WRITE = [0.3, -1.2, 0.7]
OWN = [0.5, 2.0]
FIRST = [1.0, -0.5, 0.2]
SECOND = [-0.3, 0.9]  # and a position of padding
GATE = [0.1, 0.4, -0.6, 0.8]
OWN_TOKENS, FIRST_TOKENS, SECOND_TOKENS = [2, 1], [2, 2, 0], [1, 2]
SOURCES = torch.tensor([[[*OWN_TOKENS, *FIRST_TOKENS, *SECOND_TOKENS, 0]]])


def scores(*, own: list[float] = OWN, gate: list[float] | None = GATE) -> Scores:
    shaped = [torch.tensor(x, dtype=torch.double).view(1, 1, 1, -1) for x in (WRITE, own, gate or [])]
    prototypes = torch.tensor([FIRST, [*SECOND, MASKED]], dtype=torch.double).view(1, 1, 1, 2, 3)
    return Scores(shaped[0], shaped[1], prototypes, shaped[2] if gate else None)


def softmax(values: list[float]) -> list[float]:
    total = sum(map(math.exp, values))
    return [math.exp(value) / total for value in values]


def share(weights: list[float], tokens: list[int], token: int) -> float:
    return sum(weight for weight, each in zip(weights, tokens, strict=True) if each == token)


def mixed(weights: list[float], written: float, token: int) -> float:
    """What writing and copying from each stream come to, the streams of copies being weighed."""
    streams = ((OWN, OWN_TOKENS), (FIRST, FIRST_TOKENS), (SECOND, SECOND_TOKENS))
    copied = (share(softmax(values), tokens, token) for values, tokens in streams)
    return written + sum(weight * each for weight, each in zip(weights, copied, strict=True))


@pytest.mark.parametrize("token", [0, 1, 2])
@pytest.mark.parametrize("style", ["joint", "gated", "symbol", "none"])
def test_copying_by_hand(style: str, token: int) -> None:
    entries = log_probabilities(scores(gate=GATE[1:] if style == "symbol" else GATE), style)
    sources = SOURCES[..., :0] if style == "none" else SOURCES
    if style == "none":
        expected = softmax(WRITE)[token]
    elif style == "joint":
        tokens = [0, 1, 2, *OWN_TOKENS, *FIRST_TOKENS, *SECOND_TOKENS]
        expected = share(softmax([*WRITE, *OWN, *FIRST, *SECOND]), tokens, token)
    elif style == "gated":
        beta = softmax(GATE)
        expected = mixed(beta[1:], beta[0] * softmax(WRITE)[token], token)
    else:
        p = softmax([*WRITE, *GATE[1:]])  # one more symbol for each stream
        expected = mixed(p[3:], p[token], token)
        assert cost_of_copying(entries, SOURCES.shape[-1]).item() == pytest.approx(math.log(1 + sum(p[3:])), abs=1e-12)
    log_p, possible = target_log_probability(entries, sources, torch.tensor([[[token]]]))
    assert log_p.exp().item() == pytest.approx(expected, abs=1e-12)
    assert possible.all()
    distribution = token_probabilities(entries[:, 0], sources)[0, 0]
    assert distribution[token].item() == pytest.approx(expected, abs=1e-12)
    assert distribution.sum().item() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("own", [[], [MASKED, MASKED]], ids=["absent", "masked"])
def test_a_stream_with_nothing_to_copy_gets_no_weight(own: list[float]) -> None:
    entries = log_probabilities(scores(own=own), "gated").exp().flatten()
    beta = softmax([GATE[0], *GATE[2:]])
    expected = [beta[0] * p for p in softmax(WRITE)]
    assert entries[:3].tolist() == pytest.approx(expected, abs=1e-12)
    assert entries[3 : 3 + len(own)].sum().item() == 0
    assert entries.sum().item() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("style", ["joint", "gated"])
@pytest.mark.parametrize("token", [0, 1, 2])
def test_write_dropout_removes_the_write_entry_and_leaves_the_normaliser(style: str, token: int) -> None:
    entries = log_probabilities(scores(), style)
    target = torch.tensor([[[token]]])
    whole, _ = target_log_probability(entries, SOURCES, target)
    copied, possible = target_log_probability(entries, SOURCES, target, may_write=torch.tensor([[[False]]]))
    assert copied.exp().item() == pytest.approx((whole.exp() - entries[0, 0, 0, token].exp()).item(), abs=1e-12)
    assert possible.all()


@pytest.mark.parametrize("style", ["joint", "gated"])
def test_a_token_without_any_source_is_not_possible(style: str) -> None:
    entries = log_probabilities(scores(), style)
    sources = SOURCES.clone()
    sources[sources == 1] = 2  # nothing to copy token 1 from, but at padding
    sources[..., -1] = 1
    may_write = torch.tensor([[[False]]])
    _, possible = target_log_probability(entries, sources, torch.tensor([[[1]]]), may_write=may_write)
    assert not possible.any()
    _, possible = target_log_probability(entries, sources, torch.tensor([[[1]]]), may_write=~may_write)
    assert possible.all()


@given(st.lists(st.floats(-5, 5), min_size=6, max_size=6), st.lists(st.integers(0, 2), min_size=3, max_size=3))
def test_the_best_entry_is_the_most_probable_that_produces_the_token(values: list[float], copies: list[int]) -> None:
    entries = torch.tensor(values, dtype=torch.double).log_softmax(-1).view(1, 1, 6)
    sources = torch.tensor(copies).view(1, 1, 3)
    produced = [0, 1, 2, *copies]
    for token in range(3):
        best = best_entry(entries, sources, torch.tensor([[token]])).item()
        assert produced[best] == token
        rivals = [p for p, each in zip(entries.flatten().tolist(), produced, strict=True) if each == token]
        assert entries[0, 0, best].item() == max(rivals)
