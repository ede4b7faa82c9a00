"""What goes together: input and output tokens that the same training examples hold, such as "kettle" and KETTLE.

A sample that has the one and not the other is wrong, however sure a network is of it. Where in all of the data such a
token comes as often as the other ("two plus two" and + 2 2), so it must in samples.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recombine.example import Example

APART = "with a token and without what goes with it"
UNEVEN = "with a token more or less often than what goes with it"

Holders = tuple[int, ...]
"""A set of examples: its size, and sums of its examples' random codes."""


@dataclass(frozen=True)
class Agreement:
    """A validator: of the tokens that the same examples hold, a sample has some on both sides or on neither.

    Attributes:
        x: The holders of each input token that has partners: output tokens that the same examples hold.
        y: Those of each output token that has partners.
        even: The partners of input tokens that must come as often as they.
    """

    x: Mapping[str, Holders]
    y: Mapping[str, Holders]
    even: Mapping[str, str]

    @classmethod
    def of(cls, examples: Sequence[Example]) -> "Agreement":
        """Finds the partners."""
        distinct = list(dict.fromkeys(examples))
        x, y = _holders(example.x for example in distinct), _holders(example.y for example in distinct)
        shared = {*x.values()} & {*y.values()}
        x, y = ({token: held for token, held in side.items() if held in shared} for side in (x, y))
        pairs = _alone(x, y)
        return cls(x, y, pairs if _come_equally_often(pairs, distinct) else {})

    def __call__(self, sample: Example) -> str | None:
        """Returns why a sample is turned down, or None."""
        inputs, outputs = Counter(sample.x), Counter(sample.y)
        if {self.x.get(token) for token in inputs} - {None} != {self.y.get(token) for token in outputs} - {None}:
            return APART
        uneven = any(inputs[token] != outputs[self.even[token]] for token in inputs if token in self.even)
        return UNEVEN if uneven else None


def _alone(x: Mapping[str, Holders], y: Mapping[str, Holders]) -> dict[str, str]:
    """Returns the output token of each input token where either is the only one that the same examples hold."""
    inputs, outputs = Counter(x.values()), Counter(y.values())
    only = {held: token for token, held in y.items() if outputs[held] == 1}
    return {token: only[held] for token, held in x.items() if inputs[held] == 1 and held in only}


def _come_equally_often(pairs: Mapping[str, str], examples: Sequence[Example]) -> bool:
    """Tells whether each pair's tokens come equally often in every example, of which one has them more than once."""
    repeated = False
    for example in examples:
        for token in set(example.x) & pairs.keys():
            count = example.x.count(token)
            if example.y.count(pairs[token]) != count:
                return False
            repeated |= count > 1
    return repeated


def _holders(sides: Iterable[Sequence[str]]) -> dict[str, Holders]:
    """Returns the examples that hold each token, which are known by their number and the sums of their codes."""
    codes = np.random.default_rng(0)
    sums: dict[str, list[int]] = {}
    for side in sides:
        code = codes.integers(0, 2**62, 2).tolist()
        for token in dict.fromkeys(side):
            found = sums.setdefault(token, [0, 0, 0])
            found[0] += 1
            found[1] += code[0]
            found[2] += code[1]
    return {token: tuple(key) for token, key in sums.items()}
