"""The formats of files of examples: TSV, CSV, SIGMORPHON's columns, SCAN's lines, parallel files, and JSON lines."""

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from typing import Any

from recombine.data.text import TOKENS, Line, check_kind, check_side, join, shown, split
from recombine.data.untrusted import typed
from recombine.errors import RecombineError, unknown
from recombine.example import Example, Provenance, Tokens
from recombine.inflection import Inflection, are_word_forms, is_tag, join_text, split_text, tag_token

FORMATS = ("tsv", "csv", "jsonl", "scan", "sigmorphon", "parallel")
"""The formats; ``"auto"`` stands for the one that ``files.detect`` finds."""

WORD_FORMS = ("lemma", "form", "tags")

HEADERS = (("input", "output"), WORD_FORMS)
"""The first lines of CSV as it is written."""

NAMES = (
    ("x", "y"),
    ("input_tokens", "output_tokens"),
    *HEADERS[:1],
    ("source", "target"),
    ("src", "tgt"),
    ("prompt", "completion"),
)
"""Keys of JSONL and columns of data frames that are looked for, in this order."""

SPACE = "▁"
"""Stands for a space token in parallel files of characters, where spaces separate tokens."""

_TAGS = re.compile(r"[A-Z][A-Za-z0-9.+/{}_-]*(;[A-Za-z0-9{][A-Za-z0-9.+/{}_-]*)+")
_SOURCE = re.compile(r"written|own:[1-9][0-9]*|[1-9][0-9]*:[1-9][0-9]*")
_JSON_HINT = 'Write for example {"x": "walk twice", "y": ["WALK", "WALK"]}, one such object a line.'
_NAME = re.compile(r"[^\W\d][\w -]{0,30}")
_DELIMITERS, _AHEAD = ",;\t|", 100


@dataclass(frozen=True, slots=True)
class Format:
    """Lines to examples and back.

    Attributes:
        name: One of ``FORMATS``, or ``"auto"``: the one that the first line looks like.
        tokens: What a token is in texts: ``"words"``, ``"characters"`` or ``"code"``.
        columns: The columns of input and output, and perhaps of features between semicolons, which join the input as
            tag tokens: their numbers, from 1, or their names, which the first line or the keys of JSON have; also as
            text, with commas between them. None: see `HEADERS` and `NAMES`; else the file has two columns.
        quoted: Whether columns are those of CSV.
    """

    name: str
    tokens: str = "words"
    columns: Sequence[int | str] | str | None = None
    quoted: bool = False

    def __post_init__(self) -> None:
        check_kind(self.tokens)
        columns = self.columns
        if isinstance(columns, str):
            columns = tuple(int(name) if name.isdecimal() else name for name in map(str.strip, columns.split(",")))
            object.__setattr__(self, "columns", columns)
        if columns is not None:
            kinds = {type(column) for column in columns}
            fit = kinds in ({int}, {str}) and len(columns) in (2, 3) and len({*columns}) == len(columns)
            if not fit or any(column in ("", 0) or (isinstance(column, int) and column < 0) for column in columns):
                told = ", ".join(map(str, columns))
                hint = "Expected two columns (input, output) or three (and features), different, by number or by name."
                raise RecombineError(f"cannot read the columns {told or 'of an empty list'}.", hint=hint)
        if self.name == "auto":
            return
        if self.name not in FORMATS:
            raise unknown("format", self.name, (*FORMATS, "auto"))
        if columns is not None and self.name not in ("tsv", "csv", "jsonl"):
            hint = f"Leave out `columns` for the format {self.name!r}."
            raise RecombineError("only TSV, CSV and JSONL have columns to choose.", hint=hint)
        if self.name == "jsonl" and self._numbers:
            raise RecombineError("JSONL has keys, not columns with numbers.", hint="Name them: `columns=question,sql`.")
        if self.tokens != "words" and self.name == "scan":
            hint = f"Leave out `tokens={self.tokens!r}`."
            raise RecombineError("the tokens of the SCAN format are words.", hint=hint)

    @property
    def _numbers(self) -> tuple[int, ...]:
        return tuple(column for column in self.columns or () if isinstance(column, int))

    @property
    def _named(self) -> tuple[str, ...]:
        return tuple(column for column in self.columns or () if isinstance(column, str))

    def recognized(self, line: Line) -> "Format":
        """Returns the format itself, or for ``"auto"`` the one that a file's first line looks like.

        CSV is either of two formats, quoted: ``"sigmorphon"`` for word forms, else ``"tsv"``.
        """
        if self.name not in ("auto", "csv"):
            return self
        quoted = self.name == "csv"
        (_, fields), *_ = _rows([line], quoted=quoted)
        name = "tsv"
        if line.text.startswith("{") and len(fields) == 1 and not quoted:
            name = "jsonl"
        elif self.columns is not None:
            pass
        elif line.text.startswith("IN: ") and not quoted:
            name = "scan"
        elif len(fields) == 3 and (_TAGS.fullmatch(fields[-1]) or _names(fields) == WORD_FORMS):
            name = "sigmorphon"
        return replace(self, name=name, quoted=quoted)

    def names_columns(self, line: Line) -> bool:
        """Tells whether the first line of a file has any of the columns' names, if they have names."""
        if not self._named:
            return True
        found = self.recognized(line)
        names = _object(line) if found.name == "jsonl" else next(_rows([line], quoted=found.quoted))[1]
        return not {*_names(names)}.isdisjoint(_names(self._named))

    def are_texts(self, lines: Sequence[Line]) -> bool:
        """Tells whether `tokens` says what the tokens of both sides are: not of word forms, nor of lists in JSON."""
        name = self.recognized(lines[0]).name
        if name not in ("tsv", "jsonl") or len(self.columns or ()) == 3:
            return False
        values = (item for line in lines for item in _object(line).items()) if name == "jsonl" else ()
        return not any(isinstance(value, list) and key != "messages" for key, value in values)

    def are_code(self, lines: Sequence[Line]) -> bool:
        """Tells whether lines are JSON with tokens and their texts, and the texts are those of code, not of words."""
        if self.recognized(lines[0]).name != "jsonl":
            return False

        def fit(kind: str) -> bool:
            pairs = zip(self.parse(lines), map(_object, lines), strict=True)
            return all(texts(example, kind).items() <= value.items() for example, value in pairs)

        return fit("code") and not fit("words")

    def parse(self, lines: Iterable[Line]) -> Iterator[Example]:
        """Yields an example for each line, as the lines come."""
        lines = iter(lines)
        for first in islice(lines, 1):
            found, every = self.recognized(first), chain([first], lines)
            match found.name:
                case "scan":
                    yield from map(_from_scan, every)
                case "jsonl":
                    yield from map(found._from_object, every)
                case "parallel":
                    pairs = _from_columns(_rows(every), "words", (1, 2), width=2)
                    yield from map(_with_spaces, pairs) if self.tokens == "characters" else pairs
                case _:
                    yield from found._from_table(every)

    def parse_inputs(self, lines: Sequence[Line]) -> Iterator[Tokens]:
        """Yields what a predictor reads of each line, in which there may be nothing else."""
        found = self.recognized(lines[0])
        if found.name == "jsonl":
            return (found._from_object(line, only_input=True).x for line in lines)
        if found.name not in ("tsv", "sigmorphon"):
            return (example.x for example in found.parse(lines))
        side = "y" if found.name == "sigmorphon" else "x"
        return (getattr(example, side) for example in found._from_table(lines, only_input=True))

    def _from_table(self, lines: Iterable[Line], *, only_input: bool = False) -> Iterator[Example]:
        """Yields the examples of lines with columns; if only inputs count, there need be no other column."""
        rows = _rows(lines, quoted=self.quoted)
        if only_input:
            rows = iter(every := list(rows))
        line, first = next(rows)
        forms, known = self.name == "sigmorphon", _names(first)
        has_header = bool(self._named) or ((self.quoted or forms) and line.number == 1 and known in HEADERS)
        columns, width = self._numbers, max((len(first), *self._numbers))
        if self._named:
            names = _names(self._named)
            names = (names[0], *names[:1], *names[2:]) if only_input and names[1] not in known else names
            for name in names:
                if known.count(name) != 1:
                    told = "two columns" if name in known else "no column"
                    message = f"found {told} named {name!r}; the first line has {shown(', '.join(first))}."
                    raise line.error(message, hint="If the first line names no columns, give their numbers: 1,2.")
            columns = tuple(known.index(name) + 1 for name in names)
        elif only_input and not forms and all(len(row) == 1 for _, row in every):
            columns = (1, 1)
        elif not columns:
            columns, width = ((1, 2, 3), 3) if forms else ((1, 2), 2)
        sides = WORD_FORMS[:2] if forms else HEADERS[0]
        rows = rows if has_header else chain([(line, first)], rows)
        tokens, by = "characters" if forms else self.tokens, "commas" if self.quoted else "tabs"
        return _from_columns(rows, tokens, columns, width=width, sides=sides, by=by)

    def _from_object(self, line: Line, *, only_input: bool = False) -> Example:
        """Returns the example that a line of JSON stands for; it has no output if only the input counts."""
        value = _object(line)
        if self.columns is None and "messages" in value:
            value = _from_messages(value, line, self.tokens)
        sides = 1 if only_input else 2
        keys = self._named or next((pair for pair in NAMES if {*pair[:sides]} <= value.keys()), NAMES[0])
        if self.columns is None and keys == NAMES[0] and {*keys} <= value.keys():
            return _example(_checked(value, _Pair, line), line=line, tokens=self.tokens)
        found = []
        for key in (keys[0], keys[0], *keys[2:]) if only_input else keys:
            if key not in value:
                two = f"Name those of input and output: `columns={','.join([*value][:2])!r}`. "
                told = f"the line lacks {key!r}; found the keys {shown(', '.join(value))}."
                raise line.error(told, hint=two * (len(value) > 1) + _JSON_HINT)
            found.append(_checked(value[key], Tokens | str, line, name=key))
        x, y, *features = found
        tags = [tag for each in features for tag in (each.split(";") if isinstance(each, str) else each)]
        x, y = (_side(side, key, line, self.tokens) for side, key in zip((x, y), keys, strict=False))
        return Example((*x, *map(tag_token, tags)), y)

    def render(self, example: Example) -> str:
        """Returns the line of an example; an error if the format cannot hold it."""
        match self.name:
            case "jsonl":
                try:
                    told = {**texts(example, self.tokens), **_estimate(example), **_as_object(example)}
                    return json.dumps(told, ensure_ascii=False, allow_nan=False)
                except (TypeError, ValueError) as error:
                    message = f"the provenance of the example cannot be written as JSON: {error}."
                    raise RecombineError(message) from None
            case "scan":
                return f"IN: {join(example.x, 'words')} OUT: {join(example.y, 'words')}"
            case "parallel":
                raise RecombineError("parallel files are two.", hint="Write TSV, of which `export` makes them.")
        fields = [join(example.x, self.tokens), join(example.y, self.tokens)]
        if self.name == "sigmorphon" or (self.name == "csv" and self.columns is not None and len(self.columns) == 3):
            inflection = Inflection.from_fields(example.x, example.y)
            fields = [inflection.lemma, inflection.form, ";".join(inflection.tags)]
        return csv_row(fields) if self.name == "csv" else "\t".join(fields)


def _with_spaces(example: Example) -> Example:
    x, y = (tuple(" " if token == SPACE else token for token in side) for side in (example.x, example.y))
    return Example(x, y)


def csv_row(fields: Iterable[str], *, delimiter: str = ",") -> str:
    """Returns a line of CSV, without its end."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="").writerow(fields)
    return text.getvalue()


def _names(columns: Iterable[object]) -> tuple[str, ...]:
    """Returns the names of columns in the form in which they are compared."""
    return tuple(str(name).strip().casefold() for name in columns)


def _rows(lines: Iterable[Line], *, quoted: bool = False) -> Iterator[tuple[Line, list[str]]]:
    """Yields lines with their columns; of CSV, separated as suits the first line and those after it."""
    if not quoted:
        yield from ((line, line.text.split("\t")) for line in lines)
        return
    lines = iter(lines)
    first = list(islice(lines, _AHEAD))

    def fit(delimiter: str) -> tuple[int, int]:
        widths = [_width(line.text, delimiter) for line in first]
        return (widths.count(widths[0]), widths[0]) if widths[0] > 1 else (0, 0)

    delimiter = max(_DELIMITERS, key=fit)
    for line in chain(first, lines):
        try:
            (fields,) = csv.reader([line.text], delimiter=delimiter, strict=True)
        except csv.Error as error:
            raise line.error(
                f"found {shown(line.text)}, which is no line of CSV ({error}).",
                hint="Put a text with quotes or commas into quotes, with its own quotes doubled, all in one line.",
            ) from None
        yield line, fields


def _width(text: str, delimiter: str) -> int:
    try:
        return len(next(csv.reader([text], delimiter=delimiter, strict=True)))
    except csv.Error:
        return 0


def _from_columns(
    rows: Iterable[tuple[Line, list[str]]],
    tokens: str,
    columns: Sequence[int],
    *,
    width: int,
    sides: tuple[str, ...] = HEADERS[0],
    by: str = "tabs",
) -> Iterator[Example]:
    """Yields the examples of lines with this many columns, of which some are x, y and perhaps x's tags."""
    input_name, output_name = (f"{side} (column {column})" for side, column in zip(sides, columns, strict=False))
    for line, fields in rows:
        if len(fields) != width:
            number = f"{len(fields)} column{'' if len(fields) == 1 else 's'}"
            hint = "The columns are lemma, form, tags. If the file has another format, name it: `format`."
            hint = _width_hint(line, fields, width, by) if sides[0] == "input" else hint
            raise line.error(f"found {number} in {shown(line.text)}, expected {width} separated by {by}.", hint=hint)
        x, y, *features = (fields[column - 1] for column in columns)
        tags = features[0].split(";") if features else []
        if "" in tags:
            wanted = "expected tags between semicolons, as in 'V;IND;PST'."
            raise line.error(f"an empty tag in {shown(features[0])}; {wanted}")
        yield Example(
            x=(*check_side(split(x, tokens), input_name, line=line), *map(tag_token, tags)),
            y=check_side(split(y, tokens), output_name, line=line),
        )


def _width_hint(line: Line, fields: Sequence[str], expected: int, by: str) -> str:
    """Says what a line with another number of columns looks like, and what to do about it."""
    text = line.text
    if len(fields) > expected:
        looks = line.number == 1 and len({*fields}) == len(fields) and all(map(_NAME.fullmatch, fields))
        named = f"If these are names, choose two of them, as in `columns={','.join(fields[:2])!r}`. " if looks else ""
        return (
            f"{named}Remove the stray column, or choose `columns` by number or by name. Lemma, form, tags are read by "
            "`format='sigmorphon'`; in another order they are read with `tokens='characters'` and `columns`, those of "
            "lemma, form and tags."
        )
    if len(fields) > 1:
        return "Fill in the missing column, or choose others: `columns`."
    if text.startswith("["):
        return (
            'This looks like a list in JSON. Write one object a line, {"x": "...", "y": "..."}, to a file whose name '
            "ends in .jsonl."
        )
    if by == "commas":
        return "Put a comma between input and output, and a text with commas into quotes."
    for sign, name in ((",", "commas"), (";", "semicolons")):
        if sign in text:
            return f"If these are columns between {name}, give `format=csv`, or the file a name that ends in .csv."
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
    weight: float = 1.0  # what `export` writes beside: it is for other toolkits
    method: str | None = None
    input: str | None = None  # the texts of x and y, for people and other programs
    output: str | None = None
    right: float | None = None  # the estimate among the details of its provenance, for these


@dataclass(frozen=True, slots=True)
class _Message:
    """A turn of a conversation as an object of JSON."""

    role: str
    content: str


def _object(line: Line) -> dict[str, Any]:
    """Returns the object in a line of JSON."""
    try:
        value = json.loads(line.text, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise line.error(
            f"found {shown(line.text)}, which is no JSON that can be read ({error}); expected one object a line.",
            hint=_JSON_HINT,
        ) from None
    return value if isinstance(value, dict) else _checked(value, _Pair, line)  # which is an error


def _checked(value: object, kind: Any, line: Line, **how: Any) -> Any:  # noqa: ANN401
    """Returns a value of JSON as one of a type; see `typed`."""
    try:
        return typed(value, kind, whole="the line", **how)
    except RecombineError as error:
        raise line.error(error.message, hint=error.hint or _JSON_HINT) from None


def _from_messages(value: Mapping[str, Any], line: Line, tokens: str) -> dict[str, Any]:
    """Returns the question and the answer of a conversation as x and y; word forms have their tags at the end."""
    turns = _checked(value["messages"], tuple[_Message, ...], line, name="messages", further=True)
    sides = {"user": "x", "assistant": "y"}
    found = {sides[turn.role]: turn.content for turn in turns if turn.role in sides}
    if len(found) < sum(turn.role in sides for turn in turns):
        roles = ", ".join(turn.role for turn in turns)
        raise line.error(f"found messages of {shown(roles)}; expected one of the user and one of the assistant.")
    return {name: split_text(text) if tokens == "characters" else text for name, text in found.items()}


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
    for name, given, side in (("input", found.x, x), ("output", found.y, y)):
        text = getattr(found, name)
        if text not in (None, given) and all(text != texts(Example(x, y), kind)[name] for kind in TOKENS):
            hint = "Change both, or leave out x and y: then the texts are read."
            raise line.error(f"the {name} is {shown(text)}, but its tokens are {shown(' '.join(side))}.", hint=hint)
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


def texts(example: Example, tokens: str) -> dict[str, str]:
    """Returns the texts of both sides; those of characters and word forms have their tags at the end."""
    written = join_text if tokens == "characters" or are_word_forms([example]) else partial(join, tokens=tokens)
    return {"input": written(example.x), "output": written(example.y)}


def _estimate(example: Example) -> dict[str, float]:
    """Returns how likely an example is right, if that is among the details of its provenance."""
    right = example.provenance and example.provenance.details.get("right")
    return {"right": right} if isinstance(right, int | float) else {}


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
