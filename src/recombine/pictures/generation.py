"""The picture of how a sample was generated: output scores beside attention to the prototypes (appendix G.3).

It is an SVG file of grids with labels at two sides. Whatever a token holds, it stays text.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple
from unicodedata import east_asian_width

import numpy as np

from recombine.decoding.trace import END, Trace
from recombine.example import SEPARATOR

VISIBLE = 0.005  # less than this is not drawn
MATTERS = 0.02  # a token that was not produced has a row of its own if it is this probable at some step
ROWS = 24  # how many tokens have a row, more only if more were produced; the others share one
BESIDE = 24  # longer samples have attention below the scores: beside them, print would be too small

_CELL, _TITLE, _MARGIN = 18, 26, 12  # the side of a cell, the height of a line with a title, the margin
_CHARACTER = 6.7  # the width of one
_LONGEST = 20  # characters of a token
_LEGEND_WIDTH = 500
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_STYLE = """
.generation { color: #1a1a1a; }
.generation text { font: 11px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: currentColor; }
.generation .title { font-weight: bold; } .generation .name { font-style: italic; }
.generation .row { text-anchor: end; } .generation .heat { fill: currentColor; }
.generation .grid { stroke: #8888; stroke-width: .5; fill: none; } .generation .paper { fill: #ffffff; }
.generation .chosen { stroke: currentColor; fill: none; }
.generation .copied { fill: #1f5fa8; } .generation .written { fill: url(#written); }
@media screen and (prefers-color-scheme: dark) {
.generation { color: #ececec; } .generation .paper { fill: #16181c; } .generation .copied { fill: #7db4ee; }
}
""".strip()


def picture(trace: Trace) -> str:
    """Returns an SVG file that shows, step by step, how probable tokens were and which parts of prototypes were read.

    Solid bars are copied and hatched ones written; frames mark what was produced; the darker a cell (on a dark screen:
    the lighter), the more attention. Where something is drawn, a tooltip tells the figure.
    """
    columns = [_label(token) for token in trace.tokens]
    outputs = [_scores(trace), _shares(trace)]
    inputs = [_attention(trace, k) for k in range(len(trace.prototypes))]
    left = _MARGIN + max(label.width for grid in (*outputs, *inputs) for label in grid.rows)
    scores, attention = (_panel(grids, columns, left=left) for grids in (outputs, inputs))
    x, y = (scores.width, 0.0) if len(columns) <= BESIDE else (0.0, scores.height)
    width = max(scores.width, x + attention.width, _LEGEND_WIDTH)
    height = max(scores.height, y + attention.height) + _TITLE
    sample, *prototypes = map(_sentence, (trace.tokens, *trace.prototypes))
    made = "; ".join(f"prototype {k}: {each}" for k, each in enumerate(prototypes, start=1)) or "no prototypes"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="generation" role="img" width="100%" '
            f'viewBox="0 0 {width:g} {height:g}" style="max-width: {width:g}px">',
            f"<title>How {_plain(sample)} was generated</title>",
            f"<desc>{_plain(f'{sample}, generated from {made}.')}</desc>",
            f"<style>{_STYLE}</style>",
            '<pattern id="written" width="4" height="4" patternUnits="userSpaceOnUse">',
            '<path d="M-1 1 1 -1M0 4 4 0M3 5 5 3" stroke="currentColor" stroke-width="1.1"/></pattern>',
            f'<rect class="paper" width="{width:g}" height="{height:g}"/>',
            *scores.elements,
            f'<g transform="translate({x:g} {y:g})">',
            *attention.elements,
            "</g>",
            f'<g transform="translate({_MARGIN} {height - _TITLE:g})">',
            *_legend(),
            "</g>",
            "</svg>\n",
        ]
    )


class _Label(NamedTuple):
    """The name of a row or a column: a token of the data, or another name, which is set in italics."""

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
        """Returns the text element, given the attributes that say where, and its class."""
        kinds = " ".join(filter(None, [kind, "" if self.is_token else "name"]))
        whole = _tooltip(self.text) if self.short != self.text else ""
        return f'<text class="{kinds}" {place}>{_plain(self.short)}{whole}</text>'


class _Grid(NamedTuple):
    """A grid and what is drawn into its cells: elements whose origin is the grid's upper left corner."""

    title: str
    rows: Sequence[_Label]
    cells: Sequence[str]


class _Panel(NamedTuple):
    """Elements drawn from (0, 0) to (width, height)."""

    elements: Sequence[str]
    width: float
    height: float


def _panel(grids: Sequence[_Grid], columns: Sequence[_Label], *, left: float) -> _Panel:
    """Puts grids one below the other, then the names of the columns that they share; `left` is room for row names."""
    if not grids:
        return _Panel([], 0, 0)
    elements: list[str] = []
    y, right = 0, len(columns) * _CELL
    for grid in grids:
        elements.append(f'<text class="title" x="{left:g}" y="{y + 17}">{_plain(grid.title)}</text>')
        y += _TITLE
        bottom = len(grid.rows) * _CELL
        lines = "".join(f"M{x} 0V{bottom}" for x in range(0, right + 1, _CELL))
        lines += "".join(f"M0 {row}H{right}" for row in range(0, bottom + 1, _CELL))
        elements += [f'<g transform="translate({left:g} {y})">', f'<path class="grid" d="{lines}"/>']
        elements += [*grid.cells, "</g>"]
        for label in grid.rows:
            elements.append(label.drawn(f'x="{left - 5:g}" y="{y + 13}"', "row"))
            y += _CELL
    for column, label in enumerate(columns):
        elements.append(label.drawn(f'transform="translate({left + column * _CELL + 5:g} {y + 5}) rotate(90)"'))
    height = y + max(label.width for label in columns) + _MARGIN
    width = max(right, *(_Label(grid.title).width for grid in grids))
    return _Panel(elements, left + width + _MARGIN, height)


def _label(token: str) -> _Label:
    name = {SEPARATOR: "▷", END: "end"}.get(token)
    return _Label(token, is_token=True) if name is None else _Label(name)


def _scores(trace: Trace) -> _Grid:
    """The tokens that matter: those that were produced, in that order, then others, the most probable first."""
    ids = [trace.vocabulary.index(token) for token in trace.tokens]
    produced = list(dict.fromkeys(ids))
    most = trace.probabilities.max(0)
    others = [i for i in np.argsort(-most, kind="stable").tolist() if most[i] >= MATTERS and i not in produced]
    shown = [*produced, *others[: max(0, ROWS - len(produced))]]
    rest = [i for i in range(len(most)) if i not in shown]
    rows = [([i], _label(trace.vocabulary[i])) for i in shown]
    if trace.probabilities[:, rest].sum(-1).max() >= VISIBLE:
        rows.append((rest, _Label("all others")))
    cells: list[str] = []
    for row, (members, label) in enumerate(rows):
        written = trace.written[:, members].sum(-1)
        copied = trace.probabilities[:, members].sum(-1) - written
        cells += _bars(row, label, copied=copied, written=written)
    cells += [f'<rect class="chosen" {_box(t, shown.index(i))}/>' for t, i in enumerate(ids)]
    return _Grid("Probability of the next token", [label for _, label in rows], cells)


def _shares(trace: Trace) -> _Grid:
    """Writing and copying as a whole, whatever tokens they give: what the network can do of them."""
    names = ["written", "own output", *(f"prototype {k + 1}" for k in range(len(trace.prototypes)))]
    streams = [(name, share) for name, share in zip(names, trace.shares.T, strict=True) if share.any()]
    cells: list[str] = []
    for row, (name, share) in enumerate(streams):
        written = share if name == names[0] else np.zeros_like(share)
        cells += _bars(row, _Label(name), copied=share - written, written=written)
    return _Grid("Where it comes from", [_Label(name) for name, _ in streams], cells)


def _bars(row: int, label: _Label, *, copied: np.ndarray, written: np.ndarray) -> Iterator[str]:
    """Draws a row's probabilities as bars: at the bottom what is copied, above it what is written."""
    room, floor = _CELL - 2, (row + 1) * _CELL - 1
    for t, (below, above) in enumerate(zip(copied.clip(0).tolist(), written.tolist(), strict=True)):
        if below + above < VISIBLE:
            continue
        figures = f"{below + above:.2f} ({above:.2f} written, {below:.2f} copied)"
        yield f"<g>{_tooltip(f'{_isolated(label.text)}, step {t + 1}: {figures}')}"
        for kind, start, size in (("copied", 0, below), ("written", below, above)):
            place = f'x="{t * _CELL + 3}" y="{floor - room * (start + size):.2f}" width="{_CELL - 6}"'
            yield f'<rect class="{kind}" {place} height="{room * size:.2f}"/>'
        yield "</g>"


def _attention(trace: Trace, k: int) -> _Grid:
    labels = [_label(token) for token in trace.prototypes[k]]
    cells = []
    for j, label in enumerate(labels):
        for t, weight in enumerate(trace.attention[k, :, j].tolist()):
            if weight >= VISIBLE:
                told = _tooltip(f"{_isolated(label.text)}, step {t + 1}: {weight:.2f}")
                cells.append(f'<rect class="heat" {_box(t, j)} fill-opacity="{weight:.3f}">{told}</rect>')
    return _Grid(f"Attention to prototype {k + 1}", labels, cells)


def _legend() -> Iterator[str]:
    x = 0
    for kind, name in (("copied", "copied"), ("written", "written"), ("chosen", "produced")):
        yield f'<rect class="{kind}" x="{x}" y="4" width="12" height="12"/>'
        yield f'<text x="{x + 17}" y="14">{name}</text>'
        x += 90
    yield f'<rect class="grid" x="{x}" y="4" width="70" height="12"/>'
    for step in range(5):
        yield f'<rect class="heat" x="{x + 14 * step}" y="4" width="14" height="12" fill-opacity="{step / 4:g}"/>'
    yield f'<text x="{x + 75}" y="14">attention, 0 to 1</text>'


def _sentence(tokens: Sequence[str]) -> str:
    return _isolated(" ".join("▷" if token == SEPARATOR else token for token in tokens if token != END))


def _box(column: int, row: int) -> str:
    """Returns the attributes of a rectangle that fills a cell."""
    return f'x="{column * _CELL + 1}" y="{row * _CELL + 1}" width="{_CELL - 2}" height="{_CELL - 2}"'


def _tooltip(text: str) -> str:
    """Returns an element that shows a text where the pointer rests on its parent."""
    return f"<title>{_plain(text)}</title>"


def _isolated(token: str) -> str:
    """Returns the token for use within a line, whose order it cannot change whichever direction it runs in."""
    return f"\u2068{token}\u2069"


def _plain(text: str) -> str:
    """Returns text as SVG can hold it: characters that mean something are escaped, those that no XML may hold show."""
    return escape(_NOT_XML.sub("\ufffd", text))
