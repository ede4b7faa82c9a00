"""Prints what batches of like lengths do to predictors of word forms, trained without new examples.

    python benchmarks/word_form_batches.py SOURCE [--language spanish] [--seeds 10] [--sorting 4,16,1000] [--size small]

SOURCE is a folder with the shared task's files. Seeds take the paper's five splits of 8 hints in turn; however batches
are sorted, a network starts from the same weights and is shown the same examples. Printed is the F1 of past, future and
other forms: mean, and standard error over seeds. Spanish past is the development set.
"""

import argparse
import math
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import torch

from recombine.evaluation.metrics import micro_f1
from recombine.evaluation.significance import summarize
from recombine.example import Tokens
from recombine.paper.scale import SMALL
from recombine.paper.settings import WORD_FORMS
from recombine.paper.tasks import SETS, WordFormTask, WordFormTasks
from recombine.prediction.predictor import Predictor


def scores(task: WordFormTask, outputs: list[Tokens]) -> dict[str, float]:
    """Returns the F1 of each test set."""
    golds = [task.as_predicted(example).y for example in task.test]
    ends = [sum(task.sets[:number]) for number in range(len(SETS) + 1)]
    parts = [slice(start, end) for start, end in pairwise(ends)]
    return {name: micro_f1(golds[part], outputs[part]) for name, part in zip(SETS, parts, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("--language", default="spanish")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sorting", default="4,16,1000")
    parser.add_argument("--size", choices=["paper", "small"], default="small")
    parser.add_argument("--epochs", type=int)
    arguments = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        torch.set_num_threads(1)
    recipe = (WORD_FORMS if arguments.size == "paper" else SMALL).predictor
    if arguments.epochs:
        recipe = replace(recipe, epochs=arguments.epochs)
    seeds, all_tasks = range(arguments.seeds), WordFormTasks(arguments.source)
    tasks = [all_tasks(f"{arguments.language}-8", seed) for seed in seeds]
    train = [[task.as_predicted(example) for example in task.train] for task in tasks]
    inputs = [[task.as_predicted(example).x for example in task.test] for task in tasks]
    print(f"{'sorting':>8} " + " ".join(f"{name:>15}" for name in SETS) + "  seconds", flush=True)
    for sorting in map(int, arguments.sorting.split(",")):
        began = time.perf_counter()
        predictor = Predictor(replace(recipe, sorting=sorting), seeds=seeds, device=device)
        predictor.fit_each(train, [()] * len(seeds))
        found = predictor.predict_each(inputs)
        each = [scores(task, [one.y for one in outputs]) for task, outputs in zip(tasks, found, strict=True)]
        summaries = [summarize([one[name] for one in each]) for name in SETS]
        figures = [f"{one.mean:.3f} ± {one.deviation / math.sqrt(one.n):.3f}" for one in summaries]
        seconds = time.perf_counter() - began
        print(f"{sorting:8} " + " ".join(f"{each:>15}" for each in figures) + f"  {seconds:.0f}", flush=True)


if __name__ == "__main__":
    main()
