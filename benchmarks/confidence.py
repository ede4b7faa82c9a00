"""Prints how many samples are right when those are kept that the network is surest of, by two measures of confidence.

    python benchmarks/confidence.py [--seeds 1 2] [--samples 200]

The data are the robot commands of `robot_commands.py`, whose grammar says what is right; the networks are those that
`Augmenter` chooses for them.
"""

import argparse
import time
from dataclasses import replace
from itertools import product
from typing import Literal

import torch
from robot_commands import COMMON, RARE, SIDES, TIMES, commands, joined, single

from recombine import Augmenter

Ways = list[tuple[float, Literal["pair", "output"]]]
WAYS: Ways = [(1, "pair"), (1.25, "pair"), (2.5, "pair"), (4, "pair"), (1.25, "output"), (2.5, "output"), (4, "output")]


def meanings() -> dict[str, str]:
    """Returns all commands of one or two parts with what they mean."""
    parts = [single(*words) for words in product((*COMMON, *RARE), SIDES, TIMES)]
    return dict([*parts, *(joined(*sides) for sides in product(parts, ("and", "after"), parts))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--max-time", type=float, default=None, help="seconds of training; only to see that it runs")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    meaning = meanings()
    for seed in chosen.seeds:
        train, _ = commands(seed)
        began = time.process_time()
        augmenter = Augmenter(seed=seed, max_time=chosen.max_time).fit(train)
        print(f"seed {seed}: {time.process_time() - began:.0f} s of training", flush=True)
        learned = augmenter.networks_  # drawn from in several ways, without training again
        usual = learned.sampling
        for surplus, confidence in WAYS:
            learned.sampling = replace(usual, surplus=surplus, confidence=confidence)
            new = augmenter.sample(chosen.samples)
            right = sum(meaning.get(" ".join(example.x)) == " ".join(example.y) for example in new)
            length = sum(len(example.y) for example in new) / max(1, len(new))
            print(
                f"  best of {surplus:4} times as many by {confidence:6}: {right} of {len(new)} right, "
                f"{length:.1f} actions on average",
                flush=True,
            )


if __name__ == "__main__":
    main()
