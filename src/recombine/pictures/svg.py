"""Grids of cells with labels at two sides, as text of an SVG file; whatever a token holds, it stays text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple
from unicodedata import east_asian_width

CELL = 18
"""The side of a cell."""

TITLE = 26
"""The height of a line with a title."""

MARGIN = 12

_CHARACTER = 6.7
_LONGEST = 20  # characters of a token
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Label(NamedTuple):
    """The name of a row or a column.

    Attributes:
        text: The name.
        is_token: Whether it is a token of the data; other names are set in italics.
    """

    text: str
    is_token: bool = False

    @property
    def short(self) -> str:
        """The text; that of a token is cut where it is long, and its blanks show."""
        if not self.is_token:
            return self.text
        text = self.text.replace(" ", "␣")
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

    @property
    def width(self) -> float:
        """About how wide it is."""
        return _CHARACTER * sum(2 if east_asian_width(character) in "WF" else 1 for character in self.short)

    def drawn(self, place: str, kind: str = "") -> str:
        """Returns the text element.

        Args:
            place: The attributes that say where.
            kind: Its class, if it has one.
        """
        kinds = " ".join(filter(None, [kind, "" if self.is_token else "name"]))
        whole = tooltip(self.text) if self.short != self.text else ""
        return f'<text class="{kinds}" {place}>{plain(self.short)}{whole}</text>'


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid with something drawn into its cells.

    Attributes:
        title: Stands above it.
        rows: The names of its rows.
        cells: What is drawn: elements whose origin is the grid's upper left corner.
    """

    title: str
    rows: Sequence[Label]
    cells: Sequence[str]


@dataclass(frozen=True, slots=True)
class Panel:
    """Elements drawn from (0, 0) to (width, height)."""

    elements: Sequence[str]
    width: float
    height: float


def panel(grids: Sequence[Grid], columns: Sequence[Label], *, left: float) -> Panel:
    """Puts grids one below the other, then the names of the columns that they share; no grid, nothing at all.

    Args:
        grids: The grids.
        columns: The names of their columns.
        left: The room for the names of their rows.
    """
    if not grids:
        return Panel([], 0, 0)
    elements: list[str] = []
    y = 0
    for grid in grids:
        elements.append(f'<text class="title" x="{left:g}" y="{y + 17}">{plain(grid.title)}</text>')
        y += TITLE
        elements += [f'<g transform="translate({left:g} {y})">', _lines(len(columns), len(grid.rows))]
        elements += [*grid.cells, "</g>"]
        for label in grid.rows:
            elements.append(label.drawn(f'x="{left - 5:g}" y="{y + 13}"', "row"))
            y += CELL
    for column, label in enumerate(columns):
        elements.append(label.drawn(f'transform="translate({left + column * CELL + 5:g} {y + 5}) rotate(90)"'))
    height = y + max(label.width for label in columns) + MARGIN
    width = max(len(columns) * CELL, *(Label(grid.title).width for grid in grids))
    return Panel(elements, left + width + MARGIN, height)


def _lines(columns: int, rows: int) -> str:
    width, height = columns * CELL, rows * CELL
    down = "".join(f"M{column * CELL} 0V{height}" for column in range(columns + 1))
    across = "".join(f"M0 {row * CELL}H{width}" for row in range(rows + 1))
    return f'<path class="grid" d="{down}{across}"/>'


def box(column: int, row: int) -> str:
    """Returns the attributes of a rectangle that fills a cell."""
    return f'x="{column * CELL + 1}" y="{row * CELL + 1}" width="{CELL - 2}" height="{CELL - 2}"'


def tooltip(text: str) -> str:
    """Returns an element that shows a text where the pointer rests on its parent."""
    return f"<title>{plain(text)}</title>"


def isolated(token: str) -> str:
    """Returns the token for use within a line, whose order it cannot change whichever direction it runs in."""
    return f"\u2068{token}\u2069"


def plain(text: str) -> str:
    """Returns text as SVG can hold it: characters that mean something are escaped, those that no XML may hold show."""
    return escape(_NOT_XML.sub("\ufffd", text))
