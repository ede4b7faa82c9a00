"""A decoder along whole sequences that are known: all its steps, and their gradients, as one operation.

It computes what `scoring.plain_steps` does step by step, with the same parameters. Here nothing is recorded for each of
the operations of a step, rows that have ended are left out, and the gradients of weights are products over all steps
at once.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from recombine.models.attention import MASKED
from recombine.models.copying import Scores
from recombine.models.device import fused
from recombine.models.fast import on_cpu
from recombine.models.fast.lstm import affine, summed
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
        gates = affine(x, weight, None)
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
            for_h, for_x, for_feed = query.weight.split([a.hidden, a.embedding + a.latent, a.feed], dim=1)
            inputs = inputs._replace(queries=affine(x, for_x, query.bias), h_to_query=for_h, feed_to_query=for_feed)
    run = _Run(inputs, packing, masks.feed, masks.state)
    feed, h, prototypes, own = _Decode.apply(run, *inputs)  # type: ignore[no-untyped-call]
    return model.scores(dropped(feed, masks.write), h, own, prototypes)


class _Decode(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, run: "_Run", *_: Tensor | None) -> tuple[Tensor, ...]:  # noqa: ANN401
        ctx.run = run
        ctx.set_materialize_grads(False)
        # Other tensors of the same values: an output that its own node held would never be freed.
        return tuple(out.detach() for out in run.forward())

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        return None, *ctx.run.backward(*gradients)


class _Run:
    """The steps of a decoder over the positions of a packing, forth and back.

    Dropped are the feed vector that each position is given (R, N, F), and h before the next one is computed (R, N, H).
    """

    def __init__(self, inputs: Inputs, packing: Packing, feed_drop: Drop | None, state_drop: Drop | None) -> None:
        self.inputs, self.packing = inputs, packing
        self.ops: Any = on_cpu
        self.kernels = fused(inputs.gates.device)
        if self.kernels:
            from recombine.models.fast import on_gpu

            self.ops = on_gpu
        self.hidden, self.feed_size = inputs.h.shape[-1], inputs.feed.shape[-1]
        nowhere: list[Drop | None] = [None] * packing.steps
        self.feed_drops = nowhere if feed_drop is None else feed_drop.steps(packing)
        self.state_drops = nowhere if state_drop is None else state_drop.steps(packing)
        # Where in h_pre the contexts begin that prototypes give.
        self.contexts = self.hidden * (1 if inputs.to_own_query is None else 2)
        # A step that attends to one sequence, from h itself, and does nothing else, as predictors do, is one launch.
        alone = inputs.keys is not None and inputs.keys.shape[2] == 1 and inputs.queries is None
        self.simple = self.kernels and alone and inputs.to_own_query is None and state_drop is None

    def forward(self) -> tuple[Tensor, ...]:
        """Returns of all steps feed vectors (R, N, F), h (R, N, H), and scores before normalisation.

        These are of prototypes (R, N, K, S) and of own states (R, N, T - 1), masked where not there yet, or (R, N, 0).
        """
        x, packing, ops = self.inputs, self.packing, self.ops
        replicas, total, hidden, size = x.gates.shape[0], packing.total, self.hidden, self.feed_size
        new, split = x.gates.new_empty, packing.split
        self.cells = ops.Cells(x.gates, x.bias, x.c, packing)
        self.feed_and_h = new(replicas, total, size + hidden)
        self.h_pre = new(replicas, total, x.to_feed.shape[1])
        self.h = self.h_pre[..., :hidden] if self.state_drops[0] is None else new(replicas, total, hidden)
        feed = x.to_feed_bias.repeat(1, total, 1)
        if x.keys is not None:
            self.attending = ops.Attending(x.keys, x.values, x.padding, packing)
        self.own = None if x.to_own_query is None else _OwnOutput(x.to_own_query, x.h, packing, ops)
        given, h_pre, hs, feeds = split(self.feed_and_h), split(self.h_pre), split(self.h), split(feed)
        queries = None if x.queries is None else split(x.queries)
        ops.drop(x.feed, self.feed_drops[0], out=given[0][..., :size])
        given[0][..., size:] = x.h
        for t in range(packing.steps):
            self.cells.gates[t].baddbmm_(given[t], x.from_state)
            later = given[t + 1] if t + 1 < packing.steps else None  # of the rows that have another step
            h_later = None if later is None else later[..., size:]
            if self.simple:
                ops.cell_and_attend(self.cells, self.attending, t, h_pre[t], h_later)
            else:
                self.cells.forward(t, hs[t], h_pre[t][..., :hidden], self.state_drops[t], h_later)
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
        scores = new(replicas, total, 0, 0) if x.keys is None else self.attending.scored
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
        back = {name: getattr(x, name).transpose(1, 2) for name in BACK if getattr(x, name) is not None}
        if not self.kernels:  # on a CPU, products with few rows are faster with weights in this order in memory
            back = {name: weight.contiguous() for name, weight in back.items()}
        d_feeds, d_pres, hs = split(d_feed), split(d_pre), split(self.h)
        queries, d_query_of = (None if each is None else split(each) for each in (x.queries, d_queries))
        d_hs = None if d_h is None else split(d_h)
        for t in reversed(range(packing.steps)):
            rows = packing.counts[t]
            if t + 1 < packing.steps:
                going_on = packing.counts[t + 1]
                d_fed = d_feeds[t][:, :going_on]
                ops.drop(d_given[:, :going_on, :size], self.feed_drops[t + 1], out=d_fed, plus=d_fed)
            torch.bmm(d_feeds[t], back["to_feed"], out=d_pres[t])
            d_h_now = [d_given[:, :rows, size:], *([] if d_hs is None else [d_hs[t]])]
            if self.simple:
                ops.cell_and_attend_gradient(self.cells, self.attending, t, d_pres[t], d_h_now)
            else:
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
        d_first = torch.zeros_like(x.feed)
        ops.drop(d_given[..., :size], self.feed_drops[0], out=d_first, plus=d_first)
        d_keys = d_values = None
        if x.keys is not None:
            d_retrieved = d_pre[..., self.contexts :]
            d_keys, d_values = self.attending.gradients(self.h if x.queries is None else x.queries, d_retrieved)
        return tuple(
            Inputs(
                gates=self.cells.all_d_gates,
                bias=summed(self.cells.all_d_gates),
                h=d_given[..., size:],
                c=self.cells.d_c,
                feed=d_first,
                from_state=_product(self.feed_and_h, self.cells.all_d_gates),
                to_feed=_product(self.h_pre, d_feed),
                to_feed_bias=summed(d_feed),
                keys=d_keys,
                values=d_values,
                padding=None,
                queries=d_queries,
                h_to_query=None if d_queries is None else _product(self.h, d_queries),
                feed_to_query=None if d_queries is None else _product(self.feed_and_h[..., :size], d_queries),
                to_own_query=None if self.own is None else _product(self.h, self.own.all_d_queries),
            )
        )


def _product(left: Tensor, gradient: Tensor) -> Tensor:
    """Returns the gradient of a weight, given what it was applied to and the gradient of what came out."""
    return torch.bmm(left.transpose(1, 2), gradient)


class _OwnOutput:
    """Attention from each step to the states of the steps before it."""

    def __init__(self, weight: Tensor, h: Tensor, packing: Packing, ops: Any) -> None:  # noqa: ANN401
        self.weight, self.packing, self.ops = weight, packing, ops
        self.replicas, _, self.size = h.shape
        steps, total = packing.steps, packing.total
        self.states = h.new_zeros(packing.batch, self.replicas, steps, self.size)
        self.scores = torch.full((self.replicas, total, steps - 1), MASKED, device=h.device).to(
            torch.promote_types(h.dtype, torch.float32)
        )
        self.queries = packing.split(h.new_empty(self.replicas, total, self.size))
        self.weights: list[Tensor] = []  # of the steps after the first

    def forward(self, t: int, h: Tensor, out: Tensor) -> None:
        """Attends from step t, whose state is h (R, n, H), writes what is retrieved, and adds that state."""
        if t == 0:
            out.zero_()
        else:
            torch.bmm(h, self.weight, out=self.queries[t])
            scores, weights, retrieved = self.ops.attend_to_own(self.queries[t], self.states, t)
            self.packing.split(self.scores)[t][..., :t] = scores
            self.weights.append(weights)
            out.copy_(retrieved)
        self.states[: h.shape[1], :, t] = h.transpose(0, 1)

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
        d_scores = self.d_scores[t]
        own = None if d_scores is None else d_scores[..., :t]
        d_all, d_query = self.ops.attend_to_own_gradient(self.states, self.weights[t - 1], own, d_out)
        self.d_queries[t].copy_(d_query)
        self.vectors[:rows, :, t, 0], self.vectors[:rows, :, t, 1] = (
            each.transpose(0, 1) for each in (self.queries[t], d_out)
        )
        self.factors[:rows, :, :t, t, 0], self.factors[:rows, :, :t, t, 1] = (
            each.transpose(0, 1) for each in (d_all, self.weights[t - 1])
        )
        return d_h + torch.bmm(d_query, self.weight.transpose(1, 2))
