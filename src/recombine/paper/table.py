"""Table 1 from the records there are: our figures beside the paper's, and which of ours are the best."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recombine.evaluation.seeds import summarize
from recombine.evaluation.significance import best
from recombine.paper.records import correctness
from recombine.paper.rows import SPLITS, Row

Records = Mapping[tuple[str, str], Mapping[str, Any]]
"""Records by row and split."""


@dataclass(frozen=True)
class Cell:
    """One figure of a table, ours beside the paper's.

    Attributes:
        row: The row.
        column: The split.
        mean: Our mean of exact match over seeds; None for a dash: all samples were rejected.
        std: Our standard deviation.
        seeds: Over how many seeds.
        paper: The paper's mean; None if it has no such row, or a dash.
        paper_std: The paper's deviation.
    """

    row: str
    column: str
    mean: float | None
    std: float | None
    seeds: int
    paper: float | None
    paper_std: float | None


def by_cell(records: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> Records:
    """Returns the records in the table's order; rows that no file describes come last."""
    found = {(record["row"], record["column"]): record for record in records}
    names = dict.fromkeys([*(row.name for row in rows), *(row for row, _ in found)])
    columns = dict.fromkeys([*SPLITS, *(column for _, column in found)])
    keys = [(name, column) for name in names for column in columns]
    return {key: found[key] for key in keys if key in found}


def cells(records: Records, rows: Sequence[Row]) -> list[Cell]:
    """Returns the figures of the table."""
    published = {(row.name, split): figure for row in rows for split, figure in row.published.items()}
    found = []
    for key, record in records.items():
        scores = record["exact_match"]
        ours = summarize(scores) if scores else None
        mean, deviation = (ours.mean, ours.deviation) if ours else (None, None)
        seeds = len(record.get("seeds", scores))
        found.append(Cell(*key, mean, deviation, seeds, *(published.get(key) or (None, None))))
    return found


def best_rows(records: Records, split: str) -> tuple[str, ...]:
    """Returns the rows of a split that are not significantly worse than the best: paired t-tests over test examples.

    Only rows over the same seeds and test set can be compared: of several groups of such rows, the largest.
    """
    groups: dict[tuple[object, ...], dict[str, Sequence[float]]] = {}
    for (row, column), record in records.items():
        right = correctness(record) if column == split else None
        if right is not None:
            groups.setdefault((*record["seeds"], record["tested"]), {})[row] = right.tolist()
    sizes = Counter({key: len(group) for key, group in groups.items()})
    if not sizes:
        return ()
    group = groups[sizes.most_common(1)[0][0]]
    return best(group) if len(group) > 1 else ()


def commits(records: Records) -> dict[str, list[str]]:
    """Returns, for each column, the commits that its records are of, shortened, in the table's order."""
    found: dict[str, dict[str, None]] = {}
    for (_, column), record in records.items():
        found.setdefault(column, {})[commit_of(record)] = None
    return {column: list(hashes) for column, hashes in found.items()}


def commit_of(record: Mapping[str, Any]) -> str:
    """Returns the commit that a record is of, shortened."""
    return str(record.get("provenance", {}).get("commit", "unknown"))[:7]


def lines(records: Records, rows: Sequence[Row], *, mark: str) -> tuple[list[str], list[list[str]]]:
    """Returns the header and the lines of the table for people.

    Args:
        records: The records.
        rows: The rows of the table.
        mark: Stands on both sides of the best figures of a column.
    """
    columns = [
        split for split in dict.fromkeys([*SPLITS, *(c for _, c in records)]) if any(split == c for _, c in records)
    ]
    by_key = {(cell.row, cell.column): cell for cell in cells(records, rows)}
    top = {split: best_rows(records, split) for split in columns}
    header = ["", *(title for split in columns for title in (split, "paper", "samples right", "seeds"))]
    shown = []
    for name in dict.fromkeys(row for row, _ in records):
        line = [name]
        for split in columns:
            cell = by_key.get((name, split))
            paper = next((row.published[split] for row in rows if row.name == name and split in row.published), ())
            theirs = "-" if paper is None else _figures(*paper) if paper else ""
            if cell is None:
                line += ["", theirs, "", ""]
                continue
            record = records[name, split]
            ours = _figures(cell.mean, cell.std) if cell.mean is not None else _dash(record)
            ours = f"{mark}{ours}{mark}" if name in top[split] else ours
            line += [ours, theirs, _right(record), str(cell.seeds)]
        shown.append(line)
    return header, shown


def _figures(mean: float, deviation: float | None) -> str:
    return f"{mean:.2f} ± {deviation:.2f}"


def _dash(record: Mapping[str, Any]) -> str:
    drawn = sum(count for each in record.get("rejected", []) for count in each.values())
    return f"- (0 of {drawn:,} draws)"


def _right(record: Mapping[str, Any]) -> str:
    right = record.get("samples_right")
    return f"{right['mean']:.0%}" if right else ""
