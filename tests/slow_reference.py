"""The paper's networks once more, one example at a time, in loops over vectors, from section 3.2 and appendix A.

It shares no code with the package but the parameters: `Parameters` hands out those of one replica by name. To be run
without gradients.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from recombine.data.vocabulary import BOS, EOS
from recombine.models.recombiner import Recombiner


class Parameters:
    """One replica's parameters."""

    def __init__(self, model: Recombiner, replica: int) -> None:
        self._values = {}
        for name, value in model.named_parameters():
            rows = value.shape[0] // model.replicas
            self._values[name] = value.detach()[replica * rows : (replica + 1) * rows]

    def __call__(self, name: str, number: int = 0) -> Tensor:
        """The parameter of that name; of the ones that every prototype has, the one with that number."""
        return self._values[name][number]

    def linear(self, name: str, x: Tensor, number: int = 0) -> Tensor:
        """An affine map (or a linear one, where there is no bias)."""
        y = x @ self(f"{name}.weight", number)
        return y + self(f"{name}.bias", number)[0] if f"{name}.bias" in self._values else y


class Masks(NamedTuple):
    """Dropout of the SCAN network: zeros, and what makes up for them."""

    prototypes: Tensor  # (n, S, E), on the encoder's input
    previous: Tensor  # (T, E), on the embedding of the previous token
    feed: Tensor  # (T, E), on the feed vector as an input
    state: Tensor  # (T, H), on h_out where the feed vector is computed from it


def encode(p: Parameters, table: str, tokens: list[int], hidden: int, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """BiLSTM(W_e d'): states (S, 2H), and the two directions' final h and c, summed (A.1)."""
    embedded = torch.stack([p(table)[token] for token in tokens]) * mask[: len(tokens)]
    lstm = nn.LSTM(embedded.shape[1], hidden, bidirectional=True, dtype=embedded.dtype)
    for number, suffix in enumerate(["", "_reverse"]):
        getattr(lstm, f"weight_ih_l0{suffix}").copy_(p("encoder.weights.input")[number].T)
        getattr(lstm, f"weight_hh_l0{suffix}").copy_(p("encoder.weights.state")[number].T)
        getattr(lstm, f"bias_ih_l0{suffix}").copy_(p("encoder.weights.bias")[number, 0])
        getattr(lstm, f"bias_hh_l0{suffix}").zero_()
    states, (h, c) = lstm(embedded)
    return states, h.sum(0), c.sum(0)


def decoder_cell(p: Parameters, embedding: int, feed: int) -> nn.LSTMCell:
    """An LSTM cell whose input is [W_d d, feed] (A.2)."""
    from_input, from_state = p("decoder.input")[0], p("decoder.state")[0]
    cell = nn.LSTMCell(embedding + feed, from_state.shape[0] - feed, dtype=from_input.dtype)
    cell.weight_ih.copy_(torch.cat([from_input, from_state[:feed]]).T)
    cell.weight_hh.copy_(from_state[feed:].T)
    cell.bias_ih.copy_(p("decoder.bias")[0, 0])
    cell.bias_hh.zero_()
    return cell


def softmax(scores: list[float]) -> list[float]:
    """In plain floating-point numbers."""
    top = max(scores)
    exps = [math.exp(score - top) for score in scores]
    return [e / sum(exps) for e in exps]


def attend(weights: list[float], values: list[Tensor]) -> Tensor:
    """Sum of α^j · value^j."""
    return torch.stack([weight * value for weight, value in zip(weights, values, strict=True)]).sum(0)


class ScanStep(NamedTuple):
    """What the SCAN network computes at a step."""

    attention: list[list[float]]  # to each prototype
    entries: list[float]  # the probability of writing each token, then of copying each of the prototypes' tokens


def scan_steps(p: Parameters, prototypes: list[list[int]], target: list[int], masks: Masks) -> list[ScanStep]:
    """The steps of the SCAN network along a target."""
    hidden = masks.state.shape[-1]
    sources = zip(prototypes, masks.prototypes, strict=True)
    encoded = [encode(p, "embed.weight", prototype, hidden, mask)[0] for prototype, mask in sources]
    keys = [torch.tanh(p.linear("attention.key", s, k)) for k, s in enumerate(encoded)]
    values = [torch.tanh(p.linear("attention.value", s, k)) for k, s in enumerate(encoded)]
    table = p("embed.weight")
    size = keys[0].shape[1]
    cell = decoder_cell(p, table.shape[1], table.shape[1])
    h = c = torch.zeros(1, hidden, dtype=table.dtype)
    feed = torch.zeros(table.shape[1], dtype=table.dtype)
    steps = []
    for t, previous in enumerate([BOS, *target[:-1]]):
        step_input = torch.cat([table[previous] * masks.previous[t], feed * masks.feed[t]])
        h, c = cell(step_input[None], (h, c))
        query = torch.tanh(p.linear("attention.query", torch.cat([h[0], step_input])))
        queries = query.view(len(prototypes), size)
        scores = [[float(key @ q) / math.sqrt(size) for key in ks] for ks, q in zip(keys, queries, strict=True)]
        attention = [softmax(each) for each in scores]
        contexts = [attend(weights, list(v)) for weights, v in zip(attention, values, strict=True)]
        feed = p.linear("to_feed", torch.cat([h[0] * masks.state[t], *contexts]))
        output = [float(table[w] @ feed) if w >= EOS else -math.inf for w in range(len(table))]
        steps.append(ScanStep(attention, softmax(output + [score for each in scores for score in each])))
    return steps


def scan(p: Parameters, prototypes: list[list[int]], target: list[int], masks: Masks) -> list[float]:
    """Log-probability of each target token under the SCAN network."""
    produces = [*range(len(p("embed.weight"))), *[w for prototype in prototypes for w in prototype]]
    log_p = []
    for token, step in zip(target, scan_steps(p, prototypes, target, masks), strict=True):
        log_p.append(math.log(sum(e for e, w in zip(step.entries, produces, strict=True) if w == token)))
    return log_p


def morphology(p: Parameters, prototypes: list[list[int]], target: list[int], hidden: int) -> list[float]:
    """Log-probability of each target token under the morphology network, which has no dropout."""
    none = torch.ones(max(map(len, prototypes)), 1)
    encoded = [encode(p, "embed_prototype.weight", prototype, hidden, none) for prototype in prototypes]
    states = [p.linear("project", each[0]) for each in encoded]
    table = p("embed.weight")
    cell = decoder_cell(p, table.shape[1], hidden)
    h = (torch.stack([each[1] for each in encoded]).sum(0) / len(prototypes))[None]
    c = (torch.stack([each[2] for each in encoded]).sum(0) / len(prototypes))[None]
    feed = torch.zeros(hidden, dtype=table.dtype)
    history: list[Tensor] = []
    log_p = []
    for t, token in enumerate(target):
        previous = target[t - 1] if t else BOS
        h, c = cell(torch.cat([table[previous], feed])[None], (h, c))
        out = h[0]
        alpha_out = softmax([float(out @ p("own.weight") @ past) for past in history]) if history else []
        alpha = [softmax([float(key @ out) for key in p.linear("attention.key", s, k)]) for k, s in enumerate(states)]
        own = attend(alpha_out, history) if history else torch.zeros_like(out)
        contexts = [attend(weights, list(values)) for weights, values in zip(alpha, states, strict=True)]
        feed = p.linear("to_feed", torch.cat([out, own, *contexts]))
        written = p.linear("write", feed).tolist()
        p_write = softmax([score if w >= EOS else -math.inf for w, score in enumerate(written)])[token]
        p_out = sum(a for a, w in zip(alpha_out, target, strict=False) if w == token)
        p_proto = [
            sum(a for a, w in zip(weights, prototype, strict=True) if w == token)
            for weights, prototype in zip(alpha, prototypes, strict=True)
        ]
        gate = p.linear("gate", out).tolist()
        gate[1] = gate[1] if history else -math.inf  # there is no output yet to copy from
        beta = softmax(gate)
        log_p.append(math.log(sum(b * x for b, x in zip(beta, [p_write, p_out, *p_proto], strict=True))))
        history.append(out)
    return log_p
