"""Prints how long predictors of SCAN around-right take to train: the first epoch, later ones, and all of them.

    python benchmarks/batches.py [--seeds 10] [--epochs 6] [--of 150] [--small]

Predictors are the paper's and see 400 augmented examples (made by GECA's rule) one time in five, as in Table 1. The
first epoch is longer, since a GPU captures a graph for each shape of batches; how long all epochs would take is
reckoned from the others. Older versions of the package can be timed, too: put theirs on PYTHONPATH.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from recombine import read
from recombine.augmentation.geca import GECA
from recombine.prediction.predictor import Predictor
from recombine.training.fitted import History
from recombine.training.presets import SCAN_PREDICTOR, SMALL_PREDICTOR


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--of", type=int, default=150, help="how many epochs all are")
    parser.add_argument("--small", action="store_true", help="small networks, for a CPU")
    parser.add_argument("--data", type=Path, default=Path("../shared/data/scan/tasks_train_template_around_right.txt"))
    arguments = parser.parse_args()
    train = read(arguments.data)
    new = list(GECA().fit(train).sample(400, seed=0))
    recipe = SMALL_PREDICTOR if arguments.small else SCAN_PREDICTOR
    recipe = replace(recipe, epochs=arguments.epochs, min_steps=0, stop_at_lr=0.0)
    ends: list[float] = []

    def report(steps: int, total: int, history: History) -> None:
        ends.append(history.seconds)

    predictor = Predictor(recipe, seeds=range(arguments.seeds))
    predictor.fit_each(train, [new] * arguments.seeds, p_aug=0.2, report=report)
    first, rest = ends[0], (ends[-1] - ends[0]) / (len(ends) - 1)
    steps = recipe.duration(len(train) * (1 - recipe.held_out) / 0.8).steps_per_epoch
    print(
        f"{arguments.seeds} predictors: first epoch {first:.2f} s, later {rest:.3f} s "
        f"({1000 * rest / steps:.2f} ms a step), {arguments.of} epochs {first + rest * (arguments.of - 1):.0f} s"
    )


if __name__ == "__main__":
    main()
