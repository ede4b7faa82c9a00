"""The tables from the records there are: our figures beside the paper's, and which of ours are the best.

A table is a grid of `Column` objects, which say where a figure comes from; `lines` shows any of them.
"""

import base64
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from typing import Any, Literal, Self

import numpy as np

from recombine.data.sigmorphon import SPLITS as WORD_FORM_SPLITS
from recombine.errors import RecombineError
from recombine.evaluation.metrics import Counts
from recombine.evaluation.significance import Comparison, Summary, best, combined, compare, item_means, summarize
from recombine.paper.records import unpacked
from recombine.paper.rows import LANGUAGES, SPLITS, TABLE_2, Published, Row

Record = Mapping[str, Any]
Records = Mapping[tuple[str, str], Record]
"""Records by row and column, such as ``jump`` or ``spanish-8``."""

Metric = Literal["f1", "exact-match"]
FEW_SHOT = ("FUT", "PST")
"""The test sets that the first columns of Table 2 average over."""


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


@dataclass(frozen=True, kw_only=True)
class Column:
    """Figures of one kind, one for each row.

    Attributes:
        title: For people.
        of: The column of the records that it is made from.
        summary: Gives a record's mean and deviation; None where there is nothing to score.
        items: Gives a record's score on each item, its mean over seeds; None for a dash.
        published: Gives a row's figure in the paper: None for its dash, no key where it has none.
    """

    title: str
    of: str
    summary: Callable[[Record], Summary | None]
    items: Callable[[Record], np.ndarray | None]
    published: Mapping[str, Published]


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


@dataclass(frozen=True)
class WordFormCell(Cell):
    """One figure of Table 2; its column is language, hints, part and metric in one.

    Attributes:
        language: The language.
        hints: The number of past, and of future, forms in the training set.
        part: Which test items.
        metric: ``f1`` (micro) or ``exact-match``.
    """

    language: str
    hints: int
    part: str
    metric: Metric


def in_order(records: Sequence[Record], rows: Sequence[Row], columns: Sequence[str] = SPLITS) -> Records:
    """Returns the records in a table's order; rows that no file describes, and other columns, come last."""
    found = {(record["row"], record["column"]): record for record in records}
    names = dict.fromkeys([*(row.name for row in rows), *(row for row, _ in found)])
    keys = [(name, column) for name in names for column in dict.fromkeys([*columns, *(column for _, column in found)])]
    return {key: found[key] for key in keys if key in found}


def word_forms_in_order(records: Sequence[Record], rows: Sequence[Row]) -> Records:
    """Returns the records of Table 2 in its order.

    Raises:
        RecombineError: If a record is not one of word forms.
    """
    for record in records:
        if not TABLE_2.has(record["column"]) or "counts" not in record:
            raise RecombineError(f"the record of {record['row']!r} on {record['column']!r} is none of Table 2.")
    return in_order(records, rows, TABLE_2.splits)


def scan_columns(records: Records, rows: Sequence[Row]) -> list[Column]:
    """Returns the columns of Table 1 that there are records of."""
    return [
        Column(
            title=split,
            of=split,
            summary=lambda record: summarize(record["exact_match"]) if record["exact_match"] else None,
            items=correctness,
            published={row.name: row.published[split] for row in rows if split in row.published},
        )
        for split in _splits(records)
    ]


def _splits(records: Records) -> list[str]:
    """Returns the columns of the records, those of Table 1 first."""
    found = {column for _, column in records}
    return [each for each in dict.fromkeys([*SPLITS, *(column for _, column in records)]) if each in found]


def correctness(record: Record) -> np.ndarray | None:
    """Returns the share of seeds that got each test example right; None if the record does not say."""
    if not record.get("correct"):
        return None
    return item_means([unpacked(each, record["tested"]) for each in record["correct"]])


def word_form_columns(
    records: Records, *, metric: Metric, parts: Sequence[Part] = PARTS, hints: int | None = None
) -> list[Column]:
    """Returns the columns of Table 2 by a metric, for each language that there are records of.

    Args:
        records: The records.
        metric: What is shown.
        parts: Of which test items.
        hints: Of which number of hints; None: of all.
    """
    columns = {column: None for _, column in records if hints is None or column.endswith(f"-{hints}")}
    order = sorted(columns, key=lambda name: TABLE_2.splits.index(name) if name in TABLE_2.splits else math.inf)
    return [
        Column(
            title=f"{column} {part.name}",
            of=column,
            summary=partial(_summary, part=part, metric=metric),
            items=partial(_items, part=part, metric=metric),
            published=_published_column(column, part, metric),
        )
        for column in order
        for part in parts
    ]


def _summary(record: Record, *, part: Part, metric: Metric) -> Summary | None:
    scores = Scores.of(record)
    return scores.summary(part.sets, metric, novel_only=part.novel_only) if scores else None


def _items(record: Record, *, part: Part, metric: Metric) -> np.ndarray | None:
    scores = Scores.of(record)
    return scores.items(part.sets, metric, novel_only=part.novel_only) if scores else None


def _published_column(column: str, part: Part, metric: Metric) -> dict[str, Published]:
    """Returns the paper's means and deviations by row; None where there was nothing to score."""
    language, hints = column.rsplit("-", 1)
    if language not in LANGUAGES:
        return {}
    table = _published().get(hints, {}).get(f"novel-{metric}" if part.novel_only else metric, {})
    place = 4 * LANGUAGES.index(language) + (0 if part.sets == FEW_SHOT else 2)
    figures = {row: tuple(figures[place : place + 2]) for row, figures in table.items()}
    return {row: None if math.isnan(mean) else (mean, deviation) for row, (mean, deviation) in figures.items()}


@cache
def _published() -> dict[str, Any]:
    return tomllib.loads((resources.files("recombine.paper") / "published.toml").read_text(encoding="utf-8"))


def cells(records: Records, columns: Sequence[Column]) -> list[Cell]:
    """Returns the figures of columns, row by row."""
    return [
        _cell(key[0], record, column) for key, record in records.items() for column in columns if column.of == key[1]
    ]


def _cell(row: str, record: Record, column: Column) -> Cell:
    ours, seeds = column.summary(record), len(record.get("seeds", record["exact_match"]))
    mean, deviation, count = (ours.mean, ours.deviation, ours.n) if ours else (None, None, seeds)
    return Cell(row, column.title, mean, deviation, count, *(column.published.get(row) or (None, None)))


def word_form_cells(records: Records) -> list[WordFormCell]:
    """Returns all figures of Table 2."""
    found = []
    for (row, name), record in records.items():
        language, hints = name.rsplit("-", 1)
        for part in PARTS:
            for metric in METRICS:
                (column,) = word_form_columns({(row, name): record}, metric=metric, parts=[part])
                cell = vars(_cell(row, record, column)) | {"column": f"{column.title} {metric}"}
                found.append(WordFormCell(**cell, language=language, hints=int(hints), part=part.name, metric=metric))
    return found


def lines(
    records: Records,
    columns: Sequence[Column],
    *,
    mark: str,
    further: Mapping[str, Callable[[Record], str]] | None = None,
) -> tuple[list[str], list[list[str]]]:
    """Returns the header and the lines of a table for people.

    Args:
        records: The records.
        columns: The columns, beside each of which the paper's figures stand.
        mark: Stands on both sides of the best figures of a column.
        further: What else to say of each record, by title.
    """
    further = further or {}
    best_of = [best_rows(records, column) for column in columns]
    of = {column.of for column in columns}
    header = ["", *(title for column in columns for title in (column.title, "paper", *further))]
    shown = []
    for row in dict.fromkeys(row for row, name in records if name in of):
        line = [row]
        for column, top in zip(columns, best_of, strict=True):
            record = records.get((row, column.of))
            ours = "" if record is None else _figure(column.summary(record)) or _dash(record)
            theirs = _figure(Summary(*paper, n=2)) if (paper := column.published.get(row)) else ""
            theirs = "-" if row in column.published and paper is None else theirs
            told = ["" if record is None else tell(record) for tell in further.values()]
            line += [f"{mark}{ours}{mark}" if row in top else ours, theirs, *told]
        shown.append(line)
    return header, shown


def _figure(found: Summary | None) -> str:
    if found is None:
        return ""
    return str(found) if found.n > 1 else f"{found.mean:.2f}"


def _dash(record: Record) -> str:
    drawn = sum(count for each in record.get("rejected", []) for count in each.values())
    return "-" if record["exact_match"] or not drawn else f"- (0 of {drawn:,} draws)"


def _samples_right(record: Record) -> str:
    right = record.get("samples_right")
    return f"{right['mean']:.0%}" if right else ""


def _seeds(record: Record) -> str:
    return str(len(record.get("seeds", record["exact_match"])))


ABOUT_SAMPLES: Mapping[str, Callable[[Record], str]] = {"samples right": _samples_right, "seeds": _seeds}
"""What lines of Table 1 say beside the figures."""


def comparable(records: Records, column: Column) -> dict[str, np.ndarray]:
    """Returns the item scores of the rows of a column that can be compared: over the same seeds and test set.

    Of several groups of such rows, the largest counts.
    """
    groups: dict[object, dict[str, np.ndarray]] = {}
    for (row, name), record in records.items():
        scores = column.items(record) if name == column.of else None
        if scores is not None:
            groups.setdefault((*record["seeds"], record["tested"]), {})[row] = scores
    group = max(groups.values(), key=len, default={})
    return group if len(group) > 1 and len(next(iter(group.values()))) > 1 else {}


def best_rows(records: Records, column: Column) -> tuple[str, ...]:
    """Returns the rows of a column that are not significantly worse than the best: paired t-tests over items."""
    scores = comparable(records, column)
    return best(scores) if scores else ()


def p_values(records: Records, name: str) -> tuple[Comparison, ...]:
    """Returns the comparison of every two rows of Table 2 by the F1 of past and future items."""
    own = {key: record for key, record in records.items() if key[1] == name}
    (column,) = word_form_columns(own, metric="f1", parts=PARTS[:1])
    return compare(comparable(own, column))


def commits(records: Records) -> dict[str, list[str]]:
    """Returns, for each column, the commits that its records are of, shortened, in the table's order."""
    found: dict[str, dict[str, None]] = {}
    for (_, column), record in records.items():
        found.setdefault(column, {})[commit_of(record)] = None
    return {column: list(hashes) for column, hashes in found.items()}


def commit_of(record: Mapping[str, Any]) -> str:
    """Returns the commit that a record is of, shortened."""
    return str(record.get("provenance", {}).get("commit", "unknown"))[:7]


@dataclass(frozen=True)
class Scores:
    """What a record says of every test item of every seed.

    Attributes:
        sets: Which items are of which set.
        counts: True positives, false positives and false negatives (seeds, items, 3).
        correct: Which items are exactly right (seeds, items).
        novel: Which have tags that were never seen in training (seeds, items).
        splits: Which split each seed has.
    """

    sets: Mapping[str, slice]
    counts: np.ndarray
    correct: np.ndarray
    novel: np.ndarray
    splits: tuple[int, ...]

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self | None:
        """Reads a record; None for a dash."""
        if not record["counts"]:
            return None
        ends = np.cumsum([0, *record["sets"].values()]).tolist()
        tested = ends[-1]
        counts = [np.frombuffer(base64.b64decode(each), np.uint8).reshape(tested, 3) for each in record["counts"]]
        return cls(
            {name: slice(start, end) for name, start, end in zip(record["sets"], ends, ends[1:], strict=False)},
            np.stack(counts).astype(int),
            np.stack([unpacked(each, tested) for each in record["correct"]]),
            np.stack([unpacked(each, tested) for each in record["novel"]]),
            tuple(seed % len(WORD_FORM_SPLITS) for seed in record["seeds"]),
        )

    def summary(self, sets: Sequence[str], metric: Metric, *, novel_only: bool = False) -> Summary | None:
        """Returns mean and deviation over seeds, averaged over test sets; None if there is nothing to score.

        Seeds for which one of the sets has no item to score do not count.
        """
        scores = [[self._score(name, seed, metric, novel_only) for name in sets] for seed in range(len(self.counts))]
        complete = [each for each in scores if None not in each]
        if not complete:
            return None
        return combined(*(summarize([float(each[number] or 0) for each in complete]) for number in range(len(sets))))

    def _score(self, name: str, seed: int, metric: Metric, novel_only: bool) -> float | None:
        chosen = self.novel[seed, self.sets[name]] | (not novel_only)
        if not chosen.any():
            return None
        if metric == "exact-match":
            return float(self.correct[seed, self.sets[name]][chosen].mean())
        true, false, missed = self.counts[seed, self.sets[name]][chosen].sum(axis=0).tolist()
        return Counts(true, false, missed).f1

    def items(self, sets: Sequence[str], metric: Metric, *, novel_only: bool = False) -> np.ndarray:
        """Returns the score of every item of the sets, split after split: each is its mean over the split's seeds."""
        by_split: dict[int, list[list[float]]] = {}
        for seed, split in enumerate(self.splits):
            found: list[float] = []
            for name in sets:
                chosen = self.novel[seed, self.sets[name]] | (not novel_only)
                if metric == "exact-match":
                    found += self.correct[seed, self.sets[name]][chosen].astype(float).tolist()
                else:
                    found += [Counts(*each).f1 for each in self.counts[seed, self.sets[name]][chosen].tolist()]
            by_split.setdefault(split, []).append(found)
        return np.concatenate([item_means(each) for each in by_split.values()])
