import math

import pytest
import torch

from recombine.models.attention import Attention
from recombine.models.layers import initialize

LENGTHS = ((4, 2), (1, 3))
STATES, QUERY = 5, 3


@torch.no_grad()
@pytest.mark.parametrize("separate", [True, False])
@pytest.mark.parametrize(("projection", "reach"), [(0, 0), (3, 0), (3, 1), (3, 2)])
def test_attention_by_hand(projection: int, reach: int, separate: bool) -> None:
    """Scores and retrieved values, source position by source position."""
    attention = Attention(
        1, prototypes=2, states=STATES, query=QUERY, projection=projection, separate=separate, reach=reach
    ).double()
    initialize(attention, [0])
    states, query = torch.randn(1, 2, 2, 4, STATES).double(), torch.randn(1, 2, QUERY).double()
    real = torch.arange(4) < torch.tensor(LENGTHS).unsqueeze(-1)
    step = 2
    scores, retrieved = attention(query, attention.remember(states, real.unsqueeze(0)), step)
    size = projection or STATES
    for b, lengths in enumerate(LENGTHS):
        for k, length in enumerate(lengths):
            own = k if separate else 0
            mine, q = states[0, b, k, :length], query[0, b]
            keys, values = mine @ attention.key.weight[own] + attention.key.bias[own], mine
            if projection:
                keys = torch.tanh(keys)
                values = torch.tanh(mine @ attention.value.weight[own] + attention.value.bias[own])
                q = torch.tanh(q @ attention.query.weight[0] + attention.query.bias[0, 0])
                q = q[own * projection : (own + 1) * projection]
            expected, offered = [], []
            for j in range(length):
                near = min(max(j - step, -reach), reach) + reach
                key = keys[j] + attention.near_key.weight[own][:, near] if reach else keys[j]
                offered.append(values[j] + attention.near_value.weight[own][near] if reach else values[j])
                expected.append(float(key @ q) / (math.sqrt(projection) if projection else 1))
            assert scores[0, b, k, :length].tolist() == pytest.approx(expected, abs=1e-12)
            assert (scores[0, b, k, length:] < -1e8).all()
            weights = [math.exp(e) / sum(map(math.exp, expected)) for e in expected]
            value = torch.stack([w * v for w, v in zip(weights, offered, strict=True)]).sum(0)
            assert torch.allclose(retrieved[0, b, k * size : (k + 1) * size], value, atol=1e-12)
