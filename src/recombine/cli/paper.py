"""``recombine paper``: runs the paper's experiments anew, and shows the figures beside the published ones."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.options import Device, Json
from recombine.cli.printing import print_json_list, print_table, say
from recombine.cli.progress import progress

Rows = Annotated[str | None, typer.Option("--rows", metavar="A,B", help="Which rows of the table; all unless told.")]
Splits = Annotated[str, typer.Option("--splits", metavar="A,B", help="Which splits of SCAN.")]
Seeds = Annotated[int, typer.Option("--seeds", metavar="K", min=1, help="How many networks of each kind.")]
Results = Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where the figures are kept.")]
Show = Annotated[bool, typer.Option("--show", help="Run nothing; print the table from the figures there are.")]
Graphs = Annotated[bool, typer.Option("--graphs/--no-graphs", help="Capture training steps as CUDA graphs on a GPU.")]


def table1_cli(
    *,
    rows: Rows = None,
    splits: Splits = "jump",
    seeds: Seeds = 10,
    device: Device = "auto",
    output: Results = Path("results/table1"),
    show: Show = False,
    graphs: Graphs = True,
    json: Json = False,
) -> None:
    """Runs rows of Table 1 (SCAN) at the paper's settings, on a GPU within minutes.

    Example:
      recombine paper table1 --rows recomb-2 --splits jump --seeds 10
      recombine paper table1 --show
    """
    if not show:
        for split in splits.split(","):
            run_split(split, rows.split(",") if rows else None, seeds, device=device, output=output, graphs=graphs)
    _print_table(output, json=json)


def run_split(
    split: str, rows: list[str] | None, seeds: int, *, device: str, output: Path, graphs: bool = True
) -> None:
    """Runs rows of Table 1 on one split and writes a record of each."""
    from recombine import paper
    from recombine.augmentation.recombination import Recombination
    from recombine.experiment import run
    from recombine.training.device import resolve

    where = str(resolve(device))
    plans = [paper.plan(row, split, device=device) for row in rows or paper.rows(split)]
    task = paper.task(split)
    for plan in plans:
        outcome = run(
            plan,
            task,
            range(seeds),
            device=device,
            say=say,
            progress=lambda what: progress(what, judged="held out"),
            graphs=graphs,
        )
        learned = plan.augmenter.settings() if isinstance(plan.augmenter, Recombination) else None
        settings = {"predictor": asdict(plan.predictor), "augmenter": learned, "n": plan.n, "p_aug": plan.p_aug}
        found = paper.record(outcome, split, command=["recombine", *sys.argv[1:]], device=where, settings=settings)
        say(f"Written: {paper.write_record(found, output)}")


def _print_table(folder: Path, *, json: bool) -> None:
    from recombine import paper

    cells = paper.cells(folder)
    if json:
        print_json_list([asdict(cell) for cell in cells])
        return

    def figure(mean: float | None, deviation: float | None) -> str:
        return "-" if mean is None else f"{mean:.2f} ± {deviation:.2f}"

    lines = [
        (cell.row, cell.column, figure(cell.mean, cell.std), figure(cell.paper, cell.paper_std), str(cell.seeds))
        for cell in cells
    ]
    print_table(lines, header=("row", "split", "ours", "paper", "seeds"))
