"""Prints milliseconds per step and per model for populations of several sizes, eager and as shipped.

    python benchmarks/training.py [--replicas 1,10,16] [--steps 30] [--small]

The networks are the paper's for SCAN, on random sequences of typical lengths. On a GPU, a population of one is also
timed without CUDA graphs; on a CPU, beside the same LSTM written in plain PyTorch for one model.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from recombine.models.architecture import Architecture
from recombine.models.layers import BiLSTM, initialize
from recombine.models.noise import Noise
from recombine.models.recombiner import Recombiner
from recombine.training.corpus import Corpus
from recombine.training.optimizer import PopulationAdam
from recombine.training.presets import SCAN_GENERATOR, SCAN_PREDICTOR
from recombine.training.schedule import Batch
from recombine.training.step import Step

VOCABULARY = 24


def milliseconds(function: Callable[[], None], steps: int, device: torch.device) -> float:
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
    optimizer = PopulationAdam(model, replicas, lr=1e-3, clip=1.0)
    noise = Noise(seeds, device, longest=corpus.longest)
    step = Step(model, corpus, optimizer, noise, loss_per="sequence", graphs=graphs)
    chosen = Batch(rng.integers(0, count, (replicas, batch)), source, target)
    return lambda: step(chosen)


def encoder_step(plain: bool, *, batch: int, steps: int, inputs: int, hidden: int) -> Callable[[], None]:
    """Returns a forward and backward pass of a BiLSTM: ours with one replica, or torch's own."""
    x = torch.randn(1, steps, batch, inputs)
    ours, theirs = BiLSTM(1, inputs, hidden), nn.LSTM(inputs, hidden, bidirectional=True)
    initialize(ours, [0])
    lengths = torch.full((1, batch), steps)

    def run() -> None:
        states = theirs(x[0])[0] if plain else ours(x, lengths)[0]
        states.sum().backward()

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicas", default="1,10,16")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--small", action="store_true", help="networks of hidden size 64, for a CPU")
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_float32_matmul_precision("high")
    size = {"hidden": 64, "embedding": 32} if arguments.small else {}
    cases = {
        "generator": (replace(SCAN_GENERATOR.network, **size), {"batch": 32, "source": 32, "target": 32}),
        "predictor": (replace(SCAN_PREDICTOR.network, **size), {"batch": 64, "source": 12, "target": 16}),
    }
    print(f"{torch.cuda.get_device_name() if device.type == 'cuda' else 'CPU'}, torch {torch.__version__}")
    print(f"{'network':10} {'models':>6} {'how':>8} {'ms/step':>9} {'ms/step/model':>14}")
    for name, (network, shape) in cases.items():
        for replicas in map(int, arguments.replicas.split(",")):
            for graphs in (False, True) if device.type == "cuda" and replicas == 1 else (device.type == "cuda",):
                step = training_step(network, replicas, **shape, device=device, graphs=graphs)
                each = milliseconds(step, arguments.steps, device)
                how = "graph" if graphs else "eager"
                print(f"{name:10} {replicas:6} {how:>8} {each:9.2f} {each / replicas:14.3f}", flush=True)
    if device.type == "cpu":
        for plain in (True, False):
            step = encoder_step(plain, batch=64, steps=16, inputs=64, hidden=128)
            each = milliseconds(step, arguments.steps, device)
            print(f"{'BiLSTM':10} {1:6} {'nn.LSTM' if plain else 'ours':>8} {each:9.2f} {each:14.3f}", flush=True)


if __name__ == "__main__":
    main()
