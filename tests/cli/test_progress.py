"""How far work is, on standard error."""

import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace

import pytest

from recombine.cli import printing
from recombine.cli.printing import MatrixProgress, searching
from recombine.cli.training import use_threads
from recombine.execution import terminal
from recombine.execution.terminal import by_default, describe, progress, say, working
from recombine.own_data.settings import SILENT, shown
from recombine.training.fitted import History

HALFWAY = History(loss=[[9.0, 9.0], [3.0, 2.0]], evaluation=[[0.0, 0.0], [0.5, 1.0]], seconds=30.0)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(printing, "time", found)
    monkeypatch.setattr(terminal, "time", found)
    return found


def pretend_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes standard error a terminal; called by tests, since pytest has another one while it sets up fixtures."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("TERM", "xterm")


def test_describes_means_over_the_population_and_the_time_that_is_left() -> None:
    assert describe(20, 60, HALFWAY, judged="accuracy") == "loss 2.500, accuracy 0.750, 60 s left"
    assert describe(1, 21, HALFWAY).endswith(", 10 min left")
    assert describe(1, 2, History(loss=[[1.0]], seconds=1.0), judged="accuracy") == "loss 1.000, 1 s left"


@pytest.mark.parametrize("epochs", [1, 7, 10, 300])
def test_away_from_a_terminal_there_are_at_most_eleven_lines_and_the_last_says_all(
    epochs: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress("Training", judged="accuracy") as report:
        for epoch in range(1, epochs + 1):
            report(epoch * 5, epochs * 5, HALFWAY)
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert len(lines) <= min(epochs, 11)
    assert lines[0].startswith(f"Training: {100 // epochs} %, ")
    assert lines[-1] == "Training: 100 %, loss 2.500, accuracy 0.750, 0 s left"
    assert captured.out == ""


def test_on_a_terminal_there_is_a_bar_on_standard_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_terminal(monkeypatch)
    with progress("Training", judged="accuracy") as report:
        report(30, 60, HALFWAY)
    with progress("Drawing 4,000 samples") as report:
        report(1250, 5000, "1,250 of 5,000")
    captured = capsys.readouterr()
    assert captured.out == ""
    for part in ("━", "50%", "accuracy 0.750", "25%", "1,250 of 5,000"):
        assert part in captured.err


def test_a_search_among_many_tells_how_far_it_is_and_one_among_few_is_silent(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with searching("Looking", 100) as few, searching("Looking", 10**6) as many:
        assert few.report is None
        clock.now = 40.0
        many.report(3, 31, "3 of 31 parts")
    assert capsys.readouterr().err == "Looking: 3 of 31 parts\n"


def test_away_from_a_terminal_there_is_a_line_soon_and_then_now_and_then(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress("Rehearsing geca") as report:
        for done in range(1, 11):
            clock.now += 4
            report(done, 10, f"{done} of 10")
    assert capsys.readouterr().err.splitlines() == ["Rehearsing geca: 2 of 10", "Rehearsing geca: 10 of 10"]


def test_whoever_is_not_at_a_terminal_or_notebook_sees_nothing_unless_it_was_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def told() -> str:
        with by_default()("Training") as report:
            if report is not None:
                report(1, 2, HALFWAY)
        return capsys.readouterr().err

    assert told() == ""
    notebook = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: notebook))
    assert told() == "Training: 50 %, loss 2.500, held out 0.750, 30 s left\n"
    monkeypatch.delitem(sys.modules, "IPython")
    pretend_terminal(monkeypatch)
    assert "50%" in told()
    assert shown(False) is SILENT
    monkeypatch.setitem(terminal.VOICE, "quiet", True)
    say("Nothing of note.")
    say("Warning: look.")
    assert told() == "Warning: look.\n"


@pytest.mark.parametrize(("threads", "load", "told"), [(2, 1.4, True), (2, 0.2, False), (1, 1.4, False)])
def test_a_busy_machine_is_named(
    threads: int, load: float, told: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.get_num_threads", lambda: threads)
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0))
    use_threads(None)
    assert ("try --threads 1" in capsys.readouterr().err) == told


def _matrix(_: str) -> AbstractContextManager[object]:
    return MatrixProgress().bar or nullcontext()


@pytest.mark.parametrize("shown", [_matrix, working, progress, lambda what: searching(what, 10**6)])
def test_no_thread_redraws_while_processes_may_be_forked(
    shown: Callable[[str], AbstractContextManager[object]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pretend_terminal(monkeypatch)
    threads = set(threading.enumerate())  # one that another test left may end meanwhile
    with shown("Looking"):
        assert set(threading.enumerate()) <= threads
    assert capsys.readouterr().err  # something was shown


def test_the_remaining_time_is_that_of_the_whole(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    matrix = MatrixProgress()
    matrix.expect(100.0)
    assert matrix.remaining == "time left unknown yet"
    with matrix("one", 20.0) as report:
        clock.now = 10.0
        report(1, 2, History(loss=[[2.0]], seconds=10.0))  # 10 of 100 took 10 s, so 90 s are left
        assert matrix.remaining == "90 s left"
        clock.now = 30.0
    assert matrix.remaining == "2 min left"  # 20 of 100 took 30 s
    matrix.expect(40.0)  # half of what was expected
    assert matrix.remaining == "60 s left"
    assert capsys.readouterr().err == "one: 30 s; 2 min left in all.\n"
    slower = MatrixProgress()  # a slow stage tells more than a quick one before it
    slower.expect(100.0)
    clock.now = 0.0
    with slower("neighborhoods", 10.0):
        clock.now = 1.0
    with slower("networks", 50.0) as report:
        clock.now = 61.0
        report(1, 10, History(loss=[[2.0]], seconds=60.0))  # 5 of 50 took 60 s, and 85 are left in all
        assert slower.remaining == "17 min left"


def test_a_whole_table_has_one_bar(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_terminal(monkeypatch)
    matrix = MatrixProgress()
    matrix.expect(10.0)
    with matrix.bar, matrix("one", 10.0) as report:
        clock.now = 1.0
        report(1, 2, History(loss=[[2.0]], seconds=1.0))
        [task] = matrix.bar.tasks
        assert (task.completed, task.total) == (5.0, 10.0)
        assert task.fields["now"].endswith("(1 s left in all)")
