"""Compares the estimated share of right samples with the true one.

It does so on the files of own_files.py, on the languages of agreeing.py, in which not everything goes with everything,
and on parts of SCAN.

    python benchmarks/calibration.py --seeds 2 > results/calibration.txt

Each line has the estimate of `Auto` with its interval, and the true share by an oracle; then estimate and true share of
the samples of either rule. The last lines tell how often the truth is near, how often it is in the interval, and how
many of the samples are right that are told to be so with a certain probability.
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import agreeing
import numpy as np
from agreeing import LANGUAGES
from own_files import EVERY, Oracle, make, spaced

from recombine import Auto
from recombine.data import scan
from recombine.errors import NothingMade
from recombine.example import Example

NEAR = 0.05
PARTS = {"jump": 600, "around-right": 600, "simple": 300}
"""How many training examples are taken of splits of SCAN."""

BOUNDS = (0, 0.6, 0.8, 0.9, 0.95, 1.01)

Data = tuple[str, list[Example], Callable[[Example], bool]]


def every(seeds: int) -> Iterator[Data]:
    """Yields data: a name, the examples, and what knows which samples are right."""
    for seed in range(seeds):
        for pairs in (300, 150):
            for kind in EVERY:
                made = make(kind, pairs, seed)
                examples = [Example(tuple(spaced(x).split()), tuple(spaced(y).split())) for x, y in made.train]
                yield f"{kind}, {pairs}, {seed}", examples, partial(is_right, made.oracle)
            for name, language in LANGUAGES.items():
                yield f"{name}, {pairs}, {seed}", agreeing.make(language, pairs, seed), language.right
        for split, count in PARTS.items():
            train = scan.split(split, seed=seed).train
            rare = [example for example in train if example.x == ("jump",)][:1]
            examples = list(dict.fromkeys([*rare, *train[:count]]))
            yield f"SCAN {split}, {count}, {seed}", examples, lambda each: scan.interpret(each.x) == each.y


def is_right(oracle: Oracle, sample: Example) -> bool:
    return oracle.right(" ".join(sample.x), " ".join(sample.y))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2, help="how often each kind of data is made")
    parser.add_argument("-n", type=int, default=100, help="how many samples are made")
    arguments = parser.parse_args()
    print(f"{'data, examples, seed':28}kept   n  estimate (interval)   true   geca       spans")
    near, inside, told = list[bool](), list[bool](), list[tuple[float, bool]]()
    for name, examples, truth in every(arguments.seeds):
        for kept in ("rare", "all"):
            try:
                auto = Auto(rarity="auto" if kept == "rare" else None, progress=False)
                samples = auto.fit(examples).sample(arguments.n)
            except NothingMade:
                print(f"{name:28}{kept:5}  0  no rule can be trusted", flush=True)
                continue
            assert samples.estimate is not None
            low, mean, high = samples.estimate
            right = [truth(sample) for sample in samples]
            each = [float(sample.provenance.details["right"]) for sample in samples if sample.provenance]
            methods = [sample.provenance.method for sample in samples if sample.provenance]
            share = float(np.mean(right))
            near.append(abs(mean - share) <= NEAR + 0.005)  # as they are printed
            inside.append(low - 0.005 <= share <= high + 0.005)
            told += zip(each, right, strict=True)
            parts = ""
            for rule in ("geca", "spans"):
                own = [place for place, method in enumerate(methods) if method == rule]
                means = [float(np.mean([of[place] for place in own])) for of in (each, right)] if own else []
                parts += f"   {means[0]:.2f} {means[1]:.2f}" if means else " " * 12
            print(
                f"{name:28}{kept:5}{len(samples):3}  {mean:.2f} ({low:.2f}-{high:.2f})     {share:.2f}{parts}",
                flush=True,
            )
    print(f"At most {NEAR:.0%} off: {np.mean(near):.0%} of {len(near)}; truth in the interval: {np.mean(inside):.0%}")
    for low, high in pairwise(BOUNDS):
        found = [(estimate, right) for estimate, right in told if low <= estimate < high]
        if found:
            mean, share = np.mean(found, axis=0)
            print(
                f"Told {low:.2f} to {min(high, 1):.2f}: {len(found):5} samples, estimate {mean:.3f}, true {share:.3f}"
            )


if __name__ == "__main__":
    main()
