import gc
import weakref
from collections.abc import Callable

import pytest

from recombine.errors import RecombineError
from recombine.execution.executor import SERIAL, Executor, in_order
from recombine.execution.jobs import Job, Run
from recombine.execution.processes import Processes

EXECUTORS = [SERIAL, Processes(2)]


def job(number: int, *, fails: Exception | None = None) -> Job[int]:
    def do() -> int:
        if fails is not None:
            raise fails
        return number

    return Job(f"number {number}", do)


@pytest.mark.parametrize("executor", EXECUTORS, ids=repr)
def test_a_job_that_fails_leaves_the_others_alone(executor: Executor) -> None:
    jobs = [job(0), job(1, fails=RecombineError("there is no one.", place="here", hint="Try two.")), job(2)]
    run = Run()
    assert list(run.finished(jobs, executor)) == [0, 2]
    with pytest.raises(RecombineError) as raised:
        run.check()
    assert str(raised.value) == "here: number 1: there is no one. Try two."


@pytest.mark.parametrize("executor", EXECUTORS, ids=repr)
def test_all_failures_are_listed(executor: Executor) -> None:
    jobs = [job(0), job(1, fails=RecombineError("none.", place="here")), job(2, fails=ValueError("two")), job(3)]
    run = Run()
    assert list(run.finished(jobs[:2], executor)) == [0]
    assert list(run.finished(jobs[2:], executor)) == [3]
    with pytest.raises(RecombineError) as raised:
        run.check()
    assert raised.value.message.splitlines() == [
        "2 of 4 jobs failed; the others are done.",
        "number 1: here: none.",
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


@pytest.mark.parametrize("executor", EXECUTORS, ids=repr)
def test_no_jobs_no_results(executor: Executor) -> None:
    run = Run()
    assert list(run.finished([], executor)) == []
    run.check()


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
