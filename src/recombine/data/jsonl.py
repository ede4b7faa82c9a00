"""JSON lines, the format that keeps provenance: ``{"x": [...], "y": [...], "provenance": {...}}``, one a line."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from recombine.data.text import Line, shown
from recombine.data.tokenization import check_side, split
from recombine.errors import RecombineError
from recombine.example import Example, Provenance, Tokens

_SIDES = 'Write for example {"x": "walk twice", "y": ["WALK", "WALK"]}, one such object a line.'

_SOURCE = re.compile(r"written|own:[1-9][0-9]*|[1-9][0-9]*:[1-9][0-9]*")


def parse(lines: Iterable[Line], *, tokens: str) -> Iterator[Example]:
    """Yields an example for each line.

    Args:
        lines: The lines, each with one object.
        tokens: How to split an x or y that is a string, not a list of tokens.

    Raises:
        RecombineError: If a line is no such object, or has keys that mean nothing here.
    """
    for line in lines:
        with _as_json(line) as value:
            example = _example(value, "line", line=line, tokens=tokens)
        yield example


def parse_inputs(lines: Iterable[Line], *, tokens: str) -> Iterator[Tokens]:
    """Yields the x of each line; there need be no y. Arguments and errors as for ``parse``."""
    for line in lines:
        with _as_json(line) as value:
            found = _known(value, "line", required=("x",), optional=("y", "provenance"), line=line)
        yield _side(found["x"], "x", line=line, tokens=tokens)


def render(example: Example) -> str:
    """Returns the line of an example.

    Raises:
        RecombineError: If its provenance holds something that JSON cannot.
    """
    try:
        return json.dumps(_object(example), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise RecombineError(f"the provenance of the example cannot be written as JSON: {error}.") from None


@contextmanager
def _as_json(line: Line) -> Iterator[object]:
    try:
        yield json.loads(line.text, parse_constant=_refuse_constant, object_pairs_hook=_without_repeats)
    except (ValueError, OverflowError, RecursionError) as error:
        raise line.error(
            f"found {shown(line.text)}, which is no JSON that can be read ({error}); expected one object a line.",
            hint=_SIDES,
        ) from None


def _object(example: Example) -> dict[str, Any]:
    sides: dict[str, Any] = {"x": example.x, "y": example.y}
    provenance = example.provenance
    if provenance is None:
        return sides
    origin: dict[str, Any] = {"method": provenance.method}
    if provenance.prototypes:
        origin["prototypes"] = [_object(prototype) for prototype in provenance.prototypes]
    if provenance.log_probability is not None:
        origin["log_probability"] = provenance.log_probability
    if provenance.sources:
        origin["sources"] = provenance.sources
    if provenance.details:
        origin["details"] = dict(provenance.details)
    return {**sides, "provenance": origin}


def _example(value: object, name: str, *, line: Line, tokens: str) -> Example:
    found = _known(value, name, required=("x", "y"), optional=("provenance",), line=line)
    x = _side(found["x"], "x", line=line, tokens=tokens)
    y = _side(found["y"], "y", line=line, tokens=tokens)
    origin = found.get("provenance")
    return Example(x, y, None if origin is None else _provenance(origin, len(x) + len(y), line=line, tokens=tokens))


def _provenance(value: object, length: int, *, line: Line, tokens: str) -> Provenance:
    optional = ("prototypes", "log_probability", "sources", "details")
    found = _known(value, "provenance", required=("method",), optional=optional, line=line)
    method, log_probability = found["method"], found.get("log_probability")
    prototypes, sources = found.get("prototypes", []), found.get("sources", [])
    if not isinstance(method, str):
        raise _unexpected(method, "method", "a string", line=line)
    if log_probability is not None and (isinstance(log_probability, bool) or not _is_number(log_probability)):
        raise _unexpected(log_probability, "log_probability", "a number", line=line)
    if not isinstance(prototypes, list):
        raise _unexpected(prototypes, "prototypes", "a list of objects with x and y", line=line)
    return Provenance(
        method=method,
        prototypes=tuple(_example(prototype, "prototype", line=line, tokens=tokens) for prototype in prototypes),
        log_probability=None if log_probability is None else float(log_probability),
        sources=_sources(sources, length, line=line),
        details=_details(found.get("details", {}), line=line),
    )


def _side(value: object, name: str, *, line: Line, tokens: str) -> Tokens:
    if isinstance(value, str):
        return check_side(split(value, tokens), name, line=line)
    if not isinstance(value, list) or not all(isinstance(token, str) for token in value):
        raise _unexpected(value, name, "a list of strings, or a string", line=line, hint=_SIDES)
    return check_side(tuple(value), name, line=line)


def _sources(value: object, length: int, *, line: Line) -> Tokens:
    if not isinstance(value, list) or not all(isinstance(item, str) and _SOURCE.fullmatch(item) for item in value):
        raise _unexpected(value, "sources", "a list of 'written', 'own:I' or 'K:J', counted from 1", line=line)
    if value and len(value) != length:
        raise line.error(f"there are {len(value)} sources; expected one for each of the {length} tokens of x and y.")
    return tuple(value)


def _details(value: object, *, line: Line) -> dict[str, str | int | float]:
    if not isinstance(value, dict) or not all(isinstance(item, str) or _is_number(item) for item in value.values()):
        raise _unexpected(value, "details", "an object of strings and numbers", line=line)
    return value


def _known(
    value: object, name: str, *, required: tuple[str, ...], optional: tuple[str, ...], line: Line
) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _unexpected(value, name, "an object", line=line, hint=_SIDES if name == "line" else None)
    perhaps = f", and perhaps {', '.join(optional)}" if optional else ""
    hint = f"Expected are the keys: {', '.join(required)}{perhaps}."
    for key in required:
        if key not in value:
            found = shown(", ".join(value)) if value else "none"
            raise line.error(f"the {name} has no {key!r}; found the keys {found}.", hint=hint)
    strange = [key for key in value if key not in required + optional]
    if strange:
        raise line.error(f"the {name} has unknown keys: {', '.join(map(shown, strange))}.", hint=hint)
    return value


def _unexpected(value: object, name: str, expected: str, *, line: Line, hint: str | None = None) -> RecombineError:
    found = shown(json.dumps(value, ensure_ascii=False))
    return line.error(f"found {found} as {name}; expected {expected}.", hint=hint)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found
