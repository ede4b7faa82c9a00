"""One file per experiment: what came out, on which examples, with which samples, and where it is from."""

import base64
import json
import lzma
import os
import platform
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Required, TypedDict, TypeVar

import numpy as np

from recombine import __version__
from recombine.augmentation.protocol import Samples
from recombine.data.output import locked, read_whole, replacing
from recombine.data.store import sealed, unseal
from recombine.data.untrusted import typed
from recombine.errors import RecombineError
from recombine.evaluation.metrics import analysis_elements, audit, item_counts, novel
from recombine.evaluation.significance import Summary, summarize
from recombine.example import Tokens
from recombine.inflection import Inflection
from recombine.paper.rows import in_file_names
from recombine.paper.tasks import CLASSES, KNOWN, RIGHT, SETS, UNJUDGED, Task, WordFormTask

LISTED = 20
"""How many samples of all seeds together are listed."""
ITEMS = 8
"""How many test items are shown whose inputs are among the samples, and how many others."""
MOST = 2**26
"""No record has outputs of more bytes."""

Listed = TypeVar("Listed")


class _Example(TypedDict):
    x: str
    y: str


class _Audit(TypedDict):
    n: int
    novel: int
    inputs_in_test: int
    right_and_novel: int | None


class _Record(TypedDict, total=False):
    """What readers of a record rely on; what it does not have, they do without."""

    row: Required[str]
    column: Required[str]
    exact_match: Required[list[float]]
    seeds: list[int]
    correct: list[str]
    tested: int
    samples: list[_Audit | None]
    samples_right: Summary | None
    kept: list[int]
    rejected: list[dict[str, int]]
    listing: list[_Example]
    items: list[_Example]
    sets: dict[str, int]
    counts: list[str]
    outputs: str
    novel: list[str]
    classes: list[dict[str, int]]


def sampled_part(samples: Sequence[Samples], tasks: Sequence[Task], seeds: Sequence[int]) -> dict[str, Any]:
    """Returns the part of a record that speaks of the samples of each seed, judged by its task."""
    audits = [
        audit(new.examples, gold=task.gold, train=task.train, test=task.test) if new.examples else None
        for new, task in zip(samples, tasks, strict=True)
    ]
    shares = [found.right / found.n for found in audits if found is not None and found.right is not None]
    listing = []
    for seed, example in _some([(seed, new) for seed, own in zip(seeds, samples, strict=True) for new in own]):
        right = None if tasks[0].gold is None else tasks[0].gold(example.x) == example.y
        listing.append({"seed": seed, "x": " ".join(example.x), "y": " ".join(example.y), "right": right})
    return {
        "samples": [None if found is None else asdict(found) for found in audits],
        "samples_right": asdict(summarize(shares)) if shares else None,
        "kept": [len(new) for new in samples],
        "rejected": [dict(new.rejected) for new in samples],
        "listing": listing,
    }


def _some(everything: Sequence[Listed]) -> list[Listed]:
    """Returns a few at random, the same each time."""
    order = np.random.default_rng(0).permutation(len(everything))[:LISTED]
    return [everything[place] for place in order]


def scored_part(predictions: Sequence[Sequence[Tokens]], tasks: Sequence[Task]) -> dict[str, Any]:
    """Returns the part of a record that speaks of the test set: how right outputs are, by seed; a dash has none."""
    correct = [
        np.array([y == task.as_predicted(example).y for y, example in zip(each, task.test, strict=True)])
        for each, task in zip(predictions, tasks, strict=False)
    ]
    return {
        "exact_match": [float(each.mean()) for each in correct],
        "correct": [packed(each) for each in correct],
        "tested": len(tasks[0].test),
    }


def word_form_part(
    outputs: Sequence[Sequence[Tokens]], samples: Sequence[Samples], tasks: Sequence[Task]
) -> dict[str, Any]:
    """Returns the part of a record that only word forms have: outputs (none for a dash) and samples in more detail."""
    of_word_forms = [task for task in tasks if isinstance(task, WordFormTask)]
    if not of_word_forms:
        return {}
    judged = [[(new, task.class_of(new)) for new in own] for own, task in zip(samples, of_word_forms, strict=True)]
    classes = [Counter(name for _, name in own) for own in judged]
    golds = [[task.as_predicted(example).y for example in task.test] for task, _ in zip(tasks, outputs, strict=False)]
    counts = [item_counts(*own, elements=analysis_elements) for own in zip(golds, outputs, strict=True)]
    listing = []
    for sample, name in _some([pair for own in judged for pair in own]):
        word = Inflection.from_fields(sample.x, sample.y)
        right = None if name == UNJUDGED else name in (RIGHT, KNOWN)
        listing.append({"x": f"{word.lemma} {';'.join(word.tags)}", "y": word.form, "right": right, "class": name})
    return {
        "sets": dict(zip(SETS, of_word_forms[0].sets, strict=True)),
        "novel": [packed(np.array(novel(task.test, task.train))) for task in tasks],
        "counts": [base64.b64encode(np.array(each, np.uint8).tobytes()).decode() for each in counts],
        "outputs": packed_outputs(golds, outputs),  # of which all scores can be counted again
        "classes": [{name: own[name] for name in CLASSES} for own in classes],
        "listing": listing,
    }


def packed_outputs(golds: Sequence[Sequence[Tokens]], outputs: Sequence[Sequence[Tokens]]) -> str:
    """Returns the right and the predicted outputs of each seed as text, about 20 kB for 1,500 test items."""
    return base64.b64encode(lzma.compress(json.dumps([golds, outputs]).encode())).decode()


def unpacked_outputs(text: str) -> tuple[list[list[Tokens]], list[list[Tokens]]]:
    """Returns the outputs that `packed_outputs` made a text of."""
    try:
        written = json.loads(lzma.LZMADecompressor().decompress(base64.b64decode(text), MOST))
        golds, outputs = typed(written, list[list[list[list[str]]]])
    except (lzma.LZMAError, EOFError, ValueError) as error:
        raise RecombineError("the outputs of a record cannot be read.", hint="Make it again.") from error
    found = [[[tuple(y) for y in own] for own in each] for each in (golds, outputs)]
    return found[0], found[1]


def packed(marks: np.ndarray) -> str:
    """Returns truth values as text."""
    return base64.b64encode(np.packbits(marks).tobytes()).decode()


def unpacked(text: str, count: int) -> np.ndarray:
    """Returns the truth values that `packed` made a text of."""
    return np.unpackbits(np.frombuffer(base64.b64decode(text), np.uint8), count=count).astype(bool)


def items(task: Task, reference: Samples, predicted: Sequence[Tokens]) -> list[dict[str, Any]]:
    """Returns test items to look at: some whose inputs are among the reference's samples, and some others.

    Each has the output that the samples have for it (the most probable one) or None, and what one network predicts.
    """
    outputs: dict[Tokens, Tokens] = {}
    for sample in reference:
        outputs.setdefault(sample.x, sample.y)
    order = np.random.default_rng(0).permutation(len(task.test)).tolist()
    among = [place for place in order if task.test[place].x in outputs][:ITEMS]
    others = [place for place in order if task.test[place].x not in outputs][:ITEMS]
    return [
        {
            "x": " ".join(example.x),
            "y": " ".join(example.y),
            "sampled": " ".join(outputs[example.x]) if example.x in outputs else None,
            "predicted": " ".join(y),
        }
        for example, y in ((task.test[place], predicted[place]) for place in (*among, *others))
    ]


def write_record(found: Mapping[str, Any], folder: Path) -> Path:
    """Writes an experiment's record, sealed with a checksum, where `read_records` looks for it."""
    name = in_file_names(f"{found['column']}-{found['row']}")
    path = folder / f"{name}.json"
    with locked(path, say=lambda _: None), replacing(path, force=True) as file:  # another writer is done in a moment
        file.write(json.dumps(sealed(found), indent=1, ensure_ascii=False).encode())
    return path


def expect_all_seeds(folder: Path, experiments: Iterable[tuple[str, str]], seeds: Sequence[int]) -> None:
    """Raises an error if a record to be written, of these rows and columns, would replace one with further seeds."""
    wanted = set(experiments)
    for record in read_records(folder):
        there = record.get("seeds", ())
        lost = set(there) - set(seeds)
        if lost and (record["row"], record["column"]) in wanted:
            raise RecombineError(
                f"there is a record of {record['row']!r} on {record['column']} with {len(there)} seeds, "
                f"{len(lost)} of which would be lost.",
                place=str(folder),
                hint="Name another folder with `output`, or use `force=True`.",
            )


def read_records(folder: Path) -> list[dict[str, Any]]:
    """Reads all records of a folder; a file that is no record, or is not as it was written, is an error."""
    found, what = [], "this is no record of an experiment"
    for path in sorted(folder.glob("*.json")):
        try:
            content: dict[str, Any] = json.loads(read_whole(path).decode("utf-8"))
            typed(content, _Record, further=True)
            in_bytes = (content.get("tested", -1) + 7) // 8
            if any(not in_bytes or len(text) != 4 * ((in_bytes + 2) // 3) for text in content.get("correct", [])):
                raise ValueError
        except (OSError, ValueError, RecursionError) as error:
            raise RecombineError(f"{what}.", place=str(path)) from error
        except RecombineError as error:
            message = f"{what}: {error.message}"
            raise RecombineError(message, place=error.place or str(path), hint=error.hint) from error
        unseal(content, place=str(path), hint="Get it again, or make it again.")
        found.append(content)
    return found


def recorded(
    folder: Path, columns: Iterable[str] | None = None, rows: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """Returns the records of a folder, of all columns and rows or of these; an error if there are none."""
    everything = read_records(folder)
    asked = [(name, set(wanted)) for name, wanted in (("column", columns), ("row", rows)) if wanted is not None]
    found = [record for record in everything if all(record[name] in wanted for name, wanted in asked)]
    if not found:
        what = "figures of what was asked for" if everything else "figures"
        hint = "Run the experiments first, or name another folder."
        raise RecombineError(f"there are no {what} here.", place=str(folder), hint=hint)
    return found


def provenance(command: Sequence[str], device: str) -> dict[str, str]:
    """Returns what a record says of its origin: the words that were typed, the device of networks, and versions."""
    import torch

    on_gpu = device.startswith("cuda")
    # With a cluster, the GPU may be another machine's.
    gpu = torch.cuda.get_device_name() if on_gpu and torch.cuda.is_available() else device
    return {
        "command": shlex.join(command),
        "commit": commit(),
        "device": gpu if on_gpu else platform.processor() or platform.machine(),
        "recombine": __version__,
        "torch": torch.__version__,
        "python": sys.version.split()[0],
        "date": today(),
    }


@cache
def commit() -> str:
    """Returns the commit of this code, if it lies in a repository of its own, or what RECOMBINE_COMMIT says."""
    if told := os.environ.get("RECOMBINE_COMMIT"):
        return told
    # An installed copy may lie within a repository of its user's, whose commit says nothing of it.
    said = ""
    try:
        for words in (("ls-files", "--error-unmatch", Path(__file__).name), ("rev-parse", "HEAD")):
            command = ["git", "-C", str(Path(__file__).parent), *words]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return said


def today() -> str:
    """Returns the date, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d")
