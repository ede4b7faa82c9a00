"""``recombine augment``: new training examples from old ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recombine.cli.options import Columns, Force, Format, Json, Seed, Test, Tokens, Train
from recombine.cli.printing import print_json, say, say_next, working
from recombine.cli.reading import STANDARD, Reading, are_inflections, check_one_standard_input
from recombine.cli.writing import check_free
from recombine.errors import RecombineError, unknown
from recombine.example import Example
from recombine.inflection import is_tag

if TYPE_CHECKING:
    from recombine.augmentation.protocol import Augmenter, Samples
    from recombine.augmentation.resample import Resampler

Method = Annotated[
    str,
    typer.Option(
        "--method", metavar="NAME", help="geca recombines by rule; oversample repeats what has something rare in it."
    ),
]
Count = Annotated[int, typer.Option("-n", "--count", metavar="N", help="How many samples to make.")]
Output = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Columns if the name ends in .tsv, else JSONL with provenance; - is standard output.",
    ),
]
Epsilon = Annotated[
    float | None,
    typer.Option(
        "--epsilon",
        metavar="P",
        help="Keep only samples with a token that is in fewer than this share of the training examples.",
    ),
]
Ngram = Annotated[int, typer.Option("--ngram", metavar="N", help="With --epsilon: look at up to N tokens in a row.")]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to make.

    Attributes:
        method: One of ``METHODS``.
        n: How many samples.
        seed: Same seed, same samples.
        epsilon: Below which share of the training examples something is rare; None for no resampling.
        ngram: How many tokens in a row may be what is rare.
    """

    method: str
    n: int
    seed: int = 0
    epsilon: float | None = None
    ngram: int = 1

    def check(self) -> None:
        """Raises an error for what cannot be done, before anything is read."""
        if self.method not in METHODS:
            raise unknown("method", self.method, METHODS)
        if self.n < 1:
            raise RecombineError(f"cannot make {self.n} samples.", hint="Ask for at least 1 with -n.")
        if self.ngram != 1 and self.epsilon is None and self.method != "oversample":
            raise RecombineError("--ngram says what may be rare, not how rare.", hint="Give --epsilon too.")

    def resampler(self, examples: Sequence[Example]) -> "Resampler":
        """Returns what tells rare from common; of word forms only the tags count, or else a rare letter would do."""
        from recombine.augmentation.resample import Resampler

        epsilon = Resampler.epsilon if self.epsilon is None else self.epsilon
        return Resampler(epsilon, ngram=self.ngram, relevant=is_tag if are_inflections(examples) else None)


def augment_cli(
    train: Train,
    method: Method,
    *,
    n: Count = 400,
    output: Output = STANDARD,
    seed: Seed = 0,
    epsilon: Epsilon = None,
    ngram: Ngram = 1,
    test: Test = None,
    format: Format = Reading.format,
    tokens: Tokens = Reading.tokens,
    columns: Columns = Reading.columns,
    force: Force = False,
    json: Json = False,
) -> None:
    """Makes new training examples from old ones.

    Example:
      recombine augment scan/train.tsv --method geca -n 400 -o augmented.jsonl

    If fewer can be made than were asked for, those are written and the account says why.
    """
    plan, reading = Plan(method, n, seed, epsilon, ngram), Reading(format, tokens, columns)
    plan.check()
    check_one_standard_input(train, test)
    check_free([output], force=force)
    if json and output == STANDARD:
        raise RecombineError("--json and the samples both want standard output.", hint="Name a file with -o.")
    examples, held_out = reading.read(train), reading.read_optional(test)
    with working(f"Making {n:,} samples by {method}"):
        samples = augment(examples, plan)
    write_samples(samples, output, tokens=tokens, force=force)
    report = _report(samples, plan, output=output, train=examples, test=held_out)
    if json:
        print_json(report)
    say(f"{samples.account}{_coincidences(report)}")
    say_next("audit", output, "--train", train)


def augment(examples: Sequence[Example], plan: Plan) -> "Samples":
    """Returns new examples.

    Args:
        examples: The training examples.
        plan: What to make of them.

    Raises:
        RecombineError: If not even one can be made.
    """
    plan.check()
    augmenter = METHODS[plan.method](examples, plan).fit(examples)
    accept = None if plan.epsilon is None else plan.resampler(examples).fit(examples)
    samples = augmenter.sample(plan.n, seed=plan.seed, accept=accept)
    if not samples:
        raise RecombineError(samples.account, hint="No file was written.")
    return samples


def write_samples(samples: Sequence[Example], output: str, *, tokens: str, force: bool) -> None:
    """Writes samples: to ``.tsv`` in columns (lemma, form, tags if they are word forms), else as JSONL.

    Args:
        samples: The samples.
        output: A path, or ``-``.
        tokens: What a token is in TSV.
        force: Whether an existing file may be replaced.
    """
    from recombine.data import files

    columns = "sigmorphon" if are_inflections(samples) else "tsv"
    format = columns if Path(output).suffix == ".tsv" else "jsonl"
    files.write(samples, output, format=format, tokens=tokens, force=force)


def _geca(examples: Sequence[Example], plan: Plan) -> "Augmenter":
    from recombine.augmentation.geca import GECA

    return GECA(fragment_size=4, gaps=1) if are_inflections(examples) else GECA()


def _oversample(examples: Sequence[Example], plan: Plan) -> "Augmenter":
    from recombine.augmentation.oversample import Oversampler

    return Oversampler(plan.resampler(examples))


METHODS: dict[str, Callable[[Sequence[Example], Plan], "Augmenter"]] = {"geca": _geca, "oversample": _oversample}
"""The augmenters by name, each made to suit the examples."""


def _report(
    samples: "Samples", plan: Plan, *, output: str, train: Sequence[Example], test: Sequence[Example] | None
) -> dict[str, Any]:
    from recombine.evaluation.audit import audit

    report = {
        "output": output,
        "method": plan.method,
        "seed": plan.seed,
        "requested": samples.requested,
        "kept": len(samples),
        "rejected": dict(samples.rejected),
        "shortfall": samples.shortfall,
    }
    if test is not None:
        found = audit(samples, gold=None, train=train, test=test)
        report |= {"inputs_in_test": found.inputs_in_test, "pairs_in_test": found.pairs_in_test}
    return report


def _coincidences(report: dict[str, Any]) -> str:
    if "pairs_in_test" not in report:
        return ""
    return f" Of these, {report['pairs_in_test']:,} are test pairs and {report['inputs_in_test']:,} have a test input."
