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
    Inventory,
    Proposal,
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
    take_accepted,
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
    once.

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
    _fitted: "_Fitted | None" = field(default=None, init=False, repr=False)

    def fit(self, examples: Sequence[Example]) -> Self:
        """Finds out which fragments may stand for each other.

        Raises:
            RecombineError: If a setting makes no sense, or there are fewer than two different examples.
        """
        self._check_settings()
        distinct = distinct_examples(examples, least=2, who="GECA")
        code = Code(distinct)
        sequences = [code.encode(example) for example in distinct]
        inventory = Inventory.of(sequences, fragment_size=self.fragment_size, gaps=self.gaps)
        proposals = Proposals(sequences, inventory, by_gaps=self.fewest_gaps_first)
        self._fitted = _Fitted(code, frozenset(sequences), inventory, proposals)
        return self

    def sample(self, n: int, seed: int = 0, accept: Validator | None = None) -> Samples:
        """Returns n novel pairs, each once, or all there are.

        A proposal is a training pair, fragments to take out of it, and fragments to put in their place. Proposals are
        drawn uniformly, whatever their support (with `fewest_gaps_first`, first among those with one gap); a pair that
        several proposals make is as many times as likely.

        Args:
            n: How many to return, at least 1.
            seed: Same seed, same samples.
            accept: Turns candidates down beyond novelty and uniqueness.

        Returns:
            Examples whose provenance names the pair that was changed and a pair that shows the new fragments, and has
            as details the template, the fragments that left (``replaced``) and came (``fragments``), and in how many
            templates both were seen (``support``).

        Raises:
            RecombineError: If GECA was not fitted, n is below 1, or the seed below 0.
        """
        if self._fitted is None:
            raise unfitted("GECA")
        check_request(n, seed)
        candidates = self._fitted.novel_pairs(self.novel, np.random.default_rng(seed))
        examples, rejected = take_accepted(candidates, n, accept)
        turned_down = sum(rejected.values())
        shortfall = self._fitted.shortfall(len(examples) + turned_down, turned_down) if len(examples) < n else ""
        return Samples(examples=examples, requested=n, rejected=rejected, shortfall=shortfall)

    def _check_settings(self) -> None:
        for name, most in (("fragment_size", MAX_FRAGMENT_SIZE), ("gaps", len(GAPS))):
            value = getattr(self, name)
            if value < 1:
                raise RecombineError(f"GECA's {name} is {value}.", hint="It has to be at least 1.")
            if value > most:
                raise RecombineError(f"GECA's {name} is {value}.", hint=f"It can be at most {most}; 1 or 2 is usual.")
        if self.novel not in get_args(Novelty):
            raise unknown("kind of novelty", self.novel, get_args(Novelty))


@dataclass(frozen=True, slots=True)
class _Fitted:
    """What GECA knows after ``fit``: how sequences are written, those it was given, their fragments, its proposals."""

    code: Code
    known: frozenset[str]
    inventory: Inventory
    proposals: Proposals

    def novel_pairs(self, novel: Novelty, rng: np.random.Generator) -> Iterator[Example]:
        """Yields what the proposals make, each group in random order, each pair once and only if it is novel."""
        inputs = frozenset(sequence.partition(BORDER)[0] for sequence in self.known)
        outputs = frozenset(sequence.partition(BORDER)[2] for sequence in self.known)
        seen = set(self.known)
        in_order = (group[place] for group in self.proposals.groups for place in in_random_order(len(group), rng))
        for number in in_order:
            proposal = self.proposals[number]
            made = proposal.made
            x, _, y = made.partition(BORDER)
            if made in seen or (x in inputs and novel != "pair") or (y in outputs and novel == "both"):
                continue
            if self.proposals.graph.overlaps(proposal.gapping, proposal.substitute):
                continue
            seen.add(made)
            yield self.code.decode(made).with_provenance(self._provenance(proposal))

    def _provenance(self, proposal: Proposal) -> Provenance:
        leaving, coming = proposal.gapping.fragments, proposal.substitute
        evidence = self.proposals.graph.evidence(leaving, coming)
        return Provenance(
            method="geca",
            prototypes=tuple(map(self.code.decode, (proposal.base, fill(evidence.template, coming)))),
            details={
                "template": self.code.show(proposal.gapping.template),
                "replaced": " | ".join(map(self.code.show, leaving)),
                "fragments": " | ".join(map(self.code.show, coming)),
                "support": evidence.support,
            },
        )

    def shortfall(self, made: int, turned_down: int) -> str:
        """Says why there are no more samples, once all proposals have been made."""
        pairs = "1 novel pair" if made == 1 else f"{made:,} novel pairs"
        account = f"GECA can make only {pairs} from these {len(self.known):,} different examples"
        if turned_down:
            account += f", of which {turned_down:,} were turned down"
        if not self.inventory.suffices:
            account += ": x and y have no token in common, so it takes gaps=2 to change both"
        return f"{account}."
