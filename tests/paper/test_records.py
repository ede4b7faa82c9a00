"""What records say, and how they are read back."""

import base64
import re
import shlex
import subprocess
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from toy_task import TASK, example

from recombine.augmentation.protocol import Samples
from recombine.errors import RecombineError
from recombine.evaluation.metrics import audit
from recombine.example import Example
from recombine.paper import records
from recombine.paper.records import items, read_records, sampled_part, scored_part, unpacked, write_record
from recombine.paper.tables import scan_figures

RESULTS = Path(__file__).parent.parent.parent / "results/table1"
RIGHT, WRONG = example("jump twice"), Example(("jump", "thrice"), ("JUMP",))


def test_samples_are_judged_counted_and_listed() -> None:
    samples = [Samples((RIGHT, WRONG), 2, {"known": 3}), Samples((), 2, {"too long": 4})]
    found = sampled_part(samples, [TASK] * 2, [5, 6])
    counts = asdict(audit([RIGHT, WRONG], gold=TASK.gold, train=TASK.train, test=TASK.test))
    assert found["samples"] == [counts, None]
    assert found["samples_right"] == {"mean": 0.5, "deviation": 0.0, "n": 1}
    assert found["kept"] == [2, 0]
    assert found["rejected"] == [{"known": 3}, {"too long": 4}]
    assert sorted(found["listing"], key=lambda sample: sample["x"]) == [
        {"seed": 5, "x": "jump thrice", "y": "JUMP", "right": False},
        {"seed": 5, "x": "jump twice", "y": "JUMP JUMP", "right": True},
    ]
    assert sampled_part([Samples((), 0)], [TASK], [0])["samples_right"] is None


def test_listings_draw_from_all_seeds_and_are_the_same_each_time() -> None:
    everything = [example(f"{one} and {two}") for one in ("walk", "run", "look") for two in ("walk", "turn", "hop")]
    samples = [Samples(tuple(everything), 9)] * 4
    listing = sampled_part(samples, [TASK] * 4, [0, 1, 2, 3])["listing"]
    assert listing == sampled_part(samples, [TASK] * 4, [0, 1, 2, 3])["listing"]
    assert len(listing) == len({(sample["seed"], sample["x"]) for sample in listing}) == 20
    assert {sample["seed"] for sample in listing} == {0, 1, 2, 3}


def test_scores_and_the_examples_behind_them() -> None:
    golds = [pair.y for pair in TASK.test]
    one = [golds[0], *[()] * (len(golds) - 1)]
    found = scored_part([golds, one], [TASK] * 2)
    assert found["exact_match"] == [1.0, 1 / len(golds)]
    assert found["tested"] == len(golds) == 7
    assert base64.b64decode(found["correct"][1]) == bytes([0b1000_0000])
    _, right = scan_figures(found)
    assert [each.tolist() for each in right] == [[[1] * 7, [1] + [0] * 6]]  # of the two seeds
    for nothing in (scored_part([], [TASK]), {"exact_match": []}):
        assert scan_figures(nothing) == (None, None)


def test_items_are_of_both_kinds_and_the_same_for_all_rows() -> None:
    other = Example(RIGHT.x, ("HOP",))
    shown = items(TASK, Samples((WRONG, RIGHT, other), 3), [(str(number),) for number in range(7)])
    among, rest = shown[:2], shown[2:]
    assert {(item["x"], item["sampled"]) for item in among} == {("jump thrice", "JUMP"), ("jump twice", "JUMP JUMP")}
    assert len(rest) == 5
    assert all(item["sampled"] is None for item in rest)
    assert all(
        TASK.gold is not None and TASK.gold(tuple(item["x"].split())) == tuple(item["y"].split()) for item in shown
    )
    by_x = {" ".join(pair.x): str(number) for number, pair in enumerate(TASK.test)}
    assert [item["predicted"] for item in shown] == [by_x[item["x"]] for item in shown]


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ("recomb-2 + stand-ins", "jump-recomb-2-stand-ins.json"),
        ("recomb-2 - copying", "jump-recomb-2-no-copying.json"),
        ("direct inference", "jump-direct-inference.json"),
        ("../a b/ü", "jump-a-b.json"),
    ],
)
def test_records_are_written_and_read(tmp_path: Path, row: str, name: str) -> None:
    found = {"row": row, "column": "jump", "exact_match": [0.5], "provenance": {"device": "ü"}}
    folder = tmp_path / "new"
    assert read_records(tmp_path) == read_records(folder) == []
    assert write_record(found, folder) == folder / name
    assert write_record(found | {"exact_match": []}, folder) == folder / name  # a later run takes the earlier's place
    assert read_records(folder) == [found | {"exact_match": []}]


def test_a_record_of_more_seeds_is_not_replaced(tmp_path: Path) -> None:
    write_record({"row": "geca", "column": "jump", "exact_match": [0.5] * 3, "seeds": [0, 1, 2]}, tmp_path)
    for experiments, seeds in (([("geca", "jump")], range(4)), ([("geca", "around-right"), ("a", "jump")], range(1))):
        records.expect_all_seeds(tmp_path, experiments, seeds)
    with pytest.raises(RecombineError, match="'geca' on jump with 3 seeds, 2 of which would be lost") as error:
        records.expect_all_seeds(tmp_path, [("geca", "jump")], [2, 5])
    assert str(tmp_path) in str(error.value)


def test_what_a_killed_process_left_of_a_record_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / ".jump-a.json.0123456789abcdef.tmp").write_text("half")
    (tmp_path / ".jump-a.json.lock").write_text("process 1 on host")
    path = write_record({"row": "a", "column": "jump", "exact_match": []}, tmp_path)
    assert list(tmp_path.iterdir()) == [path]


BEGINNING = '{"row": "a", "column": "b", "exact_match": []'


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "[]", "7", "{}"),
        '{"row": "a", "column": "b", "exact_match": 7}',
        '{"row": 1, "column": "b", "exact_match": []}',
        '{"row": "a", "column": "b", "exact_match": [true]}',
        BEGINNING + ', "seeds": 3}',
        BEGINNING + ', "samples": [{"n": 1}]}',
        BEGINNING + ', "samples_right": {"mean": "x"}}',
        BEGINNING + ', "rejected": [{"known": "x"}]}',
        BEGINNING + ', "listing": [{"x": "a"}]}',
        BEGINNING + ', "tested": 1000000000000, "correct": ["AAAA"]}',
        BEGINNING + ', "correct": ["AAAA"]}',
    ],
)
def test_what_is_no_record(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(RecombineError, match="no record of an experiment") as error:
        read_records(tmp_path)
    assert error.value.place == str(tmp_path / "x.json")


def test_a_record_that_was_altered_or_cut_short_is_named(tmp_path: Path) -> None:
    path = write_record({"row": "a", "column": "jump", "exact_match": [0.5], "seconds": {2: 1, 10: 3}}, tmp_path)
    assert read_records(tmp_path)[0]["seconds"] == {"2": 1, "10": 3}
    content = path.read_text("utf-8")
    for other in (content.replace("0.5", "0.9"), content.replace('"jump"', '"hop"'), content[:-10]):
        path.write_text(other, "utf-8")
        with pytest.raises(RecombineError, match=r"not as it was written|no record") as error:
            read_records(tmp_path)
        assert error.value.place == str(path)
    path.write_text('{"row": "a", "column": "jump", "exact_match": [0.5]}', "utf-8")
    with pytest.raises(RecombineError, match="no checksum") as error:
        read_records(tmp_path)
    assert (error.value.place, error.value.hint) == (str(path), "Get it again, or make it again.")


def test_provenance_says_all(monkeypatch: pytest.MonkeyPatch) -> None:
    records.commit.cache_clear()
    monkeypatch.setenv("RECOMBINE_COMMIT", "abc")
    found = records.provenance(["recombine", "a b"], "cpu")
    assert shlex.split(found["command"]) == ["recombine", "a b"]  # as one would type it
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["date"])
    assert found["commit"] == "abc"
    assert all(found.values())
    records.commit.cache_clear()


def test_the_commit_is_that_of_the_code_wherever_it_is_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An installed copy lies in the repository of whoever uses it, or in none."""

    def git(*words: str) -> str:
        name = ("-c", "user.name=a", "-c", "user.email=a@b")
        return subprocess.run(["git", *name, *words], capture_output=True, text=True, check=True).stdout.strip()

    def found() -> str:
        records.commit.cache_clear()
        return records.commit()

    monkeypatch.delenv("RECOMBINE_COMMIT", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(records, "__file__", str(tmp_path / "records.py"))
    assert found() == "unknown"
    git("init", "--quiet")
    Path("mine.txt").write_text("mine")
    git("add", "mine.txt")
    git("commit", "--quiet", "-m", "mine")
    assert found() == "unknown"
    Path("records.py").write_text("")
    git("add", "records.py")
    git("commit", "--quiet", "-m", "its own")
    monkeypatch.chdir("/")
    assert found() == git("-C", str(tmp_path), "rev-parse", "HEAD")
    records.commit.cache_clear()


def test_every_committed_figure_says_where_it_is_from() -> None:
    paths = sorted(RESULTS.glob("*.json"))
    assert paths
    for path, found in zip(paths, read_records(RESULTS), strict=True):
        row = found["row"].replace(" + ", "-").replace(" - ", "-no-").replace(" ", "-")
        assert path.name == f"{found['column']}-{row.replace('(', '').replace(')', '')}.json"
        assert len(found["seeds"]) == len(set(found["seeds"])) == 10
        assert len(found["exact_match"]) == (0 if found.get("dash") else 10)
        assert all(0 <= share <= 1 for share in found["exact_match"])
        right = [unpacked(each, found["tested"]).mean() for each in found.get("correct", [])]
        assert not right or np.allclose(right, found["exact_match"])
        assert all(seconds > 0 for seconds in found["seconds"].values())
        assert found["settings"]["predictor"]
        origin = found["provenance"]
        assert origin["command"].startswith("recombine paper table1")
        assert re.fullmatch("[0-9a-f]{40}", origin["commit"])
        assert all(origin[key] for key in ("device", "torch", "python", "date", "recombine"))
