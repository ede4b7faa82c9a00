"""The picture of how a sample was generated: output scores beside attention to the prototypes (appendix G.3)."""

from collections.abc import Iterator, Sequence

import numpy as np

from recombine.decoding.trace import END, Trace
from recombine.example import SEPARATOR, Tokens
from recombine.pictures.svg import CELL, MARGIN, TITLE, Grid, Label, box, isolated, panel, plain, tooltip

VISIBLE = 0.005
"""Less than this is not drawn."""

MATTERS = 0.02
"""A token that was not produced has a row of its own if it is so probable at some step."""

ROWS = 24
"""How many tokens have a row, unless more were produced; the others share one."""

BESIDE = 24
"""Longer samples have attention below the scores: beside them, print would be too small."""

_NAMES = {SEPARATOR: Label("▷"), END: Label("end")}
_LEGEND_WIDTH = 500

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
    left = MARGIN + max(label.width for grid in (*outputs, *inputs) for label in grid.rows)
    scores, attention = (panel(grids, columns, left=left) for grids in (outputs, inputs))
    x, y = (scores.width, 0.0) if len(columns) <= BESIDE else (0.0, scores.height)
    width = max(scores.width, x + attention.width, _LEGEND_WIDTH)
    height = max(scores.height, y + attention.height) + TITLE
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="generation" role="img" width="100%" '
            f'viewBox="0 0 {width:g} {height:g}" style="max-width: {width:g}px">',
            f"<title>How {plain(_sentence(trace.tokens))} was generated</title>",
            f"<desc>{plain(_description(trace))}</desc>",
            f"<style>{_STYLE}</style>",
            '<pattern id="written" width="4" height="4" patternUnits="userSpaceOnUse">',
            '<path d="M-1 1 1 -1M0 4 4 0M3 5 5 3" stroke="currentColor" stroke-width="1.1"/></pattern>',
            f'<rect class="paper" width="{width:g}" height="{height:g}"/>',
            *scores.elements,
            f'<g transform="translate({x:g} {y:g})">',
            *attention.elements,
            "</g>",
            f'<g transform="translate({MARGIN} {height - TITLE:g})">',
            *_legend(),
            "</g>",
            "</svg>\n",
        ]
    )


def _label(token: str) -> Label:
    return _NAMES.get(token, Label(token, is_token=True))


def _scores(trace: Trace) -> Grid:
    """The tokens that matter: those that were produced, in that order, then others, the most probable first."""
    ids = [trace.vocabulary.index(token) for token in trace.tokens]
    produced = list(dict.fromkeys(ids))
    most = trace.probabilities.max(0)
    others = [i for i in np.argsort(-most, kind="stable").tolist() if most[i] >= MATTERS and i not in produced]
    shown = [*produced, *others[: max(0, ROWS - len(produced))]]
    rest = [i for i in range(len(most)) if i not in shown]
    rows = [([i], _label(trace.vocabulary[i])) for i in shown]
    if trace.probabilities[:, rest].sum(-1).max() >= VISIBLE:
        rows.append((rest, Label("all others")))
    cells: list[str] = []
    for row, (members, label) in enumerate(rows):
        written = trace.written[:, members].sum(-1)
        copied = trace.probabilities[:, members].sum(-1) - written
        cells += _bars(row, label, copied=copied, written=written)
    cells += [f'<rect class="chosen" {box(t, shown.index(i))}/>' for t, i in enumerate(ids)]
    return Grid("Probability of the next token", [label for _, label in rows], cells)


def _shares(trace: Trace) -> Grid:
    """Writing and copying as a whole, whatever tokens they give: what the network can do of them."""
    names = ["written", "own output", *(f"prototype {k + 1}" for k in range(len(trace.prototypes)))]
    streams = [(name, share) for name, share in zip(names, trace.shares.T, strict=True) if share.any()]
    cells: list[str] = []
    for row, (name, share) in enumerate(streams):
        written = share if name == names[0] else np.zeros_like(share)
        cells += _bars(row, Label(name), copied=share - written, written=written)
    return Grid("Where it comes from", [Label(name) for name, _ in streams], cells)


def _bars(row: int, label: Label, *, copied: np.ndarray, written: np.ndarray) -> Iterator[str]:
    """Draws a row's probabilities as bars: at the bottom what is copied, above it what is written."""
    room, floor = CELL - 2, (row + 1) * CELL - 1
    for t, (below, above) in enumerate(zip(copied.clip(0).tolist(), written.tolist(), strict=True)):
        if below + above < VISIBLE:
            continue
        figures = f"{below + above:.2f} ({above:.2f} written, {below:.2f} copied)"
        yield f"<g>{tooltip(f'{isolated(label.text)}, step {t + 1}: {figures}')}"
        for kind, start, size in (("copied", 0, below), ("written", below, above)):
            place = f'x="{t * CELL + 3}" y="{floor - room * (start + size):.2f}" width="{CELL - 6}"'
            yield f'<rect class="{kind}" {place} height="{room * size:.2f}"/>'
        yield "</g>"


def _attention(trace: Trace, k: int) -> Grid:
    labels = [_label(token) for token in trace.prototypes[k]]
    cells = []
    for j, label in enumerate(labels):
        for t, weight in enumerate(trace.attention[k, :, j].tolist()):
            if weight >= VISIBLE:
                told = tooltip(f"{isolated(label.text)}, step {t + 1}: {weight:.2f}")
                cells.append(f'<rect class="heat" {box(t, j)} fill-opacity="{weight:.3f}">{told}</rect>')
    return Grid(f"Attention to prototype {k + 1}", labels, cells)


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


def _description(trace: Trace) -> str:
    made = "; ".join(f"prototype {k}: {_sentence(d)}" for k, d in enumerate(trace.prototypes, start=1))
    return f"{_sentence(trace.tokens)}, generated from {made or 'no prototypes'}."


def _sentence(tokens: Sequence[str]) -> str:
    without_end: Tokens = tuple(token for token in tokens if token != END)
    return isolated(" ".join("▷" if token == SEPARATOR else token for token in without_end))
