"""The options of commands that can let others do their work: processes, or the machines of a cluster."""

from typing import TYPE_CHECKING, Annotated

import typer

from recombine.cli.options import AUTO
from recombine.errors import RecombineError, unknown

if TYPE_CHECKING:
    from recombine.execution.executor import Executor

EXECUTORS = SERIAL, PROCESSES, RAY = ("serial", "processes", "ray")

Workers = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="NAME",
        help="Who does the work, with the same results: serial, processes (of this machine), ray (many machines).",
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="With --executor ray: the cluster; $RAY_ADDRESS unless told, or else this machine alone.",
    ),
]


def check_executor(name: str | None, address: str | None) -> None:
    """Raises an error for an executor that there is not, or an address without a cluster."""
    if name is not None and name not in EXECUTORS:
        raise unknown("executor", name, EXECUTORS)
    if address is not None and name != RAY:
        raise RecombineError("--address is that of a Ray cluster.", hint=f"Say --executor {RAY}, too.")


def chosen_executor(name: str | None, address: str | None = None, *, workers: int | None = None) -> "Executor":
    """Returns who is to do the work.

    Args:
        name: One of ``EXECUTORS``; None: serial.
        address: A Ray cluster's.
        workers: How many processes; None: one for each processor.

    Raises:
        RecombineError: If there is no such executor, cluster, or package.
    """
    from recombine.execution.cluster import Ray
    from recombine.execution.executor import SERIAL as ONE_BY_ONE
    from recombine.execution.processes import Processes

    check_executor(name, address)
    if name == RAY:
        return Ray(address)
    return Processes(workers) if name == PROCESSES else ONE_BY_ONE


def device_of(executor: "Executor", name: str) -> str:
    """Returns the device that an executor's work is done on.

    Args:
        executor: Who does it; a cluster's GPUs need not be those of this machine.
        name: What was asked for.

    Raises:
        RecombineError: If there is no such device.
    """
    from recombine.execution.cluster import Ray
    from recombine.training.device import resolve

    if not isinstance(executor, Ray) or name.startswith("cpu"):
        return str(resolve(name))
    if name == AUTO:
        return "cuda" if executor.has_gpus else "cpu"
    if name != "cuda":  # the cluster says which of its GPUs it is
        raise unknown("device", name, (AUTO, "cpu", "cuda"))
    executor.on(name)
    return name
