"""Whole tables, with networks so small that their figures mean nothing."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
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
from recombine.example import Example, Tokens
from recombine.execution.executor import Processes
from recombine.neighborhoods import LongShort
from recombine.paper import matrix, work
from recombine.paper.keys import Keys, Population
from recombine.paper.matrix import Matrix
from recombine.paper.rows import SPLITS, Row, read_rows
from recombine.paper.scale import Scale, tiny_settings, tiny_task
from recombine.paper.settings import Settings, settings
from recombine.paper.stages import Cache
from recombine.paper.work import Work
from recombine.prediction.predictor import Predictor
from recombine.training import resume

ROWS = {row.name: row for row in read_rows()}


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
    """Runs rows of the toy task on the split "jump" and remembers what was done."""

    def __init__(self, output: Path, *names: str, seeds: int = 2, population: int = 40) -> None:
        self.stages: list[str] = []
        self.said: list[str] = []
        self.expected: list[float] = []
        self.matrix = Matrix(
            [ROWS[name] for name in names],
            ["jump"],
            range(seeds),
            output=output,
            cache=Cache(output / ".cache", self.said.append),
            device=torch.device("cpu"),
            population=population,
            progress=self.progress,
            expect=self.expected.append,
            scale=Scale(lambda *_: TASK, quick),
            known=list(ROWS.values()),
        )
        self.matrix.run()
        self.records = {found["row"]: found for found in map(read, sorted(output.glob("*.json")))}

    @contextmanager
    def progress(self, what: str, effort: float) -> Iterator[None]:
        assert effort > 0
        self.stages.append(what)
        yield


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))


def figures(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in ("seconds", "provenance", "digest")}


def predictors(run: Run) -> set[str]:
    """The keys of all predictors; seeds without samples share those of the baseline."""
    stages = [stage for found in run.records.values() for stage in found["stages"].items()]
    return {key for name, key in stages if name.startswith("predictions")}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.augmentation.sampler.LEAST", 4)


FOUR = ("baseline", "geca", "recomb-2 + resampling", "recomb-2")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    folder = tmp_path_factory.mktemp("table1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recombine.augmentation.sampler.LEAST", 4)
        return folder, Run(folder, *FOUR)


@pytest.fixture
def copied(done: tuple[Path, Run], tmp_path: Path) -> Path:
    """A finished table that a test may spoil."""
    shutil.copytree(done[0], tmp_path / "copy")
    return tmp_path / "copy"


@pytest.mark.slow
def test_samples_come_first_and_predictors_train_together(done: tuple[Path, Run]) -> None:
    run = done[1]
    assert run.stages == [
        "jump, geca: samples",
        "jump, recomb-2 + resampling: neighborhoods",
        "jump, recomb-2 + resampling: 2 recombination networks",
        "jump, recomb-2 + resampling: samples",
        "jump, recomb-2: samples",
        f"jump: {len(predictors(run))} predictors",
    ]
    assert run.records.keys() == set(FOUR)
    assert run.expected[0] > run.expected[1] > 0


@pytest.mark.slow
def test_records_are_complete_and_rest_on_what_they_say(done: tuple[Path, Run]) -> None:
    run = done[1]
    geca = run.records["geca"]
    assert (geca["seeds"], geca["dash"], geca["originals_only"], geca["kept"]) == ([0, 1], False, [], [4, 4])
    assert geca["settings"]["p_aug"] == 0.01
    assert geca["settings"]["predictor"]["epochs"] == QUICK_PREDICTOR.epochs
    assert sorted(geca["seconds"]) == ["predictor", "samples", "test"]
    assert (
        sorted(geca["stages"]) == sorted(geca["provenance"]["stages"]) == ["predictions 0", "predictions 1", "samples"]
    )
    samples = [GECA().fit(TASK.train).sample(4, seed) for seed in (0, 1)]
    listed = {(sample["seed"], sample["x"]) for sample in geca["listing"]}
    assert listed == {(seed, " ".join(example.x)) for seed in (0, 1) for example in samples[seed]}
    assert sorted(run.records["recomb-2"]["seconds"]) == ["generator", "neighborhoods", "predictor", "samples", "test"]
    assert run.records["baseline"]["listing"] == []
    shown = [[(item["x"], item["sampled"]) for item in found["items"]] for found in run.records.values()]
    assert len(shown[0]) == len(TASK.test)  # fewer than eight of each kind
    assert all(each == shown[0] for each in shown)


@pytest.mark.slow
def test_rows_of_one_population_have_mixing_rates_of_their_own(done: tuple[Path, Run]) -> None:
    samples = [GECA().fit(TASK.train).sample(4, seed).examples for seed in (0, 1)]
    together = Predictor(QUICK_PREDICTOR, seeds=[0, 1, 0, 1], device="cpu").fit_each(
        TASK.train, [(), (), *samples], p_aug=[None, None, 0.01, 0.01]
    )
    scores = together.score(TASK.test)
    assert done[1].records["baseline"]["exact_match"] == scores[:2]
    assert done[1].records["geca"]["exact_match"] == scores[2:]


@pytest.mark.slow
def test_rows_share_stages(done: tuple[Path, Run]) -> None:
    one, other = (done[1].records[row]["stages"] for row in ("recomb-2", "recomb-2 + resampling"))
    assert one["neighborhoods"] == other["neighborhoods"]
    assert one["generator"] == other["generator"]
    assert one["samples"] != other["samples"]
    kinds = [path.name.partition("-")[0] for path in (done[0] / ".cache").iterdir()]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "neighborhoods": 1,
        "generator": 1,
        "samples": 3,
        "predictions": len(predictors(done[1])),
    }


@pytest.mark.slow
def test_nothing_is_done_twice(done: tuple[Path, Run], copied: Path) -> None:
    for path in copied.glob("*.json"):
        path.unlink()
    again = Run(copied, *FOUR)
    assert again.stages == []
    assert again.expected[1] == 0
    assert again.records.keys() == done[1].records.keys()
    for row, record in again.records.items():
        assert figures(record) == figures(done[1].records[row])
        assert record["seconds"] == done[1].records[row]["seconds"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["samples", "generator", "predictions"])
def test_what_a_kill_cost_is_done_again_with_the_same_result(done: tuple[Path, Run], copied: Path, kind: str) -> None:
    for path in (copied / ".cache").glob(f"{kind}-*"):
        shutil.rmtree(path)
    again = Run(copied, *FOUR)
    # A generator whose samples are there is not missed.
    assert len(again.stages) == {"samples": 3, "generator": 0, "predictions": 1}[kind]
    for row, record in again.records.items():
        assert figures(record) == figures(done[1].records[row])


class Stopped(Exception):
    pass


class Stopping(Run):
    """Is stopped in the middle of a training: after so many epochs of the first, or of all."""

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


@pytest.mark.slow
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
    assert figures(again.records[row]) == figures(whole.records[row])
    assert not list((tmp_path / "stopped/.cache").glob("*.training"))


@pytest.mark.slow
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
    again = Run(tmp_path / "stopped", *rows)
    for row in rows:
        assert figures(again.records[row]) == figures(whole.records[row])
    assert not list((tmp_path / "stopped/.cache").glob("*.training"))


@pytest.mark.slow
def test_damaged_stages_are_named_and_done_again(done: tuple[Path, Run], copied: Path) -> None:
    key = done[1].records["recomb-2"]["stages"]["samples"]
    with (copied / f".cache/samples-{key}/0.jsonl").open("a") as file:
        file.write("\n")
    again = Run(copied, "recomb-2")
    assert again.stages == ["jump, recomb-2: samples"]
    assert again.said[0].startswith(f"{copied}/.cache/samples-{key}: the samples are not as they were written")
    assert figures(again.records["recomb-2"]) == figures(done[1].records["recomb-2"])


@pytest.mark.slow
def test_items_are_those_of_the_reference_even_if_it_is_not_run_again(copied: Path, done: tuple[Path, Run]) -> None:
    again = Run(copied, "geca")
    assert again.records["geca"]["items"] == done[1].records["geca"]["items"]


@pytest.mark.slow
def test_populations_are_as_large_as_told(done: tuple[Path, Run], tmp_path: Path) -> None:
    run = Run(tmp_path, "baseline", "geca", seeds=3, population=4)
    assert run.stages == ["jump, geca: samples", "jump: 3 predictors", "jump: 3 predictors"]
    assert [len(found["exact_match"]) for found in run.records.values()] == [3, 3]
    assert run.records["geca"]["items"] == []  # no recomb-2 to choose them by


@pytest.mark.slow
def test_predictors_trained_beside_others_of_longer_epochs_are_others(done: tuple[Path, Run], tmp_path: Path) -> None:
    """All of a population train for as many steps as the longest epoch asks for, so the key must tell."""
    alone, beside = Run(tmp_path, "baseline").records["baseline"], done[1].records["baseline"]
    assert not {*alone["stages"].values()} & {*beside["stages"].values()}
    fitted = Predictor(QUICK_PREDICTOR, seeds=[0, 1], device="cpu").fit_each(TASK.train, [(), ()])
    assert alone["exact_match"] == fitted.score(TASK.test)
    again = Run(tmp_path, *FOUR)  # what was trained alone is not taken for what is trained beside others
    assert figures(again.records["baseline"]) == figures(beside)


@pytest.mark.slow
def test_a_dash_where_all_samples_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Resampler, "__call__", lambda *_: "unwanted")
    run = Run(tmp_path, "baseline", "recomb-2 + resampling", seeds=1)
    found = run.records["recomb-2 + resampling"]
    assert (found["dash"], found["exact_match"], found["correct"], found["items"]) == (True, [], [], [])
    assert (found["kept"], found["samples"], found["samples_right"]) == ([0], [None], None)
    assert found["rejected"][0]["unwanted"] > 0
    assert run.stages[-1] == "jump: 1 predictors"
    assert any("all samples were rejected" in line for line in run.said)


@pytest.mark.slow
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


def test_the_key_of_a_predictor_names_what_it_has_of_its_population() -> None:
    keys, samples = Keys([TASK], [0], "cpu"), TASK.test[:1]
    one = settings(ROWS["recomb-2"], "jump")
    (short,), (longer,) = keys.predictors(one, [()]), keys.predictors(replace(one, p_aug=0.5), [samples])
    both = Population([short, longer])
    assert both.stage(short).key != Population([short]).stage(short).key  # as many steps as the longer epoch asks for
    assert both.stage(longer).key == Population([longer]).stage(longer).key
    other = replace(longer, samples=[Example(("new",), ("NEW",))])
    assert both.stage(longer).key != Population([longer, other]).stage(longer).key  # another vocabulary


def test_keys_depend_on_what_results_do_and_on_nothing_else() -> None:
    row = ROWS["recomb-2"]
    one, keys = settings(row, "jump"), Keys([TASK] * 2, [0, 1], "cpu")
    base = {name: stage.key for name, stage in keys.before_predictors(one).items()}
    assert list(base) == ["neighborhoods", "generator", "samples"]

    def changed(other: Settings, others: Keys = keys) -> list[str]:
        stages = others.before_predictors(other)
        return [name for name, key in base.items() if stages[name].key != key]

    assert changed(replace(one, p_aug=0.5, predictor=QUICK_PREDICTOR)) == []
    assert changed(replace(one, resampler=Resampler(0.5))) == []  # not asked
    assert changed(replace(one, resampling=True)) == ["samples"]
    assert changed(replace(one, n=3)) == ["samples"]
    assert changed(replace(one, sampling=replace(one.sampling, patience=1))) == ["samples"]
    assert changed(replace(one, generator=QUICK_GENERATOR)) == ["generator", "samples"]
    assert changed(replace(one, prototypes=1)) == ["generator", "samples"]
    assert changed(replace(one, neighborhood=LongShort())) == ["neighborhoods", "generator", "samples"]
    assert changed(one, Keys([TASK], [0], "cpu")) == ["generator", "samples"]
    assert changed(one, Keys([TASK] * 2, [0, 1], "cuda")) == ["generator", "samples"]
    assert changed(one, Keys([replace(TASK, test=[])] * 2, [0, 1], "cpu")) == []  # no test set touches these
    assert changed(one, Keys([replace(TASK, train=TASK.train[1:])] * 2, [0, 1], "cpu")) == list(base)
    pair = TASK.test[:1]

    def predictor(others: Keys = keys, found: Settings = one, samples: Sequence[Example] = pair, seed: int = 0) -> str:
        return others.predictors(found, [samples] * len(others.seeds))[seed].key

    for other in (
        predictor(seed=1),
        predictor(samples=()),
        predictor(found=replace(one, p_aug=0.5)),
        predictor(found=replace(one, predictor=QUICK_PREDICTOR)),
        predictor(Keys([replace(TASK, test=[])] * 2, [0, 1], "cpu")),
    ):
        assert other != predictor()
    assert predictor(Keys([TASK], [0], "cpu"), replace(one, n=3, generator=QUICK_GENERATOR)) == predictor()
    assert keys.direct(one).key != keys.direct(replace(one, direct=replace(one.direct, first=1))).key


@pytest.mark.slow
def test_every_row_runs_from_end_to_end_on_both_splits(tmp_path: Path) -> None:
    def shorter(row: Row, split: str) -> Settings:
        found = tiny_settings(row, split)
        return replace(
            found,
            generator=replace(found.generator, max_steps=4),
            predictor=replace(found.predictor, epochs=1),
            sampling=replace(found.sampling, patience=1, batch=8),
        )

    tasks = {split: tiny_task(split) for split in SPLITS}
    parts = {split: replace(data, train=data.train[:150], test=data.test[:20]) for split, data in tasks.items()}
    stages: list[str] = []

    @contextmanager
    def progress(what: str, _: float) -> Iterator[None]:
        stages.append(what)
        yield

    Matrix(
        list(ROWS.values()),
        SPLITS,
        [0],
        output=tmp_path,
        cache=Cache(tmp_path / ".cache"),
        device=torch.device("cpu"),
        progress=progress,
        scale=Scale(lambda split, _: parts[split], shorter),
    ).run()
    records = [read(path) for path in tmp_path.glob("*.json")]
    assert {(found["row"], found["column"]) for found in records} == {
        (name, split) for name, row in ROWS.items() for split in row.splits
    }
    assert sum("recombination network" in stage for stage in stages) == 10 + 7
    assert "jump, direct inference: direct inference" in stages
    for found in records:
        assert found["dash"] or len(found["exact_match"]) == 1
        if found["settings"]["method"] in ("geca", "recombination"):
            assert sum(found["kept"]) or sum(found["rejected"][0].values())


@pytest.mark.slow
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


@pytest.fixture
def by_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A table of GECA's row, of which nothing is done, and two processes."""
    monkeypatch.setattr(Matrix, "run", lambda _: None)
    monkeypatch.setattr(matrix, "Processes", lambda _=2: Processes(2))
    run = Run(tmp_path, "geca")
    monkeypatch.setattr(run.matrix, "elsewhere", lambda what, *_: run.stages.append(what))
    return run


@pytest.mark.slow
def test_samples_by_rule_are_drawn_beside_networks(by_rule: Run) -> None:
    (source,) = by_rule.matrix._missing_sources(by_rule.matrix.work["jump"])
    with by_rule.matrix._drawing_by_rule():
        assert not by_rule.stages
    assert by_rule.stages == ["jump, geca: samples"]
    jump = by_rule.matrix.work["jump"]
    assert jump.has(source.stage(jump))


@pytest.mark.slow
def test_what_fails_beside_networks_is_said_and_left_to_be_done(by_rule: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RecombineError("there is no memory.")

    monkeypatch.setattr(Work, "samples", fail)
    with by_rule.matrix._drawing_by_rule():
        pass
    assert by_rule.said[-1] == "jump, geca: samples: not beside networks. there is no memory."
    assert by_rule.matrix._missing_sources(by_rule.matrix.work["jump"])
