"""Whoever does the work, the same files come of it; what fails is named and leaves the rest alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Run, failing

from recombine.errors import RecombineError
from recombine.execution.cluster import Ray

ROWS = "recomb-2,recomb-2 + resampling"
OPTIONS = ("--splits", "jump", "--seeds", 2, "--population", 3, "--tiny")
DIFFERENT = ("seconds", "provenance", "digest", "date")
"""What files say of the time and place at which they were made."""


def contents(folder: Path) -> dict[str, object]:
    """Returns all files by name: bytes, or what records and accounts of stages say but for `DIFFERENT`."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content: object = path.read_bytes()
            if path.name in ("stage.json", "run.json") or path.parent == folder:
                content = {key: value for key, value in json.loads(path.read_text()).items() if key not in DIFFERENT}
            found[path.relative_to(folder).as_posix()] = content
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_a_table_is_the_same_file_by_file(run: Run, tmp_path: Path, cluster: Any) -> None:  # noqa: ANN401
    others = {"serial": (), "processes": (), "ray": ("--address", cluster.address)}
    for name, options in others.items():
        words = ("--rows", ROWS, *OPTIONS, "--executor", name, *options, "-o", tmp_path / name, "--json")
        done = run("paper", "table1", *words).ok
        assert "jump, recomb-2 + resampling: 2 recombination networks" in done.err
        assert done.err.count("jump: ") == 2  # populations of predictors
    serial = contents(tmp_path / "serial")
    assert {name.partition("-")[0] for name in serial} == {
        "jump",
        *(f".cache/{kind}" for kind in ("generator", "neighborhoods", "predictions", "samples")),
    }
    assert any(serial["jump-recomb-2.json"]["kept"])  # type: ignore[index]
    assert contents(tmp_path / "processes") == serial
    assert contents(tmp_path / "ray") == serial


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
def test_samples_are_the_same_byte_for_byte(
    run: Run,
    train: Path,
    tmp_path: Path,
    cluster: Any,  # noqa: ANN401
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("recombine.neighborhoods.search.SHARD", 8)  # so that there are parts to be searched
    monkeypatch.setattr("recombine.neighborhoods.search.TRIAL", 4)
    searched: list[str] = []
    outcomes = Ray.outcomes
    monkeypatch.setattr(Ray, "outcomes", lambda *words: searched.append(repr(words[1])) or outcomes(*words))
    options = ("-n", 12, "--seeds", 2, "--no-resample", "--epochs", 6)
    executors = {"none": (), "serial": ("--executor", "serial"), "processes": ("--executor", "processes")}
    for name, words in (executors | {"ray": ("--executor", "ray", "--address", cluster.address)}).items():
        assert run("augment", train, *options, *words, "-o", tmp_path / f"{name}.jsonl").ok
    for seed in (0, 1):
        expected = (tmp_path / f"serial.{seed}.jsonl").read_bytes()
        assert expected
        assert all(
            (tmp_path / f"{name}.{seed}.jsonl").read_bytes() == expected for name in ("none", "processes", "ray")
        )
    assert any("Rule.build" in what for what in searched)
    assert any("Drawing" in what for what in searched)


@pytest.mark.slow
def test_a_comparison_is_the_same(run: Run, train: Path, tmp_path: Path, cluster: Any) -> None:  # noqa: ANN401
    options = ("--methods", "both", "--seeds", 1, "-n", 6, "--epochs", 2, "--size", "small")
    executors = {"serial": (), "processes": (), "ray": ("--address", cluster.address)}
    shown = {}
    for name, words in executors.items():
        done = run("compare", train, *options, "--executor", name, *words, "-o", tmp_path / name).ok
        shown[name] = done.out
    assert shown["processes"] == shown["ray"] == shown["serial"]
    for name in ("processes", "ray"):
        assert _but_for_the_command(tmp_path / name) == _but_for_the_command(tmp_path / "serial")


def _but_for_the_command(folder: Path) -> dict[str, object]:
    found = contents(folder)
    del found["run.json"]["command"]  # type: ignore[attr-defined]
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_a_row_that_fails_leaves_the_others_alone(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: str
) -> None:
    error = RecombineError("no example has a neighborhood.")
    monkeypatch.setattr("recombine.paper.work.Work.neighborhoods", failing(error))
    options = ("--rows", "baseline,recomb-2,geca", *OPTIONS, "--executor", executor, "-o", tmp_path, "--json")
    done = run("paper", "table1", *options)
    assert (done.code, done.out) == (2, "")
    assert done.last == "Error: jump, recomb-2: neighborhoods: no example has a neighborhood."
    assert sorted(path.name for path in tmp_path.glob("*.json")) == ["jump-baseline.json", "jump-geca.json"]
