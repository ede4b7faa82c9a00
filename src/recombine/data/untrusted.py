"""JSON and TOML that somebody else may have written: of the right names and types, or an error; never code.

`msgspec` does the checking: it checks dataclasses, Literals, unions and tuples by their annotations, tells the path of
what is wrong, and is one small wheel without dependencies. This module adds what it lacks: unknown keys are errors, and
errors show the value and say in words what was expected.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from recombine.data.text import shown
from recombine.errors import RecombineError, unknown

_WORDS = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "a string",
    "null": "null",
    "array": "a list",
    "object": "an object",
}
"""What errors call the types of msgspec's messages."""

_TOML_WORDS = _WORDS | {"null": '"none"', "object": "a table"}
"""The same in TOML, which has no null."""

_SIMPLE, _NESTED = (bool, int, float, str, NoneType), (Literal, list, tuple, dict)


@contextmanager
def fitting(folder: Path) -> Iterator[None]:
    """Turns whatever goes wrong where the model of a folder is put together into the error for its settings."""
    message, place, hint = "the settings do not fit the weights", str(folder), "Train again."
    try:
        yield
    except RecombineError as error:
        if error.place is not None:
            raise
        raise RecombineError(f"{message}: {error.message}", place=place, hint=error.hint or hint) from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, MemoryError) as error:
        raise RecombineError(f"{message}.", place=place, hint=hint) from error


def typed(
    value: object,
    kind: Any,  # noqa: ANN401
    *,
    name: str = "",
    whole: str = "the document",
    place: str | None = None,
    further: bool = False,
    toml: bool = False,
) -> Any:  # noqa: ANN401
    """Returns a value of JSON or TOML as one of a type: a table becomes a dataclass, a list a list or tuple.

    The type may be a union with types that no file can hold, which are left out. A key of a dataclass may be missing if
    its field has a default; unknown keys are errors, unless `further` ones are let be. For errors: `name` is the keys
    that lead to the value, `whole` what it is called without any, and `place` the file.
    """
    # A union without functions and other things that files do not hold; any other type as it is.
    options = [each for each in _options(kind) if each in _SIMPLE or get_origin(each) in _NESTED or is_dataclass(each)]
    kind = reduce(or_, options) if options else kind
    try:
        found = msgspec.convert(value, kind)
        if not further:
            _expect_known(value, msgspec.to_builtins(found), name, whole)
    except msgspec.ValidationError as error:
        words = _TOML_WORDS if toml else _WORDS
        raise RecombineError(_in_words(str(error), value, kind, name, whole, words), place=place) from error
    except (RecursionError, UnicodeEncodeError) as error:
        problem = "is nested too deeply" if isinstance(error, RecursionError) else "holds half a character"
        raise RecombineError(f"{name or whole} {problem}.", place=place) from error
    except RecombineError as error:  # of a dataclass whose values make no sense
        raise RecombineError(error.message, place=error.place or place, hint=error.hint) from error
    return found


def _expect_known(given: object, known: object, name: str, whole: str) -> None:
    """Raises the error for a key that did not find its way into a dataclass."""
    if isinstance(given, dict) and isinstance(known, dict):
        for key, value in given.items():
            if key not in known:
                raise unknown(f"key of {name or whole}", key, known)
            _expect_known(value, known[key], f"{name}.{key}" if name else key, whole)
    elif isinstance(given, list) and isinstance(known, list | tuple) and (*given,) != (*known,):
        for number, (value, other) in enumerate(zip(given, known, strict=True)):
            _expect_known(value, other, f"{name}[{number}]", whole)


def _in_words(message: str, value: Any, kind: Any, name: str, whole: str, words: Mapping[str, str]) -> str:  # noqa: ANN401
    """Returns a message of msgspec's with the place and the value that it speaks of."""
    problem, _, path = message.partition(" - at `$")
    so_far = name
    for step in re.findall(r"\.{3}|[^.\[\]`]+", path):
        (kind, *_) = (option for option in _options(kind) if option is not NoneType)
        if get_origin(kind) in (list, tuple):
            kind = get_args(kind)[0]
        else:
            kind = get_args(kind)[1] if get_origin(kind) is dict else get_type_hints(kind)[step]
        if isinstance(value, dict) and step == "...":  # msgspec does not tell which of the values it is
            for key, each in value.items():
                try:
                    msgspec.convert(each, kind)
                except msgspec.ValidationError as error:
                    return _in_words(str(error), each, kind, f"{so_far}.{key}".removeprefix("."), whole, words)
        value = value[int(step)] if isinstance(value, list) else value[step]
        so_far = f"{so_far}[{step}]" if step.isdecimal() else f"{so_far}.{step}".removeprefix(".")
    where = so_far or whole
    if missing := re.search("required field `(.+)`", problem):
        keys = f"; found the keys {shown(', '.join(value))}" if value else ""
        return f"{where} lacks {missing[1]!r}{keys}."
    literals = [option for option in _options(kind) if get_origin(option) is Literal]
    choices = [repr(choice) for option in literals for choice in get_args(option)]
    found = re.search(r"Expected `(.+?)`( of length \d+)?", problem)
    expected, length = (found[1].split(" | "), found[2] or "") if found else ([], "")
    if choices:
        expected = [each for each in expected if each not in ("str", "int")]  # the choices are of these types
    elif not found:
        expected = ["float"]  # the number is out of range
    alternatives = choices + [f"{words.get(each, each)}{length}" for each in expected]
    told = words["object" if isinstance(value, dict) else "array"] if isinstance(value, dict | list) else shown(value)
    return f"{where} is {told}; expected {' or '.join(alternatives)}."


def _options(kind: Any) -> Sequence[Any]:  # noqa: ANN401
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
