"""A decoder along whole sequences that are known: all its steps, and their gradients, as one operation.

It computes what `scoring.plain_steps` does step by step, with the same parameters. Here nothing is recorded for each of
the operations of a step, rows that have ended are left out, and the gradients of weights are products over all steps
at once.
"""

from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from recombine.models.attention import MASKED
from recombine.models.copying import Scores
from recombine.models.fast.lstm import Cells, operations, transposed
from recombine.models.noise import Drop, Masks, dropped
from recombine.models.packing import Packing
from recombine.models.recombiner import Context, Recombiner

BACK = ("from_state", "to_feed", "h_to_query", "feed_to_query")
"""The weights through which gradients go back at every step."""

tanh_backward = torch.ops.aten.tanh_backward


class Inputs(NamedTuple):
    """All tensors that a decoder's steps depend on; N positions of a packing."""

    gates: Tensor  # what embeddings add to the gates (R, N, 4H); it is overwritten
    bias: Tensor  # of the gates (R, 1, 4H)
    h: Tensor  # the first state (R, B, H)
    c: Tensor  # (R, B, H)
    feed: Tensor  # (R, B, F)
    from_state: Tensor  # [feed, h] to the gates (R, F + H, 4H)
    to_feed: Tensor  # h_pre to feed (R, P, F)
    to_feed_bias: Tensor  # (R, 1, F)
    keys: Tensor | None = None  # of prototypes (R, B, K, S, A)
    values: Tensor | None = None  # (R, B, K, S, V)
    padding: Tensor | None = None  # what is added to scores (R, B, K, S)
    queries: Tensor | None = None  # what embeddings add to queries, the bias among it (R, N, K · A); it is overwritten
    h_to_query: Tensor | None = None  # (R, H, K · A)
    feed_to_query: Tensor | None = None  # (R, F, K · A)
    to_own_query: Tensor | None = None  # (R, H, H), if the decoder attends to its own output


def all_steps(
    model: Recombiner, context: Context, previous: Tensor, packing: Packing, masks: Masks, z: Tensor | None
) -> Scores:
    """Returns the scores (R, N, ...) at all positions, before each of which is a token of `previous` (R, N)."""
    a, state = model.architecture, context.state
    weight, bias = model.decoder.input.flatten(0, 1), model.decoder.bias.flatten(0, 1)
    if z is None and not a.attention:
        drop = masks.embedding and masks.embedding._replace(bits=masks.embedding.bits.unsqueeze(1))
        gates = model.embed.mapped(previous.unsqueeze(1), drop, weight)
    else:
        x = dropped(model.embed(previous), masks.embedding)
        if z is not None:
            x = torch.cat([x, z.to(x.dtype)[:, packing.rows]], dim=-1)
        gates = torch.bmm(x, weight)
    assert model.to_feed.bias is not None
    inputs = Inputs(
        gates=gates,
        bias=bias,
        h=state.h,
        c=state.c,
        feed=state.feed,
        from_state=model.decoder.state.flatten(0, 1),
        to_feed=model.to_feed.weight,
        to_feed_bias=model.to_feed.bias,
        to_own_query=model.own.weight if a.own_attention else None,
    )
    if context.memory is not None:
        inputs = inputs._replace(**context.memory._asdict())
        if a.attention:  # query^t = [h_out, input^t] (SCAN)
            query = model.attention.query
            assert query.bias is not None
            for_h, for_x, for_feed = query.weight.split([a.hidden, a.embedding + a.latent, a.feed], dim=1)
            inputs = inputs._replace(
                queries=torch.baddbmm(query.bias, x, for_x), h_to_query=for_h, feed_to_query=for_feed
            )
    feed, h, prototypes, own = _Decode.apply(packing, masks, *inputs)  # type: ignore[no-untyped-call]
    return model.scores(dropped(feed, masks.write), h, own, prototypes)


class _Decode(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, packing: Packing, masks: Masks, *tensors: Tensor | None) -> tuple[Tensor, ...]:  # noqa: ANN401
        ctx.run = _Run(Inputs(*cast("tuple[Tensor, ...]", tensors)), packing, masks)
        ctx.set_materialize_grads(False)
        return ctx.run.forward()  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        return None, None, *ctx.run.backward(*gradients)


class _Run:
    """The steps of a decoder, forth and back."""

    def __init__(self, inputs: Inputs, packing: Packing, masks: Masks) -> None:
        self.inputs, self.packing, self.ops = inputs, packing, operations(inputs.gates.device)
        self.hidden, self.feed_size = inputs.h.shape[-1], inputs.feed.shape[-1]
        nowhere: list[Drop | None] = [None] * packing.steps
        self.feed_drops, self.state_drops = (
            nowhere if drop is None else drop.steps(packing) for drop in (masks.feed, masks.state)
        )
        # Where in h_pre the contexts begin that prototypes give.
        self.contexts = self.hidden * (1 if inputs.to_own_query is None else 2)

    def forward(self) -> tuple[Tensor, ...]:
        """Returns feed vectors (R, N, F), states (R, N, H), and the scores of prototypes and of own states.

        Scores are those before normalisation: (R, N, K, S), and (R, N, T - 1), masked where a state is not there yet.
        """
        x, packing, ops = self.inputs, self.packing, self.ops
        replicas, total, hidden, size = x.gates.shape[0], packing.total, self.hidden, self.feed_size
        new, split = x.gates.new_empty, packing.split
        dropping = self.state_drops[0] is not None
        self.cells = Cells(x.gates, x.bias, x.c, packing)
        self.feed_and_h = new(replicas, total, size + hidden)
        self.h_pre = new(replicas, total, x.to_feed.shape[1])
        self.h = new(replicas, total, hidden) if dropping else self.h_pre[..., :hidden]
        feed = x.to_feed_bias.repeat(1, total, 1)
        if x.keys is not None:
            self.attending = _Attending(x, packing)
        self.own = None if x.to_own_query is None else _OwnOutput(x.to_own_query, x.h, packing)
        given, h_pre, hs, feeds = split(self.feed_and_h), split(self.h_pre), split(self.h), split(feed)
        queries = None if x.queries is None else split(x.queries)
        ops.drop(x.feed, self.feed_drops[0], out=given[0][..., :size])
        given[0][..., size:] = x.h
        for t in range(packing.steps):
            self.cells.gates[t].baddbmm_(given[t], x.from_state)
            later = given[t + 1] if t + 1 < packing.steps else None  # of the rows that have another step
            self.cells.forward(
                t,
                hs[t],
                None if later is None else later[..., size:],
                pre=h_pre[t][..., :hidden] if dropping else None,
                drop=self.state_drops[t],
            )
            if self.own is not None:
                self.own.forward(t, hs[t], h_pre[t][..., hidden : 2 * hidden])
            if x.keys is not None:
                query = hs[t]
                if queries is not None and x.h_to_query is not None and x.feed_to_query is not None:
                    query = queries[t].baddbmm_(hs[t], x.h_to_query)
                    query = query.baddbmm_(given[t][..., :size], x.feed_to_query).tanh_()
                self.attending.forward(t, query, h_pre[t][..., self.contexts :])
            feeds[t].baddbmm_(h_pre[t], x.to_feed)
            if later is not None:
                ops.drop(feeds[t][:, : later.shape[1]], self.feed_drops[t + 1], out=later[..., :size])
        scores = new(replicas, total, 0, 0) if x.keys is None else self.attending.all_scores
        own = new(replicas, total, 0) if self.own is None else self.own.scores
        return feed, self.h, scores, own

    def backward(
        self, d_feed: Tensor | None, d_h: Tensor | None, d_scores: Tensor | None, d_own: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        """Returns the gradients of all inputs, given those of the outputs."""
        x, packing, ops = self.inputs, self.packing, self.ops
        replicas, total, hidden, size = x.gates.shape[0], packing.total, self.hidden, self.feed_size
        new, split = x.gates.new_empty, packing.split
        d_feed = new(replicas, total, size).zero_() if d_feed is None else d_feed.contiguous().clone()
        d_pre, d_queries = torch.empty_like(self.h_pre), None if x.queries is None else torch.empty_like(x.queries)
        # Of what each step is given: zero for rows that have no later step.
        d_given = new(replicas, packing.batch, size + hidden).zero_()
        self.cells.turn()
        if x.keys is not None:
            self.attending.turn(d_scores)
        if self.own is not None:
            self.own.turn(d_own)
        back = {name: transposed(getattr(x, name)) for name in BACK if getattr(x, name) is not None}
        d_feeds, d_pres, hs = split(d_feed), split(d_pre), split(self.h)
        queries, d_query_of = (None if each is None else split(each) for each in (x.queries, d_queries))
        d_hs = None if d_h is None else split(d_h)
        for t in reversed(range(packing.steps)):
            rows = packing.counts[t]
            if t + 1 < packing.steps:
                going_on = d_feeds[t][:, : packing.counts[t + 1]]
                ops.drop(d_given[:, : going_on.shape[1], :size], self.feed_drops[t + 1], out=going_on, plus=going_on)
            torch.bmm(d_feeds[t], back["to_feed"], out=d_pres[t])
            d_h_now = [d_given[:, :rows, size:], *([] if d_hs is None else [d_hs[t]])]
            if x.keys is not None:
                query = hs[t] if queries is None else queries[t]
                d_query = self.attending.backward(t, query, d_pres[t][..., self.contexts :])
                if d_query_of is None:
                    d_h_now.append(d_query)
                else:
                    tanh_backward(d_query, query, grad_input=d_query_of[t])
                    d_h_now[0].baddbmm_(d_query_of[t], back["h_to_query"])
            if self.own is not None:
                d_h_now.append(self.own.backward(t, d_pres[t][..., hidden : 2 * hidden]))
            self.cells.backward(t, d_h_now, d_pres[t][..., :hidden], self.state_drops[t])
            torch.bmm(self.cells.d_gates[t], back["from_state"], out=d_given[:, :rows])
            if d_query_of is not None:
                d_given[:, :rows, :size].baddbmm_(d_query_of[t], back["feed_to_query"])
        d_first = torch.empty_like(x.feed)
        ops.drop(d_given[..., :size], self.feed_drops[0], out=d_first)
        d_keys = d_values = None
        if x.keys is not None:
            d_retrieved = d_pre[..., self.contexts :]
            d_keys, d_values = self.attending.gradients(self.h if x.queries is None else x.queries, d_retrieved)
        return tuple(
            Inputs(
                gates=self.cells.all_d_gates,
                bias=self.cells.all_d_gates.sum(1, keepdim=True),
                h=d_given[..., size:],
                c=self.cells.d_c,
                feed=d_first,
                from_state=_product(self.feed_and_h, self.cells.all_d_gates),
                to_feed=_product(self.h_pre, d_feed),
                to_feed_bias=d_feed.sum(1, keepdim=True),
                keys=d_keys,
                values=d_values,
                queries=d_queries,
                h_to_query=None if d_queries is None else _product(self.h, d_queries),
                feed_to_query=None if d_queries is None else _product(self.feed_and_h[..., :size], d_queries),
                to_own_query=None if self.own is None else _product(self.h, self.own.all_d_queries),
            )
        )


def _product(left: Tensor, gradient: Tensor) -> Tensor:
    """Returns the gradient of a weight, given what it was applied to and the gradient of what came out."""
    return torch.bmm(left.transpose(1, 2), gradient)


class _Attending:
    """Attention from each step to keys that are the same for all, forth and back."""

    def __init__(self, inputs: Inputs, packing: Packing) -> None:
        x, self.packing, self.ops = inputs, packing, operations(inputs.gates.device)
        assert x.keys is not None
        assert x.values is not None
        assert x.padding is not None
        self.keys, self.values, self.padding = map(_rows_first, (x.keys, x.values, x.padding))
        shape = (packing.total, len(x.keys), *x.padding.shape[2:])
        self.all_scores, self.all_weights = (like.new_empty(shape).transpose(0, 1) for like in (x.padding, x.values))
        self.scores, self.weights = packing.split(self.all_scores), packing.split(self.all_weights)

    def _each(self, vectors: Tensor, size: int) -> Tensor:
        """Returns vectors (R, n, K · size), or (R, n, size) for all K alike, as (R, n, K, size)."""
        return torch.unflatten(vectors, -1, (-1, size)).expand(-1, -1, self.keys.shape[2], -1)

    def forward(self, t: int, query: Tensor, out: Tensor) -> None:
        """Attends from queries (R, n, K · A), or (R, n, A) for all K alike; writes what is retrieved (R, n, K · V)."""
        each, scores, weights = self._each(query, self.keys.shape[-1]), self.scores[t], self.weights[t]
        self.ops.attend(each, self.keys, self.values, self.padding, scores=scores, weights=weights, out=out)

    def turn(self, d_scores: Tensor | None) -> None:
        """Prepares for going back, given the gradients of the scores (R, N, K, S) where they are used themselves."""
        self.d_scores = [None] * self.packing.steps if d_scores is None else self.packing.split(d_scores.contiguous())
        self.all_d_scores = torch.empty_like(self.all_weights)
        self.d_all = self.packing.split(self.all_d_scores)

    def backward(self, t: int, query: Tensor, d_out: Tensor) -> Tensor:
        """Returns the gradient of the queries, given that of what was retrieved."""
        d_query: Tensor = self.ops.attend_gradient(
            self.keys, self.values, self.weights[t], d_scores=self.d_scores[t], d_out=d_out, d_all=self.d_all[t]
        )
        return d_query.sum(2) if query.shape[-1] == self.keys.shape[-1] else d_query.flatten(2)

    def gradients(self, queries: Tensor, d_retrieved: Tensor) -> tuple[Tensor, Tensor]:
        """Returns those of keys and values, given all queries and the gradients of all that was retrieved (R, N, ·)."""
        queries, d_retrieved = self._each(queries, self.keys.shape[-1]), self._each(d_retrieved, self.values.shape[-1])
        return (
            self.ops.weighed(self.all_d_scores, queries, self.packing),
            self.ops.weighed(self.all_weights, d_retrieved, self.packing),
        )


def _rows_first(x: Tensor) -> Tensor:
    """Returns x (R, B, ...) in an order in memory in which what the first rows have is one block."""
    return x.transpose(0, 1).contiguous().transpose(0, 1)


class _OwnOutput:
    """Attention from each step to the states of the steps before it."""

    def __init__(self, weight: Tensor, h: Tensor, packing: Packing) -> None:
        self.weight, self.packing, self.ops = weight, packing, operations(h.device)
        self.replicas, _, self.size = h.shape
        steps, total = packing.steps, packing.total
        self.precise = torch.promote_types(h.dtype, torch.float32)
        self.states = h.new_zeros(packing.batch, self.replicas, 1, steps, self.size).transpose(0, 1)
        self.scores = h.new_full((self.replicas, total, steps - 1), MASKED, dtype=self.precise)
        self.queries = packing.split(h.new_empty(self.replicas, total, self.size))
        self.weights: list[Tensor] = []  # (R, n, 1, t) of the steps after the first

    def forward(self, t: int, h: Tensor, out: Tensor) -> None:
        """Attends from step t, whose state is h (R, n, H), writes what is retrieved, and adds that state."""
        rows = h.shape[1]
        if t == 0:
            out.zero_()
        else:
            query, seen = torch.bmm(h, self.weight, out=self.queries[t]).unsqueeze(2), self.states[..., :t, :]
            scores = h.new_empty(rows, self.replicas, 1, t, dtype=self.precise).transpose(0, 1)
            self.weights.append(torch.empty_like(scores, dtype=h.dtype))
            self.ops.attend(query, seen, seen, None, scores=scores, weights=self.weights[-1], out=out)
            self.scores[:, self.packing.at(t), :t] = scores.squeeze(2)
        self.states[:, :rows, 0, t] = h

    def turn(self, d_scores: Tensor | None) -> None:
        """Prepares for going back, given the gradients of the scores (R, N, T - 1)."""
        steps, batch = self.packing.steps, self.packing.batch
        self.d_scores = [None] * steps if d_scores is None else self.packing.split(d_scores)
        self.all_d_queries = self.weight.new_zeros(self.replicas, self.packing.total, self.size)
        self.d_queries = self.packing.split(self.all_d_queries)
        # Of each step its query and the gradient of what it retrieved; of each state and step what it was weighed by.
        self.vectors = self.weight.new_zeros(batch, self.replicas, steps, 2, self.size)
        self.factors = self.weight.new_zeros(batch, self.replicas, steps, steps, 2)

    def backward(self, t: int, d_out: Tensor) -> Tensor:
        """Returns the gradient of h (R, n, H) of step t: by what it asked for, and by what later steps took from it.

        The latter is a sum over the later steps, all of which have been gone back over: one product.
        """
        rows = d_out.shape[1]
        later = self.factors[:rows, :, t, t + 1 :].reshape(rows * self.replicas, 1, -1)
        vectors = self.vectors[:rows, :, t + 1 :].reshape(rows * self.replicas, -1, self.size)
        d_h = torch.bmm(later, vectors).view(rows, self.replicas, self.size).transpose(0, 1)
        if t == 0:
            return d_h
        seen, weights, d_scores = self.states[..., :t, :], self.weights[t - 1], self.d_scores[t]
        own = None if d_scores is None else d_scores[..., :t].unsqueeze(2)
        d_all = torch.empty_like(weights)
        d_query = self.ops.attend_gradient(seen, seen, weights, d_scores=own, d_out=d_out, d_all=d_all).squeeze(2)
        self.d_queries[t].copy_(d_query)
        for number, vector in enumerate((self.queries[t], d_out)):
            self.vectors[:rows, :, t, number] = vector.transpose(0, 1)
        for number, factor in enumerate((d_all, weights)):
            self.factors[:rows, :, :t, t, number] = factor.squeeze(2).transpose(0, 1)
        return d_h + torch.bmm(d_query, self.weight.transpose(1, 2))
