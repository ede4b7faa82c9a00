"""The tasks of the paper's tables: SCAN's splits, with the grammar as judge."""

from recombine.data import scan
from recombine.experiment import Task


def task(split: str) -> Task:
    """Returns a split of SCAN, its repetitions taken out, with the grammar as judge."""
    data = scan.split(split)
    return Task(train=tuple(dict.fromkeys(data.train)), test=data.test, gold=scan.interpret)
