"""Reads ``run.json`` and refuses what does not hold together, so that the page can trust what it shows."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from recombine.data.limits import read_whole
from recombine.data.sealing import unseal
from recombine.errors import RecombineError
from recombine.report.decoding import decode
from recombine.report.run import Attention, Run, Sample

RUN_FILE = "run.json"
"""The file of a run's folder that holds what the report shows."""

_SOURCE = re.compile(r"written|(own|[1-9][0-9]{0,5}):([1-9][0-9]{0,5})", re.ASCII)


def read_run(folder: str | Path) -> Run:
    """Returns what a comparison found.

    Args:
        folder: What ``recombine compare -o`` wrote.

    Raises:
        RecombineError: If there is no such file, or it is not what ``recombine compare`` wrote.
    """
    path = Path(folder) / RUN_FILE
    try:
        content = read_whole(path)
    except OSError as error:
        raise RecombineError(
            f"the run cannot be read: {error.strerror or error}.",
            place=str(path),
            hint="Name a folder that recombine compare -o wrote.",
        ) from error
    try:
        document = _parse(content, str(path))
        if isinstance(document, dict):
            unseal(document, place=str(path), hint="Get it again, or compare again.")
        run = decode(document, Run)
        _check(run)
    except RecombineError as error:
        raise RecombineError(error.message, place=error.place or str(path), hint=error.hint) from error
    return run


def _parse(content: bytes, place: str) -> object:
    try:
        return json.loads(content.decode(), parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise RecombineError(f"this is not JSON: {error.msg}.", place=f"{place}:{error.lineno}") from error
    except UnicodeDecodeError as error:
        raise RecombineError("this is not UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise RecombineError(f"this is not JSON that can be read: {error}.") from error


def _refuse(constant: str) -> NoReturn:
    raise RecombineError(f"{constant} is no number; where there is none, null is expected.")


def _check(run: Run) -> None:
    """Checks what goes together between the values, whose types are right."""
    for number, curve in enumerate(run.curves):
        for name, points in (("loss", curve.loss), ("held_out", curve.held_out)):
            _check_count(points, len(curve.steps), f"curves[{number}].{name}", "one for each of its steps")
    for number, sample in enumerate(run.samples):
        _check_sources(sample, f"samples[{number}]")
    _check_count(run.attention, len(run.samples), "attention", "one for each sample")
    for number, attention in enumerate(run.attention):
        if attention is not None:
            _check_attention(attention, f"attention[{number}]")


def _check_sources(sample: Sample, where: str) -> None:
    tokens = len(sample.x) + len(sample.y)
    if sample.sources:
        _check_count(sample.sources, tokens, f"{where}.sources", "one for each token of x and y")
    lengths = {str(number): len(each.x) + len(each.y) for number, each in enumerate(sample.prototypes, start=1)}
    lengths["own"] = tokens
    for number, source in enumerate(sample.sources):
        found = _SOURCE.fullmatch(source)
        if not found:
            raise RecombineError(f'{where}.sources[{number}] is {source!r}; expected "written", "own:I" or "K:J".')
        kind, position = found.groups()
        if kind and int(position) > lengths.get(kind, 0):
            raise RecombineError(f"{where}.sources[{number}] is {source!r}, but there is no such token.")


def _check_attention(attention: Attention, where: str) -> None:
    _check_count(attention.weights, len(attention.prototypes), f"{where}.weights", "one for each prototype")
    for k, (steps, prototype) in enumerate(zip(attention.weights, attention.prototypes, strict=True)):
        _check_count(steps, len(attention.tokens), f"{where}.weights[{k}]", "one for each of its tokens")
        for t, weights in enumerate(steps):
            _check_count(weights, len(prototype), f"{where}.weights[{k}][{t}]", "one for each token of the prototype")


def _check_count(entries: Sequence[object], count: int, where: str, what: str) -> None:
    if len(entries) != count:
        raise RecombineError(f"{where} has {len(entries):,} entries; expected {count:,}, {what}.")
