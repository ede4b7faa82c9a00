"""The data of the experiments on SCAN, and what experiments whose seeds have data of their own need."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from recombine.augmentation.protocol import Validator
from recombine.data import scan
from recombine.example import Example, Tokens


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is learned and how it is judged.

    Attributes:
        train: Training examples, all different.
        test: Test examples, which nothing but the final score sees.
        gold: The true output of an input, or None for an input that has none; None: nobody knows.
        relevant: Tells of a token whether its rarity counts; None: that of all does.
        reject: Says why a sample cannot be an example of this task, or None; None: every sample can.
        as_predicted: Gives an example in the order in which predictors see it.
    """

    train: Sequence[Example]
    test: Sequence[Example]
    gold: Callable[[Tokens], Tokens | None] | None = None
    relevant: Callable[[str], bool] | None = None
    reject: Validator | None = None
    as_predicted: Callable[[Example], Example] = lambda example: example


Made = TypeVar("Made")
Kind = TypeVar("Kind", bound=Task)


def part_of(task: Task, keep: Callable[[Example], bool]) -> Task:
    """Returns the part of a task, training and test set alike, whose examples are kept."""
    return replace(
        task,
        train=[example for example in task.train if keep(example)],
        test=[example for example in task.test if keep(example)],
    )


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
