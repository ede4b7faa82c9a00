"""``recombine audit``: how good samples are in themselves."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.cli.files import Reading, check_one_standard_input, warn_of_strange_tokens
from recombine.cli.options import Columns, Format, Header, Json, Test, Tokens
from recombine.cli.printing import percent, print_json, print_table, say_next
from recombine.errors import unknown

if TYPE_CHECKING:
    from recombine.evaluation.audit import Audit, Gold

GOLD = ("scan",)
"""The gold functions that there are."""

Samples = Annotated[str, typer.Argument(metavar="SAMPLES", help="What an augmenter wrote; - is standard input.")]
Train = Annotated[str, typer.Option("--train", metavar="FILE", help="What it was fitted to.")]
GoldName = Annotated[
    str | None, typer.Option("--gold", metavar="NAME", help="What knows the right outputs: scan, SCAN's interpreter.")
]

_PHRASES = {
    "n": "samples",
    "novel": "no training pair",
    "duplicates": "equal to an earlier sample",
    "contradicted": "contradicted by another sample",
    "well_formed": "with a well-formed input",
    "right": "exactly right",
    "right_and_novel": "exactly right and no training pair",
    "inputs_in_test": "with an input of the test set",
    "pairs_in_test": "equal to a test pair",
}


def audit_cli(
    samples: Samples,
    train: Train,
    *,
    test: Test = None,
    gold: GoldName = None,
    format: Format = Reading.format,
    tokens: Tokens = Reading.tokens,
    columns: Columns = None,
    header: Header = False,
    json: Json = False,
) -> None:
    """Counts how many samples are right, well formed, novel, repeated, or in the test set.

    Example:
      recombine audit augmented.jsonl --train scan/train.tsv --gold scan
    """
    reading = Reading(format, tokens, columns, header)
    found = audit_files(samples, train, test=test, gold=gold, reading=reading)
    if json:
        print_json({**asdict(found), "shares": found.shares})
    else:
        shares: dict[str, float | None] = {"n": 1.0, **found.shares}
        counted = {name: count for name, count in asdict(found).items() if count is not None}
        print_table((_PHRASES[name], f"{count:,}", percent(shares[name] or 0.0)) for name, count in counted.items())
    say_next("train", train, "--augmented", samples, *reading.options, "-o", "predictor")


def audit_files(
    samples: str, train: str, *, test: str | None = None, gold: str | None = None, reading: Reading
) -> "Audit":
    """Returns the audit of a file of samples.

    Args:
        samples: The samples' path, or ``-``.
        train: The path of the training examples.
        test: The path of the test examples, if coincidences with them are to be counted.
        gold: One of ``GOLD``, or None if there is no way to know what is right.
        reading: How to read the files.
    """
    from recombine.evaluation.audit import audit

    check_one_standard_input(samples, train, test)
    right = None if gold is None else _gold(gold)
    made, examples = reading.read(samples), reading.read(train)
    warn_of_strange_tokens(examples, made)
    return audit(made, gold=right, train=examples, test=reading.read_optional(test))


def _gold(name: str) -> "Gold":
    if name not in GOLD:
        raise unknown("gold function", name, GOLD)
    from recombine.data.scan_grammar import interpret

    return interpret
