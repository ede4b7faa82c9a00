"""GECA, good-enough compositional augmentation (Andreas 2020): fragments seen in one context swap places in others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self, get_args

import numpy as np

from recombine.augmentation.fragments import (
    BORDER,
    GAPS,
    MAX_FRAGMENT_SIZE,
    Code,
    Fragments,
    Inventory,
    Proposals,
    fill,
)
from recombine.augmentation.protocol import (
    Novelty,
    Samples,
    Validator,
    check_request,
    distinct_examples,
    in_random_order,
    samples_by_rule,
    unfitted,
)
from recombine.errors import RecombineError, unknown
from recombine.example import Example, Provenance


@dataclass(eq=False)
class GECA:
    """Makes new pairs by rule: if two fragments were seen in the same template, either may fill the other's templates.

    A template is a training pair of which every occurrence of one or more fragments, on both sides, became a gap.
    From ``walk ▷ WALK``, ``jump ▷ JUMP`` and ``walk twice ▷ WALK WALK`` GECA learns that ``jump``, ``JUMP`` may stand
    where ``walk``, ``WALK`` stood, and makes ``jump twice ▷ JUMP JUMP``. Nothing says that this is right: on aⁿbⁿ it
    is not (section 2 of the paper, footnote).

    The defaults suit SCAN; for word forms as characters, where x and y share their tokens, take ``fragment_size=4``
    and ``gaps=1``.

    After: Andreas, "Good-enough compositional data augmentation" (2020). In that code's words, ``fragment_size`` is
    ``wug_size`` and ``gaps`` is ``wug_count``. There, each template gets ``variants`` random fillings and templates are
    used up in order, within ``max_adjacencies``; here samples are drawn among all proposals. Equal training pairs count
    once. Fragments are taken out of the longest examples only if there are not too many ways (`fragments.MAX_CHOICES`).

    Attributes:
        fragment_size: The most tokens in a fragment, at most 32.
        gaps: The most fragments that change together, at most 9. x and y must both change; so where they have no token
            in common it takes 2 gaps at least.
        novel: What must be new: ``"both"`` the input and the output (the original's rule),
            ``"input"`` the input, ``"pair"`` the pair. Where many inputs have one output, as in classification,
            ``"both"`` turns down valid pairs: take ``"input"``.
        fewest_gaps_first: Whether more fragments change together only where fewer do not give enough samples: the more
            change, the more pairs there are, and the fewer of them are right.
    """

    fragment_size: int = 1
    gaps: int = 2
    novel: Novelty = "both"
    fewest_gaps_first: bool = False
    _fitted: tuple[Code, Inventory, Proposals] | None = field(default=None, init=False, repr=False)

    def fit(self, examples: Sequence[Example]) -> Self:
        """Finds out which fragments may stand for each other."""
        for name, most in (("fragment_size", MAX_FRAGMENT_SIZE), ("gaps", len(GAPS))):
            value = getattr(self, name)
            if not 1 <= value <= most:
                hint = f"It has to be at least 1 and at most {most}; 1 or 2 is usual."
                raise RecombineError(f"GECA's {name} is {value}.", hint=hint)
        if self.novel not in get_args(Novelty):
            raise unknown("kind of novelty", self.novel, get_args(Novelty))
        distinct = distinct_examples(examples, least=2, who="GECA")
        code = Code(distinct)
        sequences = [code.encode(example) for example in distinct]
        inventory = Inventory(sequences, fragment_size=self.fragment_size, gaps=self.gaps)
        self._fitted = code, inventory, Proposals(sequences, inventory, by_gaps=self.fewest_gaps_first)
        return self

    def sample(self, n: int, seed: int = 0, accept: Validator | None = None) -> Samples:
        """Returns n novel pairs, each once, or all there are.

        A proposal is a training pair, fragments to take out of it, and fragments to put in their place. Proposals are
        drawn uniformly, whatever their support (with `fewest_gaps_first`, first among those with one gap); a pair that
        several proposals make is as many times as likely.

        The provenance names the pair that was changed and a pair that shows the new fragments, and has as details the
        template, the fragments that left (``replaced``) and came (``fragments``), and in how many templates both were
        seen (``support``).
        """
        if self._fitted is None:
            raise unfitted("GECA")
        check_request(n, seed)
        code, inventory, proposals = self._fitted
        why = "" if inventory.suffices else ": x and y have no token in common, so it takes gaps=2 to change both"
        if proposals.left_out:
            why += f"; the longest {proposals.left_out:,} have too many fragments, so they were left out"
        candidates = self._novel_pairs(code, proposals, np.random.default_rng(seed))
        return samples_by_rule("GECA", len(proposals.sequences), candidates, n, accept, why=why)

    def _novel_pairs(self, code: Code, proposals: Proposals, rng: np.random.Generator) -> Iterator[Example]:
        """Yields what the proposals make, each group in random order, each pair once and only if it is novel."""
        inputs = frozenset(sequence.partition(BORDER)[0] for sequence in proposals.sequences)
        outputs = frozenset(sequence.partition(BORDER)[2] for sequence in proposals.sequences)
        seen = set(proposals.sequences)
        shared: dict[tuple[Fragments, Fragments], list[str]] = {}  # the templates that were seen with both
        for number in (group[place] for group in proposals.groups for place in in_random_order(len(group), rng)):
            base, leaving, template, coming = proposals[number]
            made = fill(template, coming)
            x, _, y = made.partition(BORDER)
            if made in seen or (x in inputs and self.novel != "pair") or (y in outputs and self.novel == "both"):
                continue
            # GECA's rule: what comes in shares no fragment with some filling that the template was seen with.
            if all(not set(coming).isdisjoint(filling) for filling in proposals.fillings.get(template, (leaving,))):
                continue
            seen.add(made)
            if (leaving, coming) not in shared:
                fillings = ((seen_in, proposals.fillings[seen_in]) for seen_in in proposals.templates[leaving])
                shared[leaving, coming] = [seen_in for seen_in, found in fillings if coming in found]
            evidence = shared[leaving, coming]
            provenance = Provenance(
                method="geca",
                prototypes=(code.decode(base), code.decode(fill(evidence[0], coming))),
                details={
                    "template": code.show(template),
                    "replaced": " | ".join(map(code.show, leaving)),
                    "fragments": " | ".join(map(code.show, coming)),
                    "support": len(evidence),
                },
            )
            yield code.decode(made).with_provenance(provenance)
