"""The tables and reports from the records there are: our figures beside the paper's, which are best, what samples are.

A table is a grid of `Column` objects, which say where a figure comes from; `lines` shows any of them.
"""

import base64
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import resources
from typing import Any, Literal

import numpy as np

from recombine.data.sigmorphon import SPLITS as WORD_FORM_SPLITS
from recombine.errors import RecombineError
from recombine.evaluation.metrics import Counts, item_counts, notebook_elements
from recombine.evaluation.significance import (
    Comparison,
    Scores,
    Summary,
    against_best,
    combined,
    compare,
    summarize,
)
from recombine.execution.terminal import percent
from recombine.paper.records import unpacked, unpacked_outputs
from recombine.paper.rows import LANGUAGES, SPLITS, TABLE_1, TABLE_2, Published, Row, Table
from recombine.paper.tasks import CLASSES, UNJUDGED

Record = Mapping[str, Any]
Records = Mapping[tuple[str, str], Record]
"""Records by row and column, such as ``jump`` or ``spanish-8``."""

Figures = tuple[Summary | None, Scores | None]
"""Mean and deviation over seeds, None where there is nothing to score; and the scores of networks on items, None for a
dash."""

Metric = Literal["f1", "f1-notebook", "exact-match"]
"""By the authors' notebook, a lemma of two words is two elements, since it splits at spaces. What is after the first is
taken for tags, so that every lemma of several words counts as novel."""
METRICS: tuple[Metric, ...] = ("f1", "f1-notebook", "exact-match")
FEW_SHOT = ("FUT", "PST")
"""The test sets that the first columns of Table 2 average over."""


@dataclass(frozen=True)
class Part:
    """Some of the test items: those of sets whose scores are averaged, perhaps only those with tags never seen."""

    name: str
    sets: tuple[str, ...]
    novel_only: bool = False


PARTS = (
    Part("FUT+PST", FEW_SHOT),
    Part("OTHER", ("OTHER",)),
    Part("NOVEL FUT+PST", FEW_SHOT, novel_only=True),
    Part("NOVEL OTHER", ("OTHER",), novel_only=True),
)


@dataclass(frozen=True, kw_only=True)
class Column:
    """Figures of one kind, one for each row.

    Attributes:
        of: The column of the records that it is made from.
        figures: Gives what a record says.
        published: Gives a row's figure in the paper: None for its dash, no key where it has none.
        told: What its cells say of it besides.
        beside: The title of the published figures, which need not have a deviation (nan).
        digits: How many digits after the point people see.
    """

    title: str
    of: str
    figures: Callable[[Record], Figures]
    published: Mapping[str, Published]
    told: Mapping[str, object] = field(default_factory=dict)
    beside: str = "paper"
    digits: int = 2


def in_order(records: Sequence[Record], rows: Sequence[Row], table: Table = TABLE_1) -> Records:
    """Returns the records in a table's order; rows that no file describes, and other columns, come last."""
    for record in records if table is TABLE_2 else ():
        if not table.has(record["column"]) or "counts" not in record:
            raise RecombineError(f"the record of {record['row']!r} on {record['column']!r} is none of Table 2.")
    found = {(record["row"], record["column"]): record for record in records}
    names = dict.fromkeys([*(row.name for row in rows), *(row for row, _ in found)])
    columns = dict.fromkeys([*table.splits, *(column for _, column in found)])
    return {(name, column): found[name, column] for name in names for column in columns if (name, column) in found}


def scan_columns(records: Records, rows: Sequence[Row]) -> list[Column]:
    """Returns the columns of Table 1 that there are records of."""
    found, columns = dict.fromkeys(column for _, column in records), []
    for split in (split for split in dict.fromkeys([*SPLITS, *found]) if split in found):
        published = {row.name: row.published[split] for row in rows if split in row.published}
        columns.append(Column(title=split, of=split, figures=scan_figures, published=published))
    return columns


def scan_figures(record: Record) -> Figures:
    """Returns the exact match that a record of Table 1 says; no score of items if it has none, as older ones."""
    summary = summarize(record["exact_match"]) if record["exact_match"] else None
    if not record.get("correct"):
        return summary, None
    return summary, [np.array([unpacked(each, record["tested"]) for each in record["correct"]])]


def word_form_columns(
    records: Records, *, metric: Metric, parts: Sequence[Part] = PARTS, hints: int | None = None
) -> list[Column]:
    """Returns the columns of Table 2 by a metric, for each language, and number of hints, that there are records of."""
    known = [column for (_, column), record in records.items() if metric != "f1-notebook" or "outputs" in record]
    found = dict.fromkeys(column for column in known if hints is None or column.endswith(f"-{hints}"))
    columns = []
    for name in sorted(found, key=lambda name: TABLE_2.splits.index(name) if name in TABLE_2.splits else math.inf):
        language, number = name.rsplit("-", 1)
        for part in parts:
            title, figures = f"{name} {part.name}", partial(word_form_figures, part=part, metric=metric)
            told = {"language": language, "hints": int(number), "part": part.name, "metric": metric}
            published = _published(name, part, metric)
            told = {"column": f"{title} {metric}", **told}
            columns.append(Column(title=title, of=name, figures=figures, published=published, told=told))
    return columns


def word_form_figures(record: Record, part: Part, metric: Metric) -> Figures:
    """Returns what a record of Table 2 says of some test items by a metric.

    The mean is that of the test sets; seeds for which one of them has no item to score do not count. Scores of items
    come split after split.
    """
    if not record["counts"] or (metric == "f1-notebook" and "outputs" not in record):  # as of older records
        return None, None
    *starts, tested = np.cumsum([0, *record["sets"].values()]).tolist()
    places = {
        name: slice(start, start + size) for start, (name, size) in zip(starts, record["sets"].items(), strict=True)
    }
    complete: list[list[float]] = []
    by_split: dict[int, list[np.ndarray]] = {}
    if metric == "f1-notebook":
        counted, of_several_words = _notebook_counts(record["outputs"])
    else:
        counted = [np.frombuffer(base64.b64decode(each), np.uint8).reshape(tested, 3) for each in record["counts"]]
        of_several_words = np.zeros((len(counted), tested), dtype=bool)
    by_seed = (record["seeds"], counted, record["correct"], record["novel"], of_several_words)
    for seed, counts, correct, novel, also_novel in zip(*by_seed, strict=True):
        right = unpacked(correct, tested)
        chosen = unpacked(novel, tested) | also_novel | (not part.novel_only)
        means, items = [], []
        for place in (places[name] for name in part.sets):
            own, exact = counts[place][chosen[place]], right[place][chosen[place]]
            if metric != "exact-match":
                items.append(np.array([Counts(*each).f1 for each in own.tolist()]))
                means.append(Counts(*own.sum(axis=0, dtype=int).tolist()).f1)
            else:
                items.append(exact.astype(float))
                means.append(float(exact.sum()) / max(1, len(exact)))
        by_split.setdefault(seed % len(WORD_FORM_SPLITS), []).append(np.concatenate(items))
        if all(map(len, items)):
            complete.append(means)
    summary = combined(*map(summarize, zip(*complete, strict=True))) if complete else None
    return summary, [np.array(each) for each in by_split.values()]


@cache
def _notebook_counts(outputs: str) -> tuple[list[np.ndarray], np.ndarray]:
    """Returns the counts of each seed by the authors' notebook, and which lemmas have several words."""
    every, predicted = unpacked_outputs(outputs)
    counts = [np.array(item_counts(*own, elements=notebook_elements)) for own in zip(every, predicted, strict=True)]
    return counts, np.array([[" " in gold for gold in golds] for golds in every])


@cache
def _published_figures() -> dict[str, Any]:
    return tomllib.loads((resources.files("recombine.paper") / "published.toml").read_text(encoding="utf-8"))


def _published(column: str, part: Part, metric: Metric) -> dict[str, Published]:
    """Returns the paper's means and deviations by row; None where there was nothing to score."""
    language, hints = column.rsplit("-", 1)
    if language not in LANGUAGES:
        return {}
    of = metric.removesuffix("-notebook")  # by which the paper's figures were counted
    table = _published_figures().get(hints, {}).get(f"novel-{of}" if part.novel_only else of, {})
    place = 4 * LANGUAGES.index(language) + (0 if part.sets == FEW_SHOT else 2)
    figures = {row: tuple(figures[place : place + 2]) for row, figures in table.items()}
    return {row: None if math.isnan(mean) else (mean, deviation) for row, (mean, deviation) in figures.items()}


def cells(records: Records, columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Returns the figures of columns, row by row.

    Each is our mean over seeds (None for a dash: all samples were rejected) with its standard deviation, the number of
    seeds, and the paper's mean and deviation, None if it has a dash or no such row (not `published`). `best` tells
    whether a row is among the best of its column; `p` is corrected, of its comparison with the row that has the best
    mean: None for that row and for rows that cannot be compared.
    """
    found: dict[str, list[dict[str, Any]]] = {row: [] for row, _ in records}
    for column in columns:
        top = best_rows(records, column)
        p = {each.second: each.corrected_p for each in against_best(comparable(records, column))}
        for row, record in ((row, record) for (row, name), record in records.items() if name == column.of):
            summary = column.figures(record)[0]
            ours = (summary.mean, summary.deviation, summary.n) if summary else (None, None, _seeds(record))
            theirs = column.published.get(row) or (None, None)
            figures = zip(("mean", "std", "seeds", "paper", "paper_std"), (*ours, *theirs), strict=True)
            test = {"published": row in column.published, "best": row in top, "p": p.get(row)}
            found[row].append({"row": row, "column": column.title, **dict(figures), **test, **column.told})
    return [cell for own in found.values() for cell in own]


def word_form_cells(records: Records) -> list[dict[str, Any]]:
    """Returns all figures of Table 2; each has its language, hints (per tense), part (test items) and metric, too."""
    kinds = ((part, metric) for part in PARTS for metric in METRICS)
    return cells(records, [each for part, of in kinds for each in word_form_columns(records, metric=of, parts=[part])])


def _drawn_in_vain(record: Record) -> int:
    return sum(count for each in record.get("rejected", []) for count in each.values())


def _seeds(record: Record) -> int:
    return len(record.get("seeds", record["exact_match"]))


def lines(
    records: Records, columns: Sequence[Column], *, mark: str, about_samples: bool = False
) -> tuple[list[str], list[list[str]]]:
    """Returns the header and the lines of a table for people, with the paper's figures beside each column.

    The mark stands on both sides of the best figures. `about_samples` adds how many samples are right, and the seeds.
    """
    further = ("samples right", "seeds") if about_samples else ()
    header = ["", *(title for column in columns for title in (column.title, column.beside, *further))]
    best_of = [best_rows(records, column) for column in columns]
    of = {column.of for column in columns}
    shown = []
    for row in dict.fromkeys(row for row, name in records if name in of):
        line = [row]
        for column, top in zip(columns, best_of, strict=True):
            ours = theirs = right = seeds = ""
            if (record := records.get((row, column.of))) is not None:
                summary, _ = column.figures(record)
                drawn = _drawn_in_vain(record)
                dash = "-" if record["exact_match"] or not drawn else f"- (0 of {drawn:,} draws)"
                ours = _figure(summary, column.digits) if summary else dash
                right = f"{found['mean']:.0%}" if (found := record.get("samples_right")) else ""
                seeds = str(_seeds(record) or "")
            if row in column.published:
                paper = column.published[row]
                theirs = _figure(Summary(*paper, n=2), column.digits) if paper else "-"
            told = [right, seeds] if about_samples else []
            line += [f"{mark}{ours}{mark}" if row in top else ours, theirs, *told]
        shown.append(line)
    return header, shown


def _figure(found: Summary, digits: int) -> str:
    spread = found.n > 1 and not math.isnan(found.deviation)
    return f"{found.mean:.{digits}f}{f' ± {found.deviation:.{digits}f}' if spread else ''}"


def comparable(records: Records, column: Column) -> dict[str, Scores]:
    """Returns the scores of the rows of a column that can be compared: over the same seeds and test set.

    Of several groups of such rows, the largest counts.
    """
    groups: dict[object, dict[str, Scores]] = {}
    for (row, name), record in records.items():
        scores = column.figures(record)[1] if name == column.of else None
        if scores is not None:
            groups.setdefault((*record["seeds"], record["tested"]), {})[row] = scores
    group = max(groups.values(), key=len, default={})
    enough = len(group) > 1 and any(each.shape[1] > 1 for each in next(iter(group.values())))
    return group if enough else {}


def best_rows(records: Records, column: Column) -> tuple[str, ...]:
    """Returns the rows of a column that are not significantly worse than the best; none if no row is."""
    scores = comparable(records, column)
    worse = {each.second for each in against_best(scores) if each.is_significant}
    return tuple(name for name in scores if name not in worse) if worse else ()


def p_values(records: Records, name: str) -> tuple[Comparison, ...]:
    """Returns the comparison of every two rows of Table 2 by the F1 of past and future items."""
    own = {key: record for key, record in records.items() if key[1] == name}
    (column,) = word_form_columns(own, metric="f1", parts=PARTS[:1])
    return compare(comparable(own, column))


def p_value_lines(comparisons: Sequence[Comparison]) -> tuple[list[str], list[list[str]]]:
    """Returns the header and the lines of a table of comparisons, with an asterisk after what is significant."""
    rows = list(dict.fromkeys(name for each in comparisons for name in (each.first, each.second)))
    p = {(each.second, each.first): f"{each.p:.3g}{'*' if each.is_significant else ''}" for each in comparisons}
    return ["", *rows], [[row, *(p.get((row, other), "") for other in rows)] for row in rows]


def commits(records: Records) -> dict[str, dict[str, None]]:
    """Returns, for each column, the commits that its records are of, shortened, in the table's order."""
    found: dict[str, dict[str, None]] = {}
    for (_, column), record in records.items():
        found.setdefault(column, {})[commit_of(record)] = None
    return found


def commit_of(record: Record) -> str:
    """Returns the commit that a record is of, shortened."""
    return str(record.get("provenance", {}).get("commit", "unknown"))[:7]


def sample_reports(records: Records) -> list[dict[str, Any]]:
    """Returns what the samples of each experiment that drew any are worth (section 5.3), all seeds together.

    `rejected` counts those that were not kept, `novel` those kept that are no training pair; `right` is the share of
    the novel ones that are exactly right, and `inputs_in_test` that of all whose inputs are test inputs.
    """
    reports = []
    for (row, column), record in records.items():
        if "kept" not in record or not any((*record["kept"], *record["rejected"])):
            continue
        audits = [audit for audit in record["samples"] if audit is not None]
        kept, novel, in_test = (sum(audit[name] for audit in audits) for name in ("n", "novel", "inputs_in_test"))
        right = [audit["right_and_novel"] for audit in audits]
        report = {
            "row": row,
            "column": column,
            "seeds": len(record["seeds"]),
            "samples": kept,
            "rejected": _drawn_in_vain(record),
            "novel": novel,
            "right": sum(right) / novel if novel and None not in right else None,
            "inputs_in_test": in_test / kept if kept else None,
            "listing": record["listing"],
        }
        reports.append(report)
    return reports


def sample_lines(reports: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Returns the header and the lines of a table of what `sample_reports` returned."""
    counts, shares = ("seeds", "samples", "rejected", "novel"), ("right", "inputs_in_test")
    lines = [
        [each["row"], each["column"]]
        + [f"{each[count]:,}" for count in counts]
        + ["-" if each[share] is None else percent(each[share]) for share in shares]
        for each in reports
    ]
    return ["", "split", *counts, "right of novel", "inputs in test set"], lines


def class_reports(records: Records) -> list[dict[str, Any]]:
    """Returns, of each experiment that drew samples, how many there are of each class, and the share that is judged."""
    reports = []
    for (row, column), record in records.items():
        if any(record["kept"]):
            total = {name: sum(each[name] for each in record["classes"]) for name in CLASSES}
            samples = sum(total.values())
            report = {"row": row, "column": column, "samples": samples, "judged": 1 - total[UNJUDGED] / samples}
            reports.append(report | {"classes": total, "listing": record["listing"]})
    return reports


def class_lines(reports: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Returns the header and the lines of a table of what `class_reports` returned."""
    lines = [
        [each["row"], each["column"], f"{each['samples']:,}", percent(each["judged"])]
        + [f"{count:,}" for count in each["classes"].values()]
        for each in reports
    ]
    return ["", "column", "samples", "can be judged", *CLASSES], lines


def item_reports(records: Records) -> list[dict[str, Any]]:
    """Returns the test items that the records show (appendix G.3), with what the first network of each row predicts.

    An item for which the samples of recomb-2 had something else when some of the rows were run is there twice.
    """
    found: dict[tuple[str, str, str | None], dict[str, Any]] = {}
    for (row, column), record in records.items():
        for shown in record.get("items", []):
            of = {"column": column, **{name: shown[name] for name in ("x", "y", "sampled")}}
            item = found.setdefault((column, shown["x"], shown["sampled"]), {**of, "predicted": {}, "commits": []})
            item["predicted"][row] = shown["predicted"]
            if (commit := commit_of(record)) not in item["commits"]:
                item["commits"].append(commit)
    return list(found.values())
