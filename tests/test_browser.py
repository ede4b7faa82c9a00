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


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    path = tmp_path / "page.html"
    path.write_text(PAGE)
    with browser() as opened:
        opened.open(path.as_uri())
        yield opened


def test_what_a_person_does_reaches_the_page_and_what_goes_wrong_is_told(page: Page) -> None:
    page.click("button")
    assert page.evaluate("document.querySelector('button').textContent") == "clicked"
    for text in ("new", ""):
        page.type("input", text)
        assert page.evaluate("document.querySelector('input').value") == text
    page.press("Tab", shift=True)
    assert page.evaluate("document.body.dataset.key") == "shift Tab"
    assert page.evaluate("document.activeElement.tagName") == "BUTTON"
    page.hover("p")
    page.tap("p")
    assert page.evaluate("[document.body.dataset.hovered, document.body.dataset.pointer]") == ["yes", "touch"]
    page.look(width=700, prefers_color_scheme="dark", prefers_reduced_motion="reduce")
    for feature in ("prefers-color-scheme: dark", "prefers-reduced-motion: reduce", "width: 700px"):
        assert page.evaluate(f"matchMedia('({feature})').matches")
    page.look(media="print")
    assert page.evaluate("matchMedia('print').matches && !matchMedia('(prefers-color-scheme: dark)').matches")
    assert page.errors() == []
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
