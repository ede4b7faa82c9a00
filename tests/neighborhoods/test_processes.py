import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from recombine.errors import RecombineError
from recombine.neighborhoods.processes import in_order


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_results_come_in_order(count: int, workers: int) -> None:
    def job(number: int) -> int:
        time.sleep(0.01 * (number % 3))  # later ones are done first
        return number**2

    assert list(in_order(job, count, workers=workers)) == [number**2 for number in range(count)]


def test_what_the_first_piece_makes_is_there_for_the_others() -> None:
    made: list[int] = []

    def job(number: int) -> tuple[int, int]:
        if not made:
            made.append(os.getpid())
        return made[0], os.getpid()

    makers, doers = zip(*in_order(job, 6, workers=2), strict=True)
    assert {*makers} == {os.getpid()}
    assert os.getpid() not in doers[1:]


def test_an_error_in_a_piece_is_raised() -> None:
    def job(number: int) -> int:
        if number == 3:
            raise ValueError("three is too many.")
        return number

    with pytest.raises(ValueError, match="three is too many"):
        list(in_order(job, 5, workers=2))


def test_a_process_that_is_killed_is_an_error_not_a_wait_without_end() -> None:
    def job(number: int) -> int:
        if number:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with pytest.raises(RecombineError, match="was ended in the middle"):
        list(in_order(job, 5, workers=2))


def test_processes_end_when_nobody_asks_any_more() -> None:
    results = in_order(lambda number: number, 50, workers=2)
    assert [next(results), next(results)] == [0, 1]
    results.close()  # type: ignore[attr-defined]
    deadline = time.monotonic() + 10
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not multiprocessing.active_children()


def test_processes_end_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    def job(number: int) -> None:
        if number:
            (tmp_path / str(os.getpid())).touch()
            time.sleep(60)

    parent = os.fork()
    if not parent:
        list(in_order(job, 3, workers=2))
        os._exit(0)
    _wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    _wait_until(lambda: not any(_runs(int(child.name)) for child in tmp_path.iterdir()))


def _wait_until(condition) -> None:  # noqa: ANN001
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _runs(process: int) -> bool:
    """Tells whether a process is there and no zombie, which nobody may have laid to rest here."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
