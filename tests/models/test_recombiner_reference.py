from dataclasses import replace

import pytest
import torch
from networks import MORPHOLOGY, PREDICTOR, SCAN, batch, network
from slow_reference import Masks as LiteralMasks
from slow_reference import Parameters, morphology, scan

from recombine.data.vocabulary import PAD
from recombine.models.noise import Drop, Masks, Noise
from recombine.models.packing import Packing
from recombine.models.recombiner import NEVER_WRITTEN
from recombine.models.scoring import decode, score

every_number = pytest.mark.parametrize("prototypes", [1, 2, 3])


def unpadded(tokens: torch.Tensor) -> list[int]:
    return [token for token in tokens.tolist() if token != PAD]


class Recorder(Noise):
    """Remembers the masks that a network was given: encoder, previous tokens, feed vectors, states."""

    def drop(self, rate: float, packing: Packing, size: int) -> Drop:
        drop = super().drop(rate, packing, size)
        mask = drop.factors(torch.double).unflatten(1, (packing.steps, packing.batch))
        self.masks = [*getattr(self, "masks", []), mask]
        return drop

    def of(self, replica: int, example: int, *, prototypes: int) -> LiteralMasks:
        """The masks of one example."""
        encoder, *decoder = (mask[replica] for mask in self.masks)
        mine = encoder[:, example * prototypes : (example + 1) * prototypes]
        return LiteralMasks(mine.transpose(0, 1), *(mask[:, example] for mask in decoder))


@torch.no_grad()
@every_number
@pytest.mark.parametrize("which", ["scan", "scan-dropout", "morphology"])
def test_networks_are_the_papers_equations(which: str, prototypes: int) -> None:
    dropout = which == "scan-dropout"
    rates = {} if dropout else {"dropout": 1e-6, "state_dropout": 1e-6}  # too small to drop anything
    architecture = MORPHOLOGY if which == "morphology" else replace(SCAN, write_dropout=0.0, **rates)
    model = network(replace(architecture, prototypes=prototypes), seeds=(4, 5)).train()
    sources, targets = batch(model, 3)
    noise = Recorder([1, 2])
    log_p, _ = score(model, sources, targets, noise)
    for r in range(2):
        for b in range(3):
            tokens, target, p = [unpadded(d) for d in sources[r, b]], unpadded(targets[r, b]), Parameters(model, r)
            if which == "morphology":
                expected = morphology(p, tokens, target, MORPHOLOGY.hidden)
            else:
                masks = noise.of(r, b, prototypes=prototypes)
                assert dropout == any(bool((mask == 0).any()) for mask in masks)
                expected = scan(p, tokens, target, masks)
            assert log_p[r, : len(target), b].tolist() == pytest.approx(expected, abs=1e-10)


@torch.no_grad()
def test_a_feed_vector_dropped_twice_is_fed_back_as_it_was_written_from() -> None:
    model = network(replace(PREDICTOR, dropout=0.0, feed_dropped_twice=True), seeds=(4, 5))
    sources, targets = batch(model, 3)
    context, previous = model.remember(sources), targets.transpose(1, 2)[:, :2]
    noise = Recorder([1, 2])
    masks = Masks.draw(model.architecture, noise, Packing.whole(2, 3, torch.device("cpu")), training=True)
    last, scores = decode(model, context, context.state, previous, masks)
    (mask,) = noise.masks
    first, _ = decode(model, context, context.state, previous[:, :1])
    second, _ = decode(model, context, first._replace(feed=first.feed * mask[:, 0]), previous[:, 1:])
    assert (mask == 0).any()
    torch.testing.assert_close(last.feed, second.feed)
    assert model.write is not None
    written = model.write(second.feed * mask[:, 1])
    torch.testing.assert_close(scores.write[:, 1, ..., NEVER_WRITTEN:], written[..., NEVER_WRITTEN:])
