"""Table 2 from the records there are: our figures beside the paper's, p-values, and the classes of samples."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from recombine.errors import RecombineError
from recombine.evaluation.significance import Comparison, best, compare
from recombine.paper.error_classes import CLASSES, UNJUDGED
from recombine.paper.rows import LANGUAGES, TABLE_2, Row
from recombine.paper.word_form_scores import FEW_SHOT, Metric, Scores

Records = Mapping[tuple[str, str], Mapping[str, Any]]
"""Records by row and column, such as ``spanish-8``."""


@dataclass(frozen=True)
class Part:
    """Some of the test items.

    Attributes:
        name: For people.
        sets: The test sets, whose scores are averaged.
        novel_only: Whether only items with tags that were never seen in training count.
    """

    name: str
    sets: tuple[str, ...]
    novel_only: bool = False


PARTS = (
    Part("FUT+PST", FEW_SHOT),
    Part("OTHER", ("OTHER",)),
    Part("NOVEL FUT+PST", FEW_SHOT, novel_only=True),
    Part("NOVEL OTHER", ("OTHER",), novel_only=True),
)
METRICS: tuple[Metric, ...] = ("f1", "exact-match")


@dataclass(frozen=True)
class Cell:
    """One figure of a table, ours beside the paper's.

    Attributes:
        row: The row.
        column: Language, hints, part and metric in one.
        language: The language.
        hints: How many past, and how many future, forms there are to train on.
        part: Which test items.
        metric: ``f1`` (micro) or ``exact-match``.
        mean: Our mean over seeds; None where there is nothing to score.
        std: Our deviation.
        seeds: Over how many seeds.
        paper: The paper's mean, if it has one.
        paper_std: The paper's deviation.
    """

    row: str
    column: str
    language: str
    hints: int
    part: str
    metric: Metric
    mean: float | None
    std: float | None
    seeds: int
    paper: float | None
    paper_std: float | None


@dataclass(frozen=True)
class ClassReport:
    """What the samples of a row are, all seeds together.

    Attributes:
        row: The row.
        column: Language and hints.
        samples: How many samples there are.
        judged: The share of them that can be judged.
        classes: How many there are of each class.
        listing: Some of them, drawn at random, with their classes.
    """

    row: str
    column: str
    samples: int
    judged: float
    classes: dict[str, int]
    listing: list[dict[str, Any]]


def in_order(records: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> Records:
    """Returns the records in the table's order; rows that no file describes come last.

    Raises:
        RecombineError: If a record is not one of word forms.
    """
    found = {}
    for record in records:
        if record["column"] not in TABLE_2.splits or "counts" not in record:
            raise RecombineError(f"the record of {record['row']!r} on {record['column']!r} is none of Table 2.")
        found[record["row"], record["column"]] = record
    names = dict.fromkeys([*(row.name for row in rows), *(row for row, _ in found)])
    keys = [(name, column) for name in names for column in TABLE_2.splits]
    return {key: found[key] for key in keys if key in found}


def cells(records: Records) -> list[Cell]:
    """Returns all figures."""
    return [
        _cell(*key, scores, part, metric, len(record["seeds"]))
        for key, record in records.items()
        for scores in [Scores.of(record)]
        for part in PARTS
        for metric in METRICS
    ]


def _cell(row: str, column: str, scores: Scores | None, part: Part, metric: Metric, seeds: int) -> Cell:
    language, hints = column.rsplit("-", 1)
    ours = scores.summary(part.sets, metric, novel_only=part.novel_only) if scores else None
    mean, deviation, count = (ours.mean, ours.deviation, ours.n) if ours else (None, None, seeds)
    paper = published(row, column, part, metric) or (None, None)
    name = f"{column} {part.name} {metric}"
    return Cell(row, name, language, int(hints), part.name, metric, mean, deviation, count, *paper)


def published(row: str, column: str, part: Part, metric: Metric) -> tuple[float, float] | None:
    """Returns the paper's mean and deviation, if it has them."""
    language, hints = column.rsplit("-", 1)
    table = _published().get(hints, {}).get(f"novel-{metric}" if part.novel_only else metric, {})
    if row not in table or language not in LANGUAGES:
        return None
    place = 4 * LANGUAGES.index(language) + (0 if part.sets == FEW_SHOT else 2)
    mean, deviation = table[row][place : place + 2]
    return None if math.isnan(mean) else (mean, deviation)


@cache
def _published() -> dict[str, Any]:
    return tomllib.loads((resources.files("recombine.paper") / "published.toml").read_text(encoding="utf-8"))


def lines(
    records: Records, *, hints: int, metric: Metric, novel_only: bool, mark: str
) -> tuple[list[str], list[list[str]]]:
    """Returns the header and the lines of one table for people.

    Args:
        records: The records.
        hints: Of which number of hints.
        metric: What is shown.
        novel_only: Whether of novel tags only.
        mark: Stands on both sides of the best figures of a column.
    """
    columns = [name for name in (f"{language}-{hints}" for language in LANGUAGES) if any(name == c for _, c in records)]
    parts = [part for part in PARTS if part.novel_only == novel_only]
    shown = {(cell.row, cell.column): cell for cell in cells(records)}
    header = ["", *(title for c in columns for part in parts for title in (f"{c} {part.name}", "paper"))]
    top = {(c, part): best_rows(records, c, part, metric) for c in columns for part in parts}
    found = []
    for row in dict.fromkeys(row for row, column in records if column in columns):
        line = [row]
        for column in columns:
            for part in parts:
                cell = shown.get((row, f"{column} {part.name} {metric}"))
                ours = _figures(cell.mean, cell.std if cell.seeds > 1 else None) if cell else ""
                line.append(f"{mark}{ours}{mark}" if row in top[column, part] else ours)
                line.append(_figures(*(published(row, column, part, metric) or (None, None))))
        found.append(line)
    return header, found


def _figures(mean: float | None, deviation: float | None) -> str:
    if mean is None:
        return "-"
    return f"{mean:.2f}" if deviation is None else f"{mean:.2f} ± {deviation:.2f}"


def _item_scores(records: Records, column: str, part: Part, metric: Metric) -> dict[str, list[float]]:
    """Returns the item scores of the rows of a column, those over the same seeds as the first."""
    found: dict[str, list[float]] = {}
    seeds: object = None
    for (row, name), record in records.items():
        scores = Scores.of(record) if name == column else None
        if scores is not None and (seeds is None or record["seeds"] == seeds):
            seeds = record["seeds"]
            found[row] = scores.items(part.sets, metric, novel_only=part.novel_only)
    return found


def best_rows(records: Records, column: str, part: Part, metric: Metric) -> tuple[str, ...]:
    """Returns the rows that are not significantly worse than the best: paired t-tests over items."""
    scores = _item_scores(records, column, part, metric)
    comparable = len(scores) > 1 and len(next(iter(scores.values()))) > 1
    return best(scores) if comparable else ()


def p_values(records: Records, column: str) -> tuple[Comparison, ...]:
    """Returns the comparison of every two rows by the F1 of past and future items."""
    scores = _item_scores(records, column, PARTS[0], "f1")
    return compare(scores) if len(scores) > 1 else ()


def class_reports(records: Records) -> list[ClassReport]:
    """Returns what the samples of each experiment are that drew any."""
    return [_classes(*key, record) for key, record in records.items() if any(record["kept"])]


def _classes(row: str, column: str, record: Mapping[str, Any]) -> ClassReport:
    total = {name: sum(each[name] for each in record["classes"]) for name in CLASSES}
    samples = sum(total.values())
    return ClassReport(row, column, samples, 1 - total[UNJUDGED] / samples, total, record["listing"])
