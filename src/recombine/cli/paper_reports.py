"""``recombine paper samples`` and ``recombine paper items``: what the records of Table 1 say of single examples."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.cli.options import Json
from recombine.cli.paper import RESULTS, Markdown, Results, recorded
from recombine.cli.printing import percent, print_json_list, print_line, print_markdown, print_table

if TYPE_CHECKING:
    from recombine.paper.table import Records

RIGHT, WRONG = "✓", "✗"


def samples_cli(*, output: Results = RESULTS, markdown: Markdown = False, json: Json = False) -> None:
    """Shows how many samples of each model are exactly right (section 5.3), and some at random (appendix G.3).

    Example:
      recombine paper samples
    """
    from recombine.paper.reports import sample_reports

    reports = sample_reports(_records(output))
    if json:
        print_json_list([asdict(report) for report in reports])
        return
    header = ["", "split", "seeds", "samples", "rejected", "novel", "right of novel", "inputs in test set"]
    lines = [
        [
            report.row,
            report.column,
            *(f"{count:,}" for count in (report.seeds, report.samples, report.rejected, report.novel)),
            *("-" if share is None else percent(share) for share in (report.right, report.inputs_in_test)),
        ]
        for report in reports
    ]
    (print_markdown if markdown else print_table)(lines, header=header)
    for report in reports:
        if report.listing:
            print_line(f"\n{'### ' if markdown else ''}{report.row}, {report.column}\n")
        for sample in report.listing:
            text = f"{_mark(sample['right'])} {sample['x']} ▷ {sample['y']}"
            print_line(f"- {text}" if markdown else text)


def items_cli(*, output: Results = RESULTS, markdown: Markdown = False, json: Json = False) -> None:
    """Shows what each row predicts for single test items, beside the samples that it may have learned from.

    Example:
      recombine paper items
    """
    from recombine.paper.reports import item_reports

    items = item_reports(_records(output))
    if json:
        print_json_list([asdict(item) for item in items])
        return
    if not items:
        print_line("No record has test items: they are chosen where recomb-2 is among the rows that were run.")
    commits: dict[str, set[str]] = {}
    for item in items:
        commits.setdefault(item.column, set()).update(item.commits)
    for item in items:
        sampled = "(not generated)" if item.sampled is None else f"{_mark(item.sampled == item.y)} {item.sampled}"
        predicted = [(row, f"{_mark(y == item.y)} {y}") for row, y in item.predicted.items()]
        lines = [("true output", item.y), ("in the samples of recomb-2", sampled), *predicted]
        part = "" if len(item.commits) == len(commits[item.column]) else f" (rows of {', '.join(item.commits)})"
        print_line(f"{'### ' if markdown else ''}{item.column}: {item.x}{part}")
        if markdown:
            print_line()
            print_markdown(lines, header=("", "output"))
        else:
            print_table(lines, justify="left")
        print_line()


def _records(folder: Path) -> "Records":
    from recombine.paper.rows import read_rows
    from recombine.paper.table import by_cell

    return by_cell(recorded(folder), read_rows())


def _mark(right: bool | None) -> str:
    return "?" if right is None else RIGHT if right else WRONG
