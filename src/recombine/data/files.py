"""Reads examples from files of any format and writes them; what is written reads back equal."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from shlex import quote
from typing import TypeVar

from recombine.data.code import FIRST, code_suits
from recombine.data.formats import FORMATS as FORMATS
from recombine.data.formats import HEADERS, WORD_FORMS, Format, csv_row, looks_like_header
from recombine.data.output import replacing
from recombine.data.text import STANDARD, Line, check_side, decode, join, read_lines, shown
from recombine.data.vocabulary import have_tags_of_their_own
from recombine.errors import RecombineError
from recombine.example import Example, Examples, Tokens
from recombine.inflection import Inflection, are_inflections

_Item = TypeVar("_Item")

Columns = Sequence[int | str] | str | None
"""Columns or keys, by number or by name."""

MAX_EXAMPLES = 10_000_000
"""The most examples of a file that are held together; reading one by one has no such limit."""

_TOO_LONG = "The prototypes take up the room for tokens as long as these: shorten them, or write TSV."
_ANY_TOKENS = "JSONL keeps any tokens: give the file a name that ends in .jsonl."


def read(
    source: str | Path,
    *,
    format: str = "auto",
    tokens: str | None = None,
    columns: Columns = None,
) -> Examples:
    """Returns all examples of a file, in its order. Augmenters and predictors that learn of them know their tokens.

    Args:
        source: A path, or ``-`` for standard input.
        format: One of ``FORMATS``, or ``"auto"``.
        tokens: What a token is in TSV and in JSONL strings: ``"words"``, ``"characters"`` or ``"code"`` (words,
            numbers and marks); default: code where it suits (see `code_suits`), else words. The tokens of SCAN are
            words and those of SIGMORPHON characters, always.
        columns: The columns of TSV and CSV, or the keys of JSONL, that hold input, output and perhaps features, such as
            ``"question,sql"`` or ``("question", "sql")``: then the first line of a table is its header. Or columns
            by number, from 1: then there is no header. Default: the file has two columns, or usual keys (``x``, ``y``).

    Raises:
        RecombineError: If the file cannot be read, does not keep to its format or holds no example.
    """
    tokens = tokens or ("code" if why_code(source, format=format, columns=columns) else "words")
    lines, chosen = _opened(source, format, tokens, columns)
    first = list(islice(lines, FIRST))
    examples = _at_least_one(chosen.parse(chain(first, lines)), source)
    return Examples(examples, tokens, from_texts=chosen.are_texts(first))


def why_code(source: str | Path, *, format: str = "auto", columns: Columns = None) -> str | None:
    """Returns why tokens of code suit a file, or None; see `code_suits`.

    Standard input and pipes can be read only once, so their tokens are words. Arguments and errors are those of `read`.
    """
    lines, chosen = _opened(source, format, "words", columns)
    first = list(islice(lines, FIRST)) if Path(source).is_file() else []
    if not first or chosen.recognized(first[0]).name in ("scan", "parallel"):
        return None
    if chosen.are_code(first):
        return "the texts beside tokens are those of code"
    return code_suits(replace(chosen, tokens="code").parse(chain(first, lines)), chosen.parse(first))


def iterate(
    source: str | Path,
    *,
    format: str = "auto",
    tokens: str = "words",
    columns: Columns = None,
) -> Iterator[Example]:
    """Yields the examples of a file as its lines come, without waiting for its end; arguments as for ``read``.

    An argument that makes no sense is an error at once.
    """
    lines, chosen = _opened(source, format, tokens, columns)
    return chosen.parse(lines)


def read_inputs(
    source: str | Path,
    *,
    format: str = "auto",
    tokens: str = "words",
    columns: Columns = None,
) -> list[Tokens]:
    """Returns the inputs of a file, which may hold examples or only an input in each line.

    The input of a word form is its form. An object of JSONL needs no ``y``. Arguments and errors as for ``read``.
    """
    lines, chosen = _opened(source, format, tokens, columns)
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
        format: One of ``FORMATS``; ``"auto"`` is JSONL for a name that ends in ``.jsonl``, CSV for ``.csv`` and else
            TSV. SIGMORPHON expects examples in the generator's order; CSV has it for them, and always a header.
        tokens: What a token is in texts, which JSONL has beside tokens: ``"words"``, ``"characters"`` or ``"code"``.
        force: Whether an existing file may be replaced.
    """
    chosen = Format(_by_name(target, "tsv") if format == "auto" else format, tokens)
    file = "stdout" if str(target) == STANDARD else str(target)
    count = 0
    with replacing(target, force=force) as stream:
        if chosen.name == "csv":
            examples = list(examples)
            names = HEADERS[bool(examples) and are_inflections(examples)]
            chosen = Format("csv", "characters" if names == WORD_FORMS else tokens, names)
            stream.write(f"{csv_row(names)}\n".encode())
        for count, example in enumerate(examples, start=1):
            stream.write(_encode(example, chosen, place=Line("", file, count)))
    return count


def read_inflections(source: str | Path) -> list[Inflection]:
    """Returns all word forms of a SIGMORPHON file (lemma, form, tags), in its order; errors as for ``read``."""
    return [Inflection.from_fields(example.x, example.y) for example in read(source, format="sigmorphon")]


def detect(source: str | Path) -> str:
    """Returns the format of a file, by its name and its first line, which of standard input would be lost."""
    lines, chosen = _opened(source, "auto", "words", None)
    first = next(lines, None)
    return chosen.recognized(first or Line("", str(source), 1)).name


def doubts(examples: Sequence[Example], name: str, *, tokens: str, named: bool) -> Iterator[str]:
    """Yields what may be wrong with the columns of a file of this name; `named` tells if they were given by name."""
    first, forms = examples[0], are_inflections(examples)
    if not named and looks_like_header(examples):
        names = quote(f"{join(first.x, tokens)},{join(first.y, tokens)}")
        names = f"{','.join(WORD_FORMS)} --tokens characters" if forms else names
        what = f"the first line of {name} looks like column names but is read as an example: {first}"
        yield f"{what}. If they are, give --columns {names}."
    if forms and have_tags_of_their_own(examples):
        tags = ";".join(Inflection.from_fields(first.x, first.y).tags)
        yield (
            f"nearly every word form of {name} has tags of its own, the first {tags!r}. The columns should be lemma, "
            "form, tags. If yours have another order, give --tokens characters and --columns with the numbers of "
            "lemma, form and tags, instead of --format sigmorphon."
        )


def first_line(source: str | Path, examples: Sequence[Example]) -> int:
    """Returns the number of the line of the first of all examples of a file: 2 below a header; of a pipe, 1."""
    return 1 + (sum(1 for _ in read_lines(source)) - len(examples) if Path(source).is_file() else 0)


def names_columns(source: str | Path, columns: Columns, *, format: str = "auto") -> bool:
    """Tells whether a file has any of these columns or keys, if they are given by name; of a pipe nobody can tell."""
    lines, chosen = _opened(source, format, "words", columns)
    first = next(lines, None) if Path(source).is_file() else None
    return first is None or chosen.names_columns(first)


def _opened(source: str | Path, format: str, tokens: str, columns: Columns) -> tuple[Iterator[Line], Format]:
    """Returns the lines of a file and how they are to be read, once the settings are seen to make sense together."""
    if not isinstance(source, str | Path):
        raise RecombineError(f"{shown(repr(source))} is no path.", hint="Name a file, by a string or a Path.")
    beside = _outputs_beside(Path(source))
    if format == "auto":
        format = "parallel" if beside is not None and columns is None else _by_name(source, "auto")
    chosen = Format(format, tokens, columns)
    if format != "parallel":
        return read_lines(source), chosen
    if beside is None:
        hint = "Expected such names as train.src and train.tgt, or src-train.txt and tgt-train.txt."
        raise RecombineError("there is no file of outputs beside this one.", place=str(source), hint=hint)
    return _side_by_side(read_lines(source), read_lines(beside), f"{source}, {beside}"), chosen


def _by_name(path: str | Path, otherwise: str) -> str:
    """Returns the format that a file's name tells."""
    return {".jsonl": "jsonl", ".csv": "csv"}.get(Path(path).suffix.lower(), otherwise)


def _outputs_beside(path: Path) -> Path | None:
    """Returns the file whose lines are the outputs for those of a file called such as train.src or src-train.txt."""
    name = path.name.removeprefix("src-")
    name = f"tgt-{name}" if name != path.name else f"{path.stem}.tgt"
    if path.suffix != ".src" and not name.startswith("tgt-"):
        return None
    other = path.with_name(name)
    return other if other.is_file() else None


def _side_by_side(inputs: Iterator[Line], outputs: Iterator[Line], files: str) -> Iterator[Line]:
    try:
        for x, y in zip(inputs, outputs, strict=True):
            yield replace(x, text=f"{x.text}\t{y.text}")
    except ValueError:
        raise RecombineError("the files have not one output for each input.", place=files) from None


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
        header = [replace(place, text=csv_row(map(str, format.columns or ())))] * (format.name == "csv")
        (back,) = format.parse([*header, decode(raw, file=place.file, number=place.number)])
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
