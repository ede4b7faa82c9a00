"""Seconds, peak memory, rows and coverage of neighborhood searches, on SCAN and on generated corpora of growing size.

Usage: python benchmarks/neighborhoods.py [--sizes 10000 30000 100000]

Every line is measured in a process of its own. The bar: each SCAN split in 10 s, a growth exponent of at most 1.2
between the smallest and the largest corpus, 2 GB.
"""

import argparse
import json
import math
import resource
import subprocess
import sys
import time

import numpy as np

from recombine.data.scan import split
from recombine.example import Example
from recombine.neighborhoods import NEIGHBORHOODS

SCAN = {"jump": "long-short", "around-right": "long-long"}
RULES = ("one-prototype", "long-short", "long-long")
TIMES = {"once": 1, "twice": 2, "thrice": 3}


def generated(size: int, seed: int = 0) -> list[Example]:
    """Returns distinct pairs of sentences and their meanings; the vocabulary grows with the square root of the size."""
    rng = np.random.default_rng(seed)
    verbs, nouns = math.isqrt(size) // 8 + 5, math.isqrt(size) // 4 + 5
    examples: dict[Example, None] = {}
    while len(examples) < size:
        x: list[str] = []
        y: list[str] = []
        for clause in range(1 + rng.integers(3)):
            verb, *roles = f"v{rng.integers(verbs)}", *(f"n{rng.integers(nouns)}" for _ in range(rng.integers(3)))
            times = rng.choice(["", *TIMES])
            x += ["and"] * (clause > 0) + [*roles[:1], verb, *roles[1:]] + [times] * (times != "")
            y += [verb.upper(), *map(str.upper, roles), "."] * TIMES.get(times, 1)
        examples[Example(tuple(x), tuple(y))] = None
    return list(examples)


def measure(corpus: str, rule: str) -> None:
    """Prints what one search takes and gives, as JSON."""
    examples = list(split(corpus).train) if corpus in SCAN else generated(int(corpus))
    start = time.process_time()
    found = NEIGHBORHOODS[rule]().build(examples)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([seconds, peak, len(found), found.coverage(examples)]))


def run(corpus: str, rule: str) -> float:
    """Measures one search in a fresh process, prints a line of the table and returns its CPU seconds."""
    command = [sys.executable, __file__, "--measure", corpus, rule]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    seconds, peak, rows, coverage = json.loads(output)
    print(f"{corpus:>14}  {rule:<14}{seconds:>9.1f}{peak:>8.0f}{rows:>11,}{coverage:>10.1%}", flush=True)
    return float(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 30_000, 100_000])
    parser.add_argument("--measure", nargs=2, metavar=("CORPUS", "RULE"), help="only this, as JSON")
    arguments = parser.parse_args()
    if arguments.measure:
        measure(*arguments.measure)
        return
    print(f"{'corpus':>14}  {'rule':<14}{'CPU s':>9}{'MB':>8}{'rows':>11}{'coverage':>10}")
    for corpus, rule in SCAN.items():
        run(corpus, rule)
    for rule in RULES:
        seconds = [run(str(size), rule) for size in arguments.sizes]
        if len(seconds) > 1:
            growth = math.log(seconds[-1] / seconds[0]) / math.log(arguments.sizes[-1] / arguments.sizes[0])
            print(f"{'':>14}  grows with an exponent of {growth:.2f}")


if __name__ == "__main__":
    main()
