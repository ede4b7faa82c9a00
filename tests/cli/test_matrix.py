"""How far a whole table is."""

import pytest

from recombine.cli import printing
from recombine.cli.printing import MatrixProgress
from recombine.training.loop import History


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(printing, "time", found)
    return found


def test_the_remaining_time_is_that_of_the_whole(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    progress = MatrixProgress()
    progress.expect(100.0)
    assert progress.remaining == "time left unknown yet"
    with progress("one", 20.0) as report:
        clock.now = 10.0
        report(1, 2, History(loss=[[2.0]], seconds=10.0))  # 10 of 100 took 10 s, so 90 s are left
        assert progress.remaining == "90 s left"
        clock.now = 30.0
    assert progress.remaining == "2 min left"  # 20 of 100 took 30 s
    progress.expect(40.0)  # half of what was expected
    assert progress.remaining == "60 s left"
    assert capsys.readouterr().err == "one: 30 s; 2 min left in all.\n"


def test_a_slow_stage_tells_more_than_a_quick_one_before_it(clock: Clock) -> None:
    progress = MatrixProgress()
    progress.expect(100.0)
    with progress("neighborhoods", 10.0):
        clock.now = 1.0
    with progress("networks", 50.0) as report:
        clock.now = 61.0
        report(1, 10, History(loss=[[2.0]], seconds=60.0))  # 5 of 50 took 60 s, and 85 are left in all
        assert progress.remaining == "17 min left"


def test_lines_come_now_and_then(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    progress = MatrixProgress()
    progress.expect(10.0)
    with progress("one", 10.0) as report:
        for second in range(1, 60):
            clock.now = float(second)
            report(second, 60, History(loss=[[2.0]], seconds=second))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "one: 50 %, loss 2.000, 30 s left (30 s left in all)"
    assert len(lines) == 2


def test_on_a_terminal_there_is_a_bar(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    progress = MatrixProgress()
    progress.expect(10.0)
    with progress.shown(), progress("one", 10.0) as report:
        clock.now = 1.0
        report(1, 2, History(loss=[[2.0]], seconds=1.0))
        assert progress._bar is not None
        [task] = progress._bar.display.tasks
        assert (task.completed, task.total) == (5.0, 10.0)
        assert task.description.endswith("(1 s left in all)")
