"""``recombine paper``: running, showing, reporting."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from commands import Run, assert_is_sentence

from recombine.data.sealing import DIGEST, sealed

RESULTS = Path(__file__).parent.parent.parent / "results/table1"
CELL = {"row", "column", "mean", "std", "seeds", "paper", "paper_std"}


def write(folder: Path, row: str, *scores: float, **further: object) -> None:
    folder.mkdir(exist_ok=True)
    found = {"row": row, "column": "jump", "exact_match": scores, **further}
    (folder / f"{row}.json").write_text(json.dumps(sealed(found)))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "table1"
    item = {"x": "jump twice", "y": "JUMP JUMP", "sampled": None}
    write(folder, "recomb-2 + stand-ins", 0.9, 1.0)
    write(folder, "baseline", 0.0)
    audit = {"n": 4, "novel": 4, "right_and_novel": 3, "inputs_in_test": 2}
    listing = [{"seed": 0, "x": "jump", "y": "JUMP", "right": True}, {"seed": 0, "x": "a|b", "y": "c", "right": False}]
    write(
        folder,
        "recomb-2",
        0.25,
        0.75,
        seeds=[0, 1],
        samples=[audit, audit],
        kept=[4, 4],
        rejected=[{"known": 1}, {}],
        listing=listing,
        items=[item | {"predicted": "JUMP"}],
    )
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
        "baseline 0.00 ± 0.00 0.00 ± 0.00 1",
        "learned aug + resampling - (0 of 15 draws) - 2",
        "recomb-2 0.50 ± 0.25 0.88 ± 0.07 2",
        "direct inference 0.50 ± 0.00 0.57 ± 0.05 2",
        "recomb-2 + stand-ins 0.95 ± 0.05 2",
    ]


def test_the_table_as_markdown(run: Run, results: Path) -> None:
    lines = run("paper", "table1", "--show", "--markdown", "-o", results).out.splitlines()
    assert lines[:3] == [
        "|  | jump | paper | samples right | seeds |",
        "| --- | --- | --- | --- | --- |",
        "| baseline | 0.00 ± 0.00 | 0.00 ± 0.00 |  | 1 |",
    ]


def test_the_table_for_machines(run: Run, results: Path) -> None:
    cells = json.loads(run("paper", "table1", "--show", "-o", results, "--json").out)
    assert all(cell.keys() == CELL for cell in cells)
    by_row = {cell["row"]: cell for cell in cells}
    assert list(by_row["baseline"].values()) == ["baseline", "jump", 0.0, 0.0, 1, 0.0, 0.0]
    assert (by_row["recomb-2"]["mean"], by_row["recomb-2"]["paper"]) == (0.5, 0.88)
    assert (by_row["learned aug + resampling"]["mean"], by_row["learned aug + resampling"]["seeds"]) == (None, 2)
    assert by_row["recomb-2 + stand-ins"]["paper"] is None


def test_samples_are_reported_and_listed(run: Run, results: Path) -> None:
    shown = words(run("paper", "samples", "-o", results).out)
    assert shown[1] == "recomb-2 jump 2 8 1 8 75.0 % 50.0 %"
    assert shown[-2:] == ["✓ jump ▷ JUMP", "✗ a|b ▷ c"]
    lines = run("paper", "samples", "-o", results, "--markdown").out.splitlines()
    assert lines[2] == "| recomb-2 | jump | 2 | 8 | 1 | 8 | 75.0 % | 50.0 % |"
    assert lines[-1] == "- ✗ a|b ▷ c"
    [report] = json.loads(run("paper", "samples", "-o", results, "--json").out)
    assert (report["right"], report["inputs_in_test"], len(report["listing"])) == (0.75, 0.5, 2)


def test_items_stand_beside_what_was_sampled(run: Run, results: Path) -> None:
    assert words(run("paper", "items", "-o", results).out) == [
        "jump: jump twice",
        "true output JUMP JUMP",
        "in the samples of recomb-2 (not generated)",
        "recomb-2 ✗ JUMP",
        "direct inference ✓ JUMP JUMP",
        "",
    ]
    assert "| direct inference | ✓ JUMP JUMP |" in run("paper", "items", "-o", results, "--markdown").out.splitlines()
    [item] = json.loads(run("paper", "items", "-o", results, "--json").out)
    assert item["predicted"] == {"recomb-2": "JUMP", "direct inference": "JUMP JUMP"}


def test_the_figures_of_this_repository(run: Run) -> None:
    rows = json.loads(run("paper", "table1", "--show", "-o", RESULTS, "--json").out)
    means = [row["mean"] for row in rows if row["mean"] is not None]
    scores = [json.loads(path.read_text("utf-8"))["exact_match"] for path in RESULTS.glob("*.json")]
    assert sorted(means) == pytest.approx(sorted(sum(each) / len(each) for each in scores if each))
    assert "recomb-2" in [row["row"] for row in rows]


@pytest.mark.parametrize("command", [["table1", "--show"], ["samples"], ["items"], ["table2", "--show"]])
def test_a_folder_without_figures(run: Run, tmp_path: Path, command: list[str]) -> None:
    assert_is_sentence(run("paper", *command, "-o", tmp_path / "none"), ["none", "no figures", "another folder"])


def test_some_rows_and_splits_are_shown_alone(run: Run) -> None:
    asked = ["--rows", "geca,recomb-2", "--splits", "jump"]
    rows = json.loads(run("paper", "table1", "--show", "-o", RESULTS, *asked, "--json").out)
    assert {(row["row"], row["column"]) for row in rows} == {("geca", "jump"), ("recomb-2", "jump")}


def test_records_of_different_code_are_told_apart(run: Run, tmp_path: Path) -> None:
    for name, commit in (("geca", "a" * 40), ("recomb-2", "b" * 40)):
        record = json.loads((RESULTS / f"jump-{name}.json").read_text("utf-8")) | {"provenance": {"commit": commit}}
        del record[DIGEST]
        (tmp_path / f"{name}.json").write_text(json.dumps(sealed(record)), "utf-8")
    assert "rows of jump were run with different code: commits aaaaaaa, bbbbbbb" in run(
        "paper", "table1", "--show", "-o", tmp_path
    ).out.replace("\n", " ")


@pytest.mark.parametrize("command", [["table1", "--show"], ["samples"], ["items"]])
def test_a_file_that_is_no_record(run: Run, results: Path, command: list[str]) -> None:
    (results / "other.json").write_text("{}")
    assert_is_sentence(run("paper", *command, "-o", results), ["other.json", "no record"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rows", "recomb2"], ["unknown row 'recomb2'", "recomb-2"]),
        (["--splits", "jmp"], ["unknown split 'jmp'", "jump"]),
        (["--splits", "jmp", "--rows", "geca"], ["unknown split 'jmp'", "jump"]),
        (["--splits", "around-right", "--rows", "direct inference"], ["direct inference", "jump only"]),
        (["--device", "tpu"], ["tpu", "cuda"]),
        (["--seeds", "0"], ["--seeds"]),
        (["--population", "0"], ["--population"]),
        (["--experiments", "."], ["no experiments"]),
    ],
)
def test_what_there_is_not(
    run: Run, tmp_path: Path, options: list[str], words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_is_sentence(run("paper", "table1", "-o", tmp_path / "new", *options), words)
    assert not (tmp_path / "new").exists()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the rehearsal one of seconds."""
    import torch

    from recombine.paper import tiny

    torch.set_num_threads(1)
    settings = tiny.tiny_settings

    def quicker(row: "tiny.Row", split: str) -> "tiny.Settings":
        found = settings(row, split)
        return replace(
            found, generator=replace(found.generator, max_steps=3), predictor=replace(found.predictor, epochs=1)
        )

    monkeypatch.setattr(tiny, "tiny_settings", quicker)


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_rows_are_run_recorded_and_shown(run: Run, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "a.toml").write_text('name = "geca of one gap"\nlike = "geca"\n[geca]\ngaps = 3\n')
    output, options = tmp_path / "out", ("--seeds", 2, "--device", "cpu", "--tiny", "--experiments", mine)
    rows = "baseline, geca of one gap,recomb-2 + stand-ins"
    done = run("paper", "table1", "--splits", "jump", "--rows", rows, *options, "-o", output, "--json")
    assert done.code == 0, done.err
    assert [(row["row"], row["seeds"]) for row in json.loads(done.out)] == [
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
    assert json.loads(again.out) == json.loads(done.out)
    assert any(path.name.startswith("generator-") for path in (output / ".cache").iterdir())


@pytest.mark.usefixtures("quick")
def test_a_record_of_more_seeds_is_replaced_only_by_force(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "few", "baseline", 0.5, 0.5, seeds=[0, 1])
    command = ("paper", "table1", "--rows", "baseline", "--splits", "jump", "--seeds", 1)
    options = ("--tiny", "--device", "cpu", "-o", tmp_path / "few")
    refused = run(*command, *options)
    assert (refused.code, "--force" in refused.err, "1 of which would be lost" in refused.err) == (2, True, True)
    assert json.loads((tmp_path / "few/baseline.json").read_text())["seeds"] == [0, 1]
    assert run(*command, *options, "--force").code == 0


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
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("recombine.paper.work.Work.train", interrupted)
    options = ("--rows", "geca", "--splits", "jump", "--seeds", 1, "--device", "cpu", "--tiny")
    done = run("paper", "table1", *options, "-o", tmp_path / "out", "--cache", tmp_path / "stages")
    assert done.code == 130
    assert "the same command goes on" in done.err
    assert [path.name.partition("-")[0] for path in (tmp_path / "stages").iterdir()] == ["samples"]


@pytest.mark.usefixtures("quick")
def test_a_rehearsal_does_not_touch_the_figures(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("paper", "table1", "--tiny", "--rows", "baseline", "--seeds", 1, "--device", "cpu", "--json")
    assert [row["column"] for row in json.loads(done.out)] == ["jump", "around-right"]
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
