"""Scores of predicted outputs, and of samples in themselves (section 5).

Predictions are held against gold outputs: exact match, micro-F1, and the NOVEL subset. Samples are right, well formed,
novel, repeated, or taken from the test set.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple, Self

from recombine.errors import RecombineError
from recombine.example import Example, Tokens
from recombine.inflection import is_tag, split_analysis

Elements = Callable[[Tokens], Tokens]
"""Gives the elements of an output that F1 counts."""

Gold = Callable[[Tokens], Tokens | None]
"""Gives the right output for an input, or None for an input that is not well formed. SCAN's interpreter is one."""


def correct(gold: Sequence[Tokens], predicted: Sequence[Tokens]) -> tuple[bool, ...]:
    """Tells for each item whether the prediction equals the gold output, token by token and in order."""
    return tuple(right == guess for right, guess in _pairs(gold, predicted))


def exact_match(gold: Sequence[Tokens], predicted: Sequence[Tokens]) -> float:
    """Returns the share of items that are ``correct``."""
    return sum(correct(gold, predicted)) / len(gold)


def analysis_elements(output: Tokens) -> Tokens:
    """Returns the elements of an analysis: the lemma as one string (unless it is empty), then each tag token."""
    lemma, tags = split_analysis(output)
    return ("".join(lemma), *tags) if lemma else tags


def notebook_elements(output: Tokens) -> Tokens:
    """Returns the elements of an analysis as the authors' notebook counts them: each word of the lemma is one."""
    lemma, tags = split_analysis(output)
    return (*"".join(lemma).split(), *tags)


def elements_of(gold: Iterable[Tokens]) -> Elements:
    """Chooses what to count: the parts of analyses if every gold output ends in a tag token, else tokens."""
    return analysis_elements if all(output and is_tag(output[-1]) for output in gold) else tuple


class Counts(NamedTuple):
    """What F1 is computed of. Elements are compared by membership, wherever they stand; a repeated one counts again.

    Attributes:
        true_positives: Predicted elements that are among the gold ones.
        false_positives: Predicted elements that are not.
        false_negatives: Gold elements that are not among the predicted ones.
    """

    true_positives: int = 0
    false_positives: int = 0
    false_negatives: int = 0

    @classmethod
    def of(cls, gold: Tokens, predicted: Tokens) -> Self:
        """Counts the elements of one item."""
        hits = sum(element in gold for element in predicted)
        return cls(hits, len(predicted) - hits, sum(element not in predicted for element in gold))

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, 2 tp / (2 tp + fp + fn); 1 if there is nothing to count."""
        total = 2 * self.true_positives + self.false_positives + self.false_negatives
        return 2 * self.true_positives / total if total else 1.0


def item_counts(
    gold: Sequence[Tokens], predicted: Sequence[Tokens], *, elements: Elements | None = None
) -> list[Counts]:
    """Returns what F1 is computed of, for each item, by default of the elements that ``elements_of`` chooses."""
    count = elements or elements_of(gold)
    return [Counts.of(count(right), count(guess)) for right, guess in _pairs(gold, predicted)]


def micro_f1(gold: Sequence[Tokens], predicted: Sequence[Tokens], *, elements: Elements | None = None) -> float:
    """Returns the F1 of the counts summed over all items; arguments as for ``item_counts``."""
    return Counts(*map(sum, zip(*item_counts(gold, predicted, elements=elements), strict=True))).f1


def novel(items: Iterable[Example], training: Iterable[Example]) -> tuple[bool, ...]:
    """Tells for each item whether its tags, in their order, never appear in training: the paper's NOVEL subset.

    Items are word forms in either order; the tags are those at the end of y, or else of x.
    """

    def tags_of(item: Example) -> Tokens:
        if tags := split_analysis(item.y)[1] or split_analysis(item.x)[1]:
            return tags
        hint = "Novelty of tags is for lemma, form, tags: `format='sigmorphon'`."
        raise RecombineError(f"'{item}' has no tags to be novel.", hint=hint)

    seen = set(map(tags_of, training))
    return tuple(tags_of(item) not in seen for item in items)


def _pairs(gold: Sequence[Tokens], predicted: Sequence[Tokens]) -> Iterable[tuple[Tokens, Tokens]]:
    if len(gold) != len(predicted):
        raise RecombineError(
            f"there are {len(gold)} gold outputs and {len(predicted)} predicted ones; expected one for each.",
            hint="The two must list the same items in the same order.",
        )
    if not gold:
        raise RecombineError("there is nothing to score; expected at least one item.")
    return zip(gold, predicted, strict=True)


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
        counts = asdict(self)
        del counts["n"]
        return {name: None if count is None else count / self.n for name, count in counts.items()}


def audit(
    samples: Sequence[Example],
    *,
    gold: Gold | None,
    train: Iterable[Example],
    test: Iterable[Example] | None = None,
) -> Audit:
    """Counts what is good and what is bad about samples of an augmenter that was fitted to `train`.

    `gold` gives the right output for an input, if there is a way to know it. Samples may anticipate examples of `test`.
    """
    if not samples:
        raise RecombineError("there are no samples to audit; expected at least one.")
    known = frozenset(train)
    new = [sample not in known for sample in samples]
    further: dict[str, int] = {}
    if gold is not None:
        outputs = [gold(sample.x) for sample in samples]
        hits = [output == sample.y for output, sample in zip(outputs, samples, strict=True)]
        further["well_formed"] = sum(output is not None for output in outputs)
        further["right"] = sum(hits)
        further["right_and_novel"] = sum(hit and is_new for hit, is_new in zip(hits, new, strict=True))
    if test is not None:
        pairs = frozenset(test)
        inputs = {pair.x for pair in pairs}
        further["inputs_in_test"] = sum(sample.x in inputs for sample in samples)
        further["pairs_in_test"] = sum(sample in pairs for sample in samples)
    duplicates = len(samples) - len({*samples})
    return Audit(len(samples), sum(new), duplicates, contradicted=contradicted(samples), **further)


def contradicted(samples: Sequence[Example]) -> int:
    """Returns how many samples have an input that another sample has with another output."""
    outputs = Counter(sample.x for sample in dict.fromkeys(samples))
    return sum(outputs[sample.x] > 1 for sample in samples)
