"""The helper that tests of pages stand on: a test that it cannot fail tests nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Page, PageError, browser

pytestmark = pytest.mark.slow


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    path = tmp_path / "page.html"
    path.write_text("<!doctype html><title>A page</title>")
    with browser() as opened:
        opened.open(path.as_uri())
        yield opened


def test_what_goes_wrong_on_a_page_is_told(page: Page) -> None:
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
