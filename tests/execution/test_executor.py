import gc
import multiprocessing
import os
import signal
import time
import weakref
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from two_nodes import wait_until

from recombine.errors import RecombineError
from recombine.execution.executor import AHEAD, SERIAL, Executor, Job, Processes, Run, in_order

EXECUTORS = [SERIAL, Processes(2)]


def job(number: int, *, fails: Exception | None = None) -> Job[int]:
    def do() -> int:
        if fails is not None:
            raise fails
        return number

    return Job(f"number {number}", do)


@pytest.mark.parametrize("executor", EXECUTORS, ids=repr)
def test_jobs_that_fail_leave_the_others_alone_and_are_listed(executor: Executor) -> None:
    jobs = [
        *(job(0), job(1, fails=RecombineError("there is no one.", place="here", hint="Try two."))),
        *(job(2, fails=ValueError("two")), job(3)),
    ]
    run = Run()
    assert list(run.finished([], executor)) == []
    run.check()
    assert list(run.finished(jobs[:2], executor)) == [0]
    with pytest.raises(RecombineError) as raised:
        run.check()
    assert str(raised.value) == "here: number 1: there is no one. Try two."
    assert list(run.finished(jobs[2:], executor)) == [3]
    with pytest.raises(RecombineError) as raised:
        run.check()
    assert raised.value.message.splitlines() == [
        "2 of 4 jobs failed; the others are done.",
        "number 1: here: there is no one. Try two.",
        "number 2: ValueError: two",
    ]
    assert isinstance(raised.value.__cause__, ExceptionGroup)


@pytest.mark.parametrize("executor", EXECUTORS, ids=repr)
def test_an_error_of_ours_stays_what_it_is_and_says_which_job_it_was(executor: Executor) -> None:
    run = Run()
    assert list(run.finished([job(0), Job("division", lambda: 1 // 0)], executor)) == [0]
    with pytest.raises(ZeroDivisionError) as raised:
        run.check()
    assert raised.value.__notes__[-1] == "The job that failed: division."


class Large:
    """Stands for a GPU's memory."""


def directly(large: Large) -> None:
    try:
        raise ValueError("memory is full")
    except ValueError as error:
        raise RecombineError("too large.") from error


def piece_by_piece(large: Large) -> None:
    def do(item: int) -> int:
        raise ValueError(f"memory is full: {large}, {item}")

    list(in_order(SERIAL, do, iter(range(3))))


def in_a_circle(large: Large) -> None:
    error = ValueError("memory is full")
    raise error from error


@pytest.mark.parametrize("fail", [directly, piece_by_piece, in_a_circle])
def test_a_failure_holds_nothing_of_what_failed(fail: Callable[[Large], None]) -> None:
    held: list[weakref.ref[Large]] = []

    def do() -> None:
        large = Large()
        held.append(weakref.ref(large))
        fail(large)

    run = Run()
    assert not list(run.finished([Job("one", do), Job("two", do)], SERIAL))
    assert len(run.failures) == 2
    gc.collect()
    assert [reference() for reference in held] == [None, None]


TWO = Processes(2)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("pieces", [0, 1, 2, 7])
def test_results_come_in_order(pieces: int, workers: int) -> None:
    def square(number: int) -> int:
        time.sleep(0.01 * (number % 3))  # later ones are done first
        return number**2

    assert list(in_order(Processes(workers), square, range(pieces))) == [number**2 for number in range(pieces)]


def test_work_is_done_in_other_processes_that_see_what_is_here() -> None:
    here = object()
    seen = list(in_order(TWO, lambda _: (id(here), os.getpid()), range(6)))
    assert {place for place, _ in seen} == {id(here)}
    assert os.getpid() not in {process for _, process in seen}


def test_of_a_source_without_end_only_some_are_taken_ahead() -> None:
    taken: list[int] = []

    def source() -> "count[int]":
        for number in count():
            taken.append(number)
            yield number

    results = in_order(TWO, lambda number: number, source())
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    assert len(taken) <= 3 + AHEAD * 2
    results.close()  # type: ignore[attr-defined]


class Odd(Exception):
    """Cannot be made again from what it says, and so not be sent."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def raises(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    ("do", "kind", "message"),
    [
        (lambda: raises(ValueError("three is too many.")), ValueError, "three is too many"),
        (lambda: raises(Odd("odd ", "error")), RuntimeError, "odd error"),
        (lambda: lambda: 0, Exception, "pickle"),  # a result that cannot be sent
        (lambda: os.kill(os.getpid(), signal.SIGKILL), RecombineError, "was ended in the middle"),
    ],
    ids=["raised", "cannot be sent", "result cannot be sent", "killed"],
)
def test_an_error_in_a_piece_is_raised(do: Callable[[], object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as raised:
        list(in_order(TWO, lambda number: do() if number == 3 else number, range(5)))
    if kind is ValueError:
        assert "in raises" in raised.value.__notes__[0]  # where it came from


def test_processes_end_when_nobody_asks_any_more() -> None:
    results = in_order(TWO, lambda number: number, range(50))
    assert [next(results), next(results)] == [0, 1]
    results.close()  # type: ignore[attr-defined]
    wait_until(lambda: not multiprocessing.active_children())


def test_what_is_started_goes_on_while_something_else_is_done(tmp_path: Path) -> None:
    with TWO.started(lambda number: (tmp_path / str(number)).touch() or number, [0, 1, 2]) as outcomes:
        wait_until(lambda: len(list(tmp_path.iterdir())) == 3)  # though nobody has asked for an outcome
        assert [outcome.value for outcome in outcomes] == [0, 1, 2]


def test_what_is_not_begun_is_given_up_when_what_was_done_meanwhile_fails(tmp_path: Path) -> None:
    def piece(number: int) -> None:
        time.sleep(0.2)
        (tmp_path / str(number)).touch()

    with pytest.raises(KeyError), TWO.started(piece, range(50)):
        raise KeyError
    assert not multiprocessing.active_children()
    assert len(list(tmp_path.iterdir())) < 10  # those under way, and some that a pool hands out ahead


def test_one_processor_begins_when_it_is_asked() -> None:
    begun: list[int] = []
    with Processes(1).started(begun.append, [0, 1]) as outcomes:
        assert begun == []
        list(outcomes)
    assert begun == [0, 1]


def test_processes_end_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    def piece(_: int) -> None:
        (tmp_path / str(os.getpid())).touch()
        time.sleep(60)

    parent = os.fork()
    if not parent:
        list(in_order(TWO, piece, range(3)))
        os._exit(0)
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    wait_until(lambda: not any(_runs(int(child.name)) for child in tmp_path.iterdir()))


def _runs(process: int) -> bool:
    """Tells whether a process is there and no zombie, which nobody may have laid to rest here."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
