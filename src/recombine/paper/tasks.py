"""The data of the experiments on SCAN, and what experiments whose seeds have data of their own need."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

from recombine.data import scan
from recombine.experiment import Task

Made = TypeVar("Made")
Kind = TypeVar("Kind", bound=Task)


@lru_cache(maxsize=2)
def task(split: str) -> Task:
    """Returns a split of SCAN, each training pair once."""
    data = scan.split(split)
    return Task(train=tuple(dict.fromkeys(data.train)), test=data.test, gold=scan.interpret)


def different(tasks: Sequence[Kind]) -> list[Kind]:
    """Returns the tasks of seeds, those that several seeds share only once."""
    return list({id(task): task for task in tasks}.values())


def of_each(tasks: Sequence[Kind], make: Callable[[Kind], Made]) -> list[Made]:
    """Returns what is made of each seed's task, made once of those that several seeds share."""
    made = {id(task): make(task) for task in different(tasks)}
    return [made[id(task)] for task in tasks]
