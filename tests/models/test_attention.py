import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from recombine.data.vocabulary import EOS, PAD, SEP
from recombine.models.architecture import Architecture
from recombine.models.attention import Attention, hide_shared_tokens
from recombine.models.layers import initialize
from recombine.models.recombiner import Recombiner
from recombine.models.scoring import decode, score

LENGTHS = ((4, 2), (1, 3))
STATES, QUERY = 5, 3


@torch.no_grad()
@pytest.mark.parametrize(("projection", "reach"), [(0, 0), (3, 0), (3, 1), (3, 2)])
def test_attention_by_hand(projection: int, reach: int) -> None:
    """Scores and retrieved values, source position by source position."""
    shape = {"prototypes": 2, "states": STATES, "query": QUERY, "projection": projection, "reach": reach}
    attention = Attention(1, **shape).double()
    initialize(attention, [0])
    states, query = torch.randn(1, 2, 2, 4, STATES).double(), torch.randn(1, 2, QUERY).double()
    real = torch.arange(4) < torch.tensor(LENGTHS).unsqueeze(-1)
    step = 2
    scores, retrieved = attention(query, attention.remember(states, real.unsqueeze(0)), step)
    size = projection or STATES
    for b, lengths in enumerate(LENGTHS):
        for k, length in enumerate(lengths):
            mine, q = states[0, b, k, :length], query[0, b]
            keys, values = mine @ attention.key.weight[k] + attention.key.bias[k], mine
            if projection:
                keys = torch.tanh(keys)
                values = torch.tanh(mine @ attention.value.weight[k] + attention.value.bias[k])
                q = torch.tanh(q @ attention.query.weight[0] + attention.query.bias[0, 0])
                q = q[k * projection : (k + 1) * projection]
            expected, offered = [], []
            for j in range(length):
                near = min(max(j - step, -reach), reach) + reach
                key = keys[j] + attention.near_key.weight[k][:, near] if reach else keys[j]
                offered.append(values[j] + attention.near_value.weight[k][near] if reach else values[j])
                expected.append(float(key @ q) / (math.sqrt(projection) if projection else 1))
            assert scores[0, b, k, :length].tolist() == pytest.approx(expected, abs=1e-12)
            assert (scores[0, b, k, length:] < -1e8).all()
            weights = [math.exp(e) / sum(map(math.exp, expected)) for e in expected]
            value = torch.stack([w * v for w, v in zip(weights, offered, strict=True)]).sum(0)
            assert torch.allclose(retrieved[0, b, k * size : (k + 1) * size], value, atol=1e-12)


A, B, C, D = range(SEP + 1, SEP + 5)
FIRST = [A, B, SEP, C, EOS, PAD, PAD]
SECOND = [B, D, A, SEP, C, D, EOS]
PROTOTYPES = torch.tensor([[[FIRST, SECOND]]])


TOKENS = st.lists(st.integers(SEP + 1, SEP + 5), max_size=3)


def pair(x: list[int], y: list[int]) -> list[int]:
    return [*x, SEP, *y, EOS, *[PAD] * (6 - len(x) - len(y))]


@given(st.lists(st.builds(pair, TOKENS, TOKENS), min_size=1, max_size=3))
def test_what_is_left_is_the_list_without_the_tokens_of_the_first(prototypes: list[list[int]]) -> None:
    left = hide_shared_tokens(torch.tensor([[prototypes]]), SEP + 6).tokens[0, 0].tolist()
    first, *later = prototypes
    assert left[0] == first
    for ours, whole in zip(left[1:], later, strict=True):
        kept = [token for token in whole if token in (SEP, EOS) or (token != PAD and token not in first)]
        assert ours == kept + [PAD] * (len(whole) - len(kept))


def test_places_lead_from_the_original_to_what_is_left() -> None:
    left = hide_shared_tokens(PROTOTYPES, D + 1)
    assert left.tokens[0, 0].tolist() == [FIRST, [D, SEP, D, EOS, PAD, PAD, PAD]]
    assert left.shown[0, 0, 1].tolist() == [False, True, False, True, False, True, True]
    found = left.tokens.gather(-1, left.places)
    assert torch.equal(found[left.shown], PROTOTYPES[left.shown])


def network(*, hiding: bool) -> Recombiner:
    model = Recombiner(Architecture(vocabulary=D + 1, hidden=8, embedding=4, attention=4, hide_shared_tokens=hiding))
    initialize(model, [0])
    return model.eval()


def test_what_the_first_holds_changes_nothing_in_the_second() -> None:
    target = torch.tensor([[[A, D, SEP, C, D, EOS]]])
    other = torch.tensor([[[FIRST, [D, B, SEP, D, C, C, EOS]]]])  # the same left over: D, SEP, D, EOS
    for hiding in (True, False):
        model = network(hiding=hiding)
        ours, theirs = (score(model, prototypes, target)[0] for prototypes in (PROTOTYPES, other))
        assert torch.allclose(ours, theirs, atol=1e-5) == hiding


def test_hidden_tokens_are_not_copied() -> None:
    model = network(hiding=True)
    context = model.remember(PROTOTYPES)
    _, scores = decode(model, context, context.state, torch.full((1, 1, 1), A))
    copied = model.entries(scores)[0, 0, 0, D + 1 :].exp().view(2, -1)
    assert (copied[1][~hide_shared_tokens(PROTOTYPES, D + 1).shown[0, 0, 1]] == 0).all()
    assert (copied[1][[1, 3, 5, 6]] > 0).all()
