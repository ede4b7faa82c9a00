"""``recombine inspect``: a look at training examples before anything is made of them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recombine.cli.augment import RULES
from recombine.cli.files import (
    Reading,
    check_one_standard_input,
    warn_of_test_in_training,
    warn_of_unlike_outputs,
)
from recombine.cli.options import AUTO, Json, Seed, Test, Train
from recombine.cli.printing import percent, print_json, print_line, print_table, say_next, working
from recombine.errors import unknown
from recombine.example import Example
from recombine.example import Tokens as TokenTuple
from recombine.inflection import are_inflections, is_tag, split_analysis

if TYPE_CHECKING:
    from recombine.augmentation.resample import Rare, Rarity
    from recombine.neighborhoods.neighborhood import Neighborhoods

WORKED_EXAMPLES = 3

Epsilon = Annotated[
    float | None,
    typer.Option(
        "--epsilon",
        metavar="P",
        help="A token in fewer than this share of the examples is rare (default: as for augment).",
    ),
]
Neighborhood = Annotated[
    str,
    typer.Option(
        "--neighborhood",
        metavar="RULE",
        help="one-prototype, long-short, long-long, swap, tagged, all or none; auto: the one that augment chooses.",
    ),
]

_SHOWN = 20
"""How many rare tokens are printed; --json gives all."""


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
    def of(cls, sides: Sequence[TokenTuple]) -> "Side":
        """Measures token tuples, of which there is at least one."""
        lengths = list(map(len, sides))
        return cls(len({token for side in sides for token in side}), sum(lengths) / len(lengths), max(lengths))


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a neighborhood rule finds for the examples.

    Attributes:
        rule: Its name.
        share: The share of different examples that have a neighborhood; estimated if there are very many.
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
    unseen_tokens: TokenTuple


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
    from recombine.augmentation.resample import TOKENS, find_rare

    distinct = list(dict.fromkeys(train))
    rare = find_rare(distinct, epsilon=epsilon)
    tokens = rare.resampler if rare.kind == TOKENS else None
    outputs = Counter(example.x for example in distinct)
    return Inspection(
        examples=len(train),
        duplicates=len(train) - len(distinct),
        ambiguous_inputs=sum(count > 1 for count in outputs.values()),
        x=Side.of([example.x for example in train]),
        y=Side.of([example.y for example in train]),
        epsilon=epsilon if tokens is None else tokens.epsilon,
        rarity=rare.reason,
        rare=() if tokens is None else tokens.rare_,
        tags=_tag_counts(distinct) if are_inflections(distinct) else {},
        coverage=tuple(_coverages(distinct, rules, rare, seed)),
        test=None if test is None else _overlap(train, test),
    )


def _coverages(distinct: Sequence[Example], names: Sequence[str] | None, rare: "Rare", seed: int) -> Iterator[Coverage]:
    """Measures the rules of these names, as ``augment`` would have them; None: the one that it would choose."""
    from recombine.own_data import choices

    if names is None:
        rules = list(map(choices.rule_named, choices.rule_names(distinct, rare)))
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


def inspect_cli(
    train: Train,
    reading: Reading,
    *,
    test: Test = None,
    epsilon: Epsilon = None,
    neighborhood: Neighborhood = AUTO,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Shows vocabulary, lengths, duplicates, rare tokens, neighborhoods and overlap with a test set.

    Example:
      recombine inspect scan/train.tsv --test scan/test.tsv
    """
    check_one_standard_input(train, test)
    if neighborhood not in (AUTO, "all", "none", *RULES):
        raise unknown("neighborhood", neighborhood, (AUTO, "all", "none", *RULES))
    examples, held_out = reading.read(train), reading.read_optional(test)
    rules = choose_rules(neighborhood, examples)
    with working("Looking for neighborhoods"):
        found = inspect_examples(examples, held_out, epsilon=epsilon, rules=rules, seed=seed)
    if json:
        print_json(_document(found))
    else:
        _print(found)
    unlike = warn_of_unlike_outputs(examples, reading.tokens)
    warn_of_test_in_training(examples, held_out, named=test)
    reading = replace(reading, tokens="characters") if unlike else reading
    say_next("augment", train, *reading.options, "-n", "400", "-o", "augmented.jsonl")


def choose_rules(name: str, examples: Sequence[Example]) -> tuple[str, ...] | None:
    """Returns the names of the rules that a choice stands for; None: as ``augment`` chooses.

    Args:
        name: A rule, ``"all"`` that suit the examples, ``"none"``, or ``"auto"``.
        examples: The training examples.
    """
    if name == AUTO:
        return None
    suited = tuple(rule for rule in RULES if rule != "tagged" or are_inflections(examples))
    return {"all": suited, "none": ()}.get(name, (name,))


def _print(found: Inspection) -> None:
    print_table(
        [
            ("examples", f"{found.examples:,}"),
            ("duplicates", f"{found.duplicates:,}"),
            ("inputs with several outputs", f"{found.ambiguous_inputs:,}"),
        ]
    )
    print_line()
    sides = (("inputs", found.x), ("outputs", found.y))
    rows = ((name, f"{side.vocabulary:,}", f"{side.mean_length:.1f}", f"{side.max_length:,}") for name, side in sides)
    print_table(rows, header=("", "vocabulary", "mean length", "max length"))
    _print_rare(found)
    for coverage in found.coverage:
        _print_coverage(coverage)
    if found.test is not None:
        _print_overlap(found.test)


def _print_rare(found: Inspection) -> None:
    what = "tags" if found.tags else "tokens"
    if found.epsilon is None:
        print_line(f"\nRare {what}: none. What augment keeps samples by: {found.rarity}")
    else:
        listed = ", ".join(map(str, found.rare[:_SHOWN])) or "none"
        more = f" and {len(found.rare) - _SHOWN:,} more" if len(found.rare) > _SHOWN else ""
        print_line(f"\nRare {what} (in fewer than {percent(found.epsilon)} of the different examples): {listed}{more}")
    if found.tags:
        rare = {rarity.ngram[0] for rarity in found.rare}
        tags = ", ".join(f"{tag} ({count}{', rare' if tag in rare else ''})" for tag, count in found.tags.items())
        print_line(f"\nTags: {tags}")


def _print_coverage(coverage: Coverage) -> None:
    print_line(f"\nNeighborhood {coverage.rule}: {percent(coverage.share)} of the different examples have one")
    print_line(f"  ({coverage.account})")
    for target, *prototypes in coverage.examples:
        print_line(f"\n  target       {_shown(target)}")
        for number, prototype in enumerate(prototypes, start=1):
            print_line(f"  prototype {number}  {_shown(prototype)}")


def _shown(example: Example) -> str:
    """Returns an example for people: of word forms, lemma and form in one piece."""
    if not are_inflections([example]):
        return str(example)
    lemma, tags = split_analysis(example.x)
    return f"{''.join(lemma)} {' '.join(tags)} ▷ {''.join(example.y)}"


def _print_overlap(test: Overlap) -> None:
    print_line(
        f"\nTest examples: {test.examples:,}; training pairs among them: {test.pairs:,}, inputs: {test.inputs:,}"
    )
    print_line(f"Test tokens never seen in training: {' '.join(test.unseen_tokens) or 'none'}")


def _document(found: Inspection) -> dict[str, Any]:
    """Returns the inspection with examples as JSONL has them, without the provenance that originals lack."""
    document = asdict(found)
    for coverage, original in zip(document["coverage"], found.coverage, strict=True):
        coverage["examples"] = [
            [{"x": example.x, "y": example.y} for example in worked] for worked in original.examples
        ]
    return document
