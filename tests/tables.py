"""Writes the tables of figures in the README and the docs anew, from the records: ``make tables``.

A table after a comment ``<!-- printed by COMMAND -->`` is the first one that this command prints. The README's table of
results keeps its rows and columns; each of its cells is filled in.
"""

import json
import re
from contextlib import chdir, redirect_stdout, suppress
from io import StringIO
from pathlib import Path

from recombine.cli import main

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "results.md")
PRINTED = re.compile(r"(?P<head><!-- printed by recombine (?P<words>.*) -->\n\n)(?:\|.*\n)+")
FILLED = re.compile(r"(?P<head>## Results\n(?:(?!\||#).*\n)*)(?P<table>(?:\|.*\n)+)")
COLUMNS = {
    "jump": "jump",
    "around-right": "around-right",
    **{language.title(): f"{language}-8 FUT+PST f1" for language in ("spanish", "swahili", "turkish")},
}
"""The columns of the README's table, and what the records call them."""


def printed(*words: str) -> str:
    """Returns what a command prints; nothing if it fails."""
    with redirect_stdout(StringIO()) as out, chdir(ROOT), suppress(SystemExit):
        main(list(words))
    return out.getvalue()


def renewed(text: str) -> str:
    """Returns a page with the tables that its records have now."""
    text = PRINTED.sub(lambda found: found["head"] + _first_table(printed(*found["words"].split())), text)
    return FILLED.sub(lambda found: found["head"] + _filled(found["table"]), text)


def _first_table(text: str) -> str:
    found = re.search(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    assert found is not None
    return found[0]


def _filled(table: str) -> str:
    """Returns the README's table with our mean in each cell and, in brackets, the paper's."""
    tables = (["table1"], ["table2", "--hints", "8"])
    cells = [cell for name in tables for cell in json.loads(printed("paper", *name, "--show", "--json"))]
    by_place = {(cell["row"], cell["column"]): cell for cell in cells}
    header, rule, *rows = table.splitlines()
    names = [name.strip() for name in header.strip("|").split("|")][1:]
    lines = [header, rule]
    for name in (row.split("|")[1].strip() for row in rows):
        found = [by_place.get((name.removesuffix(" (ours)"), COLUMNS[column])) for column in names]
        lines.append(f"| {' | '.join([name, *map(_cell, found)])} |".replace("  ", " "))
    return "\n".join(lines) + "\n"


def _cell(cell: dict[str, float | str | bool | None] | None) -> str:
    if cell is None:
        return ""
    ours, paper = (f"{cell[of]:.2f}" if cell[of] is not None else "-" for of in ("mean", "paper"))
    return f"{ours} ({paper})" if cell["published"] else ours


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(renewed(page.read_text("utf-8")), "utf-8")
