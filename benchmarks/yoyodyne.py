"""Trains the same kind of network here and with yoyodyne, one after the other, and prints both rates and accuracies.

    python benchmarks/yoyodyne.py [--epochs 30] [--threads 2] [--rounds 1] [--environment DIR]

A pointer-generator LSTM with states and embeddings of 256, without dropout, in batches of 64 and with Adam's usual
rate, learns the lemmas of 1,000 Turkish word forms (SIGMORPHON 2018) in some epochs, and is tested on 1,000 further
forms. Both have the same forms, the same version of torch and the same threads. yoyodyne is installed into a virtual
environment of its own, which is made in DIR (default: build/yoyodyne) where there is none. Times are those of training
alone, without reading, testing or starting; a rate is that of the epochs after the first, in which machines warm up.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch

from recombine.evaluation.metrics import exact_match
from recombine.example import Example
from recombine.prediction.predictor import Predictor
from recombine.training.fitted import History
from recombine.training.presets import WORD_FORM_PREDICTOR

VERSION = "0.5.27"
SIZE, BATCH, DROPOUT, LR = 256, 64, 0.0, 1e-3
TRAIN, TEST = 1000, 1000
NEEDED = [
    "jsonargparse[omegaconf,signatures]",
    "lightning",
    "maxwell",
    "omegaconf",
    "PyYAML",
    "rich",
    "torchmetrics",
    "wandb",
]
"""All that yoyodyne needs here. It asks for torchvision and torchaudio, too, and uses neither."""

THEIRS = """
import json, sys, time
import lightning, torch
from yoyodyne import data, models, optimizers
folder, epochs, threads, size, batch, dropout, lr = sys.argv[1], *map(float, sys.argv[2:])
torch.set_num_threads(int(threads))
lightning.seed_everything(0)
module = data.DataModule(model_dir=folder, train=folder + "/train.tsv", val=folder + "/test.tsv", batch_size=int(batch))
encoder = models.modules.LSTMEncoder(embedding_size=int(size), hidden_size=int(size), dropout=dropout)
model = models.PointerGeneratorLSTMModel(
    source_encoder=encoder, embedding_size=int(size), decoder_hidden_size=int(size), decoder_dropout=dropout,
    optimizer=lambda parameters: torch.optim.Adam(parameters, lr=lr),
    vocab_size=module.index.vocab_size, target_vocab_size=module.index.target_vocab_size,
)

class Clock(lightning.Callback):
    ends = []
    def on_train_epoch_start(self, *_):
        self.began = time.perf_counter()
    def on_train_epoch_end(self, *_):
        self.ends.append(time.perf_counter() - self.began)

trainer = lightning.Trainer(
    max_epochs=int(epochs), accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
    enable_model_summary=False, limit_val_batches=0, num_sanity_val_steps=0, callbacks=[Clock()],
)
trainer.fit(model, module)
trainer.limit_val_batches = 1.0
[found] = lightning.Trainer(
    accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
).validate(model, module, verbose=False)
print("RESULT " + json.dumps({"seconds": Clock.ends, "accuracy": found["val_accuracy"]}))
"""


def read(path: Path) -> tuple[list[Example], list[Example]]:
    """Returns the forms to train on and to test on, with their lemmas."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    examples = [Example(tuple(form), tuple(lemma)) for lemma, form, _ in rows]
    examples = [example for example in dict.fromkeys(examples) if " " not in (*example.x, *example.y)]
    return examples[:TRAIN], examples[TRAIN : TRAIN + TEST]


def environment(folder: Path) -> Path:
    """Returns the Python of a virtual environment with yoyodyne, which is made where there is none."""
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet"]
        version = torch.__version__.partition("+")[0]
        subprocess.run([*install, f"torch=={version}"], check=True)
        subprocess.run([*install, f"torch=={version}", *NEEDED], check=True)
        subprocess.run([*install, "--no-deps", f"yoyodyne=={VERSION}"], check=True)
        (folder / "installed").touch()
    return python


def theirs(python: Path, folder: Path, arguments: argparse.Namespace) -> dict[str, object]:
    """Trains and tests with yoyodyne."""
    settings = map(str, (arguments.epochs, arguments.threads, SIZE, BATCH, DROPOUT, LR))
    done = subprocess.run(
        [python, "-c", THEIRS, folder, *settings],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": str(arguments.threads)},
    )
    found = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if not found:
        sys.exit(f"yoyodyne failed:\n{done.stderr[-3000:]}")
    result: dict[str, object] = json.loads(found[0].removeprefix("RESULT "))
    return result


def ours(train: list[Example], test: list[Example], epochs: int) -> dict[str, object]:
    """Trains and tests here."""
    network = replace(
        WORD_FORM_PREDICTOR.network,
        hidden=SIZE,
        embedding=SIZE,
        copying="gated",
        dropout=DROPOUT,
        shared_embedding=True,
    )
    recipe = replace(
        WORD_FORM_PREDICTOR, network=network, batch=BATCH, epochs=epochs, lr=LR, held_out=0.0, clip=1.0, decay_at=0
    )
    ends: list[float] = []

    def report(_: int, __: int, history: History) -> None:
        ends.append(history.seconds)

    predictor = Predictor(recipe, seeds=(0,), device="cpu").fit_each(train, [()], report=report)
    seconds = [after - before for before, after in zip([0.0, *ends], ends, strict=False)]
    outputs = [each.y for each in predictor.predict([example.x for example in test])[0]]
    return {"seconds": seconds, "accuracy": exact_match([example.y for example in test], outputs)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1, help="how often both are run, in turn")
    parser.add_argument("--environment", type=Path, default=Path("build/yoyodyne"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data/sigmorphon2018/turkish-train-high"))
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    train, test = read(arguments.data)
    python = environment(arguments.environment.resolve())
    folder = arguments.environment.resolve() / "task"
    folder.mkdir(exist_ok=True)
    for name, examples in (("train.tsv", train), ("test.tsv", test)):
        text = "".join(f"{''.join(example.x)}\t{''.join(example.y)}\n" for example in examples)
        (folder / name).write_text(text, encoding="utf-8")
    print(f"torch {torch.__version__}, {arguments.threads} threads, {len(train)} forms, {arguments.epochs} epochs")
    print(f"{'':10} {'examples/s':>10} {'seconds':>8} {'accuracy':>9}")
    rates: dict[str, list[float]] = {"yoyodyne": [], "recombine": []}
    for _ in range(arguments.rounds):
        for name in rates:
            found = theirs(python, folder, arguments) if name == "yoyodyne" else ours(train, test, arguments.epochs)
            seconds = list(map(float, found["seconds"]))  # type: ignore[call-overload]
            rates[name].append(len(train) * (len(seconds) - 1) / sum(seconds[1:]))
            print(f"{name:10} {rates[name][-1]:10.0f} {sum(seconds):8.1f} {found['accuracy']:9.3f}", flush=True)
            time.sleep(1)
    ratio = sum(rates["recombine"]) / sum(rates["yoyodyne"])
    print(f"recombine trains {ratio:.1f} times as many examples a second as yoyodyne {VERSION}")


if __name__ == "__main__":
    main()
