import pytest
import torch
from toy_task import QUICK_GENERATOR, QUICK_PREDICTOR, TASK

from recombine import quickstart
from recombine.augmentation.geca import GECA
from recombine.augmentation.recombination import Recombination
from recombine.data.scan import interpret
from recombine.example import Example

torch.set_num_threads(1)


def test_the_task_is_a_part_of_jump() -> None:
    task = quickstart.quickstart_task()
    assert task.gold is interpret
    assert [pair.x for pair in task.train if "jump" in pair.x] == [("jump",)]
    assert all("jump" in pair.x for pair in task.test)
    assert not any({"around", "opposite"} & set(pair.x) for pair in (*task.train, *task.test))
    assert len(task.train) > 1000
    assert len(task.test) > 500


def test_three_ways_are_compared_by_the_same_predictor() -> None:
    train = quickstart.quickstart_task().train
    plain, geca, learned = quickstart.plans(train, "cpu")
    assert plain.augmenter is None
    assert isinstance(geca.augmenter, GECA)
    assert isinstance(learned.augmenter, Recombination)
    assert learned.augmenter.device == "cpu"
    assert plain.predictor == geca.predictor == learned.predictor
    assert (geca.n, geca.p_aug) == (learned.n, learned.p_aug) == (400, 0.1)
    assert (geca.accept, plain.accept) == (None, None)
    assert learned.accept is not None
    assert learned.accept(Example(("jump", "twice"), ("I_JUMP", "I_JUMP"))) is None
    assert learned.accept(Example(("walk", "twice"), ("I_WALK", "I_WALK"))) is not None


def test_the_ways_are_gone_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "quickstart_task": lambda: TASK,
        "SMALL_PREDICTOR": QUICK_PREDICTOR,
        "SMALL_GENERATOR": QUICK_GENERATOR,
        "SAMPLES": 3,
    }.items():
        monkeypatch.setattr(quickstart, name, value)
    outcomes = quickstart.quickstart([5])
    names = [next(outcomes).name, next(outcomes).name]
    assert names == ["plain predictor", "GECA"]
    [learned] = outcomes
    assert (learned.name, learned.seeds) == ("recombine and resample", [5])
    assert learned.generator is not None
