"""``recombine paper table1``."""

import json
from pathlib import Path

import pytest
from commands import Run, assert_is_sentence

RESULTS = Path(__file__).parent.parent.parent / "results/table1"


def write(folder: Path, row: str, *scores: float) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{row}.json").write_text(json.dumps({"row": row, "column": "jump", "exact_match": scores}))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "table1"
    write(folder, "recomb-2 + stand-ins", 0.9, 1.0)
    write(folder, "baseline", 0.0)
    write(folder, "recomb-2", 0.25, 0.75)
    return folder


def test_the_table_shows_our_figures_beside_the_papers(run: Run, results: Path) -> None:
    done = run("paper", "table1", "--show", "-o", results)
    assert (done.code, done.err) == (0, "")
    assert [" ".join(line.split()) for line in done.out.splitlines()] == [
        "row split ours paper seeds",
        "baseline jump 0.00 ± 0.00 0.00 ± 0.00 1",
        "recomb-2 jump 0.50 ± 0.25 0.88 ± 0.07 2",
        "recomb-2 + stand-ins jump 0.95 ± 0.05 - 2",
    ]


def test_the_table_for_machines(run: Run, results: Path) -> None:
    done = run("paper", "table1", "--show", "-o", results, "--json")
    first, second, third = json.loads(done.out)
    assert first == {
        "row": "baseline",
        "column": "jump",
        "mean": 0.0,
        "std": 0.0,
        "seeds": 1,
        "paper": 0.0,
        "paper_std": 0.0,
    }
    assert (second["row"], second["mean"], second["paper"]) == ("recomb-2", 0.5, 0.88)
    assert (third["std"], third["paper"]) == (pytest.approx(0.05), None)


def test_the_figures_of_this_repository(run: Run) -> None:
    rows = json.loads(run("paper", "table1", "--show", "-o", RESULTS, "--json").out)
    for row in rows:
        found = json.loads((RESULTS / f"{row['column']}-{row['row'].replace(' + ', '-')}.json").read_text())
        assert row["mean"] == pytest.approx(sum(found["exact_match"]) / len(found["exact_match"]))
    assert "recomb-2" in [row["row"] for row in rows]


def test_a_file_that_is_no_record(run: Run, results: Path) -> None:
    (results / "other.json").write_text("{}")
    assert_is_sentence(run("paper", "table1", "--show", "-o", results), ["other.json", "no record"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rows", "recomb2"], ["unknown row 'recomb2'", "recomb-2"]),
        (["--splits", "jmp"], ["unknown split 'jmp'", "jump"]),
        (["--splits", "jmp", "--rows", "geca"], ["unknown split 'jmp'", "jump"]),
        (["--device", "tpu"], ["tpu", "cuda"]),
        (["--seeds", "0"], ["--seeds"]),
    ],
)
def test_what_there_is_not(run: Run, tmp_path: Path, options: list[str], words: list[str]) -> None:
    assert_is_sentence(run("paper", "table1", "-o", tmp_path / "new", *options), words)
    assert not (tmp_path / "new").exists()


def test_rows_are_run_recorded_and_shown(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from toy_task import QUICK_GENERATOR, QUICK_PREDICTOR, TASK

    from recombine import paper

    torch.set_num_threads(1)
    monkeypatch.setattr(paper, "task", lambda _: TASK)
    monkeypatch.setattr(paper, "SCAN_PREDICTOR", QUICK_PREDICTOR)
    monkeypatch.setattr(paper, "SCAN_GENERATOR", QUICK_GENERATOR)
    monkeypatch.setattr(paper, "STAND_IN_STEPS", 6)
    monkeypatch.setattr("recombine.augmentation.sampler.LEAST", 1)
    options = ("--rows", "baseline,recomb-2 + stand-ins", "--seeds", 2, "--device", "cpu", "-o", tmp_path)
    done = run("paper", "table1", *options, "--json")
    assert done.code == 0, done.err
    assert [(row["row"], row["seeds"]) for row in json.loads(done.out)] == [
        ("baseline", 2),
        ("recomb-2 + stand-ins", 2),
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["jump-baseline.json", "jump-recomb-2-stand-ins.json"]
    found = json.loads((tmp_path / "jump-recomb-2-stand-ins.json").read_text())
    assert found["seeds"] == [0, 1]
    assert found["settings"]["augmenter"]["recipe"]["stand_ins"] == 0.5
    assert found["settings"]["augmenter"]["recipe"]["max_steps"] == 6
    assert f"Written: {tmp_path}/jump-baseline.json" in done.err
