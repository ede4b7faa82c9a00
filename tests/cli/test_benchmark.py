"""``recombine benchmark``: real tasks are run, recorded, gone on with and shown."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Run, assert_is_sentence

from recombine.data.store import sealed
from recombine.paper import benchmark
from recombine.paper.benchmark import RealTask, Results

COLORS, SHAPES = ("red", "blue", "green", "grey", "pink", "black"), ("dot", "star", "box", "ring", "line")
ROW = {"column": "shapes", "tested": 4, "seeds": [0, 1]}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Data of a task: colours and shapes, not all pairs of them, and test examples with their kind."""
    pairs = [(f"{color} {shape}", f"{shape.upper()} ( {color.upper()} )") for color in COLORS for shape in SHAPES]
    pairs += [(f"{x} twice", f"{y} ; {y}") for x, y in pairs]
    folder = tmp_path / "source/shapes"
    folder.mkdir(parents=True)
    (folder / "train.tsv").write_text("".join(f"{x}\t{y}\tseen\n" for place, (x, y) in enumerate(pairs) if place % 6))
    (folder / "test.tsv").write_text("".join(f"{x}\t{y}\t{kind}\n" for (x, y), kind in zip(pairs, "abb", strict=False)))
    return folder.parent


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny: None) -> RealTask:
    """Makes this the only task, and samples few."""
    found = RealTask(
        name="shapes",
        train="shapes/train.tsv",
        test="shapes/test.tsv",
        kinds=3,
        origin="https://example.org",
        published={"plain": 0.25, "Other, published": 0.5},
        by_kind={"Other, published": {"b": 0.75}},
    )
    monkeypatch.setattr(RealTask, "of", lambda name: found)
    monkeypatch.setattr(benchmark, "FEWEST", 5)
    monkeypatch.setattr(benchmark, "MOST", 5)
    return found


def test_rows_are_run_once_recorded_and_shown(run: Run, tmp_path: Path, source: Path, task: RealTask) -> None:
    folder = tmp_path / "out"
    command = ("benchmark", "shapes", "--seeds", 2, "--max-time", 2, "--device", "cpu", "-o", folder)
    ran = run(*command, "--source", source, "--rows", "plain,spans").ok
    record = json.loads((folder / "shapes-spans.json").read_text())
    assert (record["row"], record["column"], record["seeds"], record["kept"]) == ("spans", "shapes", [0, 1], [5, 5])
    assert (record["mean"], record["settings"]["n"]) == (sum(record["exact_match"]) / 2, 5)
    assert {kind: len(scores) for kind, scores in record["kinds"].items()} == {"a": 2, "b": 2}
    assert {"command", "commit", "device"} <= record["provenance"].keys()
    assert set(record["seconds"]) == {"samples", "predictors"}
    again = run(*command, "--source", source, "--rows", "plain,spans")
    assert (again.out, "there is a record" in again.err, "Written" in again.err) == (ran.out, True, False)
    otherwise = run(*command, "--source", source, "--rows", "spans", "--max-time", 3)
    assert_is_sentence(otherwise, ["another max_time", "--force"])
    shown = run("benchmark", "shapes", "--show", "-o", folder, "--json").document
    assert [(row["row"], row["mean"], row["published"]) for row in shown["rows"]] == [
        ("plain", shown["rows"][0]["mean"], 0.25),
        ("spans", record["mean"], None),
    ]
    assert [each["row"] for each in shown["against_plain"]] == ["spans"]


def written(folder: Path, row: str, *scores: float, **further: Any) -> None:  # noqa: ANN401
    folder.mkdir(exist_ok=True)
    record = {"row": row, "exact_match": scores, **ROW, **further}
    (folder / f"{row}.json").write_text(json.dumps(sealed(record)))


def test_what_is_worse_than_plain_is_told(tmp_path: Path, run: Run, task: RealTask) -> None:
    written(tmp_path / "out", "plain", 0.5, 0.75, kinds={"a": [1.0, 1.0], "b": [0.0, 0.5]})
    written(tmp_path / "out", "spans", 0.5, 0.5)
    written(tmp_path / "out", "geca", 0.25, 0.5)
    lines = run("benchmark", "shapes", "--show", "-o", tmp_path / "out").ok.out.splitlines()
    assert lines[-1] == "Against plain: geca -0.250, spans -0.125. geca is worse by more than the spread over seeds."
    assert [line.split() for line in lines if line.startswith(("Other", "b "))] == [
        ["Other,", "published", "-", "0.500"],
        ["b", "0.25", "±", "0.25", "0.75"],
    ]


def test_a_method_without_samples_is_the_plain_predictor(
    tmp_path: Path, run: Run, source: Path, task: RealTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "".join(f"{number} {number * 7 % 20}\tX{number * 3 % 20}\tkind\n" for number in range(20))
    (source / "shapes/train.tsv").write_text(lines)
    options = ("--device", "cpu", "--seeds", 1, "--max-time", 1, "--rows", "auto", "-o", tmp_path / "out")
    assert "No rule makes" in run("benchmark", "shapes", "--source", source, *options).ok.err
    assert json.loads((tmp_path / "out/shapes-auto.json").read_text())["kept"] == [0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["shapez"], ["unknown task 'shapez'", "geoquery"]),
        (["geoquery", "--rows", "spams"], ["unknown row 'spams'", "'spans'"]),
        (["geoquery"], ["DIR/geoquery/query-train.tsv", "SUBS", "--source DIR"]),
        (["cogs", "--source", "nowhere"], ["nowhere/cogs/gen-dev.tsv", "https://github.com/najoungkim/COGS"]),
        (["cogs", "--show"], ["no figures"]),
    ],
)
def test_bad_usage(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_is_sentence(run("benchmark", *options), words)
    assert not (tmp_path / "results").exists()


def test_every_task_says_where_its_data_are_from() -> None:
    for name in ("geoquery", "cogs", "mcd1", "mcd2", "mcd3", "jump", "around-right", "opposite-right", "turn-left"):
        task = RealTask.of(name)
        assert bool(task.scan) != bool(task.train and task.test and task.origin)
        assert Results(task, {}).verdict == []
