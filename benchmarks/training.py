"""Prints what a training step costs: milliseconds per step and per model, model-steps per second, share of the limit.

    python benchmarks/training.py [--replicas 1,10,16] [--steps 30] [--small] [--networks WORD] [--profile]

The networks are the paper's, on random sequences of typical lengths. On a GPU, a population of one is also timed
without CUDA graphs, and all rates stand beside the card's own for one large product in bfloat16; on a CPU, beside the
same LSTM written in plain PyTorch for one model.
"""

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from recombine.models.architecture import Architecture
from recombine.models.layers import BiLSTM, Embedding, initialize
from recombine.models.noise import Noise
from recombine.models.recombiner import Recombiner
from recombine.training.corpus import Corpus
from recombine.training.presets import SCAN_GENERATOR, SCAN_PREDICTOR, WORD_FORM_GENERATOR, WORD_FORM_PREDICTOR
from recombine.training.recipe import Duration, Recipe
from recombine.training.schedule import Batch, Group, Schedule
from recombine.training.trainer import Trainer

VOCABULARY = 24


def milliseconds(function: Callable[[], object], steps: int, device: torch.device) -> float:
    """Returns the mean time of a call, after two calls that are not counted."""

    def finish() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize()

    function()
    function()
    finish()
    began = time.perf_counter()
    for _ in range(steps):
        function()
    finish()
    return 1000 * (time.perf_counter() - began) / steps


def training_step(
    network: Architecture, replicas: int, *, batch: int, source: int, target: int, device: torch.device, graphs: bool
) -> Callable[[], None]:
    """Returns a function that does one optimiser step of a population on random sequences."""
    rng = np.random.default_rng(0)
    count = 2000
    tables = [rng.integers(5, VOCABULARY, (1, count, steps)) for steps in (source, target)]
    rows = np.stack([np.arange(count), *(rng.integers(0, count, count) for _ in range(network.prototypes))], axis=1)
    corpus = Corpus.of(tables[0], tables[1], rows[None], device)
    model = Recombiner(replace(network, vocabulary=VOCABULARY), replicas)
    seeds = list(range(replicas))
    initialize(model, seeds)
    model.to(device).train()
    schedule = Schedule(corpus, [[Group(np.arange(count))]] * replicas, seeds, batch)
    noise = Noise(seeds, device, longest=corpus.longest)
    trainer = Trainer(model, schedule, Recipe(network=network), Duration(1, 1), noise, graphs=graphs)
    chosen = Batch(rng.integers(0, count, (replicas, batch)), source, (batch,) * target)
    return lambda: trainer.step(chosen)


def encoder_step(plain: bool, *, batch: int, steps: int, inputs: int, hidden: int) -> Callable[[], None]:
    """Returns a forward and backward pass of a BiLSTM over tokens: ours with one replica, or torch's own."""
    embed, lookup = Embedding(1, VOCABULARY, inputs, tied=False), nn.Embedding(VOCABULARY, inputs)
    ours, theirs = BiLSTM(1, inputs, hidden), nn.LSTM(inputs, hidden, bidirectional=True)
    for layer in (embed, ours):
        initialize(layer, [0])
    tokens = torch.randint(5, VOCABULARY, (1, batch, steps))

    def run() -> None:
        states = theirs(lookup(tokens[0].T))[0] if plain else ours(embed, tokens, None, None)[0]
        states.sum().backward()

    return run


def flops(step: Callable[[], None]) -> int:
    """Returns the floating-point operations of the products in a step that is not captured as a graph."""
    with FlopCounterMode(display=False) as counter:
        step()
    return int(counter.get_total_flops())


def matrix_rate(size: int = 8192) -> float:
    """Returns the GPU's operations per second for one large product of random matrices in bfloat16."""
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    return 2 * size**3 / milliseconds(lambda: torch.mm(a, b), 20, torch.device("cuda")) * 1000


def profile(step: Callable[[], None], rows: int = 25) -> None:
    """Prints the kernels on which a step spends its time."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as run:
        for _ in range(3):
            step()
        torch.cuda.synchronize()
    kernels = sorted(run.key_averages(), key=lambda kernel: -kernel.self_device_time_total)
    for kernel in kernels[:rows]:
        print(f"  {kernel.self_device_time_total / 3:7.0f} us {kernel.count / 3:6.0f} x  {kernel.key[:100]}")
    total, count = (sum(each) / 3 for each in zip(*((k.self_device_time_total, k.count) for k in kernels), strict=True))
    print(f"  {total:7.0f} us {count:6.0f} x  in all", flush=True)


class Case(NamedTuple):
    """A network and the batches that it is timed with."""

    network: Architecture
    batch: int
    source: int
    target: int

    def step(self, replicas: int, device: torch.device, *, graphs: bool) -> Callable[[], None]:
        """Returns a function that does one optimiser step of a population."""
        shape = {"batch": self.batch, "source": self.source, "target": self.target}
        return training_step(self.network, replicas, **shape, device=device, graphs=graphs)


def cases(small: bool) -> dict[str, Case]:
    size: dict[str, Any] = {"hidden": 64, "embedding": 32} if small else {}
    return {
        "SCAN generator": Case(replace(SCAN_GENERATOR.network, **size), 32, 32, 32),
        "SCAN predictor": Case(replace(SCAN_PREDICTOR.network, **size), 64, 9, 16),
        "word-form generator": Case(replace(WORD_FORM_GENERATOR.network, prototypes=1, **size), 64, 28, 28),
        "word-form predictor": Case(replace(WORD_FORM_PREDICTOR.network, **size), 64, 12, 16),
    }


def print_row(name: str, replicas: int, how: str, each: float, share: float = math.nan) -> None:
    print(
        f"{name:20} {replicas:6} {how:>6} {each:9.2f} {each / replicas:14.3f} "
        f"{1000 * replicas / each:14.0f} {share:9.1%}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicas", default="1,10,16")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--small", action="store_true", help="networks of hidden size 64, for a CPU")
    parser.add_argument("--networks", default="", help="only those with this in their names, e.g. predictor")
    parser.add_argument("--profile", action="store_true", help="say which kernels take the time of the last population")
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    on_gpu = device.type == "cuda"
    torch.set_float32_matmul_precision("high")
    print(f"{torch.cuda.get_device_name() if on_gpu else 'CPU'}, torch {torch.__version__}")
    limit = matrix_rate() if on_gpu else math.nan
    if on_gpu:
        print(f"one 8192 x 8192 x 8192 product in bfloat16: {limit / 1e12:.0f} TFLOP/s")
    columns = f"{'models':>6} {'how':>6} {'ms/step':>9} {'ms/step/model':>14} {'model-steps/s':>14} {'of limit':>9}"
    print(f"{'network':20} {columns}")
    for name, case in cases(arguments.small).items():
        if arguments.networks not in name:
            continue
        work = flops(case.step(1, device, graphs=False))
        for replicas in map(int, arguments.replicas.split(",")):
            for graphs in (False, True) if on_gpu and replicas == 1 else (on_gpu,):
                step = case.step(replicas, device, graphs=graphs)
                each = milliseconds(step, arguments.steps, device)
                print_row(name, replicas, "graph" if graphs else "eager", each, work * replicas / each * 1000 / limit)
        if arguments.profile and on_gpu:
            profile(step)
    if not on_gpu:
        for plain in (True, False):
            step = encoder_step(plain, batch=64, steps=16, inputs=64, hidden=128)
            print_row("BiLSTM", 1, "torch" if plain else "ours", milliseconds(step, arguments.steps, device))


if __name__ == "__main__":
    main()
