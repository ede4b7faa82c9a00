"""What ``recombine quickstart`` prints, and how it comes about."""

from dataclasses import replace
from functools import partial

import pytest
from commands import Run
from toy_task import QUICK_GENERATOR, QUICK_PREDICTOR, TASK

from recombine import GECA, Predictor, quickstart
from recombine.augmentation.sampler import SamplingSettings
from recombine.cli.quickstart import explained
from recombine.example import Example, Provenance
from recombine.own_data.settings import Display
from recombine.quickstart import Outcome

PROTOTYPES = (Example(("walk", "twice"), ("WALK", "WALK")), Example(("jump",), ("JUMP",)))
SAMPLE = Example(("jump", "twice"), ("JUMP", "JUMP"))
NAMES = ("plain predictor", "GECA", "recombine and resample")


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = GECA().fit(TASK.train).sample(6)
    outcomes = [
        Outcome(NAMES[0], 0.25, None, None, 1.0),
        *(Outcome(name, 0.5, samples, 0.75, 2.0) for name in NAMES[1:]),
    ]
    monkeypatch.setattr(quickstart, "quickstart_task", lambda: TASK)
    monkeypatch.setattr(quickstart, "quickstart", lambda *_, **__: iter(outcomes))


@pytest.mark.usefixtures("_quick")
def test_a_table_and_some_samples_with_their_sources_for_people_and_machines(run: Run) -> None:
    done = run("quickstart").ok
    assert "61 training pairs" in done.err
    assert "7 test pairs" in done.err
    table, samples = done.out.split("Five samples")
    assert [line.split() for line in table.splitlines() if line.strip()][1:] == [
        ["plain", "predictor", "0.250", "-", "-", "1"],
        ["GECA", "0.500", "6", "75%", "2"],
        ["recombine", "and", "resample", "0.500", "6", "75%", "2"],
    ]
    assert len([line for line in samples.splitlines()[1:] if not line.startswith("  ")]) == 5
    assert samples.count("\n  ¹ ") == samples.count("\n  ² ") == 5
    assert done.last == "Next: recombine data scan --split jump -o scan"
    found = run("quickstart", "--seed", 3, "--json").document
    assert (found["train"], found["test"]) == (61, 7)
    plain, geca, learned = found["rows"]
    assert (plain["samples"], plain["samples_right"], plain["exact_match"]) == ([], None, [0.25])
    assert geca["samples"] == learned["samples"] == [6]


def test_every_token_says_where_it_came_from_and_the_prototypes_follow() -> None:
    provenance = Provenance("recombination", PROTOTYPES, sources=("2:1", "1:2", "written", "own:3"))
    below = ["  ¹ walk twice ▷ WALK WALK", "  ² jump ▷ JUMP"]
    assert explained(SAMPLE.with_provenance(provenance)) == ["jump² twice¹ ▷ JUMP JUMP⁼", *below]
    assert explained(SAMPLE.with_provenance(Provenance("geca", PROTOTYPES))) == ["jump twice ▷ JUMP JUMP", *below]
    assert explained(SAMPLE) == ["jump twice ▷ JUMP JUMP"]
    with pytest.raises(ValueError, match="zip"):
        explained(SAMPLE.with_provenance(Provenance("recombination", PROTOTYPES, sources=("2:1",))))


def test_the_ways_are_gone_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "quickstart_task": lambda: TASK,
        "PREDICTOR": QUICK_PREDICTOR,
        "SMALL_GENERATOR": replace(QUICK_GENERATOR, max_steps=20),
        "SAMPLES": 3,
        "SamplingSettings": partial(SamplingSettings, patience=5, batch=64),
    }.items():
        monkeypatch.setattr(quickstart, name, value)
    said: list[str] = []
    plain, geca, learned = quickstart.quickstart(5, display=Display(say=said.append))
    assert [each.name for each in (plain, geca, learned)] == [*NAMES]
    assert (plain.samples, plain.right) == (None, None)
    new = GECA(seed=5).fit(TASK.train).sample(3)
    assert list(geca.samples) == list(new)
    assert geca.right == sum(TASK.gold(sample.x) == sample.y for sample in geca.samples) / 3
    alone = Predictor(seed=5, network=QUICK_PREDICTOR, device="cpu").fit(TASK.train, augmented=new, p_aug=0.1)
    assert geca.exact_match == alone.score(TASK.test)
    assert f"GECA: exact match {geca.exact_match:.3f}" in said
    assert learned.seconds > 0
