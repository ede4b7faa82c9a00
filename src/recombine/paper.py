"""The paper's experiments: which rows its tables have, what they say, and how to run them anew."""

import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recombine import __version__
from recombine.augmentation.geca import GECA
from recombine.augmentation.recombination import Recombination
from recombine.augmentation.sampler import SamplingSettings
from recombine.data import scan
from recombine.data.output import replacing
from recombine.decoding.generate import Decoding
from recombine.errors import RecombineError, unknown
from recombine.evaluation.seeds import Summary, summarize
from recombine.experiment import Outcome, Plan, Task
from recombine.neighborhoods import LongShort
from recombine.training.presets import SCAN_GENERATOR, SCAN_PREDICTOR

STAND_INS = "recomb-2 + stand-ins"
"""A row of ours: recomb-2 whose training tuples are in part disguised (see `recombine.training.stand_ins`)."""

PUBLISHED: Mapping[tuple[str, str], tuple[float, float] | None] = {
    ("baseline", "jump"): (0.00, 0.00),
    ("geca", "jump"): (1.00, 0.001),
    ("recomb-2", "jump"): (0.88, 0.07),
    (STAND_INS, "jump"): None,
}
"""Mean and deviation of exact match in Table 1, by row and split; None for a row that the paper does not have."""

P_AUG: Mapping[str, float] = {"jump": 0.01, "around-right": 0.2}
"""The paper's mixing rates (appendix D)."""

GENERATOR_STEPS = 12_000
"""Eight epochs over all neighbors that the text admits would be 38,000 steps; the authors' code takes about 9,000."""

STAND_IN_STEPS = 5_000
"""Disguised tuples teach in fewer steps what the others do not."""


def rows(split: str) -> list[str]:
    """Returns the rows of Table 1 that can be run on a split."""
    splits = {column for _, column in PUBLISHED}
    if split not in splits:
        raise unknown("split", split, splits)
    return [row for row, column in PUBLISHED if column == split]


def task(split: str) -> Task:
    """Returns a split of SCAN, its repetitions taken out, with the grammar as judge."""
    data = scan.split(split)
    return Task(train=tuple(dict.fromkeys(data.train)), test=data.test, gold=scan.interpret)


def plan(row: str, split: str, *, device: str = "auto") -> Plan:
    r"""Returns how a row of Table 1 is run, at the paper's settings.

    Where the paper leaves room: [d\d1] counts distinct tokens; a sample is new if its input and its output are;
    sequences of any length are trained on.
    """
    if row not in rows(split):
        raise unknown("row", row, rows(split))
    basic = Plan(name=row, predictor=SCAN_PREDICTOR, p_aug=P_AUG[split])
    if row == "baseline":
        return replace(basic, p_aug=None)
    if row == "geca":
        return replace(basic, augmenter=GECA())
    sampling = SamplingSettings(decoding=Decoding("beam", width=4), novelty="both", patience=400)
    recipe = replace(SCAN_GENERATOR, max_steps=GENERATOR_STEPS)
    if row == STAND_INS:
        sampling = replace(sampling, decoding=Decoding("mixed", temperature=0.4))
        network = replace(recipe.network, write_seen_only=True)
        recipe = replace(recipe, network=network, stand_ins=0.5, max_steps=STAND_IN_STEPS)
    return replace(
        basic, augmenter=Recombination(LongShort(removal="distinct"), recipe, sampling=sampling, device=device)
    )


@dataclass(frozen=True)
class Cell:
    """One figure of a table, ours beside the paper's."""

    row: str
    column: str
    mean: float
    std: float
    seeds: int
    paper: float | None
    paper_std: float | None


def record(outcome: Outcome, split: str, *, command: Sequence[str], device: str, settings: Any) -> dict[str, Any]:  # noqa: ANN401
    """Returns what is worth keeping of an experiment, with where it came from."""
    right = outcome.right
    return {
        "row": outcome.name,
        "column": split,
        "seeds": list(outcome.seeds),
        "exact_match": outcome.exact_match,
        "samples": [asdict(each) for each in outcome.audits],
        "samples_right": asdict(right) if right else None,
        "rejected": [dict(samples.rejected) for samples in outcome.samples],
        "listing": [_shown(outcome, seed) for seed in range(len(outcome.samples))],
        "seconds": outcome.seconds,
        "settings": settings,
        "provenance": provenance(command, device),
    }


def _shown(outcome: Outcome, seed: int, count: int = 5) -> list[dict[str, str]]:
    return [{"x": " ".join(example.x), "y": " ".join(example.y)} for example in outcome.samples[seed][:count]]


def provenance(command: Sequence[str], device: str) -> dict[str, str]:
    """Returns where a figure came from: command, commit, machine, versions, date.

    The commit is git's, or what RECOMBINE_COMMIT says where git is not at hand.
    """
    import torch

    found = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return {
        "command": shlex.join(command),
        "commit": os.environ.get("RECOMBINE_COMMIT") or found.stdout.strip() or "unknown",
        "device": torch.cuda.get_device_name()
        if device.startswith("cuda")
        else platform.processor() or platform.machine(),
        "recombine": __version__,
        "torch": torch.__version__,
        "python": sys.version.split()[0],
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def write_record(found: Mapping[str, Any], folder: Path) -> Path:
    """Writes an experiment's record where `cells` looks for it."""
    path = folder / f"{found['column']}-{found['row'].replace(' + ', '-')}.json"
    with replacing(path, force=True) as file:
        file.write(json.dumps(found, indent=1, ensure_ascii=False).encode())
    return path


def cells(folder: Path) -> list[Cell]:
    """Reads all records of a folder as cells of Table 1, in the paper's order."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            found[content["row"], content["column"]] = summarize(content["exact_match"])
        except (ValueError, KeyError, TypeError) as error:
            raise RecombineError("this is no record of an experiment.", place=str(path)) from error
    return [_cell(key, found[key]) for key in PUBLISHED if key in found]


def _cell(key: tuple[str, str], ours: Summary) -> Cell:
    return Cell(*key, ours.mean, ours.deviation, ours.n, *(PUBLISHED[key] or (None, None)))
