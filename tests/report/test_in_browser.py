"""The page as people meet it: in a browser, by pointer, finger and keys."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Page
from sample_run import HOSTILE, METHODS, sample_run, write_run

from recombine.evaluation.significance import summarize
from recombine.report.run import read_run, render

pytestmark = pytest.mark.slow


def opened(chromium: Page, folder: Path, run: dict[str, Any]) -> Page:
    path = folder / "report.html"
    path.write_text(render(read_run(write_run(folder / "run", run))), encoding="utf-8")
    chromium.open(path.as_uri())
    return chromium


@pytest.fixture
def page(chromium: Page, tmp_path: Path) -> Iterator[Page]:
    """The sample run's page, which must have gone without errors when the test is over."""
    chromium.look()
    yield opened(chromium, tmp_path, sample_run())
    assert chromium.errors() == []


def texts(page: Page, selector: str) -> list[str]:
    found = page.evaluate(f"[...document.querySelectorAll(`{selector}`)].map(each => each.textContent)")
    return list(found)


def samples(page: Page) -> list[str]:
    return texts(page, ".sample [role=listbox] .tokens:nth-of-type(2)")


def token(sample: int, position: int) -> str:
    return f'[data-number="{sample}"] [data-position="{position}"]'


def test_the_answer_comes_first(page: Page) -> None:
    run = sample_run()
    assert page.evaluate("document.title") == "commands.tsv: Does augmentation help?"
    assert texts(page, "h1") == [run["title"]]
    assert texts(page, "#verdict") == [run["verdict"]]
    assert texts(page, "#comparison-table tbody .method") == list(METHODS)
    assert texts(page, "#comparison-table tr:nth-child(4) .mean") == ["0.820", "0.600", "0.960"]
    for number, row in enumerate(run["comparison"], start=1):  # as the command line prints it
        spreads = [f" ± {summarize(row['scores'][part]).deviation:.3f}" for part in ("all", "rare", "other")]
        assert texts(page, f"#comparison-table tr:nth-child({number}) .spread") == spreads
    assert texts(page, "#comparison-table tr:nth-child(4) .better") == ["▲ p = 0.040", "▲ p < 0.001"]
    assert texts(page, "#comparison-table tr:nth-child(4) .same") == ["p = 0.620"]
    assert texts(page, "#comparison-table .best .mean") == ["0.853", "0.800"]
    assert "geca makes half of the samples, as far as it goes" in texts(page, "#comparison-table caption")[0]


def test_a_token_shows_its_source_by_pointer_finger_and_focus(page: Page) -> None:
    reach = {
        "pointer": lambda: page.hover(token(0, 5)),
        "finger": lambda: page.tap(token(0, 5)),
        "focus": lambda: page.evaluate(f"document.querySelector('{token(0, 5)}').focus()"),
    }
    for way, reaching in reach.items():
        page.hover("h1")
        page.evaluate("document.activeElement.blur()")
        assert texts(page, ".source") == [], way
        reaching()
        assert texts(page, ".source") == ["I_JUMP"], way
        assert page.evaluate("document.querySelector('.source').closest('[data-prototype]').dataset.prototype") == "1"
        told = "“\u2068I_JUMP\u2069” was copied from prototype 2: “\u2068I_JUMP\u2069”, token 2."
        assert texts(page, '[data-number="0"] .facts .readout') == [told], way
    page.hover(token(1, 3))
    assert page.evaluate(f"document.querySelector('{token(1, 2)}').classList.contains('source')")
    page.hover(token(0, 3))
    assert texts(page, ".source") == []
    assert "written" in texts(page, '[data-number="0"] .facts .readout')[0]


def test_every_token_is_marked_by_its_source_without_colour_too(page: Page) -> None:
    marks = page.evaluate(
        "[0, 1].map(n => [...document.querySelectorAll(`[data-number='${n}'] [role=option]`)].map(each =>"
        " getComputedStyle(each, '::after').content + ' ' + getComputedStyle(each).borderBottomStyle))"
    )
    one, two, own, written = '"¹" solid', '"²" double', '"⁼" dotted', "none dashed"
    assert marks == [[two, one, one, written, one, two, one], [one, two, one, own]]
    assert page.evaluate(f"document.querySelector('{token(1, 3)}').ariaLabel") == "I_RUN, copied from the own output"


def test_words_have_the_number_of_what_they_call_for(page: Page) -> None:
    marks = page.evaluate(
        "[...document.querySelectorAll('#alignment-list li:first-child .token')].map(each => each.dataset.mark ?? '')"
    )
    assert marks == ["¹", "²", "", "³", "²", "¹", "³"]


def test_samples_are_searched_and_filtered(page: Page) -> None:
    assert texts(page, "#samples-count") == ["65 of 65 samples on this page"]
    assert texts(page, "#samples-part") == [
        "Each method's first samples, of its first seed alone: 62 of 400 by recombine, 1 by <b>geca</b>, "
        "1 of 400 by geca, 1 of 400 by oversampling. A network's most probable come first."
    ]
    left, jump, run = "jump left and look", "jump", "run twice"
    for words, method, source, found in (
        ("JUMP LEFT", "", "", [left]),
        ("I_JUMP", "", "", [left, jump]),
        ("I_JUMP", "oversampling", "", [jump]),
        ("", "", "own", [run]),
        ("", "", "2", [left, run]),
        ("nowhere", "", "", []),
    ):
        page.type("#filter-text", words)
        page.evaluate(choose("#filter-method", method))
        page.evaluate(choose("#filter-source", source))
        assert samples(page) == found
    assert texts(page, "#samples-count") == ["0 of 65 samples on this page"]
    page.type("#filter-text", "כתב")  # words of characters are found as words
    assert texts(page, "#samples-count") == ["1 of 65 samples on this page"]
    page.type("#filter-text", "")
    page.click("#filter-attention")
    assert samples(page) == [left]


def choose(selector: str, value: str) -> str:
    return (
        f"(() => {{ const list = document.querySelector('{selector}'); list.value = '{value}';"
        " list.dispatchEvent(new Event('input', { bubbles: true })); })()"
    )


def test_long_lists_come_in_parts_and_counts_are_told(page: Page) -> None:
    assert len(samples(page)) == 25
    page.click("#samples-more")
    assert len(samples(page)) == 50
    assert page.evaluate("document.activeElement.closest('.sample').dataset.number") == "25"
    page.click("#samples-more")
    assert len(samples(page)) == 65
    assert page.evaluate("document.querySelector('#samples-more').hidden")
    assert len(texts(page, "#rarity-table tbody tr")) == 30
    page.click("#rarity-table button")
    assert len(texts(page, "#rarity-table tbody tr")) == 42
    assert texts(page, "#rarity-table tbody tr:first-child > :not(:last-child)") == ["jump", "1", "180"]
    first = texts(page, "#rejected-table tbody tr:first-child > :not(:last-child)")
    assert first == ["in the training data", "120", "60.0 %"]
    page.click("#turned-down details:nth-child(2) summary")
    assert texts(page, "#turned-down details[open] li") == [f"look {HOSTILE} ▷ I_LOOK"]


def test_the_heat_map_opens_closes_and_is_read_off(page: Page) -> None:
    assert texts(page, ".attention") == ["Attention"]
    page.click(".attention")
    cells = page.evaluate("[...document.querySelectorAll('.heat')].map(each => each.getAttribute('fill-opacity'))")
    assert len(cells) == 9 * 9 + 9 * 4
    assert (cells[0], cells[1], cells[81]) == ("0.750", "0.031", "0.500")
    page.hover(".heat-map g:nth-of-type(2) .heat:nth-child(27)")  # column 6, row 2
    read = "While producing “\u2068I_JUMP\u2069”: 0.12 on “\u2068I_JUMP\u2069” of prototype 2."
    assert texts(page, ".attention-place .readout") == [read.replace("0.12", "0.13")]
    page.evaluate("document.querySelector('.scroll').focus()")
    page.press("ArrowLeft")
    page.press("ArrowLeft")
    page.press("ArrowUp")
    assert "“\u2068▷\u2069”: 0.13 on “\u2068▷\u2069” of prototype 2" in texts(page, ".attention-place .readout")[0]
    assert page.evaluate("document.querySelector('.attention').getAttribute('aria-expanded')") == "true"
    page.click(".attention")
    assert texts(page, ".heat-map") == []
    assert page.evaluate("document.querySelector('.attention').getAttribute('aria-expanded')") == "false"


def test_keys_reach_everything_and_the_list_is_one_stop(page: Page) -> None:
    page.evaluate("document.querySelector('#filter-attention').focus()")
    page.press("Tab")
    assert page.evaluate('document.activeElement.matches(\'[data-number="0"] [data-position="0"]\')')
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    keys = ("ArrowRight", "End", "ArrowDown", "Home", "ArrowLeft", "ArrowUp", "ArrowUp")
    places = ((0, 1), (0, 6), (1, 3), (1, 0), (1, 0), (0, 0), (0, 0))
    for key, place in zip(keys, places, strict=True):
        page.press(key)
        assert page.evaluate(f"document.activeElement.matches('{token(*place)}')"), key
    page.press("ArrowRight")
    page.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Attention"
    page.press("Enter")
    assert len(texts(page, ".heat-map")) == 1
    page.press("Tab", shift=True)
    assert page.evaluate(f"document.activeElement.matches('{token(0, 1)}')")
    assert texts(page, ".source") == ["left"]


def test_curves_have_a_band_for_each_method_and_are_read_off(page: Page) -> None:
    assert texts(page, "#curves-legend span") == list(METHODS)
    assert len(texts(page, "#curves-charts .band")) == len(texts(page, "#curves-charts .line")) == 10
    dashes = "[...document.querySelectorAll('#curves-legend .line')].map(each => each.getAttribute('stroke-dasharray'))"
    assert len(set(page.evaluate(dashes))) == len(METHODS)
    page.evaluate("document.querySelector('figure svg').focus()")
    page.press("Home")
    assert texts(page, "figure .readout")[0].startswith("Step 0: plain 2.5 ± 0.408, oversampling 2.5 ± 0.408")
    page.press("ArrowRight")
    assert texts(page, "figure .readout")[0].startswith("Step 100: plain 1.11 ± 0.181")
    page.tap("figure svg .grid")
    assert texts(page, "figure .readout")[0].startswith("Step 500: ")


def test_hostile_content_stays_text(chromium: Page, tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    run = sample_run()
    run.update(title=hostile, verdict=hostile, command=hostile, provenance={hostile: hostile, "__proto__": hostile})
    run["rejected"] = {hostile: 3}
    run["comparison"][1]["method"] = run["curves"][1]["method"] = hostile
    run["data"]["phenomena"] = [hostile]
    run["attention"][0]["tokens"][0] = run["attention"][0]["prototypes"][0][0] = hostile
    page = opened(chromium, tmp_path, run)
    assert texts(page, "h1") == [hostile]
    assert page.evaluate("document.title").startswith(hostile)
    assert texts(page, token(2, 0)) == [hostile]
    assert texts(page, token(2, 1)) == [HOSTILE]
    page.click(".attention")
    page.hover(token(2, 1))
    assert texts(page, ".source") == [HOSTILE]
    assert page.evaluate(
        "[document.scripts.length, document.images.length, document.querySelectorAll('b').length]"
    ) == [2, 0, 0]
    assert page.errors() == []


def test_nothing_is_wider_than_the_window(page: Page) -> None:
    page.click(".attention")
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    for width in (320, 360, 1000):
        page.look(width=width, height=740)
        assert page.evaluate("innerWidth") == width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_dark_and_still_where_people_want_it_and_all_text_has_the_contrast_that_reading_needs(
    page: Page, scheme: str
) -> None:
    page.look(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
    brightness = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).reduce((sum, part) => sum + +part, 0)"
    assert page.evaluate(brightness) < 100 if scheme == "dark" else page.evaluate(brightness) > 700
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    assert page.evaluate("getComputedStyle(document.querySelector('.token')).transitionDuration") == "0s"
    page.evaluate(f"document.querySelector('{token(0, 5)}').focus()")
    elements, least = page.evaluate(CONTRAST)
    assert elements > 300
    assert least >= 4.5  # of the Web Content Accessibility Guidelines, level AA


CONTRAST = """
(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => channels(colour).slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const behind = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    return channels(colour)[3] === 0 ? behind(element.parentElement) : colour;
  };
  const ratio = (element) => {
    const [low, high] = [light(getComputedStyle(element).color), light(behind(element))].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const worded = [...document.querySelectorAll("body *")].filter((element) => element.getClientRects().length &&
    element instanceof HTMLElement && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  return [worded.length, Math.min(...worded.map(ratio))];
})()
"""


def test_paper_gets_no_controls_and_all_samples_that_the_filter_lets_through(page: Page, tmp_path: Path) -> None:
    assert len(samples(page)) == 25
    page.pdf(tmp_path / "report.pdf")
    assert len(samples(page)) == 65
    page.type("#filter-text", "word1")  # word1 and word10 to word19
    page.pdf(tmp_path / "report.pdf")
    assert len(samples(page)) == 11
    page.look(media="print")
    controls = "[...document.querySelectorAll('nav, form, button')].every(each => !each.getClientRects().length)"
    assert page.evaluate(controls)
    assert page.evaluate("document.querySelector('.sample').getClientRects().length") == 1


def test_an_empty_run_has_a_page_too(chromium: Page, tmp_path: Path) -> None:
    run = sample_run()
    for name in ("comparison", "curves", "samples", "attention", "turned_down", "rarity", "alignment"):
        run[name] = []
    run["rejected"] = {}
    page = opened(chromium, tmp_path, run)
    assert texts(page, "#samples-count") == ["0 of 0 samples on this page"]
    assert texts(page, "#rejected-table") == ["No sample was rejected."]
    assert page.evaluate("document.getElementById('alignment').hidden")
    assert page.errors() == []
