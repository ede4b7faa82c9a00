"""The table and the reports, from records alone."""

from collections.abc import Sequence
from typing import Any

import pytest
from toy_task import TASK

from recombine.paper.records import scored_part
from recombine.paper.rows import read_rows
from recombine.paper.tables import best_rows, cells, in_order, item_reports, lines, sample_reports, scan_columns

ROWS = read_rows()
GOLDS = [pair.y for pair in TASK.test]


def record(row: str, column: str = "jump", right: Sequence[int] = (7, 7), **further: object) -> dict[str, Any]:
    outputs = [[*GOLDS[:count], *[("?",)] * (7 - count)] for count in right]
    seeds = list(range(len(right)))
    return {
        "row": row,
        "column": column,
        "seeds": seeds,
        **scored_part(outputs, [TASK] * max(1, len(right))),
        **further,
    }


DASH = record("recomb-1 + resampling", right=()) | {"seeds": [0, 1], "rejected": [{"known": 1000}, {"a": 1, "b": 500}]}


def figures(*found: dict[str, Any]) -> list[tuple[object, ...]]:
    records = in_order(found, ROWS)
    shown = cells(records, scan_columns(records, ROWS))
    names = ["row", "column", "mean", "std", "seeds", "paper", "paper_std"]
    assert all([*cell] == [*names, "published", "best", "p"] for cell in shown)
    return [tuple(cell[name] for name in names) for cell in shown]


def best_of(found: list[dict[str, Any]], split: str = "jump") -> tuple[str, ...]:
    records = in_order(found, ROWS)
    return next((best_rows(records, each) for each in scan_columns(records, ROWS) if each.of == split), ())


def test_cells_are_in_the_tables_order_with_the_papers_figures() -> None:
    found = [record("of a user"), record("recomb-2", right=(0, 7)), record("geca", "around-right"), DASH]
    assert figures(*found) == [
        ("geca", "around-right", 1.0, 0.0, 2, 0.98, 0.02),
        ("recomb-1 + resampling", "jump", None, None, 2, None, None),
        ("recomb-2", "jump", 0.5, 0.5, 2, 0.88, 0.07),
        ("of a user", "jump", 1.0, 0.0, 2, None, None),
    ]
    older = {"row": "baseline", "column": "jump", "exact_match": [0.0, 0.5]}
    assert figures(older) == [("baseline", "jump", 0.25, 0.25, 2, 0.0, 0.0)]


def test_the_best_rows_are_those_that_chance_cannot_tell_apart() -> None:
    found = [record("baseline", right=(0, 0)), record("geca"), record("recomb-2", right=(7, 6)), DASH]
    assert best_of(found) == ("geca", "recomb-2")
    assert best_of(found, "around-right") == ()
    assert best_of([record("geca"), record("recomb-2")]) == ()
    # Two of seven items make the difference in all of ten seeds: that is two items, not twenty.
    assert best_of([record("geca", right=(5,) * 10), record("recomb-2", right=(7,) * 10)]) == ()
    # Only rows over the same seeds are compared: the largest group of them, though it is not the first row's.
    found = [record("baseline", right=(7, 7, 7)), record("geca", right=(0, 0)), record("recomb-2", right=(7, 7))]
    assert best_of(found) == ("recomb-2",)


def test_cells_tell_what_chance_cannot_explain() -> None:
    records = in_order([record("baseline", right=(0, 0)), record("geca"), record("recomb-2", right=(7, 6)), DASH], ROWS)
    found = {cell["row"]: (cell["best"], cell["p"]) for cell in cells(records, scan_columns(records, ROWS))}
    assert found["baseline"] == (False, pytest.approx(2 * 2**-6))  # no item of 7 is right, rather than all; 2 rows
    assert found["geca"] == (True, None)
    assert found["recomb-2"][0]
    assert found["recomb-2"][1] > 0.05
    assert found["recomb-1 + resampling"] == (False, None)


def test_lines_show_figures_marks_and_dashes() -> None:
    found = [
        record("baseline", right=(0, 0)),
        record("geca", samples_right={"mean": 0.985, "deviation": 0.1, "n": 2}),
        record("geca", "around-right", right=(7, 0)),
        DASH,
    ]
    records = in_order(found, ROWS)
    header, shown = lines(records, scan_columns(records, ROWS), mark="**", about_samples=True)
    assert header == [
        "",
        *(["jump", "paper", "samples right", "seeds"]),
        *["around-right", "paper", "samples right", "seeds"],
    ]
    assert shown == [
        ["baseline", "0.00 ± 0.00", "0.00 ± 0.00", "", "2", "", "0.00 ± 0.00", "", ""],
        ["geca", "**1.00 ± 0.00**", "1.00 ± 0.00", "98%", "2", "0.50 ± 0.50", "0.98 ± 0.02", "", "2"],
        ["recomb-1 + resampling", "- (0 of 1,501 draws)", "-", "", "2", "", "0.17 ± 0.07", "", ""],
    ]


def test_reports_on_samples_add_up_over_seeds() -> None:
    audits = [
        {"n": 10, "novel": 8, "right_and_novel": 6, "inputs_in_test": 5},
        None,
        {"n": 10, "novel": 10, "right_and_novel": 3, "inputs_in_test": 0},
    ]
    listing = [{"seed": 0, "x": "a", "y": "b", "right": True}]
    part = {
        "samples": audits,
        "kept": [10, 0, 10],
        "rejected": [{}, {"known": 4}, {"a": 1, "b": 2}],
        "listing": listing,
    }
    nothing = {"samples": [None], "kept": [0], "rejected": [{}], "listing": []}
    found = in_order([record("recomb-2", right=(1, 1, 1), **part), record("baseline", right=(1,), **nothing)], ROWS)
    (report,) = sample_reports(found)
    counts = {"seeds": 3, "samples": 20, "rejected": 7, "novel": 18, "right": 9 / 18, "inputs_in_test": 5 / 20}
    assert report == {"row": "recomb-2", "column": "jump", **counts, "listing": listing}
    rejected = in_order([DASH | {"samples": [None, None], "kept": [0, 0], "listing": []}], ROWS)
    (dash,) = sample_reports(rejected)
    assert list(dash.values())[3:8] == [0, 1501, 0, None, None]


def test_items_of_all_rows_stand_side_by_side_apart_from_those_beside_other_samples() -> None:
    one, two = {"x": "jump twice", "y": "JUMP JUMP"}, {"x": "jump thrice", "y": "JUMP JUMP JUMP", "sampled": "JUMP"}
    newer = [one | {"sampled": None, "predicted": "JUMP"}, two | {"predicted": "HOP"}]
    older = [one | {"sampled": "HOP", "predicted": "HOP"}, two | {"predicted": "JUMP"}]
    found = in_order(
        [
            record("recomb-2", items=newer) | {"provenance": {"commit": "a" * 40}},
            record("geca", items=older) | {"provenance": {"commit": "b" * 40}},
            record("recomb-2", "around-right", items=newer[:1]),
            record("baseline"),
        ],
        ROWS,
    )
    assert [list(item.values()) for item in item_reports(found)] == [
        ["jump", "jump twice", "JUMP JUMP", "HOP", {"geca": "HOP"}, ["b" * 7]],
        ["jump", "jump thrice", "JUMP JUMP JUMP", "JUMP", {"geca": "JUMP", "recomb-2": "HOP"}, ["b" * 7, "a" * 7]],
        ["jump", "jump twice", "JUMP JUMP", None, {"recomb-2": "JUMP"}, ["a" * 7]],
        ["around-right", "jump twice", "JUMP JUMP", None, {"recomb-2": "JUMP"}, ["unknown"]],
    ]
