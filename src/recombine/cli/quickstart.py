"""``recombine quickstart``: the whole method on a CPU, within minutes, without a download."""

from typer import echo

from recombine.cli.printing import print_json, print_table, say, say_next, superscript
from recombine.cli.training import on_terminal
from recombine.example import Example

SHOWN = 5


def quickstart_cli(*, seed: int = 0, threads: int = 1, json: bool = False) -> None:
    """Trains on a part of SCAN jump, where "jump" is seen once, and tests on commands that use it.

    Example:
      recombine quickstart

    Options:
      threads N: Processor cores to compute with.
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
        rows = [
            {
                "name": outcome.name,
                "exact_match": [outcome.exact_match],
                "samples": [] if outcome.samples is None else [len(outcome.samples)],
                "samples_right": outcome.right,
                "seconds": outcome.seconds,
            }
            for outcome in outcomes
        ]
        print_json({"train": len(part.train), "test": len(part.test), "rows": rows})
        return
    cells = []
    for outcome in outcomes:
        made = ("-", "-") if outcome.samples is None else (str(len(outcome.samples)), f"{outcome.right:.0%}")
        cells.append((outcome.name, f"{outcome.exact_match:.3f}", *made, f"{outcome.seconds:.0f}"))
    echo()
    print_table(cells, header=("", "exact match on the test set", "samples", "exactly right", "seconds"))
    echo("\nFive samples, and where each token came from (¹ ² copied from prototype 1 or 2; no mark: written):")
    samples = outcomes[-1].samples or ()
    for sample in samples[:: max(1, len(samples) // SHOWN)][:SHOWN]:
        echo("\n".join(explained(sample)))
    say_next("data", "scan", "--split", "jump", "-o", "scan")


def explained(sample: Example) -> list[str]:
    """Returns lines for people: the sample with a mark at each token that says where it came from, then its prototypes.

    A number is a prototype's; = marks a token copied from the sample itself; no mark, a token that was written.
    """
    provenance = sample.provenance
    if provenance is None:
        return [str(sample)]
    numbers = range(1, len(provenance.prototypes) + 1)
    marks = {"written": "", "own": "⁼"} | {str(number): superscript(number) for number in numbers}
    sources = provenance.sources or ("written",) * (len(sample.x) + len(sample.y))
    both = zip((*sample.x, *sample.y), sources, strict=True)
    tokens = [f"{token}{marks[source.partition(':')[0]]}" for token, source in both]
    middle = len(sample.x)
    lines = [f"{' '.join(tokens[:middle])} ▷ {' '.join(tokens[middle:])}"]
    return lines + [f"  {superscript(k)} {prototype}" for k, prototype in enumerate(provenance.prototypes, start=1)]
