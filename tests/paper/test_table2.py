"""Scores, tables and p-values of Table 2, from records alone and computed by hand."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recombine.augmentation.protocol import Samples
from recombine.errors import RecombineError
from recombine.evaluation.metrics import correct, exact_match, item_counts, micro_f1
from recombine.evaluation.significance import paired
from recombine.example import Tokens
from recombine.inflection import Inflection, is_tag, reordered
from recombine.paper.records import scored_part, unpacked_outputs, word_form_part
from recombine.paper.rows import TABLE_2, read_rows
from recombine.paper.tables import (
    METRICS,
    PARTS,
    Metric,
    Part,
    Records,
    best_rows,
    class_reports,
    in_order,
    lines,
    p_values,
    word_form_cells,
    word_form_columns,
    word_form_figures,
)
from recombine.paper.tasks import WordFormTask, attested

ROWS = read_rows(None, TABLE_2)


def words(tags: str, *lemmas: str) -> list[Inflection]:
    return [Inflection(lemma, tuple(tags.split(";")), lemma + tags[-1].lower()) for lemma in lemmas]


PAST, FUTURE, OTHER = words("V;PST", "ab", "ba", "bb"), words("V;FUT", "aa", "ab", "abb"), words("V;PRS", "a", "b")
TRAIN = [*words("V;FUT", "baa"), *words("V;PRS", "aab")]


def task(*, train: list[Inflection] = TRAIN) -> WordFormTask:
    return WordFormTask(
        train=[word.for_generation for word in train],
        test=[word.for_generation for word in (*PAST, *FUTURE, *OTHER)],
        relevant=is_tag,
        as_predicted=reordered,
        sets=(3, 3, 2),
        attested=attested([*TRAIN, *PAST, *FUTURE, *OTHER]),
    )


def ordered(*records: dict[str, Any]) -> Records:
    return in_order(records, ROWS, TABLE_2)


GOLDS = [reordered(example).y for example in task().test]


def wrong_tense(y: Tokens) -> Tokens:
    return (*y[:-1], "[COND]")


def item_f1(golds: Sequence[Tokens], predicted: Sequence[Tokens]) -> list[float]:
    return [counts.f1 for counts in item_counts(golds, predicted)]


def outputs(*mistaken: int) -> list[Tokens]:
    return [wrong_tense(y) if place in mistaken else y for place, y in enumerate(GOLDS)]


def record(row: str, *seeds: list[Tokens], column: str = "turkish-8", **further: object) -> dict[str, Any]:
    tasks = [task()] * max(2, len(seeds))
    samples = [Samples((), 0)] * len(tasks)
    part = {"row": row, "column": column, "seeds": list(range(len(tasks))), "kept": [0]}
    return {**part, **scored_part(seeds, tasks), **word_form_part(seeds, samples, tasks), **further}


@pytest.mark.parametrize(
    ("name", "places"), [("PST", slice(0, 3)), ("FUT", slice(3, 6)), ("OTHER", slice(6, 8))], ids=str
)
def test_scores_are_those_of_the_metrics_on_the_same_items(name: str, places: slice) -> None:
    seeds = [outputs(0, 4, 7), outputs(1, 2, 3)]
    for metric, of_all, of_items in (("f1", micro_f1, item_f1), ("exact-match", exact_match, correct)):
        expected = [of_all(GOLDS[places], each[places]) for each in seeds]
        summary, items = word_form_figures(record("baseline", *seeds), Part("", (name,)), metric)  # type: ignore[arg-type]
        assert summary.mean == pytest.approx(sum(expected) / 2)
        assert summary.deviation == pytest.approx(abs(expected[0] - expected[1]) / 2)
        assert [each.tolist() for each in items] == [[[*of_items(GOLDS[places], each[places])]] for each in seeds]


def test_novel_items_are_those_whose_tags_were_never_trained_on() -> None:
    found = record("baseline", outputs(0), outputs(3))
    past, items = word_form_figures(found, Part("", ("PST",), novel_only=True), "exact-match")
    assert past.mean == pytest.approx((2 / 3 + 1) / 2)
    assert [each.tolist() for each in items] == [[[0, 1, 1]], [[1, 1, 1]]]
    assert word_form_figures(found, Part("", ("OTHER",), novel_only=True), "f1")[0] is None
    _, items = word_form_figures(found, PARTS[2], "f1")
    assert [each.shape for each in items] == [(1, 3)] * 2  # no future form is novel


def test_seeds_without_novel_items_do_not_count() -> None:
    tasks = [task(), task(train=[*TRAIN, *words("V;PST", "aaa")])]
    seeds = [outputs(0, 1, 2), GOLDS]
    part = word_form_part(seeds, [Samples((), 0)] * 2, tasks)
    found = {"seeds": [0, 1], **scored_part(seeds, tasks), **part}
    novel, _ = word_form_figures(found, Part("", ("PST",), novel_only=True), "exact-match")
    assert (novel.mean, novel.n) == (0.0, 1)


def test_scores_can_be_counted_again_from_the_outputs_that_a_record_keeps() -> None:
    seeds = [outputs(0, 4, 7), [(), *outputs(1)[1:]]]
    found = record("baseline", *seeds)
    golds, predicted = unpacked_outputs(found["outputs"])
    assert (golds, predicted) == ([GOLDS, GOLDS], seeds)
    part = Part("", ("PST",))
    (summary, _), again = word_form_figures(found, part, "f1"), [micro_f1(GOLDS[:3], each[:3]) for each in predicted]
    assert summary.mean == pytest.approx(sum(again) / 2)
    # No lemma here has two words, so the notebook counts alike.
    assert word_form_figures(found, part, "f1-notebook")[0] == summary
    for text in ("", "AAAA", found["outputs"][:80]):
        with pytest.raises(RecombineError, match="the outputs of a record cannot be read"):
            unpacked_outputs(text)


def test_the_notebook_counts_lemmas_of_two_words_twice_and_takes_them_for_novel() -> None:
    past = words("V;FUT", "a b", "ab", "ba")  # whose tags were trained on
    two = replace(task(), test=[word.for_generation for word in past], sets=(3, 0, 0))
    golds = [reordered(example).y for example in two.test]
    seeds = [[(*"a c", *golds[0][3:]), wrong_tense(golds[1]), golds[2]]] * 2
    part = word_form_part(seeds, [Samples((), 0)] * 2, [two] * 2)
    found = {"row": "x", "column": "turkish-8", "seeds": [0, 1], **scored_part(seeds, [two] * 2), **part}

    def score(metric: Metric, *, novel: bool = False) -> float | None:
        summary, _ = word_form_figures(found, Part("", ("PST",), novel_only=novel), metric)
        return summary and summary.mean

    assert score("f1") == pytest.approx(2 * 7 / (9 + 9))
    assert score("f1-notebook") == pytest.approx(2 * 8 / (10 + 10))
    assert score("f1", novel=True) is None
    assert score("f1-notebook", novel=True) == pytest.approx(2 * 3 / (4 + 4))
    older = {key: value for key, value in found.items() if key != "outputs"}
    assert word_form_figures(older, Part("", ("PST",)), "f1-notebook") == (None, None)
    assert word_form_columns({("x", "turkish-8"): older}, metric="f1-notebook") == []


def test_cells_have_the_papers_figures_beside_ours() -> None:
    found = word_form_cells(ordered(record("geca + resampling", outputs(0, 3), outputs(0, 1))))
    assert len(found) == len(PARTS) * len(METRICS)
    by_kind = {(cell["part"], cell["metric"]): cell for cell in found}
    few, novel = by_kind["FUT+PST", "exact-match"], by_kind["NOVEL OTHER", "f1"]
    # FUT: 2/3 and 1; PST: 2/3 and 1/3.
    assert few.pop("mean") == pytest.approx((5 / 6 + 1 / 2) / 2)
    assert few.pop("std") == pytest.approx(math.hypot(1 / 6, 1 / 6) / 2)
    assert few == {
        "row": "geca + resampling",
        "column": "turkish-8 FUT+PST exact-match",
        **{"language": "turkish", "hints": 8, "part": "FUT+PST", "metric": "exact-match"},
        **{"seeds": 2, "paper": 0.27, "paper_std": 0.07, "published": True, "best": False, "p": None},
    }
    assert (novel["mean"], novel["std"], novel["paper"]) == (None, None, 0.71)


@pytest.mark.parametrize(
    ("row", "column", "part", "metric", "figure"),
    [
        ("geca + recomb-1 + resampling", "turkish-8", 0, "f1", (0.79, 0.02)),
        ("recomb-1 + resampling", "swahili-8", 2, "f1", (0.83, 0.02)),
        ("recomb-1 + resampling", "swahili-8", 2, "f1-notebook", (0.83, 0.02)),
        ("recomb-1 + resampling", "spanish-8", 3, "f1", None),
        ("recomb-2 + resampling", "turkish-16", 1, "exact-match", (0.61, 0.04)),
        ("recomb-2 + resampling + VAE", "swahili-4", 0, "f1", None),
        ("baseline", "swahili-4", 0, "exact-match", (0.107, 0.034)),
    ],
)
def test_published_figures(row: str, column: str, part: int, metric: Any, figure: object) -> None:  # noqa: ANN401
    assert published(column, part, metric).get(row) == figure


def published(column: str, part: int, metric: Metric) -> Mapping[str, object]:
    (found,) = word_form_columns({("any", column): {"outputs": ""}}, metric=metric, parts=[PARTS[part]])
    return found.published


def test_every_published_row_is_one_of_ours() -> None:
    names = {row.name for row in ROWS}
    shown = {row for c in TABLE_2.splits for p in range(len(PARTS)) for m in METRICS for row in published(c, p, m)}
    assert names - shown == {name for name in names if name.endswith((")", "agreement")) or "paradigms" in name}


def test_p_values_are_those_of_the_paired_test_over_splits_with_past_and_future_items() -> None:
    good, bad = (outputs(), outputs(5)), (outputs(0, 1, 3), outputs(2, 4, 5, 6))
    records = ordered(record("baseline", *bad), record("recomb-1", *good), record("geca", *bad))
    found = {(each.first, each.second): each for each in p_values(records, "turkish-8")}
    assert len(found) == 3
    order = [3, 4, 5, 0, 1, 2]  # future, then past
    scores = [
        [np.array([item_f1([GOLDS[i] for i in order], [each[i] for i in order])]) for each in pair]
        for pair in (bad, good)
    ]
    compared = found["baseline", "recomb-1"]
    assert compared.p == pytest.approx(paired(*scores).p)
    assert compared.corrected_p == pytest.approx(min(1, 3 * compared.p))
    assert found["baseline", "geca"].p == 1
    (cell,) = (
        each for each in word_form_cells(records) if each["row"] == "geca" and each["column"] == "turkish-8 FUT+PST f1"
    )
    assert (cell["best"], cell["p"]) == (False, pytest.approx(min(1, 2 * compared.p)))  # against the best, recomb-1


def test_best_rows_are_marked_and_dashes_shown() -> None:
    good, bad = outputs(), outputs(*range(8))
    records = ordered(
        record("baseline", bad, bad), record("recomb-1", good, good), record("geca"), record("recomb-2", good, bad)
    )
    few_shot, *_ = word_form_columns(records, metric="f1")
    assert best_rows(records, few_shot) == ("recomb-1", "recomb-2")
    header, shown = lines(records, word_form_columns(records, metric="exact-match", parts=PARTS[:2]), mark="*")
    assert header == ["", "turkish-8 FUT+PST", "paper", "turkish-8 OTHER", "paper"]
    assert [line[0] for line in shown] == ["baseline", "geca", "recomb-1", "recomb-2"]
    assert shown[2][1:3] == ["*1.00 ± 0.00*", "0.22 ± 0.04"]
    assert shown[1][1:3] == ["-", "0.21 ± 0.05"]
    assert lines(records, word_form_columns(records, metric="f1", hints=4), mark="*") == ([""], [])


def test_seeds_of_one_split_do_not_pass_for_further_items() -> None:
    one, other = outputs(0, 1), outputs(0, 3)
    found = record("baseline", one, other) | {"seeds": [2, 7]}
    items = word_form_figures(found, Part("", ("PST",)), "exact-match")[1]
    assert [each.tolist() for each in items] == [[[0, 0, 1], [0, 1, 1]]]  # two networks on the items of one split


def test_any_language_has_columns() -> None:
    good, bad = outputs(), outputs(*range(8))
    found = [record(name, each, each, column="italian-8") for name, each in (("geca", good), ("baseline", bad))]
    records = ordered(*found, record("geca", good, good))
    header, shown = lines(records, word_form_columns(records, metric="f1", parts=PARTS[:1]), mark="*")
    assert header == ["", "turkish-8 FUT+PST", "paper", "italian-8 FUT+PST", "paper"]
    assert shown[1][3:] == ["*1.00 ± 0.00*", ""]
    assert {cell["language"] for cell in word_form_cells(records)} == {"turkish", "italian"}


def test_samples_are_counted_by_class_over_seeds() -> None:
    tasks = [task()] * 2
    right, known = PAST[0].for_generation, TRAIN[0].for_generation
    strange = Inflection("zzz", ("V", "PST"), "zzzt").for_generation
    samples = [Samples((right, strange), 2), Samples((known,), 2)]
    part = word_form_part([], samples, tasks)
    assert {(each["x"], each["y"]): (each["right"], each["class"]) for each in part["listing"]} == {
        ("ab V;PST", "abt"): (True, "correct and novel"),
        ("zzz V;PST", "zzzt"): (None, "cannot be judged"),
        ("baa V;FUT", "baat"): (True, "also in train"),
    }
    found = {**record("recomb-1"), **part, "kept": [2, 1]}
    (report,) = class_reports(ordered(found, record("baseline")))
    assert (report["row"], report["samples"]) == ("recomb-1", 3)
    assert report["judged"] == pytest.approx(2 / 3)
    assert [count for count in report["classes"].values() if count] == [1, 1, 1]


def test_records_of_another_table_are_refused() -> None:
    with pytest.raises(RecombineError, match="none of Table 2"):
        ordered({"row": "baseline", "column": "jump", "exact_match": [0.0]})
