"""Prints what mends samples of SCAN's around-right, on training data alone: another template is held out instead.

    python benchmarks/around_right.py [--arms faithful lacking-twins] [--size small] [--steps 2500] [--seeds 2]
    python benchmarks/around_right.py --size paper --steps 5000 --seeds 6 --samples 200 --device cuda

No training example holds the template. Counted is, by SCAN's interpreter: how many outputs are right where inputs with
the template are forced on a network that never saw one, given prototypes that the rule admits; and, of the new samples,
how many hold the template and how many of those are right. Samples that hold "around right" are not looked at: they are
the test set's.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from recombine.augmentation.protocol import Samples
from recombine.augmentation.recombination import Recombination
from recombine.augmentation.sampler import SamplingSettings
from recombine.data import scan
from recombine.data.vocabulary import PAD, SEP
from recombine.decoding.generate import Decoding
from recombine.example import Example
from recombine.models.noise import Noise
from recombine.models.scoring import predicted
from recombine.neighborhoods import LongLong, Neighborhoods
from recombine.training.corpus import encoded
from recombine.training.presets import SCAN_GENERATOR
from recombine.training.recipe import Recipe
from recombine.training.renaming import Twins

TESTED = "around right"
LEFT_OUT, MOST_ACTIONS = frozenset({"thrice", "turn", "around", "run", "jump"}), 8
"""Small networks learn from commands without these words and with no more actions."""

LESS_DROPOUT = {"dropout": 0.3, "state_dropout": 0.3}
ARMS: dict[str, tuple[int, dict[str, Any]]] = {
    "faithful": (0, {}),
    "reach": (0, {"reach": 16}),
    "twins": (8, {}),
    "lacking": (0, {"hide_shared_tokens": True}),
    "lacking-twins": (8, {"hide_shared_tokens": True}),
    "lacking-twins-dropout-0.3": (8, {"hide_shared_tokens": True, **LESS_DROPOUT}),
}
"""What is compared: `Recipe.twins`, and in what a network differs from the paper's."""


@dataclass(frozen=True)
class Held:
    """Training data without a template; examples with it; and rows of one of these and two prototypes from training."""

    train: tuple[Example, ...]
    out: tuple[Example, ...]
    neighborhoods: Neighborhoods
    rows: np.ndarray


def mentions(example: Example, phrase: str) -> bool:
    """Tells whether the words of the phrase stand side by side in the input."""
    return f" {phrase} " in f" {' '.join(example.x)} "


def held_out(template: str, size: str, *, most: int = 400) -> Held:
    """Takes a template out of around-right's training set, or of a part; keeps `most` examples with it at most."""
    known = scan.split("around-right").train
    if size == "small":
        known = tuple(e for e in known if not LEFT_OUT & set(e.x) and len(e.y) <= MOST_ACTIONS)
    train = tuple(example for example in known if not mentions(example, template))
    out = tuple(example for example in known if mentions(example, template))[:most]
    rows = LongLong().build([*train, *out], seed=0).rows
    rows = rows[(rows[:, 0] >= len(train)) & (rows[:, 1:] < len(train)).all(1)]
    rows = rows[np.random.default_rng(0).permutation(len(rows))]
    _, one_each = np.unique(rows[:, 0], return_index=True)
    return Held(train, out, LongLong().build(train, seed=0), rows[one_each].astype(np.int64))


def forced(learned: Recombination, held: Held) -> list[float]:
    """Returns, for each network, how many outputs it gets right where held-out inputs are forced on it."""
    model, vocabulary, names = learned.fitted_.model, learned.vocabulary_, learned.recipe.twins
    table = encoded([example.d for example in (*held.train, *held.out)], vocabulary, model.embed.weight.device)
    twins = Twins.of(table[: len(held.train)], len(vocabulary), names) if names else None
    noise = Noise(learned.seeds, table.device)
    right = torch.zeros(model.replicas)
    for rows in np.array_split(held.rows, -(-len(held.rows) // 128)):
        index = torch.from_numpy(rows).to(table.device)
        sources = table[index[:, 1:]].expand(model.replicas, -1, -1, -1)
        target = table[index[:, 0]].expand(model.replicas, -1, -1)
        if twins is not None:
            sources, target = twins.disguised(sources, target, noise)
        with torch.no_grad():
            same = predicted(model, sources, target) == target
        in_x = (target == SEP).flip(-1).cumsum(-1).flip(-1) > 0  # up to the separator itself
        right += (same | in_x | (target == PAD)).all(-1).sum(-1).cpu()
    return [float(share) for share in right / max(1, len(held.rows))]


def sampled(samples: Samples, template: str) -> tuple[int, int]:
    """Returns how many samples hold the template, and how many of them are right."""
    judged = [e for e in samples.examples if mentions(e, template) and not mentions(e, TESTED)]
    return len(judged), sum(scan.interpret(example.x) == example.y for example in judged)


def recipe_of(arm: str, size: str, steps: int) -> Recipe:
    """Returns how the networks of an arm are built and trained."""
    twins, changes = ARMS[arm]
    recipe = replace(SCAN_GENERATOR, min_steps=steps, max_steps=steps, twins=twins)
    network = recipe.network
    if size == "small":
        network = replace(network, hidden=96, embedding=32, attention=64)
        network = replace(network, dropout=0.05, state_dropout=0.1, write_dropout=0.2)
        recipe = replace(recipe, lr=5e-3)
    return replace(recipe, network=replace(network, **changes))


def report(name: str, shares: Sequence[float], counts: Sequence[tuple[int, int]], seconds: float) -> None:
    """Prints one line for each arm."""
    right = ", ".join(f"{share:.2f}" for share in shares)
    drawn = ", ".join(f"{good} of {all_}" for all_, good in counts)
    print(f"{name:26} outputs right for forced inputs {right}; samples right {drawn}; {seconds:.0f} s", flush=True)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=list(ARMS), help="what to compare (default: all)")
    parser.add_argument("--template", default="opposite left", help="the words to hold out")
    parser.add_argument("--size", choices=["small", "paper"], default="small", help="of the networks and of the data")
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--stratified", action="store_true", help="batches of all lengths, not sorted")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--samples", type=int, default=100, help="how many of each network")
    parser.add_argument("--patience", type=int, default=100, help="draws for each sample kept")
    parser.add_argument("--temperature", type=float, default=0.4)
    parser.add_argument("--device", default="cpu")
    return parser.parse_args()


def main() -> None:
    chosen = options()
    torch.set_num_threads(1)
    held = held_out(chosen.template, chosen.size)
    print(f"{len(held.train):,} examples, {len(held.neighborhoods):,} tuples, {len(held.rows)} forced inputs")
    decoding = Decoding("mixed", chosen.temperature)
    sampling = SamplingSettings(decoding=decoding, novelty="both", patience=chosen.patience)
    for arm in chosen.arms:
        began = time.perf_counter()
        recipe = recipe_of(arm, chosen.size, chosen.steps)
        recipe = replace(recipe, sorting=None) if chosen.stratified else recipe
        learned = Recombination(LongLong(), recipe, sampling=sampling, seeds=range(chosen.seeds), device=chosen.device)
        learned.fit_on(held.train, held.neighborhoods)
        counts = [sampled(samples, chosen.template) for samples in learned.sample_each(chosen.samples)]
        report(arm, forced(learned, held), counts, time.perf_counter() - began)


if __name__ == "__main__":
    main()
