"""The files of stages: samples with what was rejected, and predictions."""

import json
from collections.abc import Sequence
from pathlib import Path

from recombine.augmentation.protocol import Samples
from recombine.data import files
from recombine.data.formats import Jsonl
from recombine.example import Tokens

ACCOUNT = "account.json"


def write_samples(each: Sequence[Samples], folder: Path) -> None:
    """Writes the samples of each seed, and how many candidates were rejected and why."""
    for number, samples in enumerate(each):
        lines = "".join(f"{Jsonl().render(example)}\n" for example in samples)
        (folder / f"{number}.jsonl").write_text(lines, encoding="utf-8")
    accounts = [
        {"requested": samples.requested, "rejected": dict(samples.rejected), "shortfall": samples.shortfall}
        for samples in each
    ]
    (folder / ACCOUNT).write_text(json.dumps(accounts, indent=1), encoding="utf-8")


def read_samples(folder: Path) -> list[Samples]:
    """Reads what `write_samples` wrote."""
    accounts = json.loads((folder / ACCOUNT).read_text(encoding="utf-8"))
    return [
        Samples(tuple(files.iterate(folder / f"{number}.jsonl", format="jsonl")), **account)
        for number, account in enumerate(accounts)
    ]


def write_predictions(outputs: Sequence[Tokens], path: Path) -> None:
    """Writes one output a line."""
    path.write_text("".join(f"{json.dumps(y, ensure_ascii=False)}\n" for y in outputs), encoding="utf-8")


def read_predictions(path: Path) -> list[Tokens]:
    """Reads what `write_predictions` wrote."""
    return [tuple(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
