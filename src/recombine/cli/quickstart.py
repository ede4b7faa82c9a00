"""``recombine quickstart``: the whole method on a CPU, within minutes, without a download."""

from typing import TYPE_CHECKING, Annotated

import typer

from recombine.cli.explaining import explained
from recombine.cli.options import Json, Seed
from recombine.cli.printing import print_json, print_line, print_table, progress, say, say_next

if TYPE_CHECKING:
    from recombine.experiment import Outcome

SHOWN = 5

Threads = Annotated[int, typer.Option("--threads", metavar="N", min=1, help="Processor cores to compute with.")]


def quickstart_cli(*, seed: Seed = 0, threads: Threads = 1, json: Json = False) -> None:
    """Trains on a part of SCAN jump, where "jump" is seen once, and tests on commands that use it.

    Example:
      recombine quickstart
    """
    import torch

    from recombine.quickstart import LEFT_OUT, quickstart, quickstart_task

    torch.set_num_threads(threads)
    part = quickstart_task()
    say(
        f"SCAN jump without {' and '.join(sorted(LEFT_OUT))}: {len(part.train):,} training pairs, of which one holds "
        f'"jump", and {len(part.test):,} test pairs, which all do. Small networks, for a CPU.'
    )
    outcomes = list(quickstart([seed], say=say, progress=progress))
    if json:
        print_json({"train": len(part.train), "test": len(part.test), "rows": [_row(outcome) for outcome in outcomes]})
        return
    print_line()
    print_table(
        [_cells(outcome) for outcome in outcomes],
        header=("", "exact match on the test set", "samples", "exactly right", "seconds"),
    )
    print_line("\nFive samples, and where each token came from (¹ ² copied from prototype 1 or 2; no mark: written):")
    for sample in outcomes[-1].samples[0][:: max(1, len(outcomes[-1].samples[0]) // SHOWN)][:SHOWN]:
        print_line("\n".join(explained(sample)))
    say_next("data", "scan", "--split", "jump", "-o", "scan")


def _row(outcome: "Outcome") -> dict[str, object]:
    right = outcome.right
    return {
        "name": outcome.name,
        "exact_match": outcome.exact_match,
        "samples": [len(samples) for samples in outcome.samples],
        "samples_right": right.mean if right else None,
        "seconds": sum(outcome.seconds.values()),
    }


def _cells(outcome: "Outcome") -> tuple[str, ...]:
    right = outcome.right
    return (
        outcome.name,
        f"{outcome.score.mean:.3f}",
        str(len(outcome.samples[0])) if outcome.samples else "-",
        f"{right.mean:.0%}" if right else "-",
        f"{sum(outcome.seconds.values()):.0f}",
    )
