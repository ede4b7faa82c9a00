"""The formats of files of examples: TSV, SIGMORPHON's columns, SCAN's lines, and JSON lines."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, TypeVar

from recombine.data.text import Line, check_kind, check_side, join, shown, split
from recombine.data.untrusted import typed
from recombine.errors import RecombineError, unknown
from recombine.example import Example, Provenance, Tokens
from recombine.inflection import Inflection, is_tag, tag_token

_Found = TypeVar("_Found")

FORMATS = ("tsv", "jsonl", "scan", "sigmorphon")
"""The formats; ``"auto"`` stands for the one that ``files.detect`` finds."""

_TAGS = re.compile(r"[A-Z][A-Za-z0-9.+/{}_-]*(;[A-Za-z0-9{][A-Za-z0-9.+/{}_-]*)+")
_SOURCE = re.compile(r"written|own:[1-9][0-9]*|[1-9][0-9]*:[1-9][0-9]*")
_JSON_HINT = 'Write for example {"x": "walk twice", "y": ["WALK", "WALK"]}, one such object a line.'


@dataclass(frozen=True, slots=True)
class Format:
    """Lines to examples and back.

    Attributes:
        name: One of ``FORMATS``, or ``"auto"``: the one that the first line looks like.
        tokens: What a token is in TSV and in JSONL strings: ``"words"``, ``"characters"`` or ``"code"``.
        columns: For TSV, the columns of input and output, from 1, and perhaps of features between semicolons, which
            join the input as tag tokens. None: the file has two columns.
        header: Whether the first line, which is not among those to parse, names the columns.
    """

    name: str
    tokens: str = "words"
    columns: tuple[int, ...] | None = None
    header: bool = False

    def __post_init__(self) -> None:
        check_kind(self.tokens)
        columns = self.columns
        if columns is not None:
            numbers = not isinstance(columns, str) and all(isinstance(column, int) for column in columns)
            if not numbers or len(columns) not in (2, 3) or len({*columns}) < len(columns) or min(columns) < 1:
                told = ", ".join(map(str, columns)) if numbers else repr(columns)
                hint = "Expected the numbers of two columns (input, output) or three (and features), different, from 1."
                raise RecombineError(f"cannot read the columns {told or 'of an empty list'}.", hint=hint)
        if self.name == "auto":
            return
        if self.name not in FORMATS:
            raise unknown("format", self.name, (*FORMATS, "auto"))
        of_format = f"for the format {self.name!r}."
        if columns is not None and self.name != "tsv":
            raise RecombineError("only TSV has columns to choose.", hint=f"Leave out `columns` {of_format}")
        if self.header and self.name not in ("tsv", "sigmorphon"):
            raise RecombineError("only TSV has a header to skip.", hint=f"Leave out `header` {of_format}")
        if self.tokens != "words" and self.name == "scan":
            hint = f"Leave out `tokens={self.tokens!r}`."
            raise RecombineError("the tokens of the SCAN format are words.", hint=hint)

    def recognized(self, text: str) -> "Format":
        """Returns the format itself, or for ``"auto"`` the one that a file's first line looks like."""
        if self.name != "auto":
            return self
        name, fields = "tsv", text.split("\t")
        if text.startswith("IN: "):
            name = "scan"
        elif text.startswith("{") and len(fields) == 1:
            name = "jsonl"
        elif len(fields) == 3 and _TAGS.fullmatch(fields[-1]):
            name = "sigmorphon"
        return replace(self, name=name)

    def parse(self, lines: Iterable[Line]) -> Iterator[Example]:
        """Yields an example for each line, as the lines come."""
        lines = iter(lines)
        for first in islice(lines, 1):
            found, every = self.recognized(first.text), chain([first], lines)
            match found.name:
                case "scan":
                    yield from map(_from_scan, every)
                case "jsonl":
                    yield from (_example(_from_json(line, _Pair), line=line, tokens=self.tokens) for line in every)
                case "sigmorphon":
                    yield from _from_columns(every, "characters", (1, 2, 3), width=3, sides=("lemma", "form"))
                case _ if self.columns is None:
                    yield from _from_columns(every, self.tokens, (1, 2), width=2)
                case _:
                    width = max(first.text.count("\t") + 1, *self.columns)
                    yield from _from_columns(every, self.tokens, self.columns, width=width)

    def parse_inputs(self, lines: Sequence[Line]) -> Iterator[Tokens]:
        """Yields what a predictor reads of each line, in which there may be nothing else."""
        found = self.recognized(lines[0].text)
        if found.name == "jsonl":
            return (_side(_from_json(line, _Input).x, "x", line, self.tokens) for line in lines)
        if found.name == "sigmorphon":
            return (example.y for example in found.parse(lines))
        if found.name == "tsv" and not any("\t" in line.text for line in lines):
            return (check_side(split(line.text, self.tokens), "input", line=line) for line in lines)
        return (example.x for example in found.parse(lines))

    def render(self, example: Example) -> str:
        """Returns the line of an example; an error if the format cannot hold it."""
        match self.name:
            case "jsonl":
                try:
                    return json.dumps(_as_object(example), ensure_ascii=False, allow_nan=False)
                except (TypeError, ValueError) as error:
                    message = f"the provenance of the example cannot be written as JSON: {error}."
                    raise RecombineError(message) from None
            case "scan":
                return f"IN: {join(example.x, 'words')} OUT: {join(example.y, 'words')}"
            case "sigmorphon":
                inflection = Inflection.from_fields(example.x, example.y)
                return "\t".join((inflection.lemma, inflection.form, ";".join(inflection.tags)))
        return f"{join(example.x, self.tokens)}\t{join(example.y, self.tokens)}"


def _from_columns(
    lines: Iterable[Line],
    tokens: str,
    columns: Sequence[int],
    *,
    width: int,
    sides: tuple[str, str] = ("input", "output"),
) -> Iterator[Example]:
    """Yields the examples of lines with this many columns between tabs, of which some are x, y and perhaps x's tags."""
    input_name, output_name = (f"{side} (column {column})" for side, column in zip(sides, columns, strict=False))
    for line in lines:
        fields = line.text.split("\t")
        if len(fields) != width:
            number = f"{len(fields)} column{'' if len(fields) == 1 else 's'}"
            hint = "The columns are lemma, form, tags. If the file has another format, name it: `format`."
            hint = _width_hint(line.text, len(fields), width) if sides[0] == "input" else hint
            raise line.error(f"found {number} in {shown(line.text)}, expected {width} separated by tabs.", hint=hint)
        x, y, *features = (fields[column - 1] for column in columns)
        tags = features[0].split(";") if features else []
        if "" in tags:
            wanted = "expected tags between semicolons, as in 'V;IND;PST'."
            raise line.error(f"an empty tag in {shown(features[0])}; {wanted}")
        yield Example(
            x=(*check_side(split(x, tokens), input_name, line=line), *map(tag_token, tags)),
            y=check_side(split(y, tokens), output_name, line=line),
        )


def _width_hint(text: str, found: int, expected: int) -> str:
    """Says what a line with another number of columns looks like, and what to do about it."""
    if found > expected:
        return (
            "Remove the stray tab, or choose `columns`. Lemma, form, tags are read by `format='sigmorphon'`; in "
            "another order they are read with `tokens='characters'` and `columns`, the numbers of lemma, form and "
            "tags. A line that names the columns is skipped with `header=True`."
        )
    if found > 1:
        return "Fill in the missing column, or choose others: `columns`."
    if text.startswith("["):
        return (
            'This looks like a list in JSON. Write one object a line, {"x": "...", "y": "..."}, to a file whose name '
            "ends in .jsonl."
        )
    for sign, name in ((",", "commas"), (";", "semicolons")):
        if sign in text:
            return f"If these are columns between {name}, save the file with tabs instead."
    return "Put a tab between input and output; lines of the form 'IN: ... OUT: ...' are read by `format='scan'`."


def _from_scan(line: Line) -> Example:
    """Returns the example of a line of the published SCAN files: ``IN: jump twice OUT: I_JUMP I_JUMP``."""
    words = split(line.text, "words")
    if words[:1] != ("IN:",) or words.count("OUT:") != 1 or "IN:" in words[1:]:
        hint = "If the file has another format, name it: `format`."
        raise line.error(f"found {shown(line.text)}, expected 'IN: input tokens OUT: output tokens'.", hint=hint)
    middle = words.index("OUT:")
    return Example(
        x=check_side(words[1:middle], "input (after IN:)", line=line),
        y=check_side(words[middle + 1 :], "output (after OUT:)", line=line),
    )


@dataclass(frozen=True, slots=True)
class _Input:
    """The object of a line of JSON of which only x is read."""

    x: Tokens | str
    y: Any = None
    provenance: Any = None


@dataclass(frozen=True, slots=True)
class _Origin:
    """A provenance as an object of JSON."""

    method: str
    prototypes: tuple["_Pair", ...] = ()
    log_probability: float | None = None
    sources: Tokens = ()
    details: dict[str, str | int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Pair:
    """An example as an object of JSON."""

    x: Tokens | str
    y: Tokens | str
    provenance: _Origin | None = None


def _from_json(line: Line, kind: type[_Found]) -> _Found:
    """Returns the object in a line of JSON."""
    try:
        value = json.loads(line.text, object_pairs_hook=_without_repeats)
        found: _Found = typed(value, kind, whole="the line")
    except (ValueError, RecursionError) as error:
        raise line.error(
            f"found {shown(line.text)}, which is no JSON that can be read ({error}); expected one object a line.",
            hint=_JSON_HINT,
        ) from None
    except RecombineError as error:
        raise line.error(error.message, hint=error.hint or _JSON_HINT) from None
    return found


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _side(value: Tokens | str, name: str, line: Line, tokens: str) -> Tokens:
    return check_side(split(value, tokens) if isinstance(value, str) else value, name, line=line)


def _example(found: _Pair, *, line: Line, tokens: str) -> Example:
    """Returns the example that an object of JSON stands for, once its values are known to make sense."""
    x, y = (_side(side, name, line, tokens) for name, side in (("x", found.x), ("y", found.y)))
    origin = found.provenance
    if origin is None:
        return Example(x, y)
    for name, value in {"log_probability": origin.log_probability, **origin.details}.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise line.error(f"found {value} as {name}; expected a finite number.")
    for source in origin.sources:
        if not _SOURCE.fullmatch(source):
            wanted = "expected 'written', 'own:I' or 'K:J', counted from 1."
            raise line.error(f"found {shown(source)} among the sources; {wanted}")
    if origin.sources and len(origin.sources) != len(x) + len(y):
        number = f"{len(origin.sources)} sources"
        raise line.error(f"there are {number}; expected one for each of the {len(x) + len(y)} tokens of x and y.")
    prototypes = tuple(_example(each, line=line, tokens=tokens) for each in origin.prototypes)
    provenance = Provenance(origin.method, prototypes, origin.log_probability, origin.sources, origin.details)
    return Example(x, y, provenance)


def _as_object(example: Example) -> Mapping[str, Any]:
    provenance = example.provenance
    if provenance is None:
        return {"x": example.x, "y": example.y}
    origin = {
        "method": provenance.method,
        "prototypes": [_as_object(prototype) for prototype in provenance.prototypes],
        "log_probability": provenance.log_probability,
        "sources": provenance.sources,
        "details": dict(provenance.details),
    }
    told = {key: value for key, value in origin.items() if value not in (None, [], (), {})}
    return {"x": example.x, "y": example.y, "provenance": told}


_HEADERS = {
    *(("input", "output"), ("source", "target"), ("src", "tgt"), ("x", "y"), ("question", "query")),
    *(("command", "action"), ("commands", "actions"), ("inputs", "outputs"), ("question", "answer"), ("text", "label")),
    *(("word", "pronunciation"), ("grapheme", "phoneme"), ("graphemes", "phonemes"), ("form", "lemma")),
    *(("lemma", name) for name in ("form", "word form", "inflection", "inflected form")),
}
"""Known names of an input and an output column."""


def looks_like_header(examples: Sequence[Example]) -> bool:
    """Tells whether the first of a file's examples may be the names of its columns.

    These are known names, or two words of which neither is anywhere else in the file, if no other line is such a pair:
    in a file of single words all are. A word seen once beside what it stands for (``jump``, ``I_JUMP``) is not taken
    for a name.
    """
    if len(examples) < 2:
        return False
    first = examples[0]
    names = ("".join(token for token in side if not is_tag(token)).casefold() for side in (first.x, first.y))
    if tuple(names) in _HEADERS:
        return True

    def are_unlike_words(example: Example) -> bool:
        x, y = example.x[0].casefold(), example.y[0].casefold()
        return len(example.x) == len(example.y) == 1 and x not in y and y not in x

    if not are_unlike_words(first):
        return False
    holders = Counter(token for example in examples for token in {*example.d})
    alone = (each for each in examples if are_unlike_words(each) and holders[each.x[0]] == holders[each.y[0]] == 1)
    return next(alone, None) is first and next(alone, None) is None
