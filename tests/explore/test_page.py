"""The page in a real browser, as somebody uses it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from browser import Page
from serving import Served, served
from toy_task import QUICK_GENERATOR, TASK

from recombine.augmentation.recombination import Recombination
from recombine.data.files import read
from recombine.example import Example
from recombine.neighborhoods import LongShort

pytest.importorskip("fastapi", reason="NOT TESTED: the page needs FastAPI; pip install 'recombine[explore]'")

pytestmark = pytest.mark.slow

HOSTILE = "<img/src=x/onerror=alert(1)>"
SAMPLE = "[...document.querySelectorAll('#sample .text')].map((token) => token.textContent)"
ENDED = f"{SAMPLE}.at(-1) === 'end' && document.getElementById('status').textContent.includes('log-probability')"
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept") / "kept.jsonl"


@pytest.fixture(scope="module")
def server(model: Path, kept: Path) -> Iterator[Served]:
    with served(model, "-o", kept) as page:
        yield page


@pytest.fixture
def page(chromium: Page, server: Served) -> Iterator[Page]:
    chromium.look()
    load(chromium, server.url)
    yield chromium
    assert failures(chromium) == []


def failures(page: Page) -> list[str]:
    """What went wrong; a refusal that the page asked for and tells of is logged, too, but nothing went wrong then."""
    return [error for error in page.errors() if "400 (Bad Request)" not in error]


def load(page: Page, url: str) -> None:
    page.open(url)
    page.wait_for("document.body.dataset.ready === 'yes'")


def value(page: Page, selector: str) -> str:
    return page.evaluate(f"document.querySelector({selector!r}).value")


def text(page: Page, selector: str) -> str:
    return page.evaluate(f"document.querySelector({selector!r}).textContent")


def prepare(page: Page) -> None:
    for number, x, y in ((1, "run and walk twice", "RUN WALK RUN WALK"), (2, "jump", "JUMP")):
        page.type(f"fieldset:nth-of-type({number}) .x", x)
        page.type(f"fieldset:nth-of-type({number}) .y", y)
    page.evaluate("document.getElementById('strategy').value = 'greedy'")


def test_prototypes_are_there_to_begin_with_and_can_be_searched_and_picked(page: Page) -> None:
    assert value(page, "fieldset:nth-of-type(2) .x")
    page.type("fieldset:nth-of-type(2) .words", "JUMP")
    page.wait_for("document.querySelectorAll('fieldset:nth-of-type(2) option').length === 1")
    assert text(page, "fieldset:nth-of-type(2) .found") == "1 example"
    page.evaluate("document.querySelector('fieldset:nth-of-type(2) .examples').focus()")
    page.press("ArrowDown")
    assert value(page, "fieldset:nth-of-type(2) .x") == "jump"
    notes = "[...document.querySelectorAll('fieldset:nth-of-type(2) .note')].map((note) => note.textContent)"
    assert page.evaluate(notes) == ["2:1", "2:▷", "2:2", "2:end"]


def test_a_sample_appears_token_by_token_and_is_kept(page: Page, kept: Path) -> None:
    prepare(page)
    assert page.evaluate("document.getElementById('keep').disabled")
    page.click("#one")
    page.wait_for(f"{SAMPLE}.length === 1")
    assert text(page, "#alternatives-title") == "Step 1: what was probable"
    page.click("#go-on")
    page.wait_for(ENDED, seconds=20)
    tokens = page.evaluate(SAMPLE)
    spoken = page.evaluate("[...document.querySelectorAll('#spoken p')].map((line) => line.textContent.split(',')[0])")
    assert spoken == tokens
    page.click("#keep")
    page.wait_for("document.getElementById('kept').textContent === '1 sample in kept.jsonl'")
    (sample,) = read(kept)
    assert [*sample.x, "▷", *sample.y, "end"] == tokens
    notes = page.evaluate("[...document.querySelectorAll('#sample .note')].map((note) => note.textContent)")
    assert tuple(notes[: len(sample.x)] + notes[len(sample.x) + 1 : -1]) == sample.provenance.sources


def test_the_sample_goes_on_from_an_alternative_and_copied_tokens_are_marked(page: Page) -> None:
    prepare(page)
    page.click("#start")
    page.wait_for(ENDED, seconds=20)
    page.click("#sample button.from-1")
    note = page.evaluate("document.querySelector('#sample button.from-1 .note').textContent")
    assert page.evaluate("[...document.querySelectorAll('.is-source .note')].map((n) => n.textContent)") == [note]
    before = page.evaluate(SAMPLE)
    page.click("#sample li:nth-child(2) button")
    assert page.evaluate("document.querySelector('#sample [aria-pressed=true] .text').textContent") == before[1]
    assert text(page, "#choices [aria-current=true] .text") == before[1]
    other = page.evaluate("document.querySelector('#choices [aria-current=false] .text').textContent")
    page.click("#choices [aria-current=false]")
    page.wait_for(f"{SAMPLE}[1] === {other!r}")
    assert page.evaluate("document.activeElement.closest('#sample') !== null")
    page.evaluate("new Promise((done) => setTimeout(done, 300))")
    assert page.evaluate(SAMPLE)[0] == before[0]


def test_other_prototypes_end_the_sample(page: Page) -> None:
    prepare(page)
    page.click("#start")
    page.type("fieldset:nth-of-type(2) .x", "look")
    page.evaluate("new Promise((done) => setTimeout(done, 300))")  # answers that are still under way come
    assert page.evaluate(SAMPLE) == []
    assert page.evaluate("document.getElementById('alternatives').hidden")


def test_spaces_within_tokens_can_be_seen_and_typed_and_unknown_tokens_are_said_as_text(page: Page) -> None:
    page.type("fieldset:nth-of-type(1) .x", "run a␣b")
    tokens = "[...document.querySelectorAll('fieldset:nth-of-type(1) .text')].map((token) => token.textContent)"
    assert page.evaluate(tokens)[:3] == ["run", "a␣b", "▷"]
    page.click("#start")
    page.wait_for("document.getElementById('problem').textContent.includes(\"does not know 'a b'\")")
    page.type("fieldset:nth-of-type(1) .x", HOSTILE)
    page.click("#start")
    page.wait_for("document.getElementById('problem').textContent.includes('onerror')")
    assert HOSTILE in text(page, "#problem")
    assert "It knows: HOP" in text(page, "#problem")
    assert not page.evaluate("document.querySelector('img')")


def test_everything_works_by_keyboard(page: Page) -> None:
    prepare(page)
    page.evaluate("document.getElementById('seed').focus()")
    page.press("Enter")
    page.wait_for(ENDED, seconds=20)
    page.evaluate("document.querySelector('#sample button').focus()")
    page.press("Enter")
    assert text(page, "#alternatives-title").startswith("Step 1")
    reached = set()
    page.evaluate("document.activeElement.blur()")
    for _ in range(80):
        page.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className.split(' ')[0]"))
    fields = {"words", "examples", "x", "y", "draw", "strategy", "temperature", "seed"}
    assert reached >= {*fields, "start", "choice", "token"}


def test_every_field_has_a_name_and_the_page_fits_a_phone_and_is_dark_on_request(page: Page) -> None:
    nameless = "[...document.querySelectorAll('input, select')].filter((field) => !field.labels.length).length"
    assert page.evaluate(nameless) == 0
    colors = {}
    for width, scheme in ((320, "light"), (375, "dark"), (1000, "light")):
        page.look(width=width, prefers_color_scheme=scheme)
        assert page.evaluate(FITS)
        colors[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", colors["dark"])[:3])) < 64 < int(re.findall(r"\d+", colors["light"])[0])
    page.look()


def test_hostile_tokens_of_the_data_stay_text(chromium: Page, tmp_path: Path) -> None:
    def renamed(side: tuple[str, ...]) -> tuple[str, ...]:
        return tuple({"run": HOSTILE, "RUN": "<script>alert(2)</script>"}.get(token, token) for token in side)

    train = [Example(renamed(one.x), renamed(one.y)) for one in TASK.train]
    recipe = replace(QUICK_GENERATOR, max_steps=30)
    Recombination(LongShort(), recipe, device="cpu").fit(train).save(tmp_path / "model")
    with served(tmp_path / "model") as server:
        load(chromium, server.url)
        chromium.type("fieldset:nth-of-type(1) .words", "onerror")
        chromium.wait_for("document.querySelector('fieldset option')?.textContent.includes('onerror')")
        chromium.evaluate("document.querySelector('.examples').focus()")
        chromium.press("ArrowDown")
        chromium.click("#one")
        chromium.wait_for(f"{SAMPLE}.length === 1")
        assert HOSTILE in text(chromium, "fieldset .tokens")
        assert chromium.evaluate("document.querySelectorAll('img, script:not([src])').length") == 0
        assert text(chromium, "#kept") == "To keep samples, start recombine explore with -o FILE."
        assert failures(chromium) == []


def test_it_opens_with_a_recombination(page: Page) -> None:
    assert page.evaluate(f"{SAMPLE}.length") > 0  # it need not end by itself
