"""Prints what predictors of different make learn from right samples of a template, on SCAN's training data alone.

    python benchmarks/held_out_template.py [--arms rows by-sequence] [--seeds 3]
    python benchmarks/held_out_template.py --size paper --seeds 10 --device cuda

The template is taken out of around-right's training set; GECA, learning from the rest, makes samples with it. These are
right, but none holds "left"; those with "around right", the test set's template, are turned down. Exact match on what
was taken out: on all of it, and on commands with and without "left".
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from around_right import TESTED, mentions

from recombine.augmentation.geca import GECA
from recombine.data import scan
from recombine.evaluation.metrics import exact_match
from recombine.example import Example
from recombine.prediction.predictor import Predictor
from recombine.training.presets import SCAN_PREDICTOR
from recombine.training.recipe import Recipe

P_AUG = 0.2
"""As in the rows of around-right."""


def _network(recipe: Recipe, **changes: object) -> Recipe:
    return replace(recipe, network=replace(recipe.network, **changes))  # type: ignore[arg-type]


ARMS: dict[str, Callable[[Recipe], Recipe]] = {
    "rows": lambda recipe: recipe,
    "by-sequence": lambda recipe: replace(recipe, loss_per="sequence"),
    "dropped-once": lambda recipe: _network(recipe, feed_dropped_twice=False),
    "neither": lambda recipe: _network(replace(recipe, loss_per="sequence"), feed_dropped_twice=False),
    "forget-0": lambda recipe: _network(recipe, forget_bias=0.0),
    "as-drawn": lambda recipe: replace(recipe, sorting=1000),
    "float32": lambda recipe: replace(recipe, precision="float32"),
    "averaged": lambda recipe: replace(recipe, averaging=1000),
    "averaged-float32": lambda recipe: replace(recipe, averaging=1000, precision="float32"),
    "falling": lambda recipe: replace(recipe, falls_to=0.1),
    "all-epochs": lambda recipe: replace(recipe, stop_at_lr=0.0),
    "all-three": lambda recipe: _network(replace(recipe, sorting=1000, stop_at_lr=0.0), forget_bias=0.0),
}
"""In what predictors differ from those of Table 1."""


def held_out(template: str) -> tuple[list[Example], list[Example]]:
    """Returns around-right's training examples without the template, and those with it."""
    known = scan.split("around-right").train
    train = [example for example in known if not mentions(example, template)]
    return train, [example for example in known if mentions(example, template)]


def recipe_of(size: str, epochs: int) -> Recipe:
    """Returns how predictors are built and trained, but for what arms change."""
    recipe = replace(SCAN_PREDICTOR, stop_at_lr=1 / 8, epochs=epochs)
    if size == "paper":
        return recipe
    return _network(replace(recipe, lr=3e-3), hidden=96, embedding=32, dropout=0.3, feed_dropout=0.3)


def report(arm: str, predictor: Predictor, out: Sequence[Example], seconds: float) -> None:
    """Prints one line."""
    parts = {
        "all": out,
        "with left": [example for example in out if "left" in example.x],
        "without": [example for example in out if "left" not in example.x],
    }
    scores = {
        name: [
            exact_match([example.y for example in part], [guess.y for guess in each])
            for each in predictor.predict([example.x for example in part])
        ]
        for name, part in parts.items()
    }
    shares = [
        f"{name} {sum(each) / len(each):.3f} [{' '.join(f'{share:.2f}' for share in each)}]"
        for name, each in scores.items()
    ]
    print(f"{arm:14} {'  '.join(shares)}  {seconds:.0f} s", flush=True)


def main() -> None:
    """Prints a line for each arm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--template", default="opposite right")
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=list(ARMS))
    parser.add_argument("--size", choices=("small", "paper"), default="small")
    parser.add_argument("--epochs", type=int, default=None, help="30, or 150 at the paper's size")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--device", default="cpu")
    asked = parser.parse_args()
    train, out = held_out(asked.template)
    seeds = range(asked.seeds)

    def other(example: Example) -> str | None:
        wanted = mentions(example, asked.template) and not mentions(example, TESTED)
        return None if wanted else "of another template"

    augmenter = GECA().fit(train)
    new = [augmenter.sample(asked.samples, seed, other).examples for seed in seeds]
    print(f"{len(train):,} training examples, {len(out):,} held out; samples: {[*map(len, new)]}, ", end="")
    print(f"right: {[sum(scan.interpret(e.x) == e.y for e in each) for each in new]}, ", end="")
    print(f"with left: {[sum('left' in e.x for e in each) for each in new]}", flush=True)
    base = recipe_of(asked.size, asked.epochs or (150 if asked.size == "paper" else 30))
    for arm in asked.arms:
        start = time.perf_counter()
        predictor = Predictor(ARMS[arm](base), seeds=seeds, device=asked.device)
        predictor.fit_each(train, new, p_aug=P_AUG)
        report(arm, predictor, out, time.perf_counter() - start)


if __name__ == "__main__":
    main()
