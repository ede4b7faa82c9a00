from dataclasses import replace

import pytest
from toy_task import QUICK_GENERATOR, QUICK_PREDICTOR, TASK

from recombine import GECA, Augmenter, Predictor, quickstart
from recombine.data.scan import interpret
from recombine.example import Example
from recombine.own_data.settings import Display


def test_the_task_is_a_part_of_jump() -> None:
    task = quickstart.quickstart_task()
    assert task.gold is interpret
    assert [pair.x for pair in task.train if "jump" in pair.x] == [("jump",)]
    assert all("jump" in pair.x for pair in task.test)
    assert not any({"around", "opposite"} & set(pair.x) for pair in (*task.train, *task.test))
    assert len(task.train) > 1000
    assert len(task.test) > 500


def test_three_ways_are_compared() -> None:
    (_, plain), (_, geca), (_, learned) = quickstart.ways(5)
    assert plain is None
    assert isinstance(geca, GECA)
    assert isinstance(learned, Augmenter)
    assert (geca.n, geca.seed, geca.rarity) == (400, 5, None)
    assert (learned.n, learned.seed, learned.device) == (400, 5, "cpu")
    rare = replace(learned.rarity).fit(quickstart.quickstart_task().train)
    assert rare(Example(("jump", "twice"), ("I_JUMP", "I_JUMP"))) is None
    assert rare(Example(("walk", "twice"), ("I_WALK", "I_WALK"))) is not None


def test_the_ways_are_gone_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "quickstart_task": lambda: TASK,
        "SMALL_PREDICTOR": QUICK_PREDICTOR,
        "SMALL_GENERATOR": QUICK_GENERATOR,
        "SAMPLES": 3,
    }.items():
        monkeypatch.setattr(quickstart, name, value)
    said: list[str] = []
    plain, geca, learned = quickstart.quickstart(5, display=Display(say=said.append))
    assert [each.name for each in (plain, geca, learned)] == ["plain predictor", "GECA", "recombine and resample"]
    assert (plain.samples, plain.right) == (None, None)
    assert list(geca.samples) == list(GECA(seed=5).fit(TASK.train).sample(3))
    assert geca.right == sum(TASK.gold(sample.x) == sample.y for sample in geca.samples) / 3
    new = GECA(seed=5).fit(TASK.train).sample(3)
    alone = Predictor(seed=5, network=QUICK_PREDICTOR, device="cpu").fit(TASK.train, augmented=new, p_aug=0.1)
    assert geca.exact_match == alone.score(TASK.test)
    assert f"GECA: exact match {geca.exact_match:.3f}" in said
    assert learned.seconds > 0
