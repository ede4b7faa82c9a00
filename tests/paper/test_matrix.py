"""Whole tables, with networks so small that their figures mean nothing."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from toy_task import QUICK_GENERATOR, QUICK_PREDICTOR, TASK

from recombine.augmentation.geca import GECA
from recombine.augmentation.resample import Resampler
from recombine.augmentation.sampler import SamplingSettings
from recombine.decoding.generate import Decoding
from recombine.errors import RecombineError
from recombine.evaluation.metrics import exact_match
from recombine.example import Tokens
from recombine.execution.executor import Processes
from recombine.neighborhoods import LongShort
from recombine.paper import matrix, work
from recombine.paper.matrix import Matrix
from recombine.paper.rows import SPLITS, TABLE_2, Row, read_rows
from recombine.paper.scale import Scale, tiny_settings, tiny_task, word_form_scale
from recombine.paper.settings import Settings, settings
from recombine.paper.stages import Cache
from recombine.paper.tables import METRICS, PARTS, class_reports, in_order, word_form_cells
from recombine.prediction.predictor import Predictor
from recombine.training import resume

pytestmark = pytest.mark.slow

ROWS = {row.name: row for row in read_rows()}
WORD_FORM_ROWS = {row.name: row for row in read_rows(None, TABLE_2)}


def quick(row: Row, split: str) -> Settings:
    """The row's settings for the toy task."""
    found = settings(row, split)
    network = replace(QUICK_GENERATOR.network, latent=min(2, found.generator.network.latent))
    return replace(
        found,
        neighborhood=LongShort(removal="distinct"),
        generator=replace(QUICK_GENERATOR, network=network, max_steps=60),
        sampling=SamplingSettings(decoding=Decoding("mixed", 0.8), patience=40, batch=32),
        resampler=Resampler(epsilon=0.03),
        predictor=QUICK_PREDICTOR,
        n=4,
    )


class Run:
    """Runs rows of the toy task on the split "jump", or a table at another scale, and remembers what was done."""

    def __init__(
        self,
        output: Path,
        *names: str,
        rows: dict[str, Row] = ROWS,
        splits: Sequence[str] = ("jump",),
        seeds: int = 2,
        population: int = 40,
        scale: Scale | None = None,
    ) -> None:
        self.stages: list[str] = []
        self.said: list[str] = []
        self.expected: list[float] = []
        self.matrix = Matrix(
            [rows[name] for name in names or rows],
            splits,
            range(seeds),
            output=output,
            cache=Cache(output / ".cache", self.said.append),
            device=torch.device("cpu"),
            population=population,
            progress=self.progress,
            expect=self.expected.append,
            scale=scale or Scale(lambda *_: TASK, quick),
            known=list(rows.values()),
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("recombine.augmentation.sampler.LEAST", 4)
            self.matrix.run()
        self.all = [json.loads(path.read_text("utf-8")) for path in sorted(output.glob("*.json"))]
        self.records: dict[str, dict[str, Any]] = {found["row"]: found for found in self.all}

    @contextmanager
    def progress(self, what: str, effort: float) -> Iterator[Any]:
        assert effort > 0
        self.stages.append(what)
        yield


def shorter(found: Settings, steps: int) -> Settings:
    return replace(
        found,
        generator=replace(found.generator, max_steps=steps),
        predictor=replace(found.predictor, epochs=1),
        sampling=replace(found.sampling, patience=2, batch=16),
    )


def assert_same_figures(run: Run, other: Run) -> None:
    for row, record in run.records.items():
        for key, value in record.items():
            assert key in ("seconds", "provenance", "digest") or value == other.records[row][key], (row, key)


def predictors(run: Run) -> set[str]:
    """The keys of all predictors; seeds without samples share those of the baseline."""
    stages = [stage for found in run.records.values() for stage in found["stages"].items()]
    return {key for name, key in stages if name.startswith("predictions")}


FOUR = ("baseline", "geca", "recomb-2 + resampling", "recomb-2")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    folder = tmp_path_factory.mktemp("table1")
    return folder, Run(folder, *FOUR)


@pytest.fixture
def copied(done: tuple[Path, Run], tmp_path: Path) -> Path:
    """A finished table that a test may spoil."""
    shutil.copytree(done[0], tmp_path / "copy")
    return tmp_path / "copy"


def test_samples_come_first_predictors_train_together_and_rows_share_stages(done: tuple[Path, Run]) -> None:
    folder, run = done
    assert run.stages == [
        "jump, geca: samples",
        "jump, recomb-2 + resampling: neighborhoods",
        "jump, recomb-2 + resampling: 2 recombination networks",
        "jump, recomb-2 + resampling: samples",
        "jump, recomb-2: samples",
        f"jump: {len(predictors(run))} predictors",
    ]
    assert run.expected[0] > run.expected[1] > 0
    one, other = (run.records[row]["stages"] for row in ("recomb-2", "recomb-2 + resampling"))
    assert [one[kind] == other[kind] for kind in ("neighborhoods", "generator", "samples")] == [True, True, False]
    kinds = [path.name.partition("-")[0] for path in (folder / ".cache").iterdir()]
    expected = {"neighborhoods": 1, "generator": 1, "samples": 3, "predictions": len(predictors(run))}
    assert {kind: kinds.count(kind) for kind in kinds} == expected


def test_records_are_complete_and_rest_on_what_they_say(done: tuple[Path, Run]) -> None:
    records = done[1].records
    assert records.keys() == set(FOUR)
    geca = records["geca"]
    assert (geca["seeds"], geca["dash"], geca["originals_only"], geca["kept"]) == ([0, 1], False, [], [4, 4])
    assert geca["settings"]["p_aug"] == 0.01
    assert geca["settings"]["predictor"]["epochs"] == QUICK_PREDICTOR.epochs
    assert sorted(geca["seconds"]) == ["predictor", "samples", "test"]
    stages = ["predictions 0", "predictions 1", "samples"]
    assert sorted(geca["stages"]) == sorted(geca["provenance"]["stages"]) == stages
    samples = [GECA().fit(TASK.train).sample(4, seed) for seed in (0, 1)]
    listed = {(sample["seed"], sample["x"]) for sample in geca["listing"]}
    assert listed == {(seed, " ".join(example.x)) for seed in (0, 1) for example in samples[seed]}
    assert sorted(records["recomb-2"]["seconds"]) == ["generator", "neighborhoods", "predictor", "samples", "test"]
    assert records["baseline"]["listing"] == []
    shown = [[(item["x"], item["sampled"]) for item in found["items"]] for found in records.values()]
    assert len(shown[0]) == len(TASK.test)  # fewer than eight of each kind
    assert all(each == shown[0] for each in shown)
    # Rows of one population have mixing rates of their own.
    together = Predictor(QUICK_PREDICTOR, seeds=[0, 1, 0, 1], device="cpu").fit_each(
        TASK.train, [(), (), *(each.examples for each in samples)], p_aug=[None, None, 0.01, 0.01]
    )
    assert [*records["baseline"]["exact_match"], *geca["exact_match"]] == [
        exact_match([example.y for example in TASK.test], [guess.y for guess in each])
        for each in together.predict([example.x for example in TASK.test])
    ]


@pytest.mark.parametrize(
    ("lost", "stages"),
    # A generator whose samples are there is not missed.
    [("*.json", 0), (".cache/samples-*", 3), (".cache/generator-*", 0), (".cache/predictions-*", 1)],
)
def test_what_is_lost_is_done_again_with_the_same_result_and_nothing_else(
    done: tuple[Path, Run], copied: Path, lost: str, stages: int
) -> None:
    for path in copied.glob(lost):
        path.unlink() if path.is_file() else shutil.rmtree(path)
    again = Run(copied, *FOUR)
    assert len(again.stages) == stages
    assert again.records.keys() == done[1].records.keys()
    assert_same_figures(again, done[1])
    # The items of other rows are those of the reference, even if it is not run again.
    assert_same_figures(Run(copied, "geca"), done[1])
    if lost == "*.json":
        assert again.expected[1] == 0
        assert all(found["seconds"] == done[1].records[row]["seconds"] for row, found in again.records.items())


class Stopped(Exception):
    pass


class Stopping(Run):
    """Is stopped in the middle of a training, after some epochs."""

    def __init__(self, output: Path, *names: str, after: int = 10**6) -> None:
        self.after, self.steps = after, []
        super().__init__(output, *names)

    @contextmanager
    def progress(self, what: str, effort: float) -> Iterator[Any]:
        def report(steps: int, *_: object) -> None:
            self.steps.append((what, steps))
            if len(self.steps) == self.after:
                raise Stopped

        yield report


@pytest.mark.parametrize(("row", "after"), [("recomb-2", 3), ("geca", 2)])
def test_a_training_that_was_stopped_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str, after: int
) -> None:
    monkeypatch.setattr(resume, "EVERY", 0.0)
    whole = Stopping(tmp_path / "whole", row)
    with pytest.raises(Stopped):
        Stopping(tmp_path / "stopped", row, after=after)
    assert list((tmp_path / "stopped/.cache").glob("*.training"))
    again = Stopping(tmp_path / "stopped", row)
    assert again.steps == whole.steps[after:]
    assert_same_figures(again, whole)
    assert not list((tmp_path / "stopped/.cache").glob("*.training"))


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_a_population_that_is_stopped_while_predictions_are_kept(tmp_path: Path, kept: int) -> None:
    rows = ("geca", "baseline")  # of which the first has the longer epochs
    whole = Run(tmp_path / "whole", *rows)
    calls, write = count(1), work.write_predictions

    def write_some(outputs: Sequence[Tokens], path: Path) -> None:
        if next(calls) > kept:
            raise Stopped
        write(outputs, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "write_predictions", write_some)
        with pytest.raises(Stopped):
            Run(tmp_path / "stopped", *rows)
    assert len(list((tmp_path / "stopped/.cache").glob("predictions-*/"))) == kept
    assert_same_figures(Run(tmp_path / "stopped", *rows), whole)
    assert not list((tmp_path / "stopped/.cache").glob("*.training"))


def test_populations_are_as_large_as_told(tmp_path: Path) -> None:
    run = Run(tmp_path, "baseline", "geca", seeds=3, population=4)
    assert run.stages == ["jump, geca: samples", "jump: 3 predictors", "jump: 3 predictors"]
    assert [len(found["exact_match"]) for found in run.all] == [3, 3]
    assert run.records["geca"]["items"] == []  # no recomb-2 to choose them by


def test_a_dash_where_all_samples_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Resampler, "__call__", lambda *_: "unwanted")
    run = Run(tmp_path, "baseline", "recomb-2 + resampling", seeds=1)
    found = run.records["recomb-2 + resampling"]
    assert (found["dash"], found["exact_match"], found["correct"], found["items"]) == (True, [], [], [])
    assert (found["kept"], found["samples"], found["samples_right"]) == ([0], [None], None)
    assert found["rejected"][0]["unwanted"] > 0
    assert run.stages[-1] == "jump: 1 predictors"
    assert any("all samples were rejected" in line for line in run.said)


def test_seeds_without_samples_learn_from_the_originals_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = GECA.sample

    def nothing_for_seed_1(self: GECA, n: int, seed: int = 0, accept: object = None) -> object:
        return draw(self, n, seed, (lambda _: "unwanted") if seed == 1 else None)

    monkeypatch.setattr(GECA, "sample", nothing_for_seed_1)
    run = Run(tmp_path, "baseline", "geca")
    found, baseline = run.records["geca"], run.records["baseline"]
    assert (found["dash"], found["originals_only"], found["kept"]) == (False, [1], [4, 0])
    assert found["stages"]["predictions 1"] == baseline["stages"]["predictions 1"]  # trained once
    assert found["exact_match"][1] == baseline["exact_match"][1]
    assert baseline["originals_only"] == []
    assert run.stages[-1] == "jump: 3 predictors"


def test_every_row_runs_from_end_to_end_on_both_splits(tmp_path: Path) -> None:
    tasks = {split: tiny_task(split) for split in SPLITS}
    parts = {split: replace(data, train=data.train[:150], test=data.test[:20]) for split, data in tasks.items()}
    scale = Scale(lambda split, _: parts[split], lambda *row: shorter(tiny_settings(*row), 4))
    run = Run(tmp_path, splits=SPLITS, seeds=1, scale=scale)
    expected = {(name, split) for name, row in ROWS.items() for split in row.splits}
    assert {(found["row"], found["column"]) for found in run.all} == expected
    assert sum("recombination network" in stage for stage in run.stages) == 10 + 7
    assert "jump, direct inference: direct inference" in run.stages
    for found in run.all:
        assert found["dash"] or len(found["exact_match"]) == 1
        if found["settings"]["method"] in ("geca", "recombination"):
            assert sum(found["kept"]) or sum(found["rejected"][0].values())


def test_what_splits_cannot_do_together_is_said_and_left_to_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing:
        name, is_missing, parted = "two languages", True, False

        def train_and_draw(self) -> None:
            raise RecombineError("the GPU's memory does not suffice.", hint="Take less.")

        def part(self) -> None:
            self.parted = True

    run, joint = Run(tmp_path, "baseline"), Failing()
    monkeypatch.setattr(matrix, "join", lambda *_: [joint])
    run.matrix._do_jointly()
    assert joint.parted
    assert run.said[-1] == "two languages: not in one go. the GPU's memory does not suffice. Take less."


@pytest.mark.parametrize("fails", [False, True])
def test_samples_by_rule_are_drawn_beside_networks_or_left_to_be_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    def fail(*_: object) -> None:
        raise RecombineError("there is no memory.")

    monkeypatch.setattr(Matrix, "run", lambda _: None)
    monkeypatch.setattr(matrix, "Processes", lambda _=2: Processes(2))
    if fails:
        monkeypatch.setattr(work.Work, "samples", fail)
    run = Run(tmp_path, "geca")
    jump = run.matrix.work["jump"]
    run.matrix.elsewhere = lambda what, *_: run.stages.append(what)
    ((_, source),) = run.matrix._missing(jump)
    with run.matrix._drawing_by_rule():
        assert not run.stages
    assert run.stages == ([] if fails else ["jump, geca: samples"])
    assert run.said == (["jump, geca: samples: not beside networks. there is no memory."] if fails else [])
    assert jump.has(jump.result(source)) != fails


@pytest.fixture(scope="module")
def word_forms(source: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """All rows of Table 2 on two splits."""
    folder, tiny = tmp_path_factory.mktemp("table2"), word_form_scale(source, "tiny")

    def settings_of(row: Row, split: str) -> Settings:
        return replace(shorter(tiny.settings(row, split), 40 if "recomb-1" in row.name else 4), n=4)

    scale = replace(tiny, settings=settings_of, task=cache(tiny.task))
    return folder, Run(folder, rows=WORD_FORM_ROWS, splits=["turkish-8"], scale=scale)


def test_every_row_of_word_forms_runs_from_end_to_end(word_forms: tuple[Path, Run]) -> None:
    run = word_forms[1]
    assert run.records.keys() == WORD_FORM_ROWS.keys()
    for row, record in run.records.items():
        assert (record["column"], record["seeds"], record["items"]) == ("turkish-8", [0, 1], [])
        assert record["dash"] or len(record["exact_match"]) == len(record["counts"]) == 2
        if record["settings"]["method"] != "none":
            assert sum(record["kept"]) or sum(sum(each.values()) for each in record["rejected"]), row
    # Three kinds of networks, as in the text, with a latent variable, and as coded.
    assert sum("2 recombination networks" in stage for stage in run.stages) == 9
    shown = in_order(run.all, list(WORD_FORM_ROWS.values()), TABLE_2)
    assert len(word_form_cells(shown)) == len(WORD_FORM_ROWS) * len(PARTS) * len(METRICS)
    assert class_reports(shown)
    rows = ("geca + recomb-1 + resampling", "geca + resampling", "recomb-1 + resampling")
    both, geca, learned = (run.records[row]["kept"] for row in rows)  # the first has the samples of the others together
    assert both == [one + other for one, other in zip(geca, learned, strict=True)]
    assert sum(both)
