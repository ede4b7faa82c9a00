"""Checks the documentation site without building it: every page is in the navigation, every link leads somewhere.

``make docs`` builds the site and checks links once more.
"""

import pkgutil
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

import recombine

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
REFERENCE = DOCS / "reference"
DOCUMENTED = re.compile(r"^::: (\S+)$", flags=re.MULTILINE)
LINK = re.compile(r"\]\(([^()\s]+)\)")


@cache
def prose(page: Path) -> str:
    """Returns a page without code, in which nothing is a link or a heading."""
    return re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


@cache
def anchors(page: Path) -> frozenset[str]:
    """Returns what links to a page may name: its headings, and the names that it documents."""
    found = set(DOCUMENTED.findall(page.read_text("utf-8")))
    for line in re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL).splitlines():
        if heading := re.fullmatch(r"#+ (.*)", line):
            plain = re.sub(r"[^\w\s-]", "", heading[1]).strip().lower()
            found.add(re.sub(r"[-\s]+", "-", plain))
    return frozenset(found)


def broken(page: Path) -> list[str]:
    """Returns the links of a page that lead nowhere in the repository."""
    found = []
    for link in LINK.findall(prose(page)):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


def named_in_navigation() -> list[str]:
    nav = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2].partition("\n\n")[0]
    return re.findall(r"[:-] (\S+\.md)$", nav, flags=re.MULTILINE)


def test_the_navigation_lists_every_page_once() -> None:
    assert sorted(named_in_navigation()) == sorted(page.relative_to(DOCS).as_posix() for page in PAGES)


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_pages_of_the_site_link_only_to_what_is_in_it_and_name_records_that_exist() -> None:
    for page in PAGES:
        for link in LINK.findall(prose(page)):
            if not link.startswith(("https://", "http://", "#")):
                assert (page.parent / link.partition("#")[0]).resolve().is_relative_to(DOCS), f"{page.name}: {link}"
        for name in re.findall(r"`(results/[\w./-]+)`", page.read_text("utf-8")):
            assert (ROOT / name).exists(), f"{page.name}: {name}"


def test_links_that_lead_nowhere_are_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One: a `b` c\n\n[1](page.md) [2](none.md) [3](#one-a-c) [4](#one-a-b-c) [5](page.md#x) `[6](none.md)`\n",
        "utf-8",
    )
    assert broken(page) == ["none.md", "#one-a-c", "page.md#x"]


def test_every_name_of_the_reference_exists() -> None:
    for page in sorted(REFERENCE.glob("*.md")):
        names = DOCUMENTED.findall(page.read_text("utf-8"))
        assert names
        for name in names:
            pkgutil.resolve_name(name)


def test_the_reference_has_every_public_name_and_no_name_twice() -> None:
    names = [name for page in sorted(REFERENCE.glob("*.md")) for name in DOCUMENTED.findall(page.read_text("utf-8"))]
    assert {f"recombine.{name}" for name in recombine.__all__} <= {*names}
    assert len(names) == len({*names})


def test_only_the_package_goes_into_the_wheel() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert settings["tool"]["hatch"]["build"]["targets"]["wheel"] == {"packages": ["src/recombine"]}
