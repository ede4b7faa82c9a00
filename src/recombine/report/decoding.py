"""Records out of JSON values, whose schema is the dataclasses that they end up in."""

import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from recombine.errors import RecombineError, unknown

Record = TypeVar("Record")

_WHOLE = "the document"

_WORDS: Mapping[object, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    NoneType: "null",
    tuple: "a list",
    dict: "an object",
}


def decode(value: object, kind: type[Record]) -> Record:
    """Returns a value that JSON gave as the record that it stands for.

    Args:
        value: Of any shape.
        kind: A dataclass whose fields are strings, numbers, truth values, None, Literals, other such dataclasses,
            tuples of any length of one of these, or dicts of one of these by name. Those with a default may be missing.

    Raises:
        RecombineError: If a key is missing or unknown, or a value is of another type.
    """
    decoded: Record = _decode(value, kind, "")
    return decoded


def _decode(value: object, kind: Any, where: str) -> Any:  # noqa: ANN401
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _decode_optional(value, get_args(kind), where)
    if origin is Literal and value in get_args(kind) and type(value) is type(get_args(kind)[0]):
        return value
    if origin is tuple and isinstance(value, list):
        item = get_args(kind)[0]
        return tuple(_decode(each, item, f"{where}[{number}]") for number, each in enumerate(value))
    if origin is dict and isinstance(value, dict):
        item = get_args(kind)[1]
        return {key: _decode(each, item, f"{where}.{key}") for key, each in value.items()}
    if is_dataclass(kind) and isinstance(value, dict):
        return _decode_record(value, kind, where)
    if (
        kind is float
        and isinstance(value, int | float)
        and type(value) is not bool
        and abs(value) <= sys.float_info.max
    ):
        return float(value)
    if kind in (bool, int, str, NoneType) and type(value) is kind:
        return value
    raise RecombineError(f"{where or _WHOLE} is {_shown(value)}; expected {_in_words(kind)}.")


def _decode_optional(value: object, kinds: tuple[Any, ...], where: str) -> Any:  # noqa: ANN401
    """Decodes one kind or None."""
    if value is None:
        return None
    (kind,) = (kind for kind in kinds if kind is not NoneType)
    return _decode(value, kind, where)


def _decode_record(value: dict[str, object], kind: Any, where: str) -> Any:  # noqa: ANN401
    types = get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    for key in value:
        if key not in names:
            raise unknown(f"key of {where or _WHOLE}", key, names)
    for field in fields(kind):
        if field.name not in value and field.default is MISSING:
            raise RecombineError(f"{where or _WHOLE} lacks {field.name!r}.")
    within = f"{where}." if where else ""
    return kind(**{name: _decode(value[name], types[name], f"{within}{name}") for name in names if name in value})


def _in_words(kind: Any) -> str:  # noqa: ANN401
    if get_origin(kind) is Literal:
        return " or ".join(map(repr, get_args(kind)))
    return _WORDS.get(get_origin(kind) or kind, _WORDS[dict])


def _shown(value: object) -> str:
    """Returns a value as errors show it: what is long or nested by its kind only."""
    if isinstance(value, list | dict):
        return _WORDS[dict if isinstance(value, dict) else tuple]
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:39]}…"
