import json
import re
import shlex
from dataclasses import asdict
from pathlib import Path

import pytest
from toy_task import QUICK_PREDICTOR, TASK

from recombine import paper
from recombine.augmentation.geca import GECA
from recombine.augmentation.recombination import Recombination
from recombine.data.scan import interpret
from recombine.errors import RecombineError
from recombine.experiment import Outcome, Plan, run
from recombine.neighborhoods import LongShort

RESULTS = Path(__file__).parent.parent / "results/table1"


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    plan = Plan(name="geca", predictor=QUICK_PREDICTOR, augmenter=GECA(), n=7, p_aug=0.2)
    return run(plan, TASK, [0, 1], device="cpu")


def record(outcome: Outcome) -> dict[str, object]:
    return paper.record(outcome, "jump", command=["recombine", "a b"], device="cpu", settings={"n": 7})


@pytest.mark.parametrize(("row", "split"), paper.PUBLISHED)
def test_every_row_that_is_published_has_a_plan(row: str, split: str) -> None:
    plan = paper.plan(row, split, device="cpu")
    assert plan.name == row in paper.rows(split)
    assert (plan.n, plan.p_aug) == (400, None if row == "baseline" else paper.P_AUG[split])
    assert plan.predictor.network.copying == "none"
    if isinstance(plan.augmenter, Recombination):
        assert plan.augmenter.rule == LongShort(removal="distinct")
        assert plan.augmenter.device == "cpu"
        assert plan.augmenter.recipe.settings(10**6).epochs > 1
        assert bool(plan.augmenter.recipe.stand_ins) == (row == paper.STAND_INS)
    else:
        assert (plan.augmenter is None) == (row == "baseline")


def test_plans_are_made_anew_each_time() -> None:
    """An experiment gives its augmenter seeds and fits it."""
    assert paper.plan("recomb-2", "jump").augmenter is not paper.plan("recomb-2", "jump").augmenter


def test_unknown_rows_and_splits() -> None:
    with pytest.raises(RecombineError, match=r"unknown split 'jmp'. Did you mean 'jump'\?"):
        paper.plan("baseline", "jmp")
    with pytest.raises(RecombineError, match=r"unknown row 'recomb2'. Did you mean 'recomb-2'\?"):
        paper.plan("recomb2", "jump")
    with pytest.raises(RecombineError, match="unknown split"):
        paper.task("jmp")
    with pytest.raises(RecombineError, match="unknown split 'length'"):
        paper.rows("length")


def test_the_task_is_scan_without_repetitions() -> None:
    task = paper.task("jump")
    assert len(task.train) == len(set(task.train)) == 13_204
    assert len(task.test) == 7_706
    assert task.gold is interpret
    assert [pair.x for pair in task.train if "jump" in pair.x] == [("jump",)]


def test_a_record_says_what_came_out_and_where_from(outcome: Outcome) -> None:
    found = record(outcome)
    assert found == json.loads(json.dumps(found))
    assert (found["row"], found["column"], found["seeds"]) == ("geca", "jump", [0, 1])
    assert found["exact_match"] == outcome.exact_match
    assert found["samples"] == [asdict(audit) for audit in outcome.audits]
    assert found["seconds"] == outcome.seconds
    assert found["settings"] == {"n": 7}
    first = outcome.samples[0][0]
    assert found["listing"][0][0] == {"x": " ".join(first.x), "y": " ".join(first.y)}
    assert [len(listed) for listed in found["listing"]] == [5, 5]
    provenance = found["provenance"]
    assert shlex.split(provenance["command"]) == ["recombine", "a b"]  # as one would type it
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", provenance["date"])
    assert all(provenance.values())


def test_the_commit_can_be_told_where_git_is_not_at_hand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RECOMBINE_COMMIT", "abc")
    assert paper.provenance(["x"], "cpu")["commit"] == "abc"
    monkeypatch.delenv("RECOMBINE_COMMIT")
    monkeypatch.chdir(tmp_path)
    assert paper.provenance(["x"], "cpu")["commit"] == "unknown"


def test_records_are_written_and_read_as_cells(outcome: Outcome, tmp_path: Path) -> None:
    folder = tmp_path / "new/table1"
    found = record(outcome)
    assert paper.write_record(found, folder) == folder / "jump-geca.json"
    paper.write_record({**found, "row": paper.STAND_INS, "exact_match": [0.5, 1.0]}, folder)
    paper.write_record({**found, "row": "baseline", "exact_match": [0.0]}, folder)
    paper.write_record({**found, "row": "not in the paper"}, folder)
    first, second, third = paper.cells(folder)
    assert first == paper.Cell("baseline", "jump", 0.0, 0.0, 1, 0.0, 0.0)
    assert (second.row, second.mean, second.paper) == ("geca", outcome.score.mean, 1.0)
    assert third == paper.Cell(paper.STAND_INS, "jump", 0.75, 0.25, 2, None, None)
    paper.write_record({**found, "exact_match": [1.0]}, folder)  # a later run takes the place of an earlier
    assert paper.cells(folder)[1].mean == 1.0


@pytest.mark.parametrize("content", ["", "{", "[]", "7", "{}", '{"row": "geca", "column": "jump", "exact_match": 7}'])
def test_what_is_no_record(tmp_path: Path, content: str) -> None:
    (tmp_path / "jump-geca.json").write_text(content)
    with pytest.raises(RecombineError, match="no record of an experiment") as error:
        paper.cells(tmp_path)
    assert error.value.place == str(tmp_path / "jump-geca.json")


def test_a_folder_without_records_has_no_cells(tmp_path: Path) -> None:
    assert paper.cells(tmp_path) == paper.cells(tmp_path / "none") == []


def test_every_committed_figure_says_where_it_is_from() -> None:
    paths = sorted(RESULTS.glob("*.json"))
    assert paths
    assert len(paper.cells(RESULTS)) == len(paths)
    for path in paths:
        found = json.loads(path.read_text("utf-8"))
        assert path.name == f"{found['column']}-{found['row'].replace(' + ', '-')}.json"
        assert len(found["seeds"]) == len(set(found["seeds"])) == len(found["exact_match"]) == 10
        assert all(0 <= share <= 1 for share in found["exact_match"])
        assert {"predictor", "test"} <= found["seconds"].keys()
        assert all(seconds > 0 for seconds in found["seconds"].values())
        assert found["settings"]["predictor"]
        provenance = found["provenance"]
        assert provenance["command"].startswith("recombine paper table1 ")
        assert re.fullmatch("[0-9a-f]{40}", provenance["commit"])
        assert all(provenance[key] for key in ("device", "torch", "python", "date", "recombine"))
