"""``recombine benchmark``: methods on real tasks, beside published figures."""

import sys
from pathlib import Path

from typer import echo

from recombine.cli.options import AUTO
from recombine.cli.printing import print_json, print_table
from recombine.cli.training import Interrupted, enough_memory, on_terminal


def benchmark_cli(
    task: str,
    *,
    source: Path | None = None,
    rows: str = "plain,geca,spans,learned,auto",
    seeds: int = 5,
    max_time: float = 200.0,
    device: str = AUTO,
    output: Path = Path("results/benchmark"),
    show: bool = False,
    force: bool = False,
    json: bool = False,
) -> None:
    """Compares methods on a real task, beside published figures; rows that have a record are not run again.

    Example:
      recombine benchmark geoquery --source data --rows plain,spans

    Options:
      task TASK: geoquery, cogs, mcd1, mcd2, mcd3, or a split of SCAN: jump, around-right, opposite-right, turn-left.
      source DIR: A folder with the data, which are not downloaded (default: you are told where to get them).
      rows A,B: Which methods.
      max_time SECONDS: Stop each of two trainings of a row, recombination networks and predictors, after this time.
      output DIR: Where the figures are kept.
      show: Print the table from existing figures; run nothing.
    """
    from recombine.paper.benchmark import Benchmark, RealTask, Results

    named, real = tuple(row.strip() for row in rows.split(",")), RealTask.of(task)
    plan = Benchmark(real, named, seeds, max_time, device, source, output, sys.argv[1:], on_terminal())
    try:
        with enough_memory():
            plan.run(force=force) if not show else None
    except KeyboardInterrupt:
        raise Interrupted("interrupted; the same command goes on with the row that was under way.") from None
    found = Results.of(real, output, named)
    if json:
        print_json(found.document)
        return
    for header, lines in filter(lambda table: table[1], (found.table(mark="*"), found.by_kind())):
        print_table(lines, header=header)
        echo()
    echo(found.sentence)
