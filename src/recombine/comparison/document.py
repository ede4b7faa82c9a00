"""A comparison as ``run.json``, the file that ``recombine report`` reads."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recombine.augmentation.recombination import Recombination
from recombine.comparison.compare import Comparison
from recombine.comparison.methods import METHODS, RECOMBINE
from recombine.comparison.splitting import contents
from recombine.data import files
from recombine.data.output import replacing, replacing_folder
from recombine.data.sealing import sealed
from recombine.decoding.trace import END, trace
from recombine.example import SEPARATOR, Example, Tokens

FORMAT = 1
RUN_FILE = "run.json"
SAMPLES_FOLDER = "samples"

SAMPLES, TRACED = 100, 30
"""So many samples of each method's first seed are shown, and so many of them with the attention of the network."""

RAREST = 200
"""Of so many rare things it is told how often they are seen."""

_NAMES = {SEPARATOR: "▷", END: "end"}


def write_document(document: dict[str, Any], folder: Path, *, force: bool = False) -> Path:
    """Writes ``run.json`` with a checksum into a folder, whole or not at all."""
    path = folder / RUN_FILE
    with replacing(path, force=force) as stream:
        stream.write(json.dumps(sealed(document), ensure_ascii=False, allow_nan=False).encode())
    return path


def write_samples(found: Comparison, folder: Path) -> Path:
    """Writes all samples into the folder ``samples`` of a run, a file for each method and seed, and returns it."""
    path = folder / SAMPLES_FOLDER
    with replacing_folder(path) as made:
        for method, every in found.drawn.samples.items():
            for seed, samples in zip(found.plan.seeds, every, strict=True):
                if samples:
                    files.write(samples, made / f"{method}.{seed}.jsonl", format="jsonl")
    return path


def document(found: Comparison, *, title: str, command: str, provenance: dict[str, str]) -> dict[str, Any]:
    """Returns the whole of a comparison, JSON-friendly.

    Args:
        found: What was found.
        title: What the data are called.
        command: What was typed.
        provenance: Where the figures are from.
    """
    split = found.split
    shown = [(method, sample) for method in reversed(METHODS) for sample in _first(found, method)[:SAMPLES]]
    return {
        "format": FORMAT,
        "title": title,
        "command": command,
        "provenance": provenance,
        "data": {
            "train": len(split.train),
            "test": len(split.test),
            "rare_test": sum(split.rare),
            "held_out": split.held_out,
            "phenomena": [" ".join(name) for name in split.phenomena],
        },
        "network": str(found.network),
        "comparison": comparison(found),
        "verdict": found.verdict,
        "curves": _curves(found),
        "samples": [_sample(sample, method) for method, sample in shown],
        "attention": _attention(found.drawn.augmenter, shown),
        "rejected": _rejected(found),
        "turned_down": _turned_down(found),
        "rarity": _rarity(found),
    }


def comparison(found: Comparison) -> list[dict[str, Any]]:
    """Returns the rows of the table: of each method its new examples, scores and p-values."""
    return [
        {
            "method": method,
            "new_examples": [len(samples) for samples in found.drawn.of(method)],
            "scores": {part: list(judged.scores) for part, judged in parts.items()},
            "p": {part: judged.p for part, judged in parts.items()},
        }
        for method, parts in found.judged.items()
    ]


def _first(found: Comparison, method: str) -> Sequence[Example]:
    """Returns the samples that a method made with its first seed; those of ``both`` are the others'."""
    drawn = found.drawn.samples.get(method)
    return drawn[0].examples if drawn else ()


def _curves(found: Comparison) -> list[dict[str, Any]]:
    seeds = len(found.plan.seeds)
    unknown = [[math.nan] * len(losses) for losses in found.history.loss]
    curves = []
    for number, method in enumerate(found.judged):
        own = slice(number * seeds, (number + 1) * seeds)
        loss, held_out = (
            [[value if math.isfinite(value) else None for value in point[own]] for point in points]
            for points in (found.history.loss, found.history.evaluation or unknown)
        )
        curves.append({"method": method, "steps": found.steps, "loss": loss, "held_out": held_out})
    return curves


def _sample(sample: Example, method: str) -> dict[str, Any]:
    origin = sample.provenance
    assert origin is not None  # what an augmenter gives has one
    return {
        "x": sample.x,
        "y": sample.y,
        "method": method,
        "log_probability": origin.log_probability,
        "prototypes": [{"x": prototype.x, "y": prototype.y} for prototype in origin.prototypes],
        "sources": origin.sources,
    }


def _attention(augmenter: Recombination | None, shown: Sequence[tuple[str, Example]]) -> list[dict[str, Any] | None]:
    """Returns where the first network looked when it produced its first samples."""
    if augmenter is None or not augmenter.prototypes or augmenter.recipe.twins:  # twins are produced by other names
        return [None] * len(shown)
    return [
        _looked(augmenter, sample) if method == RECOMBINE and place < TRACED else None
        for place, (method, sample) in enumerate(shown)
    ]


def _looked(augmenter: Recombination, sample: Example) -> dict[str, Any]:
    assert sample.provenance is not None
    prototypes = [prototype.d for prototype in sample.provenance.prototypes]
    traced = trace(augmenter.fitted_.model, augmenter.vocabulary_, prototypes=prototypes, d=sample.d)
    weights = [
        attention[:, : len(tokens)].round(3).tolist()
        for attention, tokens in zip(traced.attention, traced.prototypes, strict=True)
    ]
    named = [_named(tokens) for tokens in traced.prototypes]
    return {"tokens": _named(traced.tokens), "prototypes": named, "weights": weights}


def _named(tokens: Tokens) -> list[str]:
    return [_NAMES.get(token, token) for token in tokens]


def _rejected(found: Comparison) -> dict[str, int]:
    """Returns how many candidates were turned down by reason, over all methods and seeds."""
    every = (samples for drawn in found.drawn.samples.values() for samples in drawn)
    total = sum((Counter(samples.rejected) for samples in every), Counter[str]())
    return dict(sorted(total.items()))


def _turned_down(found: Comparison) -> list[dict[str, Any]]:
    drawn = found.drawn.samples.get(RECOMBINE)
    return [
        {"x": sample.x, "y": sample.y, "reason": str(sample.provenance.details.get("rejected", ""))}
        for sample in (drawn[0].turned_down if drawn else ())
        if sample.provenance is not None
    ]


def _rarity(found: Comparison) -> list[dict[str, Any]]:
    """Returns in how many training examples each rare thing is, alone and with the new ones that are shown first."""
    rare = found.split.phenomena[:RAREST]
    first = next(filter(None, (_first(found, method) for method in reversed(METHODS))), ())
    before, new = (_counted(examples, rare) for examples in (found.split.train, first))
    rows = [{"token": " ".join(name), "before": before[name], "after": before[name] + new[name]} for name in rare]
    return sorted(rows, key=lambda row: (row["before"], row["token"]))


def _counted(examples: Sequence[Example], rare: Sequence[Tokens]) -> Counter[Tokens]:
    wanted = set(rare)
    return Counter(part for example in examples for part in contents(example, wanted))
