"""Settings of a model that somebody else wrote: of the right names and types, or an error; never code."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from recombine.errors import RecombineError


@contextmanager
def fitting(folder: Path) -> Iterator[None]:
    """Turns whatever goes wrong where a model is put together into the error for settings that make no sense.

    Args:
        folder: The model's.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, MemoryError) as error:
        raise RecombineError("the settings do not fit the weights.", place=str(folder), hint="Train again.") from error


def typed(value: object, kind: Any) -> Any:  # noqa: ANN401
    """Returns a value of JSON's as one of a type: a table becomes a dataclass, a list a list or tuple.

    Args:
        value: The value.
        kind: A simple type, a Literal, a dataclass, a list or tuple of one of these, or a union of simple types.

    Raises:
        LookupError: If a table has a key that the dataclass has not.
        TypeError: If a value is of another type, or a table lacks something.
    """
    origin, options = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        kind = next((option for option in options if _is_of(value, option)), None)
        return typed(value, kind)
    if origin in (list, tuple) and isinstance(value, list):
        return origin(typed(each, options[0]) for each in value)
    if is_dataclass(kind) and isinstance(value, dict):
        types = get_type_hints(kind)
        return kind(**{name: typed(each, types[name]) for name, each in value.items()})  # type: ignore[operator]
    if _is_of(value, kind):
        return value
    raise TypeError(f"{value!r} is not of {kind}.")


def _is_of(value: object, kind: Any) -> bool:  # noqa: ANN401
    origin = get_origin(kind)
    if origin is Literal:
        return any(type(value) is type(option) and value == option for option in get_args(kind))
    if origin in (list, tuple):
        return isinstance(value, list)
    if kind is float:
        return type(value) in (int, float)
    return kind in (bool, int, str, NoneType) and type(value) is kind
