"""Seconds and peak memory of each stage of an augmentation, on generated corpora of growing size.

Usage: python benchmarks/scale.py [--sizes 10000 100000 1000000] [--workers 2] [--until neighborhoods]

Each corpus has a process of its own. The memory of a stage is the most that the process held while it lasted, with
what earlier stages left behind (which an augmentation needs, too); while several processes search, the sum of their
shares, looked up every second. The bar, on two cores: neighborhoods for a million pairs in 15 minutes and 8 GB, and a
growth exponent of at most 1.2 from ten thousand pairs up.
"""

import argparse
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice
from pathlib import Path
from typing import TypeVar

import torch

from recombine.augmentation.recombination import Recombination
from recombine.augmentation.resample import find_rare
from recombine.augmentation.sampler import SamplingSettings
from recombine.data.files import iterate, read, write
from recombine.data.vocabulary import Vocabulary
from recombine.decoding.generate import Decoding
from recombine.example import Example
from recombine.execution.executor import Processes
from recombine.neighborhoods import Effort, Neighborhoods
from recombine.own_data import choices, networks
from recombine.training.corpus import Corpus
from recombine.training.schedule import Group, Schedule

Result = TypeVar("Result")
TRAINING_SECONDS = 10.0
TIMES = {"": 1, "twice": 2, "thrice": 3}


def generated(size: int, seed: int = 0) -> Iterator[Example]:
    """Yields sentences of one to three clauses with their meanings, and about as many dictionary entries as words.

    There are three times as many words as the square root of the size, some frequent and most rare (Zipf's law).
    """
    rng = random.Random(seed)
    kinds = {"n": 2 * math.isqrt(size), "v": math.isqrt(size)}
    words = {kind: [f"{kind}{number}" for number in range(count)] for kind, count in kinds.items()}
    weights = {kind: list(accumulate(1 / (rank + 1) for rank in range(count))) for kind, count in kinds.items()}
    every = words["n"] + words["v"]

    def frequent(kind: str) -> str:
        return rng.choices(words[kind], cum_weights=weights[kind])[0]

    for _ in range(size):
        if rng.random() < len(every) / size:
            word = rng.choice(every)
            yield Example((word,), (word.upper(),))
            continue
        x: list[str] = []
        y: list[str] = []
        for clause in range(rng.choices((1, 2, 3), (7, 2, 1))[0]):
            verb, roles = frequent("v"), [frequent("n") for _ in range(rng.choice((1, 1, 2)))]
            times = rng.choices(list(TIMES), (8, 1, 1))[0]
            x += ["and"] * (clause > 0) + [roles[0], verb, *roles[1:]] + [times] * (times != "")
            y += [verb.upper(), *map(str.upper, roles)] * TIMES[times]
        yield Example(tuple(x), tuple(y))


class Stages:
    """Carries out stages and notes what each takes."""

    def __init__(self) -> None:
        self.taken: dict[str, tuple[float, float, float]] = {}

    def __call__(self, name: str, work: Callable[[], Result]) -> Result:
        """Returns what a stage gives."""
        Path("/proc/self/clear_refs").write_text("5")  # the peak of memory starts anew
        shared, over = [0.0], threading.Event()
        watch = threading.Thread(target=_watch, args=(shared, over))
        watch.start()
        start, cpu = time.perf_counter(), _cpu_seconds()
        result = work()
        seconds, cpu = time.perf_counter() - start, _cpu_seconds() - cpu
        over.set()
        watch.join()
        self.taken[name] = seconds, cpu, max(_kilobytes("/proc/self/status", "VmHWM") / 1024, *shared)
        print(f" {name}: {seconds:.1f} s", file=sys.stderr, flush=True)
        return result


def _cpu_seconds() -> float:
    """Returns the CPU seconds of this process and of those that it started and that have ended."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _kilobytes(file: str, name: str) -> float:
    return next(float(line.split()[1]) for line in Path(file).read_text().splitlines() if line.startswith(name))


def _watch(peak: list[float], over: threading.Event) -> None:
    """Notes the largest sum of memory of this process and its children, what they share counted once, in MB."""
    while not over.wait(1):
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        if children:
            shares = [_kilobytes(f"/proc/{number}/smaps_rollup", "Pss:") for number in (os.getpid(), *children)]
            peak[0] = max(peak[0], sum(shares) / 1024)


def measure(size: int, *, workers: int, until: str, folder: Path) -> None:
    """Prints what each stage takes for a corpus of a size, and what it comes to, as JSON."""
    corpus, stage = folder / "corpus.tsv", Stages()
    write(generated(size), corpus)

    def report(done: int, parts: int, _: str) -> None:
        print(f"\r{size:,} pairs: {done} of {parts} parts searched", end="", file=sys.stderr, flush=True)

    stage("streaming", lambda: sum(1 for _ in iterate(corpus)))
    examples = stage("reading", lambda: tuple(dict.fromkeys(read(corpus))))
    vocabulary = stage("vocabulary", lambda: Vocabulary.of(examples))
    rare = stage("rarity", lambda: find_rare(examples))
    rules = list(map(choices.rule_named, choices.rule_names(examples, rare)))
    effort = Effort(executor=Processes(workers), report=report)
    chosen = stage("neighborhoods", lambda: choices.neighborhoods(examples, rules, effort=effort))
    found = chosen.value
    if until != "neighborhoods":
        rest(stage, examples, vocabulary, found, folder)
    print(json.dumps([len(examples), len(vocabulary), str(chosen), found.account, stage.taken]))


def rest(
    stage: Stages, examples: Sequence[Example], vocabulary: Vocabulary, found: Neighborhoods, folder: Path
) -> None:
    """Carries out what comes after the neighborhoods."""
    cpu = torch.device("cpu")

    def batches() -> None:
        rows = Corpus.for_recombination(examples, found.rows, vocabulary, cpu)
        schedule = Schedule(rows, [[Group(torch.arange(len(found)).numpy())]], [0], batch=64)
        for batch in islice(schedule, 100):
            rows.batch(torch.from_numpy(batch.rows), batch.source_steps, len(batch.counts))

    stage("batches", batches)
    network = networks.generator(examples, "small", rare="tokens", prototypes=found.prototypes).value
    recipe = networks.length(network, max_time=TRAINING_SECONDS).value
    augmenter = Recombination(
        choices.rule_named(found.rule),
        recipe,
        prototypes=found.prototypes,
        device="cpu",
        # A network that has been trained for so little finds little: patience ends soon.
        sampling=SamplingSettings(decoding=Decoding("mixed", 1.0), patience=2, novelty="pair"),
    )
    stage("training", lambda: augmenter.fit_on(examples, found))
    stage("sampling", lambda: augmenter.sample(400))
    stage("writing", lambda: write(examples, folder / "written.jsonl"))


def run(size: int, *, workers: int, until: str) -> dict[str, list[float]]:
    """Measures one corpus in a fresh process, prints its table and returns seconds, CPU seconds and MB by stage."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--measure", folder, "--sizes", str(size), "--workers", str(workers)]
        command += ["--until", until]
        output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    distinct, vocabulary, chosen, account, taken = json.loads(output)
    print(f"\n{size:,} pairs, {distinct:,} of them different, {vocabulary:,} tokens; {chosen}\n({account})")
    print(f"{'stage':>16}{'seconds':>10}{'CPU s':>10}{'MB':>8}")
    for name, (seconds, cpu, peak) in taken.items():
        print(f"{name:>16}{seconds:>10.1f}{cpu:>10.1f}{peak:>8.0f}", flush=True)
    return dict(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--workers", type=int, default=2, help="processes that search for neighborhoods")
    parser.add_argument("--until", choices=["neighborhoods", "end"], default="end")
    parser.add_argument("--measure", type=Path, metavar="FOLDER", help="only this, as JSON")
    arguments = parser.parse_args()
    options = {"workers": arguments.workers, "until": arguments.until}
    if arguments.measure:
        measure(arguments.sizes[0], **options, folder=arguments.measure)
        return
    every = [run(size, **options) for size in arguments.sizes]
    for smaller, larger, few, many in zip(arguments.sizes, arguments.sizes[1:], every, every[1:], strict=False):
        print(f"\nGrowth from {smaller:,} to {larger:,} pairs, as exponents of CPU seconds")
        for name in filter(many.get, few):
            growth = math.log(many[name][1] / few[name][1]) / math.log(larger / smaller)
            print(f"{name:>16}{growth:>10.2f}")


if __name__ == "__main__":
    main()
