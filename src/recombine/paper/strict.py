"""Settings from tables of plain values, whose schema is the dataclass that they end up in."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from recombine.errors import RecombineError, unknown
from recombine.neighborhoods import NEIGHBORHOODS, Rule

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Record = TypeVar("Record", bound=DataclassInstance)
else:
    Record = TypeVar("Record")

NOTHING = "none"
"""Stands for None, which TOML cannot say."""

FILLED_IN = ("vocabulary", "network.prototypes")
"""Fields that follow from other settings or from the data."""

_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a string", NoneType: f'"{NOTHING}"'}


def updated(record: Record, table: Mapping[str, Any], *, place: str, within: str = "") -> Record:
    """Returns the record with the settings of a table in place of its own.

    Args:
        record: A dataclass. A field that is one itself takes a table; one that holds a rule for neighborhoods may
            change it with the key ``rule``.
        table: Values by the names of fields.
        place: The file, for errors.
        within: The keys that lead to the table, for errors.

    Raises:
        RecombineError: If a key is no field, or a value is not of the field's type or makes no sense.
    """
    types = get_type_hints(type(record))
    known = [field.name for field in fields(record) if field.init and not f"{within}{field.name}".endswith(FILLED_IN)]
    changes = {}
    for key, value in table.items():
        name = f"{within}{key}"
        if key not in known:
            error = unknown("setting", name, [f"{within}{field}" for field in known])
            raise RecombineError(error.message, place=place, hint=error.hint)
        now = getattr(record, key)
        if is_dataclass(now) and not isinstance(now, type):
            if not isinstance(value, Mapping):
                raise _unexpected(value, name, "a table", place=place)
            start, changed = _chosen_rule(now, value, name=name, place=place)
            changes[key] = updated(start, changed, place=place, within=f"{name}.")
        else:
            changes[key] = _value(value, types[key], name=name, place=place)
    try:
        return replace(record, **changes)
    except RecombineError as error:
        raise RecombineError(error.message, place=place, hint=error.hint) from error


def described(record: object) -> dict[str, Any]:
    """Returns all settings of a dataclass as a JSON-friendly table, which `updated` could read."""
    found: dict[str, Any] = {"rule": record.name} if type(record) in NEIGHBORHOODS.values() else {}  # type: ignore[attr-defined]
    for field in fields(record):  # type: ignore[arg-type]
        if field.init:
            value = getattr(record, field.name)
            found[field.name] = described(value) if is_dataclass(value) else value
    return found


def _chosen_rule(now: Any, table: Mapping[str, Any], *, name: str, place: str) -> tuple[Any, Mapping[str, Any]]:  # noqa: ANN401
    """Returns the record to change and the changes: of another rule for neighborhoods, if the table names one."""
    rules: Mapping[str, type[Rule]] = NEIGHBORHOODS
    if "rule" not in table or type(now) not in rules.values():
        return now, table
    rule = table["rule"]
    if rule not in [*rules]:  # a list, which what has no hash can be looked for in
        raise _unexpected(rule, f"{name}.rule", f"one of {', '.join(rules)}", place=place)
    others = {key: value for key, value in table.items() if key != "rule"}
    return (now if now.name == rule else rules[rule]()), others


def _value(value: object, kind: Any, *, name: str, place: str) -> object:  # noqa: ANN401
    """Returns a plain value as a field of that type takes it."""
    options = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    for option in options:
        if option is NoneType and value == NOTHING:
            return None
        if get_origin(option) is Literal and value in get_args(option) and type(value) in (str, int):
            return value
        if option is float and type(value) is int:
            return float(value)
        if option in _WORDS and type(value) is option:
            return value
    raise _unexpected(value, name, " or ".join(map(_in_words, options)), place=place)


def _in_words(option: Any) -> str:  # noqa: ANN401
    if get_origin(option) is Literal:
        return " or ".join(f'"{choice}"' if isinstance(choice, str) else str(choice) for choice in get_args(option))
    return _WORDS.get(option, "nothing that a file could say")


def _unexpected(value: object, name: str, expected: str, *, place: str) -> RecombineError:
    return RecombineError(f"{name} is {value!r}; expected {expected}.", place=place)
