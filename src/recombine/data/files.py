"""Examples from files and to files, whatever the format; what is written reads back equal."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from recombine.data import jsonl, scan_format, sigmorphon_format, tsv
from recombine.data.limits import not_too_many
from recombine.data.output import replacing
from recombine.data.text import STANDARD, Line, decode, read_lines, shown
from recombine.data.tokenization import check_kind, check_side, split
from recombine.errors import RecombineError, unknown
from recombine.example import Example, Tokens
from recombine.inflection import Inflection

_Item = TypeVar("_Item")

FORMATS = ("tsv", "jsonl", "scan", "sigmorphon")
"""The formats; ``"auto"`` stands for the one that ``detect`` finds."""

_TOO_LONG = "Beside its prototypes there is no room for tokens so long: shorten them, or write TSV."
_ANY_TOKENS = "JSONL keeps any tokens: give the file a name that ends in .jsonl."


def read(
    source: str | Path,
    *,
    format: str = "auto",
    tokens: str = "words",
    columns: tuple[int, ...] | None = None,
    header: bool = False,
) -> list[Example]:
    """Returns all examples of a file, in its order.

    Args:
        source: A path, or ``-`` for standard input.
        format: One of ``FORMATS``, or ``"auto"``.
        tokens: What a token is in TSV and in JSONL strings: ``"words"`` or ``"characters"``. The tokens of SCAN are
            words and those of SIGMORPHON characters, always.
        columns: For TSV, the columns of input, output and perhaps features, from 1; None: there are only two.
        header: For TSV and SIGMORPHON, whether the first line names the columns and is no example.

    Raises:
        RecombineError: If the file cannot be read, does not keep to its format or holds no example.
    """
    return _at_least_one(iterate(source, format=format, tokens=tokens, columns=columns, header=header), source)


def iterate(
    source: str | Path,
    *,
    format: str = "auto",
    tokens: str = "words",
    columns: tuple[int, ...] | None = None,
    header: bool = False,
) -> Iterator[Example]:
    """Yields the examples of a file as its lines come, without waiting for its end; arguments as for ``read``.

    Raises:
        RecombineError: At once for an argument that makes no sense; later for what is wrong with the file.
    """
    _check_path(source)
    lines = islice(read_lines(source), 1 if header else 0, None)
    if format != "auto":
        return _codec(format, tokens=tokens, columns=columns, header=header).parse(lines)
    check_kind(tokens)
    tsv.check_columns(columns)
    return _iterate_detected(source, lines, tokens=tokens, columns=columns, header=header)


def read_inputs(
    source: str | Path,
    *,
    format: str = "auto",
    tokens: str = "words",
    columns: tuple[int, ...] | None = None,
    header: bool = False,
) -> list[Tokens]:
    """Returns what a predictor is to read: the inputs of a file of examples, or of one with only an input in each line.

    The input of a word form is its form. An object of JSONL needs no ``y``. Arguments and errors as for ``read``.
    """
    _check_path(source)
    check_kind(tokens)
    tsv.check_columns(columns)
    lines = _at_least_one(islice(read_lines(source), 1 if header else 0, None), source)
    if format == "auto":
        format = _by_name(source) or ("tsv" if columns is not None else _by_line(lines[0].text))
    codec = _codec(format, tokens=tokens, columns=columns, header=header)
    if format == "jsonl":
        return list(jsonl.parse_inputs(lines, tokens=tokens))
    if format == "tsv" and not any("\t" in line.text for line in lines):
        return [check_side(split(line.text, tokens), "input", line=line) for line in lines]
    return [example.y if format == "sigmorphon" else example.x for example in codec.parse(lines)]


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
    tag of several code points in TSV of characters) is refused, never changed.

    Args:
        examples: The examples; may be an iterator.
        target: A path, or ``-`` for standard output.
        format: One of ``FORMATS``; ``"auto"`` is JSONL for a name that ends in ``.jsonl`` and else TSV. SIGMORPHON
            expects examples in the generator's order.
        tokens: What a token is in TSV: ``"words"`` or ``"characters"``.
        force: Whether an existing file may be replaced.

    Raises:
        RecombineError: If the target cannot be written or an example cannot be written in the format.
    """
    codec = _codec((_by_name(target) or "tsv") if format == "auto" else format, tokens=tokens)
    file = "stdout" if str(target) == STANDARD else str(target)
    count = 0
    with replacing(target, force=force) as stream:
        for count, example in enumerate(examples, start=1):
            stream.write(_encode(example, codec, place=Line("", file, count)))
    return count


def read_inflections(source: str | Path) -> list[Inflection]:
    """Returns all word forms of a SIGMORPHON file (lemma, form, tags), in its order.

    Args:
        source: A path, or ``-`` for standard input.

    Raises:
        RecombineError: If the file cannot be read, does not keep to the format or holds no word form.
    """
    _check_path(source)
    return _at_least_one(sigmorphon_format.parse_inflections(read_lines(source)), source)


def detect(source: str | Path, *, header: bool = False) -> str:
    """Returns the format of a file, by its name and its first line.

    Args:
        source: A path; of standard input the first line would be lost.
        header: Whether that line names the columns, and the next one tells.
    """
    first = next(islice(read_lines(source), 1 if header else 0, None), None)
    return _by_name(source) or _by_line(first.text if first else "")


@dataclass(frozen=True, slots=True)
class _Codec:
    """A format with its settings: lines to examples and back."""

    name: str
    parse: Callable[[Iterable[Line]], Iterator[Example]]
    render: Callable[[Example], str]


def _codec(format: str, *, tokens: str, columns: tuple[int, ...] | None = None, header: bool = False) -> _Codec:
    check_kind(tokens)
    tsv.check_columns(columns)
    if columns is not None and format != "tsv":
        raise RecombineError("only TSV has columns to choose.", hint=f"Leave out `columns` for the format {format!r}.")
    if header and format not in ("tsv", "sigmorphon"):
        raise RecombineError("only TSV has a header to skip.", hint=f"Leave out `header` for the format {format!r}.")
    if tokens == "characters" and format == "scan":
        raise RecombineError("the tokens of the SCAN format are words.", hint="Leave out `tokens='characters'`.")
    match format:
        case "tsv":
            parse = partial(tsv.parse, tokens=tokens, columns=columns)
            return _Codec("tsv", parse, partial(tsv.render, tokens=tokens))
        case "jsonl":
            return _Codec("jsonl", partial(jsonl.parse, tokens=tokens), jsonl.render)
        case "scan":
            return _Codec("scan", scan_format.parse, scan_format.render)
        case "sigmorphon":
            return _Codec("sigmorphon", sigmorphon_format.parse, sigmorphon_format.render)
    raise unknown("format", format, (*FORMATS, "auto"))


def _iterate_detected(
    source: str | Path, lines: Iterator[Line], *, tokens: str, columns: tuple[int, ...] | None, header: bool
) -> Iterator[Example]:
    first = list(islice(lines, 1))
    format = _by_name(source)
    if format is None and columns is not None:
        format = "tsv"  # the only format with columns to choose
    if format is None:
        format = _by_line(first[0].text if first else "")
    yield from _codec(format, tokens=tokens, columns=columns, header=header).parse(chain(first, lines))


def _by_name(source: str | Path) -> str | None:
    return "jsonl" if Path(source).suffix == ".jsonl" else None


def _by_line(text: str) -> str:
    if text.startswith(f"{scan_format.START} "):
        return "scan"
    if text.startswith("{") and "\t" not in text:
        return "jsonl"
    return "sigmorphon" if sigmorphon_format.recognises(text) else "tsv"


def _encode(example: Example, codec: _Codec, *, place: Line) -> bytes:
    """Returns the bytes of an example's line, once they have been seen to read back as the same example."""
    check_side(example.x, "input", line=place)
    check_side(example.y, "output", line=place)
    try:
        raw = codec.render(example).encode("utf-8") + b"\n"
    except UnicodeEncodeError as error:
        raise place.error(f"the example cannot be written in UTF-8: {error.reason}.") from None
    except RecombineError as error:
        raise place.error(error.message, hint=error.hint) from None
    try:
        (back,) = codec.parse([decode(raw, file=place.file, number=place.number)])
    except RecombineError as error:  # whose hint is for those who read a file
        hint = _TOO_LONG if codec.name == "jsonl" else _ANY_TOKENS
        raise place.error(f"the example cannot be written as {codec.name}: {error.message}", hint=hint) from None
    for side, again in ((example.x, back.x), (example.y, back.y)):
        if side != again:
            raise place.error(
                f"the tokens {shown(str(list(side)))} cannot be written as {codec.name}: "
                f"they would read back as {shown(str(list(again)))}.",
                hint=_ANY_TOKENS,
            )
    if codec.name == "jsonl" and back.provenance != example.provenance:
        raise place.error("the provenance of the example would read back changed.")
    return raw


def _check_path(source: object) -> None:
    if not isinstance(source, str | Path):
        raise RecombineError(f"{shown(repr(source))} is no path.", hint="Name a file, by a string or a Path.")


def _at_least_one(items: Iterator[_Item], source: str | Path) -> list[_Item]:
    place = "stdin" if str(source) == STANDARD else str(source)
    found = list(not_too_many(items, place=place))
    if not found:
        raise RecombineError("the file is empty; expected an example.", place=place, hint="Check what should fill it.")
    return found
