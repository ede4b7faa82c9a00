"""What there is to know about training examples before anything is made of them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recombine.example import Example, Tokens
from recombine.inflection import are_inflections, is_tag

if TYPE_CHECKING:
    from recombine.augmentation.resample import Rarity, Resampler
    from recombine.neighborhoods.neighborhood import Neighborhoods

RULES = ("one-prototype", "long-short", "long-long", "swap", "tagged")
"""The names of the neighborhood rules."""

WORKED_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Side:
    """The inputs, or the outputs.

    Attributes:
        vocabulary: How many different tokens they have.
        mean_length: Their mean number of tokens.
        max_length: The number of tokens of the longest.
    """

    vocabulary: int
    mean_length: float
    max_length: int

    @classmethod
    def of(cls, sides: Sequence[Tokens]) -> "Side":
        """Measures token tuples, of which there is at least one."""
        lengths = list(map(len, sides))
        return cls(len({token for side in sides for token in side}), sum(lengths) / len(lengths), max(lengths))


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a neighborhood rule finds for the examples.

    Attributes:
        rule: Its name.
        share: The share of different examples that have a neighborhood; of very many, some thousands tell.
        account: How many examples met each of its conditions.
        examples: A few targets, each followed by its prototypes.
    """

    rule: str
    share: float
    account: str
    examples: tuple[tuple[Example, ...], ...]


@dataclass(frozen=True, slots=True)
class Overlap:
    """What test examples have in common with the training examples.

    Attributes:
        examples: How many test examples there are.
        pairs: Those that are training pairs.
        inputs: Those whose input is a training input.
        unseen_tokens: The tokens that no training example has.
    """

    examples: int
    pairs: int
    inputs: int
    unseen_tokens: Tokens


@dataclass(frozen=True, slots=True)
class Inspection:
    """What there is to know.

    Attributes:
        examples: How many examples there are.
        duplicates: Those that equal an earlier one.
        ambiguous_inputs: The inputs that have several outputs.
        x: The inputs.
        y: The outputs.
        epsilon: Below which share of the different examples a token is rare; None: no token counts as rare.
        rarity: What counts as rare, and why.
        rare: The rare tokens (of word forms, the rare tags), the rarest first.
        tags: In how many of the different examples each tag is, the rarest first; empty if these are no word forms.
        coverage: What neighborhood rules find.
        test: The overlap with test examples, if there are any.
    """

    examples: int
    duplicates: int
    ambiguous_inputs: int
    x: Side
    y: Side
    epsilon: float | None
    rarity: str
    rare: "tuple[Rarity, ...]"
    tags: Mapping[str, int]
    coverage: tuple[Coverage, ...]
    test: Overlap | None


def inspect_examples(
    train: Sequence[Example],
    test: Sequence[Example] | None = None,
    *,
    epsilon: float | None = None,
    rules: Sequence[str] | None = (),
    seed: int = 0,
) -> Inspection:
    """Returns what there is to know about training examples.

    Args:
        train: The training examples, at least one.
        test: Test examples, to find what they have in common with the training examples.
        epsilon: Below which share of the different examples a token is rare; None: chosen, as by ``augment``.
        rules: The names of the neighborhood rules to try; None: the one that ``augment`` would choose.
        seed: For the random choices of rules and of worked examples.
    """
    distinct = list(dict.fromkeys(train))
    rarity, resampler = _rarity(distinct, epsilon)
    outputs = Counter(example.x for example in distinct)
    return Inspection(
        examples=len(train),
        duplicates=len(train) - len(distinct),
        ambiguous_inputs=sum(count > 1 for count in outputs.values()),
        x=Side.of([example.x for example in train]),
        y=Side.of([example.y for example in train]),
        epsilon=None if resampler is None else resampler.epsilon,
        rarity=rarity,
        rare=() if resampler is None else resampler.rare_,
        tags=_tag_counts(distinct) if are_inflections(distinct) else {},
        coverage=tuple(_coverages(distinct, rules, seed)),
        test=None if test is None else _overlap(train, test),
    )


def _rarity(distinct: Sequence[Example], epsilon: float | None) -> "tuple[str, Resampler | None]":
    """Returns what counts as rare, in words, and what tells rare tokens; None if it is not tokens that are rare."""
    from recombine.augmentation.resample import Resampler
    from recombine.own_data import choices

    if epsilon is not None:
        relevant = is_tag if are_inflections(distinct) else None
        return "as asked for", Resampler(epsilon, relevant=relevant).fit(distinct)
    chosen = choices.rarity(distinct)
    return chosen.reason, chosen.value if chosen.name == choices.TOKENS else None


def _coverages(distinct: Sequence[Example], names: Sequence[str] | None, seed: int) -> Iterator[Coverage]:
    """Measures the rules of these names, as ``augment`` would have them; None: the one that it would choose."""
    from recombine.own_data import choices

    if names is None:
        rules = list(map(choices.rule_named, choices.rule_names(distinct, choices.rarity(distinct))))
        tried = [max(choices.trials(distinct, rules, seed=seed), key=lambda trial: trial.coverage)]
    else:
        tried = [trial for name in names for trial in choices.trials(distinct, [choices.rule_named(name)], seed=seed)]
    for trial in tried:
        examples = _worked_examples(distinct, trial.found, seed)
        yield Coverage(trial.found.rule, trial.coverage, trial.found.account, examples)


def _worked_examples(train: Sequence[Example], found: "Neighborhoods", seed: int) -> tuple[tuple[Example, ...], ...]:
    """Draws a few rows from the shorter half, where people can follow what was taken from where."""
    import numpy as np

    lengths = np.array([len(example.d) for example in train])
    shortest_first = np.argsort(lengths[found.rows].sum(axis=1), kind="stable")
    shorter = shortest_first[: max(WORKED_EXAMPLES, len(found) // 2)]
    drawn = np.random.default_rng(seed).permutation(shorter)[:WORKED_EXAMPLES]
    return tuple(tuple(train[place] for place in found.rows[row]) for row in drawn)


def _tag_counts(distinct: Sequence[Example]) -> dict[str, int]:
    counts = Counter(tag for example in distinct for tag in dict.fromkeys(filter(is_tag, example.x)))
    return dict(sorted(counts.items(), key=lambda item: (item[1], item[0])))


def _overlap(train: Sequence[Example], test: Sequence[Example]) -> Overlap:
    from recombine.data.vocabulary import Vocabulary

    pairs, inputs = {*train}, {example.x for example in train}
    return Overlap(
        examples=len(test),
        pairs=sum(example in pairs for example in test),
        inputs=sum(example.x in inputs for example in test),
        unseen_tokens=tuple(Vocabulary.of(train).unseen(test)),
    )
