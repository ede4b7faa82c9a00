"""``recombine compare``: does augmentation help on one's own data?"""

import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from typer import echo

from recombine.cli import files
from recombine.cli.options import AUTO, SERIAL, STANDARD, as_words, chosen_executor, device_of
from recombine.cli.printing import counted, duration, print_json, print_table, say, say_next
from recombine.cli.training import enough_memory, on_terminal, resumable, use_threads
from recombine.inflection import ANALYSIS, are_inflections

if TYPE_CHECKING:
    from recombine.comparison.compare import Comparison, Plan
    from recombine.comparison.splitting import Split


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is compared, and how networks are trained; see ``recombine.comparison.compare.Plan``.

    Options:
        methods NAMES: What to compare with plain: methods of augment (of word forms, by default both instead of spans).
        seeds K: How many networks of each method.
        n N: How many new examples of each method (default: as augment).
        p_aug P: How often a predictor sees a new example (default: their share, but between 0.01 and 0.2).
        epsilon P: A token in fewer than this share of the examples is rare (default: found out).
    """

    methods: str = "auto,oversample,geca,spans,learned"
    seeds: int = 3
    seed: int = 0
    n: int | None = None
    p_aug: float | None = None
    epsilon: float | None = None
    direction: str | None = None
    size: str | None = None
    epochs: int | None = None
    max_time: float | None = None
    device: str = AUTO


def compare_cli(
    data: str,
    options: Options,
    reading: files.Reading,
    *,
    test: str | None = None,
    output: str | None = None,
    threads: int | None = None,
    executor: str = SERIAL,
    address: str | None = None,
    force: bool = False,
    json: bool = False,
) -> None:
    """Trains a plain predictor and augmented ones on your data, and says whether augmentation helps.

    Example:
      recombine compare mydata.tsv -o run

    Without --test, examples with something rare in them are held out, up to a tenth of all examples and half of those
    with any one token, and as many of the others. What only one example has cannot be held out: it takes --test.
    All predictors have the same network: the best of a few, which are tried on held-out training examples first, for
    about two minutes. --max-time bounds each of two trainings, and the drawing of samples in between. After an
    interruption the same command goes on, if there is a RUN.

    Options:
      data DATA: Your examples; - is standard input.
      test FILE: Test examples (default: some of DATA, the rare above all).
      output RUN: A folder for all samples and run.json, for recombine report.
    """
    from recombine.comparison.compare import MORE, Plan, compare, forget, states, suited
    from recombine.comparison.document import SAMPLES_FOLDER, run_record, write_samples
    from recombine.comparison.splitting import given, hold_out
    from recombine.paper.records import provenance
    from recombine.report.run import RUN_FILE, write_run

    methods = [name.strip() for name in options.methods.split(",") if name.strip()]
    plan = Plan(**{**asdict(options), "methods": methods, "direction": options.direction or ANALYSIS})
    plan.check()
    folder = None if output is None else Path(output)
    if folder is not None:
        files.check_free([folder / RUN_FILE], force=force or files.is_unfinished(str(folder / RUN_FILE)), tell=False)
    reading = reading.settled(data)
    examples, tests = reading.read_with_test(data, test)
    epsilon = plan.epsilon
    split = given(examples, tests, epsilon=epsilon) if tests else hold_out(examples, seed=plan.seed, epsilon=epsilon)
    files.check_direction(options.direction, split.train, place=data)
    use_threads(threads)
    who = chosen_executor(executor, address, workers=threads)
    plan = replace(plan, device=device_of(who, plan.device), methods=suited(methods, split.train, plan.seed))
    if AUTO in {*methods} - {*plan.methods}:
        say("auto is learned here: no form follows by rule from those with rare tags.")
    _announce(split, plan, kept=folder is not None)
    kept = [] if folder is None else states(folder)
    made = [] if folder is None else [str(path) for path in (folder / RUN_FILE, folder / SAMPLES_FOLDER, *kept)]
    with files.working_on(made[0] if made else None, made) as goes_on:
        with enough_memory(), resumable(*kept):
            shown = on_terminal()
            found = compare(split, plan, display=shown, folder=folder, executor=who.on(plan.device))
        if folder is not None:
            origin = provenance(["recombine", *sys.argv[1:]], plan.device)
            run = run_record(found, title=Path(files.name_of(data)).name, command=origin["command"], provenance=origin)
            samples = write_samples(found, folder, tokens=reading.kind)
            say(f"Wrote {write_run(run, folder, force=force or goes_on)}, and all samples to {samples}.")
            say(f"To look at them: recombine report {folder} -o report.html")
            forget(folder)
    _show(found, json=json)
    why, settings = found.further
    if found.recommended:
        best = () if found.recommended[0] == AUTO else ("--method", found.recommended[0], "--resample")
        say_next("augment", data, *reading.options, *best, *as_words({"n": plan.n}, {}), "-o", "augmented.jsonl")
    elif why:
        again = {**asdict(options), **settings, "test": test if settings else STANDARD}
        words = as_words(again, asdict(Options()))
        say(f"With {why}, training would take about {duration(found.seconds * (MORE if settings else 1))}.")
        say_next("compare", data, *reading.options, *words, "-o", f"{Path(output or 'run')}-2")
    else:
        say_next("train", data, *reading.options, "-o", "predictor")


def _announce(split: "Split", plan: "Plan", *, kept: bool) -> None:
    """Says before any training what will be compared, and what will not come of it."""
    listed = ", ".join(" ".join(name) for name in split.phenomena[:10])
    more = f" and {len(split.phenomena) - 10:,} more" if len(split.phenomena) > 10 else ""
    rare = f"{listed}{more} ({split.rarity.reason})" if listed else split.rarity.reason
    known = sum(map({*split.train}.__contains__, split.test))
    seen = f" {known:,} of the test examples are training examples, too." if known else ""
    say(
        f"{counted(len(split.train), 'training example')}, {counted(len(split.test), 'test example')}, of which "
        f"{sum(split.rare):,} have something rare in them. Rare: {rare}.{seen}"
    )
    if are_inflections(split.train):
        say(files.DIRECTIONS[plan.direction])
    if not kept:
        say("Only the table will be kept. For a report, and to go on after an interruption, stop and give -o RUN.")
    if plan.bound is not None:
        say(f"By --max-time, training and drawing take {duration(plan.bound)} at most, with the choice of networks.")
    if split.shortfall:
        say(f"Warning: {split.shortfall}")


def _show(found: "Comparison", *, json: bool) -> None:
    from recombine.comparison.document import comparison
    from recombine.evaluation.significance import summarize

    if json:
        network = {"chosen": found.network.name, "reason": found.network.reason}
        print_json({"comparison": list(map(asdict, comparison(found))), "network": network, "verdict": found.verdict})
        return
    rows = []
    for method, parts in found.judged.items():
        counts = [len(samples) for samples in found.drawn.samples[method]]
        least, most = min(counts), max(counts)
        cells = ["-" if not most else f"{most:,}" if least == most else f"{least:,} to {most:,}"]
        for scores in (parts[part].scores for part in ("all", "rare", "other")):
            deviation = f" ± {summarize(scores).deviation:.3f}" if len(scores) > 1 else ""
            cells.append(f"{summarize(scores).mean:.3f}{deviation}" if scores else "-")
        for p in (parts["rare"].p, parts["other"].p):
            cells.append("-" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}")
        rows.append((method, *cells))
    print_table(rows, header=("", "new examples", "all", "rare", "other", "rare: p", "other: p"))
    echo(f"\nPredictors: {found.network}.\n{found.verdict}")
