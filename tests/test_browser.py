"""The helper that tests of pages stand on: a test that it cannot fail tests nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Page, PageError, browser

pytestmark = pytest.mark.slow

PAGE = """<!doctype html><title>A page</title>
<button onclick="this.textContent = 'clicked'">not clicked</button><input value="old">
<p style="margin-top: 3000px">low</p>
<script>
addEventListener('keydown', event => document.body.dataset.key = (event.shiftKey ? 'shift ' : '') + event.key);
document.querySelector('p').addEventListener('mouseenter', () => document.body.dataset.hovered = 'yes');
document.querySelector('p').addEventListener('pointerdown', event => document.body.dataset.pointer = event.pointerType);
</script>"""


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser() as opened:
        yield opened


@pytest.fixture(autouse=True)
def opened(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(PAGE)
    page.open(path.as_uri())


def test_what_a_person_does_reaches_the_page(page: Page) -> None:
    page.click("button")
    assert page.evaluate("document.querySelector('button').textContent") == "clicked"
    page.type("input", "new")
    assert page.evaluate("document.querySelector('input').value") == "new"
    page.type("input", "")
    assert page.evaluate("document.querySelector('input').value") == ""
    page.press("Tab", shift=True)
    assert page.evaluate("document.body.dataset.key") == "shift Tab"
    assert page.evaluate("document.activeElement.tagName") == "BUTTON"
    page.hover("p")
    assert page.evaluate("document.body.dataset.hovered") == "yes"
    page.tap("p")
    assert page.evaluate("document.body.dataset.pointer") == "touch"
    assert page.errors() == []


def test_what_goes_wrong_is_told(page: Page) -> None:
    page.evaluate("setTimeout(() => { throw Error('thrown later') })")
    page.evaluate("console.error('on the console')")
    page.evaluate("setTimeout(() => alert('hello'))")
    page.wait_for("true")
    assert all(any(words in error for error in page.errors()) for words in ("thrown later", "on the console", "hello"))
    with pytest.raises(PageError, match="no #nothing"):
        page.click("#nothing")
    with pytest.raises(PageError, match="thrown now"):
        page.evaluate("(() => { throw Error('thrown now') })()")
    with pytest.raises(PageError, match="not so after"):
        page.wait_for("false", seconds=0.1)


def test_windows_have_the_size_and_style_that_are_asked_for(page: Page, tmp_path: Path) -> None:
    page.look(width=360, prefers_color_scheme="dark", prefers_reduced_motion="reduce")
    assert page.evaluate("innerWidth") == 980  # a phone's, for a page that does not say it is made for phones
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert page.evaluate("matchMedia('(prefers-reduced-motion: reduce)').matches")
    page.look(width=700, media="print")
    assert page.evaluate("innerWidth") == 700
    assert page.evaluate("matchMedia('print').matches")
    assert not page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    page.look()
    page.pdf(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
