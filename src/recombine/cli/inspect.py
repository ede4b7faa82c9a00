"""``recombine inspect``: a look at training examples before anything is made of them."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any

import typer

from recombine.cli.files import Reading, check_one_standard_input, warn_of_test_in_training, warn_of_unlike_outputs
from recombine.cli.inspection import RULES, Coverage, Inspection, Overlap, inspect_examples
from recombine.cli.options import AUTO, Columns, Format, Header, Json, Seed, Test, Tokens, Train
from recombine.cli.printing import percent, print_json, print_line, print_table, say_next, working
from recombine.errors import unknown
from recombine.example import Example
from recombine.inflection import are_inflections, split_analysis

Epsilon = Annotated[
    float | None,
    typer.Option(
        "--epsilon",
        metavar="P",
        help="A token is rare in fewer than this share of the examples; unless told, as augment has it.",
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


def inspect_cli(
    train: Train,
    *,
    test: Test = None,
    epsilon: Epsilon = None,
    neighborhood: Neighborhood = AUTO,
    seed: Seed = 0,
    format: Format = Reading.format,
    tokens: Tokens = Reading.tokens,
    columns: Columns = None,
    header: Header = False,
    json: Json = False,
) -> None:
    """Shows vocabulary, lengths, duplicates, rare tokens, neighborhoods and overlap with a test set.

    Example:
      recombine inspect scan/train.tsv --test scan/test.tsv
    """
    reading = Reading(format, tokens, columns, header)
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
    unlike = warn_of_unlike_outputs(examples, tokens)
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
