"""On a real cluster of two Ray nodes: what is done, what fails, and what a killed node costs."""

import os
import secrets
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from two_nodes import wait_until

from recombine.errors import RecombineError
from recombine.execution.cluster import Ray
from recombine.execution.executor import Job, Run, in_order


@pytest.fixture
def two(cluster: Any) -> Ray:  # noqa: ANN401
    if len(cluster.worker_nodes) == 0:
        cluster.add_node(num_cpus=1)
    return Ray(cluster.address)


@pytest.mark.slow
def test_work_is_done_on_both_nodes_and_results_come_in_order(two: Ray) -> None:
    def where(number: int) -> tuple[int, str]:
        import ray

        time.sleep(0.3)
        return number**2, ray.get_runtime_context().get_node_id()

    squares, nodes = zip(*in_order(two, where, range(6)), strict=True)
    assert squares == (0, 1, 4, 9, 16, 25)
    assert len({*nodes}) == 2
    assert two.slots == 2


@pytest.mark.slow
def test_what_is_to_be_done_is_sent_to_each_worker_once(two: Ray) -> None:
    class Heavy:
        copies = 0

        def __reduce__(self) -> tuple[type, tuple[()]]:
            return Heavy, ()

        def __init__(self) -> None:
            self.name = secrets.token_hex(4)

        def __call__(self, _: int) -> tuple[int, str]:
            return os.getpid(), self.name

    heavy = Heavy()
    seen = [*in_order(two, heavy, range(6)), *in_order(two, heavy, range(6))]
    assert len({*seen}) == len({process for process, _ in seen})


@pytest.mark.slow
def test_workers_compute_as_this_process_does(two: Ray, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    assert {*in_order(two, lambda _: os.environ.get("MKL_CBWR"), range(4))} == {"COMPATIBLE"}


@pytest.mark.slow
def test_a_job_that_fails_reports_its_own_error_and_leaves_the_others_alone(two: Ray) -> None:
    def fail() -> int:
        raise RecombineError("there is no one.", place="file:1", hint="Try two.")

    run = Run()
    jobs = [Job("zero", lambda: 0), Job("one", fail), Job("two", lambda: 2), Job("division", lambda: 1 // 0)]
    assert list(run.finished(jobs, two)) == [0, 2]
    assert [name for name, _ in run.failures] == ["one", "division"]
    with pytest.raises(RecombineError, match="2 of 4 jobs failed") as raised:
        run.check()
    assert raised.value.message.splitlines()[1:] == [
        "one: file:1: there is no one. Try two.",
        "division: ZeroDivisionError: integer division or modulo by zero",
    ]


@pytest.mark.slow
def test_a_node_that_is_killed_costs_only_its_unfinished_jobs(two: Ray, cluster: Any, tmp_path: Path) -> None:  # noqa: ANN401
    import ray

    def job(number: int) -> Job[int]:
        def do() -> int:
            import ray

            (tmp_path / f"{number}-{secrets.token_hex(4)}").touch()
            while number >= 2 and not (tmp_path / ray.get_runtime_context().get_node_id()).exists():
                time.sleep(0.05)
            return 10 * number

        return Job(str(number), do)

    found: list[int] = []
    run = Run()
    jobs = [job(number) for number in range(5)]
    working = threading.Thread(target=lambda: found.extend(run.finished(jobs, two)))
    working.start()
    wait_until(lambda: _begun(tmp_path) == [0, 1, 2, 3])  # two are done, two are under way, one on each node
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    (tmp_path / ray.get_runtime_context().get_node_id()).touch()  # jobs on this node may end
    working.join(60)
    run.check()
    assert found == [0, 10, 20, 30, 40]
    begun = _begun(tmp_path)
    assert (begun.count(0), begun.count(1), begun.count(4)) == (1, 1, 1)
    assert len(begun) == 6  # one of two and three a second time


@pytest.mark.slow
def test_no_gpus_where_there_are_none(two: Ray) -> None:
    assert not two.has_gpus
    assert two.on("cpu") is two
    with pytest.raises(RecombineError, match="the Ray cluster has no GPU"):
        two.on("cuda")


def _begun(folder: Path) -> list[int]:
    return sorted(int(path.name.partition("-")[0]) for path in folder.glob("*-*"))


PROGRAM = """
import os, subprocess, sys
from recombine.execution.cluster import Ray
from recombine.execution.executor import in_order

print(list(in_order(Ray(), lambda number: number ** 2, range(3))))
import ray
stranger = "import ray; ray.init(address=" + repr(ray.get_runtime_context().gcs_address) + ")"
environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
with subprocess.Popen([sys.executable, "-c", stranger], env=environment, stderr=subprocess.PIPE, text=True) as trying:
    for line in trying.stderr:
        if "token is missing or incorrect" in line:  # it would go on trying
            print(line)
            break
    trying.kill()
"""


@pytest.mark.slow
def test_a_ray_of_ones_own_answers_nobody_else() -> None:
    pytest.importorskip("ray")
    alone = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=alone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[0, 1, 4]\n")
    assert "token is missing or incorrect" in done.stdout


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere.invalid:6379"])
def test_where_there_is_no_cluster(address: str) -> None:
    pytest.importorskip("ray").shutdown()
    with pytest.raises(RecombineError, match=f"there is no Ray cluster at {address}") as raised:
        Ray(address)
    assert "ray start --head" in str(raised.value.hint)


def test_where_there_is_no_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(RecombineError, match="Ray is not installed") as raised:
        Ray()
    assert raised.value.hint == "pip install 'recombine[cluster]'"
