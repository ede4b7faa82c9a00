"""The decoder of a `Recombiner` along tokens that are known."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from recombine.models.copying import Scores
from recombine.models.fast.decoder import Inputs, decode
from recombine.models.fast.lstm import affine
from recombine.models.noise import dropped
from recombine.models.packing import Packing

if TYPE_CHECKING:
    from recombine.models.recombiner import Context, Masks, Recombiner


def all_steps(
    model: "Recombiner", context: "Context", previous: Tensor, packing: Packing, masks: "Masks", z: Tensor | None
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
        if a.reach:
            near_keys, near_values = model.attention.near_key.weight, model.attention.near_value.weight
            inputs = inputs._replace(near_keys=near_keys, near_values=near_values)
        if a.attention:  # query^t = [h_out, input^t] (SCAN)
            query = model.attention.query
            for_h, for_x, for_feed = query.weight.split([a.hidden, a.embedding + a.latent, a.feed], dim=1)
            inputs = inputs._replace(queries=affine(x, for_x, query.bias), h_to_query=for_h, feed_to_query=for_feed)
    found = decode(inputs, packing, feed_drop=masks.feed, state_drop=masks.state)
    return model.scores(dropped(found.feed, masks.write), found.h, found.own, found.prototypes)
