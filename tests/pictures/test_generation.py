import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element, fromstring

import networks
import numpy as np
import pytest
from networks import NAMED, VARIANTS, D, network

from recombine.decoding.trace import Trace
from recombine.example import Tokens
from recombine.pictures.generation import BESIDE, MATTERS, ROWS, VISIBLE, picture

SVG = "{http://www.w3.org/2000/svg}"


def traced(name: str, d: Tokens = D) -> Trace:
    return networks.traced(network(NAMED.get(name) or VARIANTS[name]), d)


def of_class(svg: Element, kind: str) -> list[Element]:
    return [element for element in svg.iter() if kind in element.get("class", "").split()]


def told(svg: Element) -> list[str]:
    """What the tooltips say."""
    return [title.text or "" for parent in svg.iter() for title in parent.findall(f"{SVG}title")]


def words(svg: Element) -> list[str]:
    return [element.text or "" for element in svg.iter(f"{SVG}text")]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_kind_of_network_has_a_picture(name: str) -> None:
    found = traced(name)
    svg = fromstring(picture(found))
    assert picture(traced(name)) == picture(found)
    assert svg.tag == f"{SVG}svg"
    heat = [rect for rect in of_class(svg, "heat") if rect.findall(f"{SVG}title")]
    assert len(heat) == (found.attention >= VISIBLE).sum()
    assert len(of_class(svg, "chosen")) == len(found.tokens) + 1  # one of them in the legend
    titles = [f"Attention to prototype {k + 1}" for k in range(len(found.prototypes))]
    assert [text for text in words(svg) if text.startswith("Attention")] == titles
    assert ("own output" in words(svg)) == bool(found.shares[:, 1].any())


@pytest.mark.parametrize("name", ["scan", "morphology", "scan-no-copying"])
def test_tooltips_tell_the_figures_and_the_bars_of_a_step_fill_two_cells(name: str) -> None:
    found = traced(name)
    svg = fromstring(picture(found))
    row = "⁨B⁩, step 2: "
    b = found.vocabulary.index("B")
    p, written = found.probabilities[1, b], found.written[1, b]
    assert f"{row}{p:.2f} ({written:.2f} written, {max(0, p - written):.2f} copied)" in told(svg)
    assert f"{row}{found.attention[1, 1, 0]:.2f}" in told(svg)
    by_column: dict[str, float] = {}
    for group in svg.iter(f"{SVG}g"):
        for bar in group.findall(f"{SVG}rect") if group.find(f"{SVG}title") is not None else []:
            place = bar.attrib["x"]
            by_column[place] = by_column.get(place, 0) + float(bar.attrib["height"])
    # Each step's probabilities add up to one among the tokens, and once more among the streams.
    assert list(by_column.values()) == pytest.approx([2 * 16] * len(found.tokens), abs=2 * 16 * 5 * VISIBLE)


def corners(element: Element, x: float = 0, y: float = 0) -> Iterator[tuple[float, float]]:
    """The corners of all rectangles, and the starts of all texts, wherever they are moved to."""
    if moved := re.search(r"translate\(([\d.]+) ([\d.]+)\)", element.get("transform", "")):
        x, y = x + float(moved[1]), y + float(moved[2])
    if element.tag in (f"{SVG}rect", f"{SVG}text"):
        left, top = x + float(element.get("x", 0)), y + float(element.get("y", 0))
        yield left, top
        yield left + float(element.get("width", 0)), top + float(element.get("height", 0))
    for child in element:
        yield from corners(child, x, y)


@pytest.mark.parametrize("name", ["scan", "scan-0", "morphology"])
def test_what_is_drawn_lies_within_the_picture_with_attention_below_long_samples(name: str) -> None:
    sizes = {}
    for length in (5, BESIDE, BESIDE + 1, 60):
        svg = fromstring(picture(traced(name, D[:3] + ("A",) * (length - 4))))
        sizes[length] = width, height = tuple(map(float, svg.attrib["viewBox"].split()))[2:]
        assert all(0 <= x <= width and 0 <= y <= height for x, y in corners(svg))
    if name == "scan":
        assert sizes[BESIDE][0] > 1.5 * sizes[BESIDE + 1][0]
        assert sizes[BESIDE + 1][1] > 1.5 * sizes[BESIDE][1]


MARKUP = ("<script>alert(1)</script>", "&", '"', "]]>", "<b" * 40)
HOSTILE = (*MARKUP, "a\u202eb", "שלום", "\x00\x1b", "\ufffe", " ", "日本語")


def invented(tokens: Tokens, names: Tokens) -> Trace:
    """A trace of uniform probabilities, half of them written."""
    steps, size = len(tokens), len(names)
    return Trace(
        tokens=tokens,
        prototypes=(names,),
        vocabulary=names,
        attention=np.full((1, steps, size), 1 / size),
        probabilities=np.full((steps, size), 1 / size),
        written=np.full((steps, size), 0.5 / size),
        shares=np.array([[0.5, 0, 0.5]] * steps),
    )


def test_hostile_tokens_stay_text() -> None:
    text = picture(invented(HOSTILE, HOSTILE))
    assert "<script" not in text
    svg = fromstring(text)
    harmless = {"svg", "title", "desc", "style", "pattern", "path", "rect", "g", "text"}
    assert {element.tag.removeprefix(SVG) for element in svg.iter()} == harmless
    assert not [name for element in svg.iter() for name in element.attrib if name.startswith("on") or "href" in name]
    for token in ("&", '"', "]]>", "שלום", "日本語", "␣", "\ufffd\ufffd"):
        assert words(svg).count(token) == 4  # a row of each grid, a column of each panel
    assert any(tip == "<b" * 40 for tip in told(svg))
    assert any("\u2068a\u202eb\u2069, step 1: " in tip for tip in told(svg))


def test_only_rows_that_matter_are_drawn_and_the_others_are_one() -> None:
    names = tuple(f"w{i}" for i in range(100))
    found = invented(("w5", "w3", "w5"), names)
    rows = words(fromstring(picture(found)))
    assert rows[1:4] == ["w5", "w3", "all others"]
    rare = found.probabilities.copy()
    rare[1, 50:90] = MATTERS + np.arange(40) / 1e4
    rows = words(fromstring(picture(replace(found, probabilities=rare))))
    assert rows[1 : ROWS + 2] == ["w5", "w3", *(f"w{i}" for i in range(89, 89 - ROWS + 2, -1)), "all others"]
