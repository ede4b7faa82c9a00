"""``recombine compare``: does augmentation help on one's own data?"""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recombine.cli.direction import SENTENCES, check_direction
from recombine.cli.files import (
    Reading,
    check_free,
    check_one_standard_input,
    is_unfinished,
    name_of,
    warn_of_test_in_training,
    warn_of_unlike_outputs,
    working_on,
)
from recombine.cli.options import (
    AUTO,
    SERIAL,
    Address,
    Device,
    Direction,
    Epochs,
    Force,
    Json,
    MaxTime,
    Seed,
    Size,
    Threads,
    Workers,
    check_executor,
    chosen_executor,
    device_of,
)
from recombine.cli.printing import counted, print_json, print_line, print_table, say, say_next
from recombine.cli.training import enough_memory, on_terminal, resumable, use_threads
from recombine.errors import RecombineError
from recombine.inflection import ANALYSIS, are_inflections

if TYPE_CHECKING:
    from recombine.comparison.compare import Comparison, Plan
    from recombine.comparison.splitting import Split
    from recombine.comparison.verdict import Judged

Data = Annotated[str, typer.Argument(metavar="DATA", help="Your examples; - is standard input.")]
Test = Annotated[
    str | None,
    typer.Option("--test", metavar="FILE", help="Test examples (default: some of DATA, the rare above all)."),
]
Methods = Annotated[
    str,
    typer.Option(
        "--methods",
        metavar="NAMES",
        help="What to compare with plain: oversample, geca, learned, both (as for augment).",
    ),
]
Seeds = Annotated[int, typer.Option("--seeds", metavar="K", min=1, help="How many networks of each method.")]
Count = Annotated[
    int,
    typer.Option("-n", "--count", metavar="N", min=1, help="How many new examples of each method."),
]
Rate = Annotated[
    float | None,
    typer.Option(
        "--p-aug",
        metavar="P",
        help="How often a predictor sees a new example (default: their share, but between 0.01 and 0.2).",
    ),
]
Epsilon = Annotated[
    float | None,
    typer.Option(
        "--epsilon",
        metavar="P",
        help="A token in fewer than this share of the examples is rare (default: found out).",
    ),
]
Run = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="RUN", help="A folder for all samples and run.json, for recombine report."),
]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is compared, and how networks are trained; see ``recombine.comparison.compare.Plan``."""

    methods: Methods = "oversample,geca,learned,both"
    seeds: Seeds = 3
    seed: Seed = 0
    n: Count = 400
    p_aug: Rate = None
    epsilon: Epsilon = None
    direction: Direction = None
    size: Size = None
    epochs: Epochs = None
    max_time: MaxTime = None
    device: Device = AUTO

    @property
    def plan(self) -> "Plan":
        """The plan, if it makes sense."""
        from recombine.comparison.compare import Plan

        methods = [name.strip() for name in self.methods.split(",") if name.strip()]
        plan = Plan(**{**asdict(self), "methods": methods, "direction": self.direction or ANALYSIS})
        plan.check()
        return plan


def compare_cli(
    data: Data,
    options: Options,
    reading: Reading,
    *,
    test: Test = None,
    output: Run = None,
    threads: Threads = None,
    executor: Workers = SERIAL,
    address: Address = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Trains a plain predictor and augmented ones on your data, and says whether augmentation helps.

    Example:
      recombine compare mydata.tsv -o run

    Without --test, examples with something rare in them are held out, up to a tenth of all examples and half of those
    with any one token, and as many of the others. What only one example has cannot be held out: it takes --test.
    All predictors have the same network: the best of a few, which are tried on held-out training examples first, for
    about two minutes. --max-time bounds each of two trainings. After an interruption the same command goes on, if there
    is a RUN.
    """
    from recombine.comparison.compare import GENERATORS, PREDICTORS, compare, forget
    from recombine.comparison.document import SAMPLES_FOLDER
    from recombine.report.run import RUN_FILE

    plan = options.plan
    check_executor(executor, address)
    folder = _folder(output, force=force)
    check_one_standard_input(data, test)
    split = _split(data, test, reading, plan)
    check_direction(options.direction, split.train, place=data)
    use_threads(threads)
    who = chosen_executor(executor, address, workers=threads)
    plan = replace(plan, device=device_of(who, plan.device))
    _announce(split, plan, kept=folder is not None)
    # What the first training saved stays until the end, so its file is there during the second, too.
    state = GENERATORS if plan.learns else PREDICTORS
    names = (RUN_FILE, SAMPLES_FOLDER, GENERATORS, PREDICTORS)
    files = [] if folder is None else [str(folder / name) for name in names]
    with working_on(files[0] if files else None, files) as goes_on:
        with enough_memory(), resumable(folder and folder / state):
            found = compare(
                split,
                plan,
                display=on_terminal(max_time=plan.max_time),
                folder=folder,
                executor=who.on(plan.device),
            )
        if folder is not None:
            _write(found, folder, data=data, force=force or goes_on)
            forget(folder)
    _show(found, json=json)
    if folder is None:
        say_next("augment", data, *reading.options, "-n", str(plan.n), "-o", "augmented.jsonl")
    else:
        say_next("report", str(folder), "-o", "report.html")


def _folder(output: str | None, *, force: bool) -> Path | None:
    """Returns the folder to write to, if there is to be one and it may be written."""
    from recombine.report.run import RUN_FILE

    if output is None:
        return None
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise RecombineError("this is no folder.", place=output, hint="Name a folder for the run.")
    run = folder / RUN_FILE
    check_free([run], force=force or is_unfinished(str(run)))
    return folder


def _split(data: str, test: str | None, reading: Reading, plan: "Plan") -> "Split":
    from recombine.comparison.splitting import given, hold_out

    examples, tests = reading.read(data), reading.read_optional(test)
    warn_of_unlike_outputs(examples, reading.tokens)
    warn_of_test_in_training(examples, tests, named=test)
    if tests is not None:
        return given(examples, tests, epsilon=plan.epsilon)
    return hold_out(examples, seed=plan.seed, epsilon=plan.epsilon)


def _announce(split: "Split", plan: "Plan", *, kept: bool) -> None:
    """Says before any training what will be compared, and what will not come of it."""
    say(_described(split))
    if are_inflections(split.train):
        say(SENTENCES[plan.direction])
    if not kept:
        say("Only the table will be kept. For a report, and to go on after an interruption, stop and give -o RUN.")
    if split.shortfall:
        say(f"Warning: {split.shortfall}")


def _described(split: "Split") -> str:
    train = set(split.train)
    rare = ", ".join(" ".join(name) for name in split.phenomena[:10]) or split.rarity.reason
    more = f" and {len(split.phenomena) - 10:,} more" if len(split.phenomena) > 10 else ""
    known = sum(example in train for example in split.test)
    seen = f" {known:,} of the test examples are training examples, too." if known else ""
    tests = counted(len(split.test), "test example")
    return (
        f"{counted(len(split.train), 'training example')}, {tests}, of which {sum(split.rare):,} have "
        f"something rare in them. Rare: {rare}{more}.{seen}"
    )


def _write(found: "Comparison", folder: Path, *, data: str, force: bool) -> None:
    from recombine.comparison.document import run_record, write_samples
    from recombine.paper.records import provenance
    from recombine.report.run import write_run

    origin = provenance(["recombine", *sys.argv[1:]], found.plan.device)
    run = run_record(found, title=Path(name_of(data)).name, command=origin["command"], provenance=origin)
    samples = write_samples(found, folder)
    say(f"Wrote {write_run(run, folder, force=force)}, and all samples to {samples}.")


def _show(found: "Comparison", *, json: bool) -> None:
    from recombine.comparison.document import comparison

    if json:
        network = {"chosen": found.network.name, "reason": found.network.reason}
        print_json({"comparison": list(map(asdict, comparison(found))), "network": network, "verdict": found.verdict})
        return
    header = ("", "new examples", "all", "rare", "other", "rare: p", "other: p")
    rows = [
        (
            method,
            _count([len(samples) for samples in found.drawn.samples[method]]),
            *(_score(parts[part]) for part in ("all", "rare", "other")),
            *(_p(parts[part]) for part in ("rare", "other")),
        )
        for method, parts in found.judged.items()
    ]
    print_table(rows, header=header)
    print_line(f"\nPredictors: {found.network}.\n{found.verdict}")


def _count(by_seed: Sequence[int]) -> str:
    least, most = min(by_seed), max(by_seed)
    return "-" if not most else f"{most:,}" if least == most else f"{least:,} to {most:,}"


def _score(judged: "Judged") -> str:
    from recombine.evaluation.significance import summarize

    if not judged.scores:
        return "-"
    found = summarize(judged.scores)
    return f"{found.mean:.3f} ± {found.deviation:.3f}" if len(judged.scores) > 1 else f"{found.mean:.3f}"


def _p(judged: "Judged") -> str:
    return "-" if judged.p is None else "< 0.001" if judged.p < 0.001 else f"{judged.p:.3f}"
