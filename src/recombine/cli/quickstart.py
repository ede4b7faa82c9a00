"""``recombine quickstart``: the whole method on a CPU, within minutes, without a download."""

from typing import TYPE_CHECKING, Annotated

import typer

from recombine.cli.options import Json, Seed
from recombine.cli.printing import print_json, print_line, print_table, say, say_next
from recombine.cli.training import on_terminal
from recombine.example import Example

if TYPE_CHECKING:
    from recombine.quickstart import Outcome

SHOWN = 5

Threads = Annotated[int, typer.Option("--threads", metavar="N", min=1, help="Processor cores to compute with.")]

_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"


def quickstart_cli(*, seed: Seed = 0, threads: Threads = 1, json: Json = False) -> None:
    """Trains on a part of SCAN jump, where "jump" is seen once, and tests on commands that use it.

    Example:
      recombine quickstart
    """
    import torch

    from recombine import quickstart

    torch.set_num_threads(threads)
    part = quickstart.quickstart_task()
    say(
        f"SCAN jump without {' and '.join(sorted(quickstart.LEFT_OUT))}: {len(part.train):,} training pairs, of which "
        f'one holds "jump", and {len(part.test):,} test pairs, which all do. Small networks, for a CPU.'
    )
    outcomes = list(quickstart.quickstart(seed, display=on_terminal()))
    if json:
        print_json({"train": len(part.train), "test": len(part.test), "rows": [_row(outcome) for outcome in outcomes]})
        return
    print_line()
    print_table(
        [_cells(outcome) for outcome in outcomes],
        header=("", "exact match on the test set", "samples", "exactly right", "seconds"),
    )
    print_line("\nFive samples, and where each token came from (¹ ² copied from prototype 1 or 2; no mark: written):")
    samples = outcomes[-1].samples or ()
    for sample in samples[:: max(1, len(samples) // SHOWN)][:SHOWN]:
        print_line("\n".join(explained(sample)))
    say_next("data", "scan", "--split", "jump", "-o", "scan")


def _row(outcome: "Outcome") -> dict[str, object]:
    return {
        "name": outcome.name,
        "exact_match": [outcome.exact_match],
        "samples": [] if outcome.samples is None else [len(outcome.samples)],
        "samples_right": outcome.right,
        "seconds": outcome.seconds,
    }


def _cells(outcome: "Outcome") -> tuple[str, ...]:
    return (
        outcome.name,
        f"{outcome.exact_match:.3f}",
        "-" if outcome.samples is None else str(len(outcome.samples)),
        "-" if outcome.right is None else f"{outcome.right:.0%}",
        f"{outcome.seconds:.0f}",
    )


def explained(sample: Example) -> list[str]:
    """Returns lines for people: the sample with a mark at each token that says where it came from, then its prototypes.

    A number is a prototype's; = marks a token copied from the sample itself; no mark, a token that was written.
    """
    provenance = sample.provenance
    if provenance is None:
        return [str(sample)]
    sources = provenance.sources or ("written",) * (len(sample.x) + len(sample.y))
    tokens = [f"{token}{_mark(source)}" for token, source in zip((*sample.x, *sample.y), sources, strict=True)]
    middle = len(sample.x)
    lines = [f"{' '.join(tokens[:middle])} ▷ {' '.join(tokens[middle:])}"]
    return lines + [f"  {_SUPERSCRIPTS[k]} {prototype}" for k, prototype in enumerate(provenance.prototypes, start=1)]


def _mark(source: str) -> str:
    kind = source.partition(":")[0]
    if kind == "written":
        return ""
    return "⁼" if kind == "own" else _SUPERSCRIPTS[int(kind)]
