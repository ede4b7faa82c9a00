"""``recombine quickstart``, on a smaller task and with smaller networks than it has."""

import json

import pytest
from commands import Run

pytestmark = pytest.mark.usefixtures("smaller")


@pytest.fixture
def smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from toy_task import QUICK_GENERATOR, QUICK_PREDICTOR, TASK

    from recombine import quickstart

    torch.set_num_threads(1)
    monkeypatch.setattr(quickstart, "quickstart_task", lambda: TASK)
    monkeypatch.setattr(quickstart, "SMALL_PREDICTOR", QUICK_PREDICTOR)
    monkeypatch.setattr(quickstart, "SMALL_GENERATOR", QUICK_GENERATOR)
    monkeypatch.setattr(quickstart, "SAMPLES", 6)
    monkeypatch.setattr(quickstart, "Resampler", lambda epsilon: None)


def test_a_table_and_some_samples_with_their_sources(run: Run) -> None:
    done = run("quickstart", "--threads", 1)
    assert done.code == 0, done.err
    assert "61 training pairs" in done.err
    assert "7 test pairs" in done.err
    table, samples = done.out.split("Five samples")
    assert [line.split("  ")[0] for line in table.splitlines() if line.strip()][1:] == [
        "plain predictor",
        "GECA",
        "recombine and resample",
    ]
    shown = [line for line in samples.splitlines()[1:] if not line.startswith("  ")]
    assert len(shown) == 5
    assert all(" ▷ " in line for line in shown)
    assert samples.count("\n  ¹ ") == samples.count("\n  ² ") == 5
    assert done.err.splitlines()[-1] == "Next: recombine data scan --split jump -o scan"


def test_the_same_for_machines(run: Run) -> None:
    done = run("quickstart", "--threads", 1, "--seed", 3, "--json")
    found = json.loads(done.out)
    assert (found["train"], found["test"]) == (61, 7)
    plain, geca, learned = found["rows"]
    assert (plain["samples"], plain["samples_right"]) == ([], None)
    assert geca["samples"] == learned["samples"] == [6]
    assert all(0 <= row["exact_match"][0] <= 1 and row["seconds"] > 0 for row in found["rows"])
