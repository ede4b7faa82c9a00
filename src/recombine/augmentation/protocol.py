"""The contract that every augmenter keeps, learned or rule-based, and the record of what a call to one gave."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, Self, overload

from recombine.example import Example

SHOWN_EXAMPLES, SHOWN_LENGTH, SHOWN_REASONS = 3, 100, 10
"""How many samples a ``repr`` shows, how many characters of one, and how many reasons an account names."""

Validator = Callable[[Example], str | None]
"""Looks at a candidate and returns why it is to be rejected, or None to keep it. A fitted ``Resampler`` is one.

It may have an attribute ``common``: tokens, or None. A candidate that has no others is rejected, whatever the order of
the tokens; where candidates are many, it is then not even looked at, and of an input without others no output is drawn.
"""

NOTHING_RARE = "without a rare token"
"""The reason for that."""

Novelty = Literal["pair", "input", "both"]
"""What of a sample must not be among the training examples: the pair, its input, or its input and its output each."""


@dataclass(frozen=True, slots=True, repr=False)
class Samples(Sequence[Example]):
    """What an augmenter gave: the samples, and an account of those that it did not keep.

    Attributes:
        examples: Unique, novel examples with provenance, at most as many as were asked for.
        requested: How many were asked for.
        rejected: How many candidates were turned down, by reason.
        shortfall: If there are fewer than requested, why; else empty.
        warning: What else is to be known of them, if anything.
        turned_down: Some of the rejected candidates that are pairs, with the reason (``rejected``) among the details of
            their provenance; empty if the augmenter keeps none.
    """

    examples: tuple[Example, ...]
    requested: int
    rejected: Mapping[str, int] = field(default_factory=dict)
    shortfall: str = ""
    turned_down: tuple[Example, ...] = ()
    warning: str = ""

    @property
    def account(self) -> str:
        """One or two sentences for people: what was asked for, what came, what was rejected and why."""
        kept = f"{len(self.examples):,} of {self.requested:,} samples"
        named = dict(Counter(self.rejected).most_common(SHOWN_REASONS))
        reasons = [f"{count:,} {reason}" for reason, count in sorted(named.items()) if count]
        if others := sum(self.rejected.values()) - sum(named.values()):
            reasons.append(f"{others:,} for other reasons")
        turned_down = f"; rejected: {', '.join(reasons)}" if reasons else ""
        return " ".join(filter(None, (f"{kept}{turned_down}.", self.shortfall, self.warning)))

    def __repr__(self) -> str:
        """Shows the account and the first few samples, as a notebook shows whatever it is given."""
        first = map(str, self.examples[:SHOWN_EXAMPLES])
        lines = [self.account, *(text if len(text) <= SHOWN_LENGTH else f"{text[:SHOWN_LENGTH]}…" for text in first)]
        if len(self) > SHOWN_EXAMPLES:
            lines.append(f"… and {len(self) - SHOWN_EXAMPLES:,} more")
        return "\n  ".join(lines)

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Example, ...]: ...
    def __getitem__(self, index: int | slice) -> Example | tuple[Example, ...]:
        return self.examples[index]

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[Example]:
        return iter(self.examples)


def together(parts: Sequence[Samples]) -> Samples:
    """Returns the samples of several augmenters one after the other, with an account of all.

    Pairs that several of them made are there as often: all that each gave is kept.

    Args:
        parts: What each of them gave.
    """
    rejected: Counter[str] = sum((Counter(part.rejected) for part in parts), Counter())
    return Samples(
        examples=tuple(example for part in parts for example in part),
        requested=sum(part.requested for part in parts),
        rejected=dict(rejected),
        shortfall=" ".join(part.shortfall for part in parts if part.shortfall),
        turned_down=tuple(example for part in parts for example in part.turned_down),
        warning=" ".join(part.warning for part in parts if part.warning),
    )


class Augmenter(Protocol):
    """Learns from examples, then gives new ones.

    A constructor stores its settings and does nothing else; ``fit`` returns the augmenter itself; ``sample`` never
    changes it, so the same seed gives the same samples.
    """

    def fit(self, examples: Sequence[Example]) -> Self:
        """Learns what it needs from the training examples."""
        ...

    def sample(self, n: int, seed: int = 0, accept: Validator | None = None) -> Samples:
        """Returns n unique examples that are not among the training examples, or fewer with an account of why.

        Args:
            n: How many to return, at least 1.
            seed: Same seed, same samples.
            accept: Turns candidates down beyond novelty and uniqueness.
        """
        ...
