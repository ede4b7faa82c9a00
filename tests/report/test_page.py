"""The page as a file: what stands in it, before a browser draws it."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_run import HOSTILE, sample_run, write_run

from recombine.report.run import as_script_data, read_run, render


class Elements(HTMLParser):
    """Collects start tags with their attributes, and what scripts and styles hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inline: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            self.inline.append((self.cdata_elem, data))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return render(read_run(write_run(tmp_path_factory.mktemp("report") / "run", sample_run())))


def test_the_data_in_the_page_are_the_run_and_hostile_tokens_add_no_elements(page: str, tmp_path: Path) -> None:
    found = re.search(r'<script id="run" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found
    assert json.loads(found[1]) == sample_run()
    run = read_run(write_run(tmp_path / "run", sample_run()))
    assert render(run) == page
    assert run.title not in page.split('id="run"')[0]
    tame = json.loads(json.dumps(sample_run()).replace(json.dumps(HOSTILE)[1:-1], "tame"))
    other = render(read_run(write_run(tmp_path / "other", tame)))
    assert Elements(page).tags == Elements(other).tags


def test_the_policy_names_the_script_and_the_style_and_nothing_else(page: str) -> None:
    elements = Elements(page)
    (policy,) = [each["content"] for tag, each in elements.tags if tag == "meta" and "http-equiv" in each]
    inline = dict(elements.inline)  # of two scripts the last, which is the page's: the first are data
    for tag, text in inline.items():
        fingerprint = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{fingerprint}';" in (policy or "")
    assert len(inline) == 2
    assert (policy or "").startswith("default-src 'none';")
    assert "unsafe" not in (policy or "")


@given(st.text() | st.text(alphabet="</script>!-[] \u2028\ud800") | st.lists(st.text()))
def test_data_survive_and_cannot_leave_their_element(value: object) -> None:
    data = as_script_data(value)
    assert json.loads(data) == value
    assert not set("<>&") & set(data)
    assert data.isascii()
