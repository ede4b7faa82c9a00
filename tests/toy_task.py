"""A task in the manner of SCAN, small enough for whole experiments: "jump" is seen alone, and tested in company."""

from dataclasses import replace
from itertools import product

from tiny_networks import GENERATOR, PREDICTOR

from recombine.example import Example, Tokens
from recombine.paper.tasks import Task

VERBS = ("walk", "run", "look", "turn", "hop")
TIMES = {"twice": 2, "thrice": 3}

QUICK_GENERATOR = replace(GENERATOR, lr=0.01, epochs=100, min_steps=0, max_steps=120, held_out=0.0)
QUICK_PREDICTOR = replace(PREDICTOR, epochs=4, min_steps=0, held_out=0.1)


def interpret(x: Tokens) -> Tokens | None:
    """The right output of an input, if it is a command."""
    match x:
        case (verb,) if verb in (*VERBS, "jump"):
            return (verb.upper(),)
        case (one, "and", *rest) if (first := interpret((one,))) and (second := interpret(tuple(rest))):
            return first + second
        case (*command, often) if often in TIMES and (inner := interpret(tuple(command))):
            return inner * TIMES[often]
    return None


def example(command: str) -> Example:
    x = tuple(command.split())
    y = interpret(x)
    assert y is not None
    return Example(x, y)


TASK = Task(
    train=[
        *(example(verb) for verb in (*VERBS, "jump")),
        *(example(f"{verb} {often}") for verb, often in product(VERBS, TIMES)),
        *(example(f"{one} and {two}") for one, two in product(VERBS, VERBS)),
        *(example(f"{one} and {two} twice") for one, two in product(VERBS[:4], VERBS)),
    ],
    test=[*(example(f"jump {often}") for often in TIMES), *(example(f"{verb} and jump") for verb in VERBS)],
    gold=interpret,
)
