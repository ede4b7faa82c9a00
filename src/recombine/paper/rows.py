"""The rows of a table as files say them: names, splits, published figures, and settings still unread."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from recombine.data import scan
from recombine.data.output import read_whole
from recombine.data.sigmorphon import HINTS
from recombine.data.untrusted import typed
from recombine.errors import RecombineError, unknown

SPLITS = ("jump", "around-right")
"""The splits of SCAN that Table 1 has, in our order."""

LANGUAGES = ("spanish", "swahili", "turkish")
"""The languages of Table 2."""

DEFAULTS = "defaults.toml"
"""The file of settings that all rows share by default."""

Published = tuple[float, float] | None
"""Mean and deviation; None for the paper's dash: all samples were rejected."""


@dataclass(frozen=True)
class Table:
    """The package's folder of files of rows, the splits of the paper's columns, and others by name or by pattern."""

    folder: str
    splits: tuple[str, ...]
    others: tuple[str, ...] = ()
    further: str = "(?!)"

    def has(self, split: str) -> bool:
        """Tells whether rows can be run on a split."""
        return split in (*self.splits, *self.others) or re.fullmatch(self.further, split) is not None


TABLE_1 = Table("experiments", SPLITS, others=scan.SPLITS)
TABLE_2 = Table(
    "experiments/morphology",
    tuple(f"{language}-{hints}" for language in LANGUAGES for hints in HINTS),
    further=rf".+-({'|'.join(map(str, HINTS))})",
)


class Layer(NamedTuple):
    """Settings from one file, for all splits and by split, to be laid over those of the layers before."""

    place: str
    table: Mapping[str, Any]
    splits: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Row:
    """One row of the table.

    Attributes:
        splits: Those that it is run on.
        published: The paper's figures by split, where it has the row.
        note: A sentence to show beneath the table, or nothing.
        layers: Its settings, from the most general.
        everywhere: Whether it is run on splits that the paper does not have, too.
    """

    name: str
    splits: tuple[str, ...]
    published: Mapping[str, Published]
    note: str
    layers: tuple[Layer, ...]
    everywhere: bool = True

    def runs_on(self, split: str) -> bool:
        """Tells whether the row is run on a split of its table."""
        return split in self.splits or self.everywhere


def read_rows(further: Path | None = None, table: Table = TABLE_1) -> list[Row]:
    """Returns the rows of a table in order: the shipped ones, then those of a folder of files of the same form."""
    shipped = resources.files("recombine.paper").joinpath(*table.folder.split("/"))
    files = {file.name: file for file in shipped.iterdir() if file.name.endswith(".toml")}
    common = _layer(_parsed(files.pop(DEFAULTS)), DEFAULTS, table)
    added = sorted(further.glob("*.toml")) if further is not None else []
    if further is not None and not added:
        raise RecombineError("there are no experiments here.", place=str(further), hint="Expected .toml files.")
    rows: dict[str, Row] = {}
    for file in [*(files[name] for name in sorted(files)), *added]:
        row = _row(file, common, rows, table)
        for name in rows:
            if in_file_names(row.name) == in_file_names(name):  # one's records would take the other's place
                raise RecombineError(f"there is a row {name!r} already.", place=str(file), hint="Choose another name.")
        rows[row.name] = row
    return list(rows.values())


def in_file_names(name: str) -> str:
    """Returns the name of a row, with or without that of a split, as the names of its records have it."""
    return re.sub("[^A-Za-z0-9]+", "-", name.replace(" + ", "-").replace(" - ", "-no-")).strip("-")


def chosen(
    rows: Sequence[Row], names: Sequence[str] | None, splits: Sequence[str], table: Table = TABLE_1
) -> list[Row]:
    """Returns the rows of these names (None: all) that are run on one of the splits, in the table's order."""
    for split in splits:
        if not table.has(split):
            raise unknown("split", split, dict.fromkeys((*table.splits, *table.others)))
    known = {row.name: row for row in rows}
    for name in names or ():
        if name not in known:
            raise unknown("row", name, known)
        if not any(map(known[name].runs_on, splits)):
            raise RecombineError(f"the row {name!r} is run on {' and '.join(known[name].splits)} only.")
    return [row for row in rows if any(map(row.runs_on, splits)) and (names is None or row.name in names)]


def _parsed(file: Traversable) -> dict[str, Any]:
    try:
        return tomllib.loads(read_whole(file).decode("utf-8"))
    except OSError as error:
        raise RecombineError(f"the file cannot be read: {error.strerror or error}.", place=str(file)) from error
    except (ValueError, RecursionError) as error:  # of numbers with thousands of digits, and of brackets
        raise RecombineError(f"this is no TOML: {error}.", place=str(file)) from error


def _layer(content: Mapping[str, Any], place: str, table: Table) -> Layer:
    found = {key: settings for key, settings in content.items() if table.has(key)}
    splits = typed(found, dict[str, dict[str, Any]], place=place, toml=True)
    return Layer(place, {key: value for key, value in content.items() if key not in splits}, splits)


@dataclass(frozen=True, kw_only=True)
class _File:
    """What a file says of its row besides settings."""

    name: str
    like: str | None = None
    note: str = ""
    splits: list[str] = field(default_factory=list)
    published: dict[str, tuple[float, float] | Literal["-"]] = field(default_factory=dict)


def _row(file: Traversable, common: Layer, before: Mapping[str, Row], table: Table) -> Row:
    place, content = str(file), _parsed(file)
    about = {each.name: content.pop(each.name) for each in fields(_File) if each.name in content}
    found: _File = typed(about, _File, place=place, toml=True)
    if not found.name or "," in found.name:  # which tells names apart on a command line
        raise RecombineError(f"name is {found.name!r}; expected the name of the row, without commas.", place=place)
    if found.like is not None and found.like not in before:
        raise RecombineError(f"like is {found.like!r}; expected the name of a row in an earlier file.", place=place)
    like = before[found.like] if found.like else None
    splits = found.splits if "splits" in about else like.splits if like else table.splits
    for split in (*splits, *found.published):
        if split not in table.splits:
            error = unknown("split", split, table.splits)
            raise RecombineError(error.message, place=place, hint=error.hint)
    if not splits:
        raise RecombineError("splits is empty; expected at least one.", place=place)
    return Row(
        name=found.name,
        splits=tuple(split for split in table.splits if split in splits),
        published={split: None if figure == "-" else figure for split, figure in found.published.items()},
        note=found.note,
        layers=(*(like.layers if like else (common,)), _layer(content, place, table)),
        everywhere="splits" not in about and (like is None or like.everywhere),
    )
