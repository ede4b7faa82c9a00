"""Reads examples from files of any format and writes them; what is written reads back equal."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from recombine.data.code import kind_of
from recombine.data.formats import FORMATS as FORMATS
from recombine.data.formats import Format
from recombine.data.output import replacing
from recombine.data.text import STANDARD, Line, check_side, decode, join, read_lines, shown
from recombine.errors import RecombineError
from recombine.example import Example, Tokens
from recombine.inflection import Inflection

_Item = TypeVar("_Item")

MAX_EXAMPLES = 10_000_000
"""The most examples of a file that are held together; reading one by one has no such limit."""

_TOO_LONG = "The prototypes take up the room for tokens as long as these: shorten them, or write TSV."
_ANY_TOKENS = "JSONL keeps any tokens: give the file a name that ends in .jsonl."


def read(
    source: str | Path,
    *,
    format: str = "auto",
    tokens: str | None = None,
    columns: tuple[int, ...] | None = None,
    header: bool = False,
) -> list[Example]:
    """Returns all examples of a file, in its order.

    Args:
        source: A path, or ``-`` for standard input.
        format: One of ``FORMATS``, or ``"auto"``.
        tokens: What a token is in TSV and in JSONL strings: ``"words"``, ``"characters"`` or ``"code"`` (words,
            numbers and marks); default: see `tokens_of`. The tokens of SCAN are words and those of SIGMORPHON
            characters, always.
        columns: For TSV, the columns of input, output and perhaps features, from 1; None: the file has two columns.
        header: For TSV and SIGMORPHON, whether the first line names the columns and is skipped.

    Raises:
        RecombineError: If the file cannot be read, does not keep to its format or holds no example.
    """
    tokens = tokens or tokens_of(source, format=format, columns=columns, header=header)
    return _at_least_one(iterate(source, format=format, tokens=tokens, columns=columns, header=header), source)


def tokens_of(
    source: str | Path, *, format: str = "auto", columns: tuple[int, ...] | None = None, header: bool = False
) -> str:
    """Returns what a token of a file is if nobody says: ``"code"`` if all outputs are JSON, else ``"words"``.

    JSON means objects or lists. Of standard input and of pipes, which can be read only once, tokens are words.
    Arguments and errors are those of `read`.
    """
    lines, chosen = _opened(source, format, "words", columns, header=header)
    first = next(lines, None) if Path(source).is_file() else None
    if first is None or chosen.recognized(first.text).name == "scan":
        return "words"
    return kind_of(example.y for example in replace(chosen, tokens="code").parse(chain([first], lines)))


def iterate(
    source: str | Path,
    *,
    format: str = "auto",
    tokens: str = "words",
    columns: tuple[int, ...] | None = None,
    header: bool = False,
) -> Iterator[Example]:
    """Yields the examples of a file as its lines come, without waiting for its end; arguments as for ``read``.

    An argument that makes no sense is an error at once.
    """
    lines, chosen = _opened(source, format, tokens, columns, header=header)
    return chosen.parse(lines)


def read_inputs(
    source: str | Path,
    *,
    format: str = "auto",
    tokens: str = "words",
    columns: tuple[int, ...] | None = None,
    header: bool = False,
) -> list[Tokens]:
    """Returns the inputs of a file, which may hold examples or only an input in each line.

    The input of a word form is its form. An object of JSONL needs no ``y``. Arguments and errors as for ``read``.
    """
    lines, chosen = _opened(source, format, tokens, columns, header=header)
    return list(chosen.parse_inputs(_at_least_one(lines, source)))


def write(
    examples: Iterable[Example],
    target: str | Path,
    *,
    format: str = "auto",
    tokens: str = "words",
    force: bool = False,
) -> int:
    """Writes examples to a file, whole or not at all, and returns how many.

    Only JSONL keeps provenance. An example that would not read back equal (a word with a space in it, a character or
    tag of several code points in TSV of characters) is refused, never changed. TSV of code reads back as the same text.

    Args:
        examples: The examples; may be an iterator.
        target: A path, or ``-`` for standard output.
        format: One of ``FORMATS``; ``"auto"`` is JSONL for a name that ends in ``.jsonl`` and else TSV. SIGMORPHON
            expects examples in the generator's order.
        tokens: What a token is in TSV: ``"words"``, ``"characters"`` or ``"code"``.
        force: Whether an existing file may be replaced.
    """
    if format == "auto":
        format = "jsonl" if Path(target).suffix == ".jsonl" else "tsv"
    chosen = Format(format, tokens)
    file = "stdout" if str(target) == STANDARD else str(target)
    count = 0
    with replacing(target, force=force) as stream:
        for count, example in enumerate(examples, start=1):
            stream.write(_encode(example, chosen, place=Line("", file, count)))
    return count


def read_inflections(source: str | Path) -> list[Inflection]:
    """Returns all word forms of a SIGMORPHON file (lemma, form, tags), in its order; errors as for ``read``."""
    return [Inflection.from_fields(example.x, example.y) for example in read(source, format="sigmorphon")]


def detect(source: str | Path, *, header: bool = False) -> str:
    """Returns the format of a file, by its name and its first line, or the next one if that names the columns.

    The first line of standard input would be lost.
    """
    lines, chosen = _opened(source, "auto", "words", None, header=header)
    first = next(lines, None)
    return chosen.recognized(first.text if first else "").name


def _opened(
    source: str | Path, format: str, tokens: str, columns: tuple[int, ...] | None, *, header: bool
) -> tuple[Iterator[Line], Format]:
    """Returns the lines of a file and how they are to be read, once the settings are seen to make sense together."""
    if not isinstance(source, str | Path):
        raise RecombineError(f"{shown(repr(source))} is no path.", hint="Name a file, by a string or a Path.")
    if format == "auto" and Path(source).suffix == ".jsonl":
        format = "jsonl"
    elif format == "auto" and columns is not None:
        format = "tsv"  # the only format with columns to choose
    return islice(read_lines(source), 1 if header else 0, None), Format(format, tokens, columns, header)


def _encode(example: Example, format: Format, *, place: Line) -> bytes:
    """Returns the bytes of an example's line, once they have been seen to read back as the same example."""
    for name, side in (("input", example.x), ("output", example.y)):
        check_side(side, name, line=place)
    try:
        raw = format.render(example).encode("utf-8") + b"\n"
    except UnicodeEncodeError as error:
        raise place.error(f"the example cannot be written in UTF-8: {error.reason}.") from None
    except RecombineError as error:
        raise place.error(error.message, hint=error.hint) from None
    try:
        (back,) = format.parse([decode(raw, file=place.file, number=place.number)])
    except RecombineError as error:  # whose hint is for those who read a file
        hint = _TOO_LONG if format.name == "jsonl" else _ANY_TOKENS
        raise place.error(f"the example cannot be written as {format.name}: {error.message}", hint=hint) from None
    for side, again in ((example.x, back.x), (example.y, back.y)):
        # The same text of code is the same whatever tokens a network made it of; JSONL keeps these, too.
        is_same_code = format.tokens == "code" and join(side, "code") == join(again, "code")
        if side != again and not is_same_code:
            raise place.error(
                f"the tokens {shown(str(list(side)))} cannot be written as {format.name}: "
                f"they would read back as {shown(str(list(again)))}.",
                hint=_ANY_TOKENS,
            )
    if format.name == "jsonl" and back.provenance != example.provenance:
        raise place.error("the provenance of the example would read back changed.")
    return raw


def _at_least_one(items: Iterator[_Item], source: str | Path) -> list[_Item]:
    """Returns the items of a file, if there are some and they can be held together."""
    place = "stdin" if str(source) == STANDARD else str(source)
    found = list(islice(items, MAX_EXAMPLES + 1))
    if len(found) > MAX_EXAMPLES:
        raise RecombineError(
            f"the file has more than {MAX_EXAMPLES:,} examples.", place=place, hint="Take a part of it."
        )
    if not found:
        raise RecombineError("the file is empty; expected an example.", place=place, hint="Check what should fill it.")
    return found
