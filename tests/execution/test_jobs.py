import pytest

from recombine.errors import RecombineError
from recombine.execution.executor import SERIAL, Executor
from recombine.execution.jobs import Job, finished
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
    results = finished(jobs, executor)
    assert [next(results), next(results)] == [0, 2]
    with pytest.raises(RecombineError) as raised:
        next(results)
    assert str(raised.value) == "here: number 1: there is no one. Try two."


@pytest.mark.parametrize("executor", EXECUTORS, ids=repr)
def test_all_failures_are_listed(executor: Executor) -> None:
    jobs = [job(0), job(1, fails=RecombineError("none.", place="here")), job(2, fails=ValueError("two")), job(3)]
    with pytest.raises(RecombineError) as raised:
        list(finished(jobs, executor))
    assert raised.value.message.splitlines() == [
        "2 of 4 jobs failed; the others are done.",
        "number 1: here: none.",
        "number 2: ValueError: two",
    ]
    assert isinstance(raised.value.__cause__, ExceptionGroup)


@pytest.mark.parametrize("executor", EXECUTORS, ids=repr)
def test_an_error_of_ours_stays_what_it_is_and_says_which_job_it_was(executor: Executor) -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        list(finished([job(0), Job("division", lambda: 1 // 0)], executor))
    assert raised.value.__notes__[-1] == "The job that failed: division."


@pytest.mark.parametrize("executor", EXECUTORS, ids=repr)
def test_no_jobs_no_results(executor: Executor) -> None:
    assert list(finished([], executor)) == []
