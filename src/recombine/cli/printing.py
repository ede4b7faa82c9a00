"""What commands say and where: data to standard output, talk to standard error, the next command last."""

import json
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

import typer

from recombine.cli.reading import STANDARD


def say(text: str) -> None:
    """Talks to the user, on standard error."""
    typer.echo(text, err=True)


def say_next(*words: str | None) -> None:
    """Names the command to run next, the last thing that a command says.

    Args:
        words: The words of the command after ``recombine``; None and standard input, which cannot be read again, show
            as a placeholder.
    """
    shown = " ".join("FILE" if word in (None, STANDARD) else shlex.quote(str(word)) for word in words)
    say(f"Next: recombine {shown}")


def counted(count: int, noun: str) -> str:
    """Returns how many there are of something, in the singular or the plural."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def print_json(document: Mapping[str, object]) -> None:
    """Prints one JSON document on standard output."""
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2))


def print_json_list(items: Sequence[Mapping[str, object]]) -> None:
    """Prints a JSON list of records on standard output."""
    typer.echo(json.dumps(list(items), ensure_ascii=False, indent=2))


def print_line(text: str = "") -> None:
    """Prints a line of the result on standard output."""
    typer.echo(text)


def print_table(
    rows: Iterable[Sequence[str]], *, header: Sequence[str] = (), justify: Literal["left", "right"] = "right"
) -> None:
    """Prints rows in columns on standard output.

    Args:
        rows: The cells.
        header: The names of the columns, if they need any.
        justify: To which side all columns but the first go; numbers belong to the right.
    """
    from rich.console import Console
    from rich.table import Table

    cells = [tuple(row) for row in rows]
    table = Table(box=None, show_header=bool(header), pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place in range(max(map(len, cells), default=len(header))):
        name = header[place] if header else ""
        table.add_column(name, justify="left" if place == 0 else justify, overflow="fold")
    for row in cells:
        table.add_row(*row)
    # Tags look like rich's markup, so that is off; a file or pipe has no width to fold at.
    width = None if sys.stdout.isatty() else 1_000
    Console(markup=False, highlight=False, emoji=False, width=width).print(table)


def print_markdown(rows: Iterable[Sequence[str]], *, header: Sequence[str]) -> None:
    """Prints a Markdown table on standard output; arguments as for ``print_table``."""
    for cells in (header, ["---"] * len(header), *rows):
        typer.echo(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")


@contextmanager
def working(on: str) -> Iterator[None]:
    """Shows on a terminal that work is under way; elsewhere says nothing."""
    from rich.console import Console

    with Console(stderr=True, markup=False).status(f"{on} …"):
        yield


def percent(share: float) -> str:
    """Returns a share for people: 0.978 is ``97.8 %``."""
    return f"{100 * share:.1f} %"
