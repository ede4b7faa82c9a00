"""``recombine paper``: running, showing, reporting."""

import json
from pathlib import Path

import pytest
from commands import Run, assert_is_sentence, failing
from word_forms import write_language

from recombine.data.store import DIGEST, sealed

TABLE_1 = Path(__file__).parent.parent.parent / "results/table1"
TABLE_2 = TABLE_1.with_name("table2")
CELL = {"row", "column", "mean", "std", "seeds", "paper", "paper_std", "published", "best", "p"}
CELL_2 = {*CELL, "language", "hints", "part", "metric"}


def write(folder: Path, row: str, *scores: float, **further: object) -> None:
    folder.mkdir(exist_ok=True)
    found = {"row": row, "column": "jump", "exact_match": scores, **further}
    (folder / f"{row}.json").write_text(json.dumps(sealed(found)))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "table1"
    item = {"x": "jump twice", "y": "JUMP JUMP", "sampled": None}
    audit = {"n": 4, "novel": 4, "right_and_novel": 3, "inputs_in_test": 2}
    listing = [{"seed": 0, "x": "jump", "y": "JUMP", "right": True}, {"seed": 0, "x": "a|b", "y": "c", "right": False}]
    drawn = {"samples": [audit, audit], "kept": [4, 4], "rejected": [{"known": 1}, {}], "listing": listing}
    write(folder, "recomb-2 + stand-ins", 0.9, 1.0)
    write(folder, "baseline", 0.0)
    write(folder, "recomb-2", 0.25, 0.75, seeds=[0, 1], **drawn, items=[item | {"predicted": "JUMP"}])
    write(folder, "direct inference", 0.5, 0.5, items=[item | {"predicted": "JUMP JUMP"}])
    write(folder, "learned aug + resampling", dash=True, seeds=[0, 1], rejected=[{"known": 7}, {"known": 8}])
    return folder


def words(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_the_table_shows_our_figures_beside_the_papers(run: Run, results: Path) -> None:
    done = run("paper", "table1", "--show", "-o", results)
    assert (done.code, done.err) == (0, "")
    assert words(done.out)[:6] == [
        "jump paper samples right seeds",
        "baseline 0.00 0.00 ± 0.00 1",
        "learned aug + resampling - (0 of 15 draws) - 2",
        "recomb-2 0.50 ± 0.25 0.88 ± 0.07 2",
        "direct inference 0.50 ± 0.00 0.57 ± 0.05 2",
        "recomb-2 + stand-ins 0.95 ± 0.05 2",
    ]
    assert run("paper", "table1", "--show", "--markdown", "-o", results).out.splitlines()[:3] == [
        "|  | jump | paper | samples right | seeds |",
        "| --- | --- | --- | --- | --- |",
        "| baseline | 0.00 | 0.00 ± 0.00 |  | 1 |",
    ]
    cells = run("paper", "table1", "--show", "-o", results, "--json").document
    assert all(cell.keys() == CELL for cell in cells)
    assert [cell["row"] for cell in cells if cell["published"]] == [cell["row"] for cell in cells[:-1]]


def test_samples_are_listed_and_items_stand_beside_what_was_sampled(run: Run, results: Path) -> None:
    shown = words(run("paper", "samples", "-o", results).out)
    assert shown[1] == "recomb-2 jump 2 8 1 8 75.0 % 50.0 %"
    assert shown[-2:] == ["✓ jump ▷ JUMP", "✗ a|b ▷ c"]
    lines = run("paper", "samples", "-o", results, "--markdown").out.splitlines()
    assert lines[2] == "| recomb-2 | jump | 2 | 8 | 1 | 8 | 75.0 % | 50.0 % |"
    assert lines[-1] == "- ✗ a|b ▷ c"
    [report] = run("paper", "samples", "-o", results, "--json").document
    assert (report["right"], report["inputs_in_test"], len(report["listing"])) == (0.75, 0.5, 2)
    assert words(run("paper", "items", "-o", results).out) == [
        "jump: jump twice",
        "true output JUMP JUMP",
        "in the samples of recomb-2 (not generated)",
        "recomb-2 ✗ JUMP",
        "direct inference ✓ JUMP JUMP",
        "",
    ]
    assert "| direct inference | ✓ JUMP JUMP |" in run("paper", "items", "-o", results, "--markdown").out.splitlines()
    [item] = run("paper", "items", "-o", results, "--json").document
    assert item["predicted"] == {"recomb-2": "JUMP", "direct inference": "JUMP JUMP"}


def test_records_of_different_code_are_told_apart(run: Run, tmp_path: Path) -> None:
    for name, commit in (("geca", "a" * 40), ("recomb-2", "b" * 40)):
        record = json.loads((TABLE_1 / f"jump-{name}.json").read_text("utf-8")) | {"provenance": {"commit": commit}}
        del record[DIGEST]
        (tmp_path / f"{name}.json").write_text(json.dumps(sealed(record)), "utf-8")
    assert "rows of jump were run with different code: commits aaaaaaa, bbbbbbb" in run(
        "paper", "table1", "--show", "-o", tmp_path
    ).out.replace("\n", " ")


def test_a_file_that_is_no_record_or_one_of_another_table(run: Run, results: Path) -> None:
    assert_is_sentence(run("paper", "table2", "--show", "-o", results), ["no figures of what was asked for"])
    (results / "other.json").write_text("{}")
    for command in (["table1", "--show"], ["samples"], ["items"]):
        assert_is_sentence(run("paper", *command, "-o", results), ["other.json", "no record"])


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_rows_are_run_recorded_and_shown(run: Run, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "a.toml").write_text('name = "geca of one gap"\nlike = "geca"\n[geca]\ngaps = 3\n')
    output, options = tmp_path / "out", ("--seeds", 2, "--device", "cpu", "--tiny", "--experiments", mine)
    rows = "baseline, geca of one gap,recomb-2 + stand-ins"
    done = run("paper", "table1", "--splits", "jump", "--rows", rows, *options, "-o", output, "--json").ok
    assert [(row["row"], row["seeds"]) for row in done.document] == [
        ("baseline", 2),
        ("recomb-2 + stand-ins", 2),
        ("geca of one gap", 2),
    ]
    found = json.loads((output / "jump-recomb-2-stand-ins.json").read_text())
    assert found["settings"]["generator"]["stand_ins"] == 0.5
    assert json.loads((output / "jump-geca-of-one-gap.json").read_text())["settings"]["geca"]["gaps"] == 3
    assert f"Written: {output}/jump-baseline.json" in done.err
    assert "jump, recomb-2 + stand-ins: 2 recombination networks" in done.err
    assert "left in all" in done.err
    again = run("paper", "table1", "--splits", "jump", "--rows", rows, *options, "-o", output, "--json")
    assert "recombination network" not in again.err
    assert again.document == done.document
    assert any(path.name.startswith("generator-") for path in (output / ".cache").iterdir())


@pytest.mark.usefixtures("quick")
def test_a_record_of_more_seeds_is_replaced_only_by_force(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "few", "baseline", 0.5, 0.5, seeds=[0, 1])
    command = ("paper", "table1", "--rows", "baseline", "--splits", "jump", "--seeds", 1, "--tiny")
    assert_is_sentence(run(*command, "-o", tmp_path / "few"), ["--force", "1 of which would be lost"])
    assert json.loads((tmp_path / "few/baseline.json").read_text())["seeds"] == [0, 1]
    assert run(*command, "-o", tmp_path / "few", "--force").code == 0


@pytest.mark.parametrize("option", ["--output", "--cache"])
def test_a_file_in_place_of_a_folder_is_told_before_anything_is_done(run: Run, tmp_path: Path, option: str) -> None:
    (tmp_path / "file").write_text("text")
    folders = {"--output": tmp_path / "o", "--cache": tmp_path / "c"} | {option: tmp_path / "file"}
    done = run("paper", "table1", "--tiny", "--rows", "baseline", *(word for pair in folders.items() for word in pair))
    assert (done.code, done.out) == (2, "")
    assert done.err == f"Error: {tmp_path / 'file'}: this is no folder. Name one that is, or a new one.\n"
    assert not (tmp_path / "o").exists()


@pytest.mark.usefixtures("quick")
def test_an_interruption_says_how_to_go_on(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.paper.work.Work.train", failing(KeyboardInterrupt()))
    options = ("--rows", "geca", "--splits", "jump", "--seeds", 1, "--tiny")
    done = run("paper", "table1", *options, "-o", tmp_path / "out", "--cache", tmp_path / "stages")
    assert done.code == 130
    assert "the same command goes on" in done.err
    assert [path.name.partition("-")[0] for path in (tmp_path / "stages").iterdir()] == ["samples"]


@pytest.mark.usefixtures("quick")
def test_only_figures_at_the_papers_size_are_among_the_figures(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("paper", "table1", "--tiny", "--rows", "baseline", "--seeds", 1, "--json")
    assert [row["column"] for row in done.document] == ["jump", "around-right"]
    write_language(tmp_path / "files", "italian")  # any language that has a file
    options = ("--languages", "italian", "--splits", "0", "--source", "files", "--tiny")
    done = run("paper", "table2", *options, "--rows", "baseline").ok
    assert "italian-8 FUT+PST" in done.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["files", "runs"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write_language(tmp_path / "files", "swahili")
    return tmp_path / "files"


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_rows_of_table_2_are_run_recorded_and_shown(run: Run, source: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    run_with = f"--languages swahili --splits 0,3,0 --seeds 2 --source {source} --device cpu --tiny"
    options = run_with.split()
    rows = "baseline,baseline + resampling,recomb-1 + resampling"
    done = run("paper", "table2", *options, "--rows", rows, "-o", output, "--json").ok
    assert "swahili-train-high is not the file as it was published" in done.err
    cells = done.document
    assert all(cell.keys() == CELL_2 for cell in cells)
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
    assert again.document == cells
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
    comparisons = run("paper", "table2", "--show", "--p-values", "--json", "-o", output).document
    assert [each["column"] for each in comparisons] == ["swahili-8"] * 3
    classes = run("paper", "table2", "--show", "--errors", "--json", "-o", output).document
    oversampled = next(report for report in classes if report["row"] == "baseline + resampling")
    assert (oversampled["samples"], oversampled["judged"], oversampled["classes"]["also in train"]) == (32, 1.0, 32)
    listing = run("paper", "table2", "--show", "--errors", "-o", output).out
    assert "(also in train)" in listing
    assert run("paper", "samples", "-o", output).code == 0


@pytest.mark.parametrize(
    ("options", "titles", "row"),
    [
        ([], ["8", "4", "16"], "baseline"),
        (["--hints", "16,4"], ["4", "16"], "baseline"),
        (["--hints", "8", "--rows", "geca + resampling"], ["8"], "geca + resampling"),
    ],
)
def test_what_is_asked_for_is_shown(run: Run, options: list[str], titles: list[str], row: str) -> None:
    """The figures of the repository: Table 2 comes before the appendix."""
    lines = run("paper", "table2", "--show", "-o", TABLE_2, "--languages", "turkish", *options).out.splitlines()
    assert [line for line in lines if line.startswith("F1, ")] == [f"F1, {number} hints" for number in titles]
    assert not any("spanish-" in line for line in lines)
    assert lines[3].split("  ")[0] == row
