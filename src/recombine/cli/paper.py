"""``recombine paper table1``: runs the paper's experiments anew, and shows the figures beside the published ones."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recombine.cli.options import SERIAL, Address, Device, Force, Json, Workers, chosen_executor, device_of
from recombine.cli.printing import MatrixProgress, print_json_list, print_line, print_markdown, print_table
from recombine.cli.training import Interrupted
from recombine.data.locking import locked
from recombine.data.output import sweep_within
from recombine.errors import RecombineError

if TYPE_CHECKING:
    from recombine.execution.executor import Executor
    from recombine.paper.matrix import Scale
    from recombine.paper.rows import Row

Rows = Annotated[str | None, typer.Option("--rows", metavar="A,B", help="Which rows of the table; all unless told.")]
Splits = Annotated[str, typer.Option("--splits", metavar="A,B", help="Which splits of SCAN.")]
Seeds = Annotated[int, typer.Option("--seeds", metavar="K", min=1, help="How many networks of each kind.")]
Results = Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where the figures are kept.")]
Stages = Annotated[
    Path | None,
    typer.Option("--cache", metavar="DIR", help="Where finished stages are kept; .cache of -o unless told."),
]
Population = Annotated[
    int, typer.Option("--population", metavar="R", min=1, help="How many predictors are trained as one.")
]
Further = Annotated[
    Path | None,
    typer.Option("--experiments", metavar="DIR", help="Files of further rows, in the form of the shipped ones."),
]
Show = Annotated[bool, typer.Option("--show", help="Run nothing; print the table from the figures there are.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown instead.")]
Graphs = Annotated[bool, typer.Option("--graphs/--no-graphs", help="Capture training steps as CUDA graphs on a GPU.")]
Tiny = Annotated[bool, typer.Option("--tiny", hidden=True, help="Rehearse on a part of the data with tiny networks.")]

RESULTS, REHEARSAL = Path("results/table1"), Path("runs/tiny")


def table1_cli(
    *,
    rows: Rows = None,
    splits: Splits = "jump,around-right",
    seeds: Seeds = 10,
    device: Device = "auto",
    output: Results = RESULTS,
    cache: Stages = None,
    population: Population = 100,
    experiments: Further = None,
    show: Show = False,
    markdown: Markdown = False,
    graphs: Graphs = True,
    executor: Workers = SERIAL,
    address: Address = None,
    force: Force = False,
    tiny: Tiny = False,
    json: Json = False,
) -> None:
    """Runs Table 1 (SCAN) at the paper's settings, on a GPU within minutes; what is done already is not done again.

    Example:
      recombine paper table1
      recombine paper table1 --rows "recomb-2,recomb-2 + resampling" --splits jump --seeds 10
      recombine paper table1 --show
    """
    from recombine.paper.rows import chosen, read_rows

    if tiny and output.resolve() == RESULTS.resolve():
        output = REHEARSAL  # figures that mean nothing do not belong among those that do
    known = read_rows(experiments)
    wanted = listed(splits)
    asked = chosen(known, None if rows is None else listed(rows), wanted)
    if not show:
        run_matrix(
            asked,
            wanted,
            range(seeds),
            known=known,
            scale=_scale(tiny=tiny),
            output=output,
            cache=cache or output / ".cache",
            device=device,
            population=population,
            graphs=graphs,
            executor=chosen_executor(executor, address),
            force=force,
        )
    records = recorded(output, wanted, asked if rows is not None and show else None)
    _print_table(records, known, json=json, markdown=markdown)


def listed(text: str) -> list[str]:
    """Returns what stands between commas."""
    return [part.strip() for part in text.split(",")]


def _scale(*, tiny: bool) -> "Scale":
    from recombine.paper.matrix import Scale
    from recombine.paper.tiny import tiny_settings, tiny_task

    return Scale(lambda split, _: tiny_task(split), tiny_settings) if tiny else Scale()


def run_matrix(
    rows: "list[Row]",
    splits: list[str],
    seeds: Sequence[int],
    *,
    known: "list[Row]",
    scale: "Scale",
    output: Path,
    cache: Path,
    device: str,
    population: int,
    graphs: bool,
    executor: "Executor",
    force: bool,
) -> None:
    """Runs rows on splits, with progress; an interruption says how to go on.

    Args:
        rows: Which rows.
        splits: On what.
        seeds: The seeds.
        known: All rows there are.
        scale: What the experiments are made on and with.
        output: The folder for records.
        cache: The folder for finished stages.
        device: Where networks run.
        population: How many predictors are trained as one.
        graphs: Use CUDA graphs on a GPU.
        executor: Who does the work.
        force: Replace records that have other seeds besides.
    """
    import torch

    from recombine.paper.matrix import How, Matrix
    from recombine.paper.records import expect_all_seeds
    from recombine.paper.stages import Cache

    for folder in (output, cache):
        if folder.exists() and not folder.is_dir():
            raise RecombineError("this is no folder.", place=str(folder), hint="Name one that is, or a new one.")
    if not force:
        expect_all_seeds(output, [(row.name, split) for row in rows for split in splits], seeds)
    progress = MatrixProgress()
    how = How(
        output=output,
        cache=Cache(cache, progress.say),
        device=torch.device(device_of(executor, device)),
        command=sys.argv[1:],
        population=population,
        graphs=graphs,
        executor=executor,
    )
    with _resumable(), locked(cache, say=progress.say):
        sweep_within(cache)
        matrix = Matrix(
            rows,
            splits,
            seeds,
            how,
            progress=progress,
            expect=progress.expect,
            elsewhere=progress.elsewhere,
            say=progress.say,
            scale=scale,
            known=known,
        )
        with progress.shown():
            matrix.run()


@contextmanager
def _resumable() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted("interrupted; the same command goes on with the stage that was under way.") from None


def recorded(
    folder: Path, columns: Sequence[str] | None = None, rows: "Sequence[Row] | None" = None
) -> list[dict[str, Any]]:
    """Returns the records of a folder, of all columns and rows or of these.

    Raises:
        RecombineError: If there are none.
    """
    from recombine.paper.records import read_records

    names = None if rows is None else {row.name for row in rows}
    everything = read_records(folder)
    found = [
        record
        for record in everything
        if (columns is None or record["column"] in columns) and (names is None or record["row"] in names)
    ]
    if not found:
        raise RecombineError(
            "there are no figures of what was asked for here." if everything else "there are no figures here.",
            place=str(folder),
            hint="Run the experiments first, or name another folder.",
        )
    return found


def _print_table(found: list[dict[str, Any]], rows: "list[Row]", *, json: bool, markdown: bool) -> None:
    from recombine.paper.table import by_cell, cells, commits, lines

    records = by_cell(found, rows)
    if json:
        print_json_list([asdict(cell) for cell in cells(records, rows)])
        return
    header, shown = lines(records, rows, mark="**" if markdown else "*")
    if markdown:
        print_markdown(shown, header=header)
    else:
        print_table(shown, header=header)
    print_line()
    mark = "bold" if markdown else "*between asterisks*"
    print_line(
        f"Exact match, mean ± standard deviation over seeds; {mark}: not significantly worse than the best of its"
    )
    print_line("column, of the rows shown (paired t-tests over test examples, Bonferroni, p < 0.05).")
    print_line("- : all samples were rejected.")
    for column, hashes in commits(records).items():
        if len(hashes) > 1:
            print_line(f"The rows of {column} were run with different code: commits {', '.join(hashes)}.")
    for row in rows:
        if row.note and any(row.name == name for name, _ in records):
            print_line(f"{row.name}: {row.note}.")
