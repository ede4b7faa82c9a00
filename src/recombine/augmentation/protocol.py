"""The contract that every augmenter keeps, learned or rule-based, and what all of them do alike."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from numbers import Integral
from typing import Any, Literal, Protocol, Self, overload

import numpy as np

from recombine.data.code import kind_of
from recombine.data.text import join
from recombine.errors import RecombineError
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
        estimate: Between which shares of them are right, and the share that is expected: (low, mean, high); None if
            nobody can say.
        tokens: What a token of their texts is: ``"words"``, ``"characters"`` or ``"code"``; None if nobody said.
    """

    examples: tuple[Example, ...]
    requested: int
    rejected: Mapping[str, int] = field(default_factory=dict)
    shortfall: str = ""
    turned_down: tuple[Example, ...] = ()
    warning: str = ""
    estimate: tuple[float, float, float] | None = None
    tokens: str | None = None

    @property
    def account(self) -> str:
        """One or two sentences for people: what was asked for, what came, what was rejected and why."""
        kept = f"{len(self.examples):,} of {self.requested:,} samples"
        named = dict(Counter(self.rejected).most_common(SHOWN_REASONS))
        reasons = [f"{count:,} {reason}" for reason, count in sorted(named.items()) if count]
        if others := sum(self.rejected.values()) - sum(named.values()):
            reasons.append(f"{others:,} for other reasons")
        turned_down = f"; rejected: {', '.join(reasons)}" if reasons else ""
        right = ""
        if self.estimate is not None:
            low, mean, high = self.estimate
            right = f"By rehearsal, about {mean:.0%} of them are right ({low:.0%} to {high:.0%})."
        return " ".join(filter(None, (f"{kept}{turned_down}.", self.shortfall, self.warning, right)))

    def __repr__(self) -> str:
        """Shows the account and the first few samples, as a notebook shows whatever it is given."""
        first = map(str, self.examples[:SHOWN_EXAMPLES])
        lines = [self.account, *(text if len(text) <= SHOWN_LENGTH else f"{text[:SHOWN_LENGTH]}…" for text in first)]
        if len(self) > SHOWN_EXAMPLES:
            lines.append(f"… and {len(self) - SHOWN_EXAMPLES:,} more")
        return "\n  ".join(lines)

    def to_pandas(self, *, tokens: str | None = None) -> Any:  # noqa: ANN401
        """Returns a data frame with input, output, method and, if it is estimated, how likely each sample is right.

        `tokens` say what texts are made of: words, characters or code; default: as in the augmenter's examples.
        """
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise RecombineError("to_pandas needs pandas.", hint="pip install pandas") from None
        kind = tokens or self.tokens or kind_of(self)
        origins = [example.provenance for example in self]
        columns: dict[str, list[Any]] = {
            "input": [join(example.x, kind) for example in self],
            "output": [join(example.y, kind) for example in self],
            "method": [origin.method if origin else None for origin in origins],
        }
        if self.estimate is not None:
            columns["right"] = [origin.details.get("right") if origin else None for origin in origins]
        return pandas.DataFrame(columns)

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


class Sampling(Protocol):
    """Gives new examples, and is not changed by it, so the same seed gives the same samples."""

    def sample(self, n: int, seed: int = 0, accept: Validator | None = None) -> Samples:
        """Returns n unique examples that are not among the training examples, or fewer with an account of why.

        Args:
            n: How many to return, at least 1.
            seed: Same seed, same samples.
            accept: Turns candidates down beyond novelty and uniqueness.
        """
        ...


class Augmenter(Sampling, Protocol):
    """Learns from examples, then gives new ones. A constructor stores its settings and does nothing else."""

    def fit(self, examples: Sequence[Example]) -> Self:
        """Learns what it needs from the training examples, and returns the augmenter itself."""
        ...


def distinct_examples(examples: Sequence[Example], *, least: int, who: str) -> tuple[Example, ...]:
    """Returns the examples, each once; raises an error that names `who` if fewer than `least` are different."""
    distinct = tuple(dict.fromkeys(examples))
    if len(distinct) < least:
        needed = f"{least} different examples" if least > 1 else "1 example"
        given = f"{len(distinct)} different among {len(examples)}" if len(examples) > len(distinct) else len(distinct)
        raise RecombineError(f"{who} needs at least {needed} to learn from; got {given}.")
    return distinct


def unfitted(who: str) -> RecombineError:
    """Returns the error for a question that can be answered only after ``fit``."""
    return RecombineError(f"this {who} has not been fitted.", hint="Call fit(examples) first.")


def check_request(n: int, seed: int) -> None:
    """Raises an error if n or the seed is no whole number, n is below 1, or the seed below 0."""
    for name, value in (("n", n), ("seed", seed)):
        if not isinstance(value, Integral):
            raise RecombineError(f"{name} is {value!r}, expected a whole number.")
    if n < 1:
        raise RecombineError(f"cannot draw {n} samples.", hint="Ask for at least 1.")
    if seed < 0:
        raise RecombineError(f"the seed {seed} is negative.", hint="Give a seed of 0 or more.")


def in_random_order(count: int, rng: np.random.Generator) -> Iterator[int]:
    """Yields the numbers 0 to count - 1 in random order, with no more work or memory than the numbers taken need.

    A Fisher-Yates shuffle that remembers only the numbers it has moved.
    """
    moved: dict[int, int] = {}
    for place in range(count):
        drawn = int(rng.integers(place, count))
        here = moved.pop(place, place)
        if drawn == place:
            yield here
        else:
            yield moved.get(drawn, drawn)
            moved[drawn] = here


def turned_down(example: Example, accept: Validator | None) -> str | None:
    """Returns why an example is not accepted, if it is not."""
    reason = accept(example) if accept else None
    if reason is not None and not isinstance(reason, str):
        raise RecombineError(
            f"a validator returned {reason!r}, expected None for what it accepts or else the reason, a string."
        )
    return reason


def take_accepted(
    candidates: Iterable[Example], n: int, accept: Validator | None
) -> tuple[tuple[Example, ...], dict[str, int]]:
    """Takes candidates until n are accepted: (those accepted, how many were turned down by reason)."""
    accepted: list[Example] = []
    rejected: Counter[str] = Counter()
    for candidate in candidates:
        if (reason := turned_down(candidate, accept)) is not None:
            rejected[reason] += 1
            continue
        accepted.append(candidate)
        if len(accepted) == n:
            break
    return tuple(accepted), dict(sorted(rejected.items()))


def samples_by_rule(
    who: str, known: int, candidates: Iterable[Example], n: int, accept: Validator | None, why: str = "", none: str = ""
) -> Samples:
    """Returns the first n candidates that are accepted, of all that a method by rule makes of its known examples.

    If there are fewer, the sentence on that ends in `why`; where nothing could be made at all, in `none`, too.
    """
    examples, rejected = take_accepted(candidates, n, accept)
    turned_down, shortfall = sum(rejected.values()), ""
    if len(examples) < n:
        made = len(examples) + turned_down
        pairs = {0: "no novel pair", 1: "only 1 novel pair"}.get(made, f"only {made:,} novel pairs")
        shortfall = f"{who} can make {pairs} from these {known:,} different examples"
        shortfall += f", of which {turned_down:,} were turned down" * bool(turned_down)
        shortfall += f"{why}{none * (not made)}."
    return Samples(examples, n, rejected, shortfall)
