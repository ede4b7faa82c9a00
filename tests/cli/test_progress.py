import sys
import threading

import pytest

from recombine.cli.printing import describe, drawing, progress, searching
from recombine.training.loop import History

HALFWAY = History(loss=[[9.0, 9.0], [3.0, 2.0]], evaluation=[[0.0, 0.0], [0.5, 1.0]], seconds=30.0)


def test_describes_means_over_the_population_and_the_time_that_is_left() -> None:
    assert describe(20, 60, HALFWAY, judged="accuracy") == "loss 2.500, accuracy 0.750, 60 s left"


def test_the_time_left_keeps_to_the_bound() -> None:
    assert describe(20, 60, HALFWAY, judged="accuracy", max_time=41).endswith(", 11 s left")
    assert describe(20, 60, HALFWAY, judged="accuracy", max_time=29).endswith(", 0 s left")


def test_long_times_are_in_minutes() -> None:
    assert describe(1, 21, HALFWAY, judged="accuracy").endswith(", 10 min left")


def test_without_an_evaluation_only_loss_and_time() -> None:
    history = History(loss=[[1.0]], seconds=1.0)
    assert describe(1, 2, history, judged="accuracy") == "loss 1.000, 1 s left"


@pytest.mark.parametrize("epochs", [1, 7, 10, 300])
def test_away_from_a_terminal_there_are_at_most_ten_lines_and_the_last_says_all(
    epochs: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress("Training", judged="accuracy") as report:
        for epoch in range(1, epochs + 1):
            report(epoch * 5, epochs * 5, HALFWAY)
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert len(lines) == min(epochs, 10)
    assert lines[-1] == "Training: 100 %, loss 2.500, accuracy 0.750, 0 s left"
    assert captured.out == ""


def test_on_a_terminal_there_is_a_bar_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with progress("Training", judged="accuracy") as report:
        report(30, 60, HALFWAY)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "━" in captured.err
    assert "50%" in captured.err
    assert "accuracy 0.750" in captured.err


def test_drawing_has_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with drawing("Drawing 4,000 samples") as report:
        report(1250, 5000)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "1,250 of 5,000" in captured.err
    assert "25%" in captured.err


def test_drawing_that_takes_long_says_a_line_now_and_then_also_if_it_gets_no_further(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr("recombine.cli.printing.time.monotonic", lambda: clock[0])
    with drawing("Drawing 5,000 samples") as report:
        for seconds in (1, 29, 31, 59, 62, 80):
            clock[0] = seconds
            report(min(1000 + seconds, 1031), 5000)
    captured = capsys.readouterr()
    assert captured.out == ""
    said = ["Drawing 5,000 samples: 1,031 of 5,000"] * 2
    assert captured.err.splitlines() == said


def test_a_search_among_many_tells_how_far_it_is_and_one_among_few_is_silent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with searching("Looking", 100) as few, searching("Looking", 10**6) as many:
        assert few.report is None
        assert many.report is not None
        for part in range(1, 32):
            many.report(part, 31)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[-1] == "Looking: 100 %, 31 of 31 parts"


def test_on_a_terminal_a_bar_moves_without_a_thread(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    threads = set(threading.enumerate())  # one that another test left may end meanwhile
    with searching("Looking", 10**6) as effort:
        assert set(threading.enumerate()) <= threads
        assert effort.report is not None
        effort.report(3, 31)
    assert "3 of 31 parts" in capsys.readouterr().err
