"""Pieces of work on the machines of a Ray cluster, or on this one by a Ray of its own."""

import logging
import os
import secrets
import socket
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Any

from recombine.errors import RecombineError
from recombine.execution.executor import Executor, Item, Outcome, Result, attempt, windowed

RETRIES = 5
"""How often a piece of work is begun again, elsewhere, when its machine or process is lost."""

KEPT = ("MKL_CBWR",)
"""Variables of this process's environment that results depend on; workers get them, too."""

_latest: tuple[str, Callable[[Any], object]] | None = None


class Ray(Executor):
    """Does pieces of work on a Ray cluster: a processor for each, and for work on GPUs a GPU.

    All machines need the same version of this package, and where files are read or written, a file system that they
    share. What is to be done is sent to a machine once.

    Args:
        address: The cluster's, such as ``10.0.0.1:6379``; None: what RAY_ADDRESS says, or else a Ray of its own on this
            machine, which ends with this process.
        gpus: How many GPUs each piece of work has to itself.

    Attributes:
        slots: How many pieces of work are done at the same time.
        has_gpus: Whether the cluster has any.
    """

    here = False

    def __init__(self, address: str | None = None, *, gpus: int = 0) -> None:
        self.address, self.gpus = address, gpus
        _connect(address)
        import ray

        found = ray.cluster_resources()
        self.has_gpus = found.get("GPU", 0) > 0
        self.slots = int(found.get("GPU", 0) / gpus if gpus else found.get("CPU", 1))
        self._sent: tuple[Callable[[Any], Any], Any] | None = None
        if not self.slots:
            raise RecombineError("the Ray cluster has no GPU.", hint="Say `device='cpu'`, or add a node that has one.")

    def __repr__(self) -> str:
        return f"Ray({self.address!r}, gpus={self.gpus})"

    def on(self, device: str) -> Executor:
        """Returns an executor on the same cluster whose pieces of work have a GPU each, if the device is one."""
        gpus = 0 if device.startswith("cpu") else 1
        return self if gpus == self.gpus else Ray(self.address, gpus=gpus)

    def outcomes(self, do: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Outcome[Result], None, None]:
        """Yields what comes of doing something with each item; see `Executor.outcomes`."""
        import ray

        task = ray.remote(num_cpus=1, num_gpus=self.gpus, max_retries=RETRIES)(_attempt)
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        if self._sent is None or self._sent[0] is not do:
            self._sent = do, ray.put(do)
        sent = [self._sent[1]]  # in a list, so that Ray leaves it to the worker to fetch what it may have already
        pending: deque[Any] = deque()
        try:
            yield from windowed(items, lambda item: task.remote(sent, environment, item), _outcome, pending, self.slots)
        finally:
            for reference in pending:
                ray.cancel(reference)


def _connect(address: str | None) -> None:
    """Joins a cluster if this process is not part of one."""
    told = address or os.environ.get("RAY_ADDRESS")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if not told and "ray" not in sys.modules:
        # A Ray of our own listens to the network, too, but answers only who knows the word. It is read on import.
        os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
    try:
        import ray
    except ImportError:
        raise RecombineError("Ray is not installed.", hint="pip install 'recombine[cluster]'") from None
    if ray.is_initialized():
        return
    try:
        if told:
            host, _, port = told.rpartition(":")
            if host and port.isdecimal() and "/" not in host:
                # Where nobody listens, Ray itself would wait for minutes.
                socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
            ray.init(address=told, log_to_driver=False, logging_level=logging.ERROR)
        else:
            ray.init(
                address="local",  # not one that happens to run on this machine
                _node_ip_address="127.0.0.1",
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
    except (OSError, ValueError, RuntimeError) as error:
        raise RecombineError(
            f"there is no Ray cluster at {told}." if told else "Ray could not be started on this machine.",
            hint=f"Start one with: ray start --head. Ray says: {str(error).splitlines()[0] if str(error) else error!r}",
        ) from error


def _outcome(reference: Any) -> Outcome[Any]:  # noqa: ANN401
    import ray

    try:
        found: Outcome[Any] = ray.get(reference)
    except ray.exceptions.RayError as error:
        return Outcome(error=RecombineError(f"the cluster could not do it: {error}"))
    return found


def _attempt(sent: list[Any], environment: dict[str, str], item: Any) -> Outcome[Any]:  # noqa: ANN401
    """Does a piece of work in a worker, which keeps what was sent last."""
    global _latest
    import ray

    os.environ.update(environment)  # before what is sent imports a library that reads it
    key = sent[0].hex()
    if _latest is None or _latest[0] != key:
        _latest = None  # before another one needs the memory
        _latest = key, ray.get(sent[0])
    return attempt(_latest[1], item)
