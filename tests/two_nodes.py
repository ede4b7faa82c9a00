"""A real cluster of two Ray nodes, each of one processor, which run on this machine."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def two_nodes() -> Iterator[Any]:
    """Gives the cluster; where there is no Ray, skips the test."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'recombine[cluster]'")
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        nodes.add_node(num_cpus=1)
        yield nodes
    finally:
        ray.shutdown()
        nodes.shutdown()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 40
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
