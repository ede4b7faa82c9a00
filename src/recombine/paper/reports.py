"""What the records say of samples (section 5.3), of their classes and of single test items (appendix G.3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recombine.paper.tables import Records, commit_of
from recombine.paper.tasks import CLASSES, UNJUDGED


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


def class_reports(records: Records) -> list[ClassReport]:
    """Returns what the samples of each experiment are that drew any."""
    return [_classes(*key, record) for key, record in records.items() if any(record["kept"])]


def _classes(row: str, column: str, record: Mapping[str, Any]) -> ClassReport:
    total = {name: sum(each[name] for each in record["classes"]) for name in CLASSES}
    samples = sum(total.values())
    return ClassReport(row, column, samples, 1 - total[UNJUDGED] / samples, total, record["listing"])


@dataclass(frozen=True)
class SampleReport:
    """What the samples of one row on one split are worth, all seeds together.

    Attributes:
        row: The row.
        column: The split.
        seeds: How many seeds.
        samples: How many samples were kept.
        rejected: How many were not.
        novel: Those kept that are no training pair.
        right: The share of the novel ones that are exactly right.
        inputs_in_test: The share of all whose inputs are test inputs.
        listing: Some of them, drawn at random: seed, x, y and whether right.
    """

    row: str
    column: str
    seeds: int
    samples: int
    rejected: int
    novel: int
    right: float | None
    inputs_in_test: float | None
    listing: list[dict[str, Any]]


@dataclass(frozen=True)
class Item:
    """One test item.

    Attributes:
        column: The split.
        x: The input.
        y: The right output.
        sampled: The output that the samples of recomb-2 have for it, if any.
        predicted: What the first network of each row says, of those that were run beside such samples.
        commits: Of the code by which they were run.
    """

    column: str
    x: str
    y: str
    sampled: str | None
    predicted: dict[str, str]
    commits: list[str]


def sample_reports(records: Records) -> list[SampleReport]:
    """Returns a report for each experiment that drew samples, and says how they were drawn."""
    return [_report(*key, record) for key, record in records.items() if _drew(record)]


def _drew(record: Mapping[str, Any]) -> bool:
    return "kept" in record and (any(record["kept"]) or any(record["rejected"]))


def _report(row: str, column: str, record: Mapping[str, Any]) -> SampleReport:
    audits = [audit for audit in record["samples"] if audit is not None]

    def total(name: str) -> int | None:
        counts = [audit[name] for audit in audits]
        return None if None in counts else sum(counts)

    novel, right, anticipated, kept = total("novel"), total("right_and_novel"), total("inputs_in_test"), total("n")
    return SampleReport(
        row=row,
        column=column,
        seeds=len(record["seeds"]),
        samples=kept or 0,
        rejected=sum(count for each in record["rejected"] for count in each.values()),
        novel=novel or 0,
        right=right / novel if novel and right is not None else None,
        inputs_in_test=anticipated / kept if kept and anticipated is not None else None,
        listing=record["listing"],
    )


def item_reports(records: Records) -> list[Item]:
    """Returns the test items that the records show, with what each row predicts for them.

    An item for which the samples of recomb-2 had something else when some of the rows were run is there twice.
    """
    found: dict[tuple[str, str, str | None], Item] = {}
    for (row, column), record in records.items():
        for shown in record.get("items", []):
            empty = Item(column, shown["x"], shown["y"], shown["sampled"], {}, [])
            item = found.setdefault((column, shown["x"], shown["sampled"]), empty)
            item.predicted[row] = shown["predicted"]
            if (commit := commit_of(record)) not in item.commits:
                item.commits.append(commit)
    return list(found.values())
