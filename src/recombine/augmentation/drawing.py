"""What all augmenters do alike: check what they are given, draw at random, ask the validator."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral

import numpy as np

from recombine.augmentation.protocol import Validator
from recombine.errors import RecombineError
from recombine.example import Example


def distinct_examples(examples: Sequence[Example], *, least: int, who: str) -> tuple[Example, ...]:
    """Returns the examples without repetitions, in order of first appearance.

    Args:
        examples: Training examples.
        least: How many different ones are needed.
        who: Who needs them, to begin the error with.

    Raises:
        RecombineError: If there are too few.
    """
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
    """Checks how many samples are asked for, and the seed.

    Raises:
        RecombineError: If one is no whole number, n is below 1 or the seed below 0.
    """
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
    """Returns why an example is not accepted, if it is not.

    Raises:
        RecombineError: If the validator says neither None nor a reason.
    """
    reason = accept(example) if accept else None
    if reason is not None and not isinstance(reason, str):
        raise RecombineError(
            f"a validator returned {reason!r}, expected None for what it accepts or else the reason, a string."
        )
    return reason


def keep(candidates: Iterable[Example], n: int, accept: Validator | None) -> tuple[tuple[Example, ...], dict[str, int]]:
    """Takes candidates until n are accepted: (those accepted, how many were turned down by reason)."""
    kept: list[Example] = []
    rejected: Counter[str] = Counter()
    for candidate in candidates:
        reason = turned_down(candidate, accept)
        if reason is not None:
            rejected[reason] += 1
            continue
        kept.append(candidate)
        if len(kept) == n:
            break
    return tuple(kept), dict(sorted(rejected.items()))
