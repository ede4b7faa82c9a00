"""What the records say of samples (section 5.3), of their classes and of single test items (appendix G.3)."""

from dataclasses import dataclass
from typing import Any

from recombine.paper.tables import Records, commit_of
from recombine.paper.tasks import CLASSES, UNJUDGED


@dataclass(frozen=True)
class ClassReport:
    """What the samples of a row are, all seeds together.

    Attributes:
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
    reports = []
    for (row, column), record in records.items():
        if any(record["kept"]):
            total = {name: sum(each[name] for each in record["classes"]) for name in CLASSES}
            samples = sum(total.values())
            judged = 1 - total[UNJUDGED] / samples
            reports.append(ClassReport(row, column, samples, judged, total, record["listing"]))
    return reports


@dataclass(frozen=True)
class SampleReport:
    """What the samples of one row on one split are worth, all seeds together.

    Attributes:
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


def sample_reports(records: Records) -> list[SampleReport]:
    """Returns a report for each experiment that drew samples, and says how they were drawn."""
    reports = []
    for (row, column), record in records.items():
        if "kept" not in record or not any((*record["kept"], *record["rejected"])):
            continue
        audits = [audit for audit in record["samples"] if audit is not None]
        kept, novel, in_test = (sum(audit[name] for audit in audits) for name in ("n", "novel", "inputs_in_test"))
        right = [audit["right_and_novel"] for audit in audits]
        reports.append(
            SampleReport(
                row=row,
                column=column,
                seeds=len(record["seeds"]),
                samples=kept,
                rejected=sum(count for each in record["rejected"] for count in each.values()),
                novel=novel,
                right=sum(right) / novel if novel and None not in right else None,
                inputs_in_test=in_test / kept if kept else None,
                listing=record["listing"],
            )
        )
    return reports


@dataclass(frozen=True)
class Item:
    """One test item.

    Attributes:
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
