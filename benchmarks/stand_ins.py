"""Prints what stand-ins do, on training data alone: SCAN without "jump", with another verb held out in its place.

    python benchmarks/stand_ins.py [--verb look] [--seeds 3] [--samples 100]

Small networks, on the part of SCAN that the quickstart uses. The held-out verb is seen in one training example; counted
is how many samples are exactly right, by SCAN's interpreter.
"""

import argparse
import time
from dataclasses import replace

import torch

from recombine.augmentation.recombination import Recombination
from recombine.augmentation.settings import SamplingSettings
from recombine.data.scan import interpret
from recombine.decoding.generate import Decoding
from recombine.evaluation.audit import audit
from recombine.evaluation.seeds import summarize
from recombine.neighborhoods import LongShort
from recombine.quickstart import quickstart_task
from recombine.training.presets import SMALL_GENERATOR


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verb", default="look")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=100)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    known = [example for example in quickstart_task().train if "jump" not in example.x]
    train = tuple(example for example in known if arguments.verb not in example.x or len(example.x) == 1)
    sampling = SamplingSettings(decoding=Decoding("mixed", 0.4), novelty="both", surplus=1.0, patience=400)
    rule = LongShort(removal="distinct")
    neighborhoods = rule.build(train, seed=0)
    print(f"{len(train):,} examples, {len(neighborhoods):,} tuples, {arguments.seeds} seeds", flush=True)
    for name, seen_only, stand_ins in (("neither", False, 0.0), ("write seen only", True, 0.0), ("both", True, 0.5)):
        began = time.perf_counter()
        network = replace(SMALL_GENERATOR.network, write_seen_only=seen_only)
        recipe = replace(SMALL_GENERATOR, network=network, stand_ins=stand_ins)
        learned = Recombination(rule, recipe, sampling=sampling, seeds=range(arguments.seeds), device="cpu")
        every = learned.fit_on(train, neighborhoods).sample_each(arguments.samples)
        audits = [audit(samples.examples, gold=interpret, train=train) for samples in every if samples.examples]
        right = summarize([(each.right or 0) / each.n for each in audits])
        seconds = time.perf_counter() - began
        print(f"{name:16} {right.mean:.2f} ± {right.deviation:.2f} exactly right, {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
