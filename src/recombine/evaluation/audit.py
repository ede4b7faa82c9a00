"""How good samples are in themselves: right, well formed, novel, repeated, or taken from the test set (section 5)."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields

from recombine.errors import RecombineError
from recombine.example import Example, Tokens

Gold = Callable[[Tokens], Tokens | None]
"""Gives the right output for an input, or None for an input that is not well formed. SCAN's interpreter is one."""


@dataclass(frozen=True, slots=True)
class Audit:
    """How many samples have a property; None where it was not asked for.

    Attributes:
        n: All samples.
        novel: Those that are no training pair.
        duplicates: Those that equal an earlier sample.
        contradicted: Those whose input another sample has with another output: at most one of them is right.
        well_formed: Those whose input has a right output.
        right: Those whose output is the right one, exactly.
        right_and_novel: Those that are both; the paper's 40 % and 74 % are their share of the novel ones.
        inputs_in_test: Those whose input is an input of the test set.
        pairs_in_test: Those that are a pair of the test set.
    """

    n: int
    novel: int
    duplicates: int
    contradicted: int = 0
    well_formed: int | None = None
    right: int | None = None
    right_and_novel: int | None = None
    inputs_in_test: int | None = None
    pairs_in_test: int | None = None

    @property
    def shares(self) -> dict[str, float | None]:
        """Each number but n as a share of all samples, by its name."""
        counts = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "n"}
        return {name: None if count is None else count / self.n for name, count in counts.items()}


def audit(
    samples: Sequence[Example],
    *,
    gold: Gold | None,
    train: Iterable[Example],
    test: Iterable[Example] | None = None,
) -> Audit:
    """Counts what is good and what is bad about samples.

    Args:
        samples: What an augmenter gave.
        gold: Gives the right output for an input, if there is a way to know it.
        train: What the augmenter was fitted to.
        test: The examples that samples may anticipate, if that is to be counted.

    Raises:
        RecombineError: If there are no samples.
    """
    if not samples:
        raise RecombineError("there are no samples to audit; expected at least one.")
    known = frozenset(train)
    novel = [sample not in known for sample in samples]
    well_formed = right = right_and_novel = inputs_in_test = pairs_in_test = None
    if gold is not None:
        outputs = [gold(sample.x) for sample in samples]
        hits = [output == sample.y for output, sample in zip(outputs, samples, strict=True)]
        well_formed = sum(output is not None for output in outputs)
        right = sum(hits)
        right_and_novel = sum(hit and new for hit, new in zip(hits, novel, strict=True))
    if test is not None:
        pairs = frozenset(test)
        inputs = {pair.x for pair in pairs}
        inputs_in_test = sum(sample.x in inputs for sample in samples)
        pairs_in_test = sum(sample in pairs for sample in samples)
    return Audit(
        n=len(samples),
        novel=sum(novel),
        duplicates=len(samples) - len({*samples}),
        contradicted=contradicted(samples),
        well_formed=well_formed,
        right=right,
        right_and_novel=right_and_novel,
        inputs_in_test=inputs_in_test,
        pairs_in_test=pairs_in_test,
    )


def contradicted(samples: Sequence[Example]) -> int:
    """Returns how many samples have an input that another sample has with another output."""
    outputs = Counter(sample.x for sample in dict.fromkeys(samples))
    return sum(outputs[sample.x] > 1 for sample in samples)
