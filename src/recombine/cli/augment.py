"""``recombine augment``: new training examples from old ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recombine.cli.files import (
    Reading,
    check_apart,
    check_free,
    check_one_standard_input,
    is_unfinished,
    numbered,
    state_of_training,
    tokens_for,
    warn_of_test_in_training,
    warn_of_unlike_outputs,
    working_on,
)
from recombine.cli.learned import Learned
from recombine.cli.methods import LEARNED, Plan, augment
from recombine.cli.options import (
    AUTO,
    STANDARD,
    Address,
    Columns,
    Device,
    Epochs,
    Force,
    Format,
    Header,
    Json,
    MaxTime,
    ModelTokens,
    Seed,
    Seeds,
    Size,
    Test,
    Threads,
    Train,
    Workers,
)
from recombine.cli.printing import print_json, say, say_next
from recombine.cli.training import Training, use_threads
from recombine.errors import NothingMade, RecombineError
from recombine.example import Example
from recombine.inflection import are_inflections

if TYPE_CHECKING:
    from recombine.augmentation.protocol import Samples

Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help="learned trains a network to recombine; geca recombines by rule; both takes half from geca, as far as it "
        "goes, and the rest from a network; oversample repeats what has something rare in it.",
    ),
]
Count = Annotated[int, typer.Option("-n", "--count", metavar="N", help="How many samples to make.")]
Output = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Columns if the name ends in .tsv, else JSONL with provenance; - is standard output. With --seeds, one "
        "file for each: FILE.0.jsonl, FILE.1.jsonl, …",
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
Resample = Annotated[
    bool | None,
    typer.Option(
        "--resample/--no-resample",
        help="Keep only samples with something rare in them, what is rare being found out, or keep all; unless told, "
        "learned and both keep those with something rare and geca all.",
        show_default=False,
    ),
]
Agree = Annotated[
    bool,
    typer.Option(
        "--agreement/--no-agreement",
        help="Where samples are to have something rare, turn those down whose output leaves it out, or keep them.",
    ),
]
Gaps = Annotated[
    int | None,
    typer.Option(
        "--gaps",
        metavar="N",
        min=1,
        max=9,
        help="GECA: change up to N fragments together, more than one only where that does not give enough samples; "
        "unless told, 1 for word forms and else 2.",
    ),
]
Ngram = Annotated[int, typer.Option("--ngram", metavar="N", help="With --epsilon: look at up to N tokens in a row.")]
Prototypes = Annotated[
    int | None,
    typer.Option(
        "--prototypes",
        metavar="N",
        min=0,
        max=2,
        help="From how many training examples each sample is made: 0, 1 or 2; as many as the neighborhoods have unless "
        "told.",
    ),
]
Neighborhood = Annotated[
    str,
    typer.Option(
        "--neighborhood",
        metavar="RULE",
        help="Which examples can give which: long-short, long-long, swap, one-prototype or tagged; auto: tagged for "
        "word forms, else the first that suits what is rare and by which three quarters of the examples have one.",
    ),
]
Temperature = Annotated[
    float | None, typer.Option("--temperature", metavar="T", help="Below 1 samples get tamer, above 1 wilder.")
]
Novelty = Annotated[
    str | None,
    typer.Option("--novelty", metavar="WHAT", help="What must be new: the pair, the input, or both input and output."),
]
ModelFolder = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="DIR", help="Take samples from the model in this folder; if there is none, keep it there."
    ),
]


def augment_cli(
    train: Train,
    *,
    method: Method = LEARNED,
    n: Count = 400,
    output: Output = STANDARD,
    seed: Seed = 0,
    epsilon: Epsilon = None,
    ngram: Ngram = 1,
    resample: Resample = None,
    agreement: Agree = True,
    gaps: Gaps = None,
    prototypes: Prototypes = None,
    neighborhood: Neighborhood = AUTO,
    temperature: Temperature = None,
    novelty: Novelty = None,
    model: ModelFolder = None,
    size: Size = None,
    epochs: Epochs = None,
    max_time: MaxTime = None,
    device: Device = AUTO,
    threads: Threads = None,
    seeds: Seeds = None,
    executor: Workers = None,
    address: Address = None,
    test: Test = None,
    format: Format = Reading.format,
    tokens: ModelTokens = None,
    columns: Columns = None,
    header: Header = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Makes new training examples from old ones.

    Example:
      recombine augment scan/train.tsv -n 400 -o augmented.jsonl

    If fewer can be made than were asked for, those are written and the account says why. While networks are trained,
    FILE.training (or DIR.training, with --model) holds the state: after an interruption the same command goes on.
    """
    from recombine.own_data.unfinished import forget

    training = Training(size=size, epochs=epochs, max_time=max_time, device=device, seed=seed, seeds=seeds)
    learned = Learned(
        prototypes=prototypes,
        neighborhood=neighborhood,
        temperature=temperature,
        novelty=novelty,
        model=model,
        executor=executor,
        address=address,
        tokens=tokens,
    )
    state = state_of_training(model or output)
    plan = Plan(method, n, epsilon, ngram, training, learned, state, resample, agreement, gaps)
    plan.check()
    kind = tokens_for(str(model), learned.notes, tokens)
    reading = Reading(format, kind, columns, header)
    check_one_standard_input(train, test)
    targets = numbered(output, plan.networks)
    check_apart(targets, [train, test])
    check_free(targets, force=force or is_unfinished(model or output))
    if json and output == STANDARD:
        raise RecombineError("--json and the samples both want standard output.", hint="Name a file with -o.")
    examples, held_out = reading.read(train), reading.read_optional(test)
    warn_of_unlike_outputs(examples, kind)
    warn_of_test_in_training(examples, held_out, named=test)
    use_threads(threads)
    reports = []
    with working_on(model or output, targets) as goes_on:
        try:
            every = augment(examples, plan)
        except NothingMade:
            if model is not None:  # where the network is; else it stays in the state, to draw from in another way
                forget(plan.state)
            raise
        for samples, target in zip(every, targets, strict=True):
            write_samples(samples, target, tokens=kind, force=force or goes_on)
            report = _report(samples, plan, output=target, train=examples, test=held_out)
            say(f"{samples.account}{_contradictions(report)}{_coincidences(report)}")
            reports.append(report)
        forget(plan.state)
    _conclude(reports, json=json)
    _say_next(reports[0]["output"], train, reading)


def _say_next(output: str, train: str, reading: Reading) -> None:
    """Names the command that audits the samples, or if no options are right for both files, one that looks at them."""
    beside, word_forms = reading.beside(output), Reading(format="sigmorphon", tokens=reading.tokens)
    if output == STANDARD or reading in (beside, word_forms):  # word forms are written as they are read
        say_next("audit", output, "--train", train, *reading.options)
    else:
        say_next("inspect", output, *beside.options)


def _conclude(reports: list[dict[str, Any]], *, json: bool) -> None:
    """Sums up what several networks gave, for people and for machines."""
    from recombine.evaluation.seeds import summarize

    document = reports[0]
    if len(reports) > 1:
        kept = summarize([report["kept"] for report in reports])
        say(f"Kept on average: {kept.mean:.1f} ± {kept.deviation:.1f} samples.")
        document = {"kept": kept.mean, "kept_deviation": kept.deviation, "files": reports}
    if json:
        print_json(document)


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


def _report(
    samples: "Samples", plan: Plan, *, output: str, train: Sequence[Example], test: Sequence[Example] | None
) -> dict[str, Any]:
    from recombine.evaluation.audit import audit, contradicted

    report = {
        "output": output,
        "method": plan.method,
        "seed": plan.training.seed,
        "requested": samples.requested,
        "kept": len(samples),
        "rejected": dict(samples.rejected),
        "shortfall": samples.shortfall,
        "contradicted": contradicted(samples),
    }
    if test is not None:
        found = audit(samples, gold=None, train=train, test=test)
        report |= {"inputs_in_test": found.inputs_in_test, "pairs_in_test": found.pairs_in_test}
    return report


def _contradictions(report: dict[str, Any]) -> str:
    count = report["contradicted"]
    return f" {count:,} have an input that another has with another output: at most one is right." if count else ""


def _coincidences(report: dict[str, Any]) -> str:
    if "pairs_in_test" not in report:
        return ""
    return f" Of these, {report['pairs_in_test']:,} are test pairs and {report['inputs_in_test']:,} have a test input."
