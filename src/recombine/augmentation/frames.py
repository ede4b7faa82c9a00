"""The neighborhood of frames and spans: what learned substructures make of the method (the paper's future work)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np

from recombine.augmentation.phrases import Part
from recombine.augmentation.spans import Exchanges
from recombine.example import Example
from recombine.inflection import are_inflections
from recombine.neighborhoods import ALONE, HOLE, NEIGHBORHOODS, Effort, Neighborhoods, Rule, trial_step
from recombine.neighborhoods.search import check_counts


@dataclass(frozen=True)
class FrameAndSpan(Rule):
    r"""Pairs of what is left of the target without a span, its frame, and the span with its part of the output.

    N(d) = {(d1, d2) : d is d1 with d2 in the place of its holes}. Not in the paper. Networks learn from it to put a
    part in the place of a part, on both sides at once. When samples are drawn, the frame of one example meets a span of
    another that may take the place there by the rules of `Spans`: ``play ⎵ loud`` and ``Imagine`` give ``play Imagine
    loud``.

    Attributes:
        first: How many spans are cut out of a target at most, chosen at random; None for no limit.
        offers: How many pairs of a frame and a word there are to sample with at most, chosen at random, equally many
            for every word; there are up to as many more with a word in one half of an input, and up to 1,000 with
            phrases.
    """

    name: ClassVar[str] = "spans"

    first: int | None = 10
    offers: int = 50_000

    def __post_init__(self) -> None:
        check_counts(first=self.first, offers=self.offers)

    def build(self, examples: Sequence[Example], seed: int = 0, effort: Effort = ALONE) -> Neighborhoods:
        """Returns the neighborhoods of the examples; same seed, same rows. Word forms have none."""
        distinct = list(dict.fromkeys(examples))
        if effort.trial:
            distinct = distinct[:: trial_step(len(distinct))]
        original = {example: number for number, example in reversed(list(enumerate(examples)))}
        rng = np.random.default_rng(seed)
        parts: dict[Example, tuple[int, int]] = {}  # the number of each, and what it was cut out of

        def numbered(part: Part) -> int:
            return parts.setdefault(part.pair, (len(examples) + len(parts), original[distinct[part.number]]))[0]

        rows, offered = set[tuple[int, int, int]](), set[tuple[int, int]]()
        if len(distinct) > 1 and not are_inflections(distinct) and not any(HOLE in example.d for example in distinct):
            exchanges = Exchanges(distinct, "input")
            cuts = defaultdict[int, list[tuple[Part, Part]]](list)
            for frame, span in exchanges.cuts():
                cuts[original[distinct[frame.number]]].append((frame, span))
            for target, found in cuts.items():
                found = list(dict.fromkeys(found))
                chosen = rng.permutation(len(found))[: self.first]
                rows.update((target, numbered(found[place][0]), numbered(found[place][1])) for place in chosen)
            offered.update((numbered(frame), numbered(span)) for frame, span in exchanges.offers(self.offers, rng))
        passed = {
            "distinct examples": len(distinct),
            "with a span that can be cut out": len({target for target, *_ in rows}),
            "frames with a span of another example": len(offered),
        }
        return Neighborhoods(
            np.array(sorted(rows), np.int32).reshape(-1, 3),
            self.name,
            {**asdict(self), "seed": seed},
            passed,
            tuple(parts),
            tuple(origin for _, origin in parts.values()),
            np.array(sorted(offered), np.int32).reshape(-1, 2),
        )


RULES: Mapping[str, type[Rule]] = {**NEIGHBORHOODS, FrameAndSpan.name: FrameAndSpan}
"""All rules for neighborhoods: frozen dataclasses whose fields are the settings."""
