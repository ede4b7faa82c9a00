"""What ``recombine quickstart`` prints; tests/test_quickstart.py has how it comes about."""

import pytest
from commands import Run
from toy_task import TASK

from recombine import GECA, quickstart
from recombine.cli.quickstart import explained
from recombine.example import Example, Provenance
from recombine.quickstart import Outcome

PROTOTYPES = (Example(("walk", "twice"), ("WALK", "WALK")), Example(("jump",), ("JUMP",)))
SAMPLE = Example(("jump", "twice"), ("JUMP", "JUMP"))


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = GECA().fit(TASK.train).sample(6)
    names = ("plain predictor", "GECA", "recombine and resample")
    outcomes = [
        Outcome(names[0], 0.25, None, None, 1.0),
        *(Outcome(name, 0.5, samples, 0.75, 2.0) for name in names[1:]),
    ]
    monkeypatch.setattr(quickstart, "quickstart_task", lambda: TASK)
    monkeypatch.setattr(quickstart, "quickstart", lambda *_, **__: iter(outcomes))


@pytest.mark.usefixtures("_quick")
def test_a_table_and_some_samples_with_their_sources(run: Run) -> None:
    done = run("quickstart", "--threads", 1).ok
    assert "61 training pairs" in done.err
    assert "7 test pairs" in done.err
    table, samples = done.out.split("Five samples")
    assert [line.split() for line in table.splitlines() if line.strip()][1:] == [
        ["plain", "predictor", "0.250", "-", "-", "1"],
        ["GECA", "0.500", "6", "75%", "2"],
        ["recombine", "and", "resample", "0.500", "6", "75%", "2"],
    ]
    shown = [line for line in samples.splitlines()[1:] if not line.startswith("  ")]
    assert len(shown) == 5
    assert samples.count("\n  ¹ ") == samples.count("\n  ² ") == 5
    assert done.last == "Next: recombine data scan --split jump -o scan"


@pytest.mark.usefixtures("_quick")
def test_the_same_for_machines(run: Run) -> None:
    found = run("quickstart", "--threads", 1, "--seed", 3, "--json").document
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
