"""``recombine paper table2``: running on a made-up language, showing, and what there is not."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from commands import Run, assert_is_sentence
from word_forms import write_language

from recombine.paper.records import write_record

CELL = {"row", "column", "language", "hints", "part", "metric", "mean", "std", "seeds", "paper", "paper_std"}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the rehearsal one of seconds."""
    import torch

    from recombine.paper import word_form_scale as module

    torch.set_num_threads(1)
    tiny = module._tiny

    def quicker(found: "module.Settings") -> "module.Settings":
        found = tiny(found)
        return replace(
            found, generator=replace(found.generator, max_steps=20), predictor=replace(found.predictor, epochs=1)
        )

    monkeypatch.setattr(module, "_tiny", quicker)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write_language(tmp_path / "files", "swahili")
    return tmp_path / "files"


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_rows_are_run_recorded_and_shown(run: Run, source: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    options = (
        "--languages",
        "swahili",
        "--splits",
        "0,3,0",
        "--seeds",
        2,
        "--source",
        source,
        "--device",
        "cpu",
        "--tiny",
    )
    rows = "baseline,baseline + resampling,recomb-1 + resampling"
    done = run("paper", "table2", *options, "--rows", rows, "-o", output, "--json")
    assert done.code == 0, done.err
    assert "swahili-train-high is not the file as it was published" in done.err
    cells = json.loads(done.out)
    assert all(cell.keys() == CELL for cell in cells)
    assert list(dict.fromkeys(cell["row"] for cell in cells)) == rows.split(",")
    assert {(cell["language"], cell["hints"]) for cell in cells} == {("swahili", 8)}
    baseline = next(cell for cell in cells if cell["column"] == "swahili-8 FUT+PST f1")
    assert (baseline["seeds"], baseline["paper"], baseline["paper_std"]) == (4, 0.75, 0.02)
    record = json.loads((output / "swahili-8-recomb-1-resampling.json").read_text())
    assert record["seeds"] == [0, 3, 5, 8]  # two networks each of splits 0 and 3
    assert record["novel"][0] == record["novel"][2]
    assert "4 recombination networks" in done.err

    again = run("paper", "table2", *options, "--rows", rows, "-o", output, "--json")
    assert "recombination network" not in again.err
    assert json.loads(again.out) == cells
    shown = run("paper", "table2", "--show", "-o", output)
    assert (shown.code, shown.err) == (0, "")
    lines = shown.out.splitlines()
    assert lines[0] == "F1, 8 hints"
    assert lines[2].split() == ["swahili-8", "FUT+PST", "paper", "swahili-8", "OTHER", "paper"]
    assert lines[3].startswith("baseline")
    assert "0.75 ± 0.02" in lines[3]
    markdown = run("paper", "table2", "--show", "-o", output, "--markdown").out.splitlines()
    assert markdown[2] == "|  | swahili-8 FUT+PST | paper | swahili-8 OTHER | paper |"
    matrix = run("paper", "table2", "--show", "--p-values", "-o", output).out.splitlines()
    assert matrix[0] == "swahili-8"
    assert matrix[4].startswith("baseline + resampling")
    comparisons = json.loads(run("paper", "table2", "--show", "--p-values", "--json", "-o", output).out)
    assert [each["column"] for each in comparisons] == ["swahili-8"] * 3
    classes = json.loads(run("paper", "table2", "--show", "--errors", "--json", "-o", output).out)
    oversampled = next(report for report in classes if report["row"] == "baseline + resampling")
    assert (oversampled["samples"], oversampled["judged"], oversampled["classes"]["also in train"]) == (32, 1.0, 32)
    listing = run("paper", "table2", "--show", "--errors", "-o", output).out
    assert "(also in train)" in listing
    assert run("paper", "samples", "-o", output).code == 0


@pytest.mark.usefixtures("quick")
def test_only_figures_at_the_papers_size_are_among_the_figures(
    run: Run, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ("--languages", "swahili", "--splits", "0", "--source", source, "--device", "cpu", "--tiny")
    done = run("paper", "table2", *options, "--rows", "baseline")
    assert done.code == 0, done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["files", "runs"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rows", "recomb1"], ["unknown row 'recomb1'", "recomb-1"]),
        (["--languages", "turkis"], ["unknown language 'turkis'", "turkish"]),
        (["--hints", "5"], ["no splits with 5 hints", "4, 8, 16"]),
        (["--splits", "5"], ["no split 5"]),
        (["--size", "huge"], ["unknown size 'huge'"]),
        (["--source", "nowhere"], ["nowhere", "no such folder"]),
        (["--seeds", "0"], ["--seeds"]),
        (["--p-values"], ["--show"]),
        (["--show", "--p-values", "--errors"], ["one of them at a time"]),
    ],
)
def test_what_there_is_not(run: Run, tmp_path: Path, options: list[str], words: list[str]) -> None:
    assert_is_sentence(run("paper", "table2", "-o", tmp_path / "new", "--device", "cpu", *options), words)
    assert not (tmp_path / "new").exists()


def test_records_of_table_1_are_not_shown(run: Run, tmp_path: Path) -> None:
    write_record({"row": "baseline", "column": "jump", "exact_match": []}, tmp_path)
    assert_is_sentence(run("paper", "table2", "--show", "-o", tmp_path), ["no figures of what was asked for"])


RESULTS = Path(__file__).parent.parent.parent / "results" / "table2"


@pytest.mark.parametrize(
    ("options", "titles", "row"),
    [
        ([], ["8", "4", "16"], "baseline"),
        (["--hints", "16"], ["16"], "baseline"),
        (["--hints", "16,4"], ["4", "16"], "baseline"),
        (["--hints", "8", "--rows", "geca + resampling"], ["8"], "geca + resampling"),
    ],
)
def test_what_is_asked_for_is_shown(run: Run, options: list[str], titles: list[str], row: str) -> None:
    """The figures of the repository: Table 2 comes before the appendix."""
    lines = run("paper", "table2", "--show", "-o", RESULTS, "--languages", "turkish", *options).out.splitlines()
    assert [line for line in lines if line.startswith("F1, ")] == [f"F1, {number} hints" for number in titles]
    assert not any("spanish-" in line for line in lines)
    assert lines[3].split("  ")[0] == row


@pytest.mark.parametrize("options", [("--splits", "7"), ("--splits", "0"), ("--seeds", 2)])
def test_what_is_shown_has_all_splits(run: Run, tmp_path: Path, options: tuple[object, ...]) -> None:
    assert_is_sentence(run("paper", "table2", "--show", "-o", tmp_path, *options), ["split"])
