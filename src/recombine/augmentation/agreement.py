"""What goes together: input and output tokens that the same training examples hold, such as "kettle" and KETTLE.

A sample that has the one and not the other is wrong, however sure a network is of it. Where in all of the data such a
token comes as often as the other ("two plus two" and + 2 2), so it must in samples.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from recombine.example import Example

APART = "with a token and without what goes with it"
UNEVEN = "with a token more or less often than what goes with it"


@dataclass(frozen=True)
class Agreement:
    """A validator: of the tokens that the same examples hold, a sample has some on both sides or on neither.

    Attributes:
        groups: Tokens of x and tokens of y that the same examples hold, some of each.
        even: Pairs of them that must come equally often.
    """

    groups: Sequence[tuple[frozenset[str], frozenset[str]]]
    even: Sequence[tuple[str, str]] = ()

    @classmethod
    def of(cls, examples: Sequence[Example]) -> "Agreement":
        """Finds the groups."""
        distinct = list(dict.fromkeys(examples))
        inputs = _by_holders(example.x for example in distinct)
        outputs = _by_holders(example.y for example in distinct)
        groups = [(tokens, outputs[holders]) for holders, tokens in inputs.items() if holders in outputs]
        pairs = [(min(x), min(y)) for x, y in groups if len(x) == len(y) == 1]
        return cls(groups, pairs if _come_equally_often(pairs, distinct) else ())

    def __call__(self, sample: Example) -> str | None:
        """Returns why a sample is turned down, or None."""
        x, y = set(sample.x), set(sample.y)
        if any(inputs.isdisjoint(x) != outputs.isdisjoint(y) for inputs, outputs in self.groups):
            return APART
        return None if all(sample.x.count(one) == sample.y.count(other) for one, other in self.even) else UNEVEN


def _come_equally_often(pairs: Sequence[tuple[str, str]], examples: Sequence[Example]) -> bool:
    """Tells whether each pair's tokens come equally often in every example, of which one has them more than once."""
    outputs, repeated = dict(pairs), False
    for example in examples:
        for token in set(example.x) & outputs.keys():
            count = example.x.count(token)
            if example.y.count(outputs[token]) != count:
                return False
            repeated |= count > 1
    return repeated


def _by_holders(sides: Iterable[Sequence[str]]) -> dict[tuple[int, ...], frozenset[str]]:
    """Returns, for each set of examples that just these tokens are held by, the tokens.

    A set is known by its size and by the sums of its examples' random codes.
    """
    codes = np.random.default_rng(0)
    sums: dict[str, list[int]] = {}
    for side in sides:
        code = codes.integers(0, 2**62, 2).tolist()
        for token in set(side):
            found = sums.setdefault(token, [0, 0, 0])
            found[0] += 1
            found[1] += code[0]
            found[2] += code[1]
    grouped: dict[tuple[int, ...], list[str]] = {}
    for token, key in sums.items():
        grouped.setdefault(tuple(key), []).append(token)
    return {key: frozenset(tokens) for key, tokens in grouped.items()}
