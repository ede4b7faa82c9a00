"""Prints what becomes of a verb that was hardly seen, on training data alone: SCAN without "jump", another verb for it.

    python benchmarks/held_out_verb.py [--arms neither stand-ins] [--verb look] [--seeds 3] [--samples 100]
    python benchmarks/held_out_verb.py --size paper --seeds 6 --samples 400 --device cuda --decodings beam mixed

The held-out verb is seen in one training example. Counted is how many samples are exactly right, by SCAN's interpreter:
of all; of those with the verb and "turn"; with it and another verb; and with it twice. Small networks learn from the
part of SCAN that the quickstart uses, those of the paper's size from all.
"""

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import torch

from recombine.augmentation.recombination import Recombination
from recombine.augmentation.sampler import SamplingSettings
from recombine.data import scan
from recombine.decoding.generate import Decoding
from recombine.evaluation.significance import summarize
from recombine.example import Example, Tokens
from recombine.neighborhoods import LongShort
from recombine.paper.as_coded import LongShortAsCoded
from recombine.quickstart import quickstart_task
from recombine.training.presets import SCAN_GENERATOR, SMALL_GENERATOR
from recombine.training.recipe import Recipe

VERBS = frozenset({"walk", "run", "look", "jump"})
FULL_STEPS = 5_000
DECODINGS = {"beam": Decoding("beam"), "mixed": Decoding("mixed", 0.2), "mixed-0.4": Decoding("mixed", 0.4)}


@dataclass(frozen=True)
class Arm:
    """In what networks differ from the paper's: how they learn, shape, neighborhoods, how long prototypes may be."""

    recipe: dict[str, Any] = field(default_factory=dict)
    network: dict[str, Any] = field(default_factory=dict)
    rule: LongShort = field(default_factory=lambda: LongShort(removal="distinct"))
    deviations: float = 1.0


SEEN_ONLY = {"write_seen_only": True}
AS_CODED = {"forget_bias": 2.0, "reach": 16}
LONGER = {"max_steps": 9_000}
CODED_RULE = LongShortAsCoded()
ARMS = {
    "neither": Arm(),
    "write-seen-only": Arm(network=SEEN_ONLY),
    "stand-ins": Arm({"stand_ins": 0.5}, SEEN_ONLY),
    "twins": Arm({"twins": 8}),
    "lacking-twins": Arm({"twins": 8}, {"hide_shared_tokens": True}),
    "lacking-twins-longer": Arm({"twins": 8, "max_steps": 10_000}, {"hide_shared_tokens": True}),
    "forget-2": Arm(network={"forget_bias": 2.0}),
    "forget-2-longer": Arm(LONGER, {"forget_bias": 2.0}),
    "as-coded": Arm(network=AS_CODED),
    "as-coded-longer": Arm(LONGER, AS_CODED),
    "bounded": Arm(deviations=0.0),
    "coded-rule": Arm(rule=CODED_RULE),
    "coded-rule-bounded": Arm(rule=CODED_RULE, deviations=0.0),
    "row-as-coded": Arm({"max_steps": 10_000}, AS_CODED, CODED_RULE, 0.0),
}


def kind_of(x: Tokens, verb: str) -> str:
    """Says what stands beside the verb."""
    if verb not in x:
        return "without"
    if x.count(verb) > 1:
        return "twice"
    if "turn" in x:
        return "turn"
    return "another" if VERBS & set(x) - {verb} else "alone"


def is_right(example: Example) -> bool:
    """Tells whether SCAN's interpreter has the same output."""
    return scan.interpret(example.x) == example.y


def shares(samples: Sequence[Sequence[Example]], verb: str) -> str:
    """Returns what share of the samples is right, over networks and by what stands beside the verb."""
    if not any(samples):
        return "no samples"
    each = summarize([sum(map(is_right, own)) / len(own) for own in samples if own])
    every = [example for own in samples for example in own]
    drawn = Counter(kind_of(example.x, verb) for example in every)
    right = Counter(kind_of(example.x, verb) for example in every if is_right(example))
    kinds = ", ".join(f"{kind} {right[kind]} of {drawn[kind]}" for kind in ("turn", "another", "twice", "without"))
    return f"{each.mean:.2f} ± {each.deviation:.2f} exactly right ({kinds})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=["neither", "write-seen-only", "stand-ins"])
    parser.add_argument("--verb", default="look")
    parser.add_argument("--size", choices=["small", "paper"], default="small")
    parser.add_argument("--steps", type=int, help="how many steps networks learn for, in all arms")
    parser.add_argument("--stratified", action="store_true", help="batches of all lengths, not sorted")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--surplus", type=float, default=1.0)
    parser.add_argument("--decodings", nargs="+", choices=DECODINGS, default=["mixed-0.4"])
    parser.add_argument("--patience", type=int, default=400)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    if arguments.device == "cpu":
        torch.set_num_threads(1)
    small, verb = arguments.size == "small", arguments.verb
    data = quickstart_task().train if small else scan.split("jump").train
    known = [example for example in dict.fromkeys(data) if "jump" not in example.x]
    train = tuple(example for example in known if verb not in example.x or len(example.x) == 1)
    found = cache(lambda rule: rule.build(train, seed=0))  # most arms have the same neighborhoods
    print(f"{len(train):,} examples, {arguments.seeds} seeds", flush=True)
    base = replace(SMALL_GENERATOR, stand_ins=0.0) if small else replace(SCAN_GENERATOR, max_steps=FULL_STEPS)
    if arguments.stratified:
        base = replace(base, sorting=None)
    for name in arguments.arms:
        arm, began = ARMS[name], time.perf_counter()
        network = replace(base.network, **{"write_seen_only": False, **arm.network})
        recipe: Recipe = replace(base, network=network, **arm.recipe)
        if arguments.steps:
            recipe = replace(recipe, min_steps=0, max_steps=arguments.steps)
        rule = arm.rule
        neighborhoods = found(rule)
        seeds = range(arguments.seeds)
        learned = Recombination(rule, recipe, deviations=arm.deviations, seeds=seeds, device=arguments.device)
        learned.fit_on(train, neighborhoods)
        for decoding in arguments.decodings:
            learned.sampling = SamplingSettings(
                decoding=DECODINGS[decoding],
                novelty="both",
                surplus=arguments.surplus,
                confidence="pair",
                patience=arguments.patience,
                batch=512 if small else 1024,
            )
            samples = [each.examples for each in learned.sample_each(arguments.samples)]
            seconds = time.perf_counter() - began
            start = f"{name:17} {decoding:9} {len(neighborhoods):,} tuples"
            print(f"{start}: {shares(samples, verb)}, {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
