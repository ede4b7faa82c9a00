"""Writes a small data set of one's own kind: commands for a robot, of which three verbs are only ever seen alone.

    python benchmarks/robot_commands.py robot
    recombine compare robot/train.tsv --test robot/test.tsv -o robot/run

There are 36 single commands of four verbs ("walk left twice"), 250 of the 2,592 that join two of them by "and" or
"after", and "jump", "hop" and "roll" alone. The test examples are 60 that use one of the three verbs, and 60 others.
"""

import random
import sys
from itertools import product
from pathlib import Path

COMMON, RARE = ("walk", "look", "run", "swim"), ("jump", "hop", "roll")
SIDES = {"": [], "left": ["TURN_LEFT"], "right": ["TURN_RIGHT"]}
TIMES = {"": 1, "twice": 2, "thrice": 3}

Pair = tuple[str, str]


def single(verb: str, side: str, times: str) -> Pair:
    """Returns a command and what the robot does: "walk left twice" is TURN_LEFT WALK TURN_LEFT WALK."""
    actions = [*SIDES[side], verb.upper()] * TIMES[times]
    return " ".join(filter(None, (verb, side, times))), " ".join(actions)


def joined(first: Pair, word: str, second: Pair) -> Pair:
    """Returns two commands as one; "after" turns the order of the actions round."""
    actions = (first[1], second[1]) if word == "and" else (second[1], first[1])
    return f"{first[0]} {word} {second[0]}", " ".join(actions)


def commands(seed: int) -> tuple[list[Pair], list[Pair]]:
    """Returns training and test examples."""
    rng = random.Random(seed)
    known = [single(*parts) for parts in product(COMMON, SIDES, TIMES)]
    double = rng.sample([joined(*parts) for parts in product(known, ("and", "after"), known)], 310)
    rare = [single(*parts) for parts in product(RARE, SIDES, TIMES)]
    alone = [single(verb, "", "") for verb in RARE]
    used = [pair for pair in rare if pair not in alone]
    used += [joined(*parts) for parts in product(rare, ("and", "after"), known)]
    used += [joined(*parts) for parts in product(known, ("and", "after"), rare)]
    train = [*known, *double[:250], *alone]
    rng.shuffle(train)
    return train, [*rng.sample(used, 60), *double[250:]]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, pairs in zip(("train.tsv", "test.tsv"), commands(int(sys.argv[2]) if sys.argv[2:] else 0), strict=True):
        (folder / name).write_text("".join(f"{x}\t{y}\n" for x, y in pairs))
