"""A training run that is stopped and goes on; what a kill leaves behind is tested with the commands."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from toy import VOCABULARY, schedule

from recombine.errors import RecombineError
from recombine.models import device
from recombine.models.architecture import Architecture
from recombine.models.recombiner import Recombiner
from recombine.training import resume
from recombine.training.fit import fit, likelihood
from recombine.training.fitted import Fitted, History
from recombine.training.recipe import Recipe
from recombine.training.schedule import Group
from recombine.training.stored import read_tensors
from recombine.training.trainer import Evaluate

TINY = Architecture(
    vocabulary=0, hidden=6, embedding=4, attention=3, dropout=0.2, state_dropout=0.1, write_seen_only=True
)
RECIPE = Recipe(
    network=TINY,
    batch=16,
    epochs=6,
    lr=0.01,
    falls_to=0.5,
    held_out=0.2,
    keep_best=True,
    patience=1,
    decay_at=3,
    stand_ins=0.5,
)


@pytest.fixture(autouse=True)
def _saving_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resume, "EVERY", 0.0)


@pytest.fixture(scope="module")
def whole() -> tuple[Fitted, list[int]]:
    """A run that nothing stopped."""
    return fitted(None)


class Stopped(Exception):
    pass


def fitted(
    checkpoint: Path | None,
    recipe: Recipe = RECIPE,
    *,
    seeds: tuple[int, ...] = (1, 2),
    rows: int = 40,
    share: float = 1.0,
    stop_after: int = 0,
    judge: Callable[..., Evaluate] = likelihood,
) -> tuple[Fitted, list[int]]:
    """Trains; tells also after which steps it reported."""
    told: list[int] = []

    def report(steps: int, _: int, history: History) -> None:
        told.append(steps)
        if len(history.loss) == stop_after:
            raise Stopped

    groups = [[Group(np.arange(rows), share)]] * len(seeds)
    corpus = schedule(seeds).corpus
    chosen = {"vocabulary": len(VOCABULARY), "judge": judge, "report": report, "checkpoint": checkpoint}
    return fit(recipe, corpus, groups, seeds, **chosen), told


def stop(path: Path, after: int, recipe: Recipe = RECIPE, **settings: object) -> None:
    with pytest.raises(Stopped):
        fitted(path, recipe, stop_after=after, **settings)


def assert_same(one: Fitted, other: Fitted) -> None:
    mine, theirs = one.model.state_dict(), other.model.state_dict()
    assert mine.keys() == theirs.keys()
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)
    assert replace(one.history, seconds=0) == replace(other.history, seconds=0)


@pytest.mark.parametrize("stops", [(1,), (2, 4)], ids=["once", "twice"])
def test_a_stopped_run_goes_on_to_the_same_bits(
    tmp_path: Path, whole: tuple[Fitted, list[int]], stops: tuple[int, ...]
) -> None:
    path = tmp_path / "state"
    for after in stops:
        stop(path, after)
    resumed, steps = fitted(path)
    assert_same(resumed, whole[0])
    assert steps == whole[1][after:]
    assert [file.name for file in tmp_path.iterdir()] == ["state"]


@pytest.mark.parametrize("recipe", [RECIPE, replace(RECIPE, max_time=1e-9)], ids=["at the end", "when time is over"])
def test_a_run_that_is_over_is_not_trained_again(tmp_path: Path, recipe: Recipe) -> None:
    """Who is stopped between the end of training and the use of its result loses nothing."""
    first, _ = fitted(tmp_path / "state", recipe)
    again, steps = fitted(tmp_path / "state", recipe)
    assert steps == []
    assert_same(again, first)


@pytest.mark.parametrize("kept", [{"keep_best": True}, {"averaging": 4}], ids=["best", "averages"])
def test_so_does_one_that_some_networks_have_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: dict[str, Any]
) -> None:
    monkeypatch.setattr("recombine.training.trainer.AVERAGED_EVERY", 1)
    recipe = replace(RECIPE, epochs=20, patient_steps=0, stop_at_lr=0.25, decay_at=0, **{"keep_best": False, **kept})
    seeds, lasting = (1, 2, 3, 4), (6, 2, 9, 1)

    def improving(done: int) -> Callable[..., Evaluate]:
        """Each network improves for so many epochs, some of which may have been done before."""
        epochs = count(done + 1)

        def evaluate(_: Recombiner, replicas: Sequence[int]) -> Tensor:
            epoch = next(epochs)
            return torch.tensor([float(min(epoch, lasting[number])) for number in replicas])

        return lambda *_: evaluate

    undisturbed, _ = fitted(None, recipe, seeds=seeds, judge=improving(0))
    lasted = [sum(epoch[number] > 0 for epoch in undisturbed.history.lr) for number in range(4)]
    assert lasted == [epochs + 2 for epochs in lasting]
    for after in (4, 8):
        path = tmp_path / f"state-{after}"
        stop(path, after, recipe, seeds=seeds, judge=improving(0))
        assert_same(fitted(path, recipe, seeds=seeds, judge=improving(after))[0], undisturbed)


@pytest.mark.parametrize(
    "other",
    [
        {"seeds": (1, 3)},
        {"rows": 39},
        {"share": 0.5},
        {"recipe": replace(RECIPE, lr=0.02)},
        {"recipe": replace(RECIPE, network=replace(TINY, hidden=7))},
    ],
    ids=["seeds", "rows", "share", "recipe", "network"],
)
def test_the_state_of_another_run_is_not_gone_on_from(
    tmp_path: Path, whole: tuple[Fitted, list[int]], other: dict[str, object]
) -> None:
    path = tmp_path / "state"
    stop(path, 2, **other)
    trained, steps = fitted(path)
    assert steps == whole[1]
    assert_same(trained, whole[0])


def test_a_damaged_state_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "state"
    stop(path, 2)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(RecombineError, match="not as it was written") as error:
        fitted(path)
    assert error.value.place == str(path)


def test_states_are_saved_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(resume.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(resume, "EVERY", 20.0)
    saved = []

    def report(_: int, __: int, history: History) -> None:
        saved.append(len(read_tensors(path)[1]["history"]["loss"]) if path.exists() else 0)
        now[0] += 8

    path = tmp_path / "state"
    groups = [[Group(np.arange(40))]] * 2
    chosen = {"vocabulary": len(VOCABULARY), "judge": likelihood, "report": report, "checkpoint": path}
    fit(replace(RECIPE, epochs=8), schedule((1, 2)).corpus, groups, (1, 2), **chosen)
    assert saved == [1, 1, 1, 4, 4, 4, 7, 7]  # the first epoch is not lost to the interrupt key
    assert len(read_tensors(path)[1]["history"]["loss"]) == 8


def test_the_state_of_another_kind_of_device_is_not_gone_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is that of a GPU with kernels gone on from without them, or the other way round."""

    class Elsewhere:
        device = torch.device("cuda")

        def cpu(self) -> torch.Tensor:
            return corpus.rows

    corpus = schedule((1,)).corpus
    runs = []
    for triton, rows in ((False, corpus.rows), (True, corpus.rows), (False, Elsewhere()), (True, Elsewhere())):
        monkeypatch.setattr(device, "_have_triton", lambda triton=triton: triton)
        runs.append(resume.Checkpoint(tmp_path / "state", RECIPE, replace(corpus, rows=rows), [[]], [1]).run)
    assert runs[0] == runs[1]
    assert len(set(runs)) == 3
