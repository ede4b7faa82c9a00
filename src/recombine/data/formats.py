"""The formats of files of examples, line by line: TSV, SIGMORPHON's columns, SCAN's lines, and JSON lines."""

import json
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NoReturn, TypeVar

from recombine.data.text import Line, check_side, join, shown, split
from recombine.errors import RecombineError
from recombine.example import Example, Provenance, Tokens
from recombine.inflection import Inflection, is_tag, tag_token

_Found = TypeVar("_Found")


class Format(ABC):
    """Lines to examples and back."""

    name: ClassVar[str]
    """What messages and options call the format."""

    @abstractmethod
    def parse(self, lines: Iterable[Line]) -> Iterator[Example]:
        """Yields an example for each line.

        Raises:
            RecombineError: If a line does not keep to the format.
        """

    @abstractmethod
    def render(self, example: Example) -> str:
        """Returns the line of an example.

        Raises:
            RecombineError: If the format cannot hold the example.
        """

    def parse_inputs(self, lines: Sequence[Line]) -> Iterator[Tokens]:
        """Yields what a predictor reads of each line; raises as ``parse`` does."""
        return (example.x for example in self.parse(lines))


class Tsv(Format):
    """Columns between tabs: an input, an output, and perhaps features of the input.

    Args:
        tokens: What a token is: ``"words"`` or ``"characters"``.
        columns: The columns of input and output, from 1, and perhaps of features between semicolons, which join the
            input as tag tokens. None: the file has two columns.
    """

    name = "tsv"
    sides: ClassVar = ("input", "output")

    def __init__(self, *, tokens: str, columns: tuple[int, ...] | None = None) -> None:
        self.tokens = tokens
        self.columns = columns or (1, 2)
        self.width = None if columns else 2
        """How many columns all lines must have; None: as many as the first."""

    def parse(self, lines: Iterable[Line]) -> Iterator[Example]:
        """Yields an example for each line."""
        width = self.width
        for line in lines:
            fields = line.text.split("\t")
            width = width or max(len(fields), *self.columns)
            if len(fields) != width:
                number = f"{len(fields)} column{'' if len(fields) == 1 else 's'}"
                raise line.error(
                    f"found {number} in {shown(line.text)}, expected {width} separated by tabs.",
                    hint=self._width_hint(line, len(fields), width),
                )
            x, y, *features = (fields[column - 1] for column in self.columns)
            tags = tuple(map(tag_token, _split_tags(features[0], line=line))) if features else ()
            input_name, output_name = (
                f"{side} (column {column})" for side, column in zip(self.sides, self.columns, strict=False)
            )
            yield Example(
                x=check_side(split(x, self.tokens), input_name, line=line) + tags,
                y=check_side(split(y, self.tokens), output_name, line=line),
            )

    def render(self, example: Example) -> str:
        """Returns input, tab, output."""
        return f"{join(example.x, self.tokens)}\t{join(example.y, self.tokens)}"

    def parse_inputs(self, lines: Sequence[Line]) -> Iterator[Tokens]:
        """Yields the input of each line; there may be nothing else in any of them."""
        if any("\t" in line.text for line in lines):
            return super().parse_inputs(lines)
        return (check_side(split(line.text, self.tokens), "input", line=line) for line in lines)

    def _width_hint(self, line: Line, found: int, expected: int) -> str:
        if found == 1:
            return _instead_of_tabs(line)
        if found < expected:
            return "Fill in the missing column, or choose others: `columns`."
        return (
            "Remove the stray tab, or choose `columns`. Lemma, form, tags are read by `format='sigmorphon'`; in "
            "another order they are read with `tokens='characters'` and `columns`, the numbers of lemma, form and "
            "tags. A line that names the columns is skipped with `header=True`."
        )


class Sigmorphon(Tsv):
    """The three columns of the SIGMORPHON shared tasks: lemma, form, tags between semicolons.

    Examples are in the generator's order: lemma, tags ▷ form.
    """

    name = "sigmorphon"
    sides: ClassVar = ("lemma", "form")

    def __init__(self) -> None:
        super().__init__(tokens="characters", columns=(1, 2, 3))
        self.width = 3

    def render(self, example: Example) -> str:
        """Returns lemma, form and tags."""
        inflection = Inflection.from_fields(example.x, example.y)
        return "\t".join((inflection.lemma, inflection.form, ";".join(inflection.tags)))

    def parse_inputs(self, lines: Sequence[Line]) -> Iterator[Tokens]:
        """Yields the form of each line."""
        return (example.y for example in self.parse(lines))

    def _width_hint(self, line: Line, found: int, expected: int) -> str:
        return "The columns are lemma, form, tags. If the file has another format, name it: `format`."


class Scan(Format):
    """The lines of the published SCAN files: ``IN: jump twice OUT: I_JUMP I_JUMP``."""

    name = "scan"

    def parse(self, lines: Iterable[Line]) -> Iterator[Example]:
        """Yields an example for each line."""
        for line in lines:
            words = split(line.text, "words")
            if words[:1] != ("IN:",) or words.count("OUT:") != 1 or "IN:" in words[1:]:
                raise line.error(
                    f"found {shown(line.text)}, expected 'IN: input tokens OUT: output tokens'.",
                    hint="If the file has another format, name it: `format`.",
                )
            middle = words.index("OUT:")
            yield Example(
                x=check_side(words[1:middle], "input (after IN:)", line=line),
                y=check_side(words[middle + 1 :], "output (after OUT:)", line=line),
            )

    def render(self, example: Example) -> str:
        """Returns the line of an example."""
        return f"IN: {join(example.x, 'words')} OUT: {join(example.y, 'words')}"


class Jsonl(Format):
    """JSON lines, which keep provenance: ``{"x": [...], "y": [...], "provenance": {...}}``, one a line.

    Args:
        tokens: What a token is in an x or y that is a string and not a list of tokens.
    """

    name = "jsonl"

    def __init__(self, *, tokens: str = "words") -> None:
        self.tokens = tokens

    def parse(self, lines: Iterable[Line]) -> Iterator[Example]:
        """Yields an example for each line."""
        return (_JsonLine(line, self.tokens).example() for line in lines)

    def parse_inputs(self, lines: Sequence[Line]) -> Iterator[Tokens]:
        """Yields the x of each line; there need be no y."""
        return (_JsonLine(line, self.tokens).input() for line in lines)

    def render(self, example: Example) -> str:
        """Returns the line of an example."""
        try:
            return json.dumps(_as_object(example), ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise RecombineError(f"the provenance of the example cannot be written as JSON: {error}.") from None


def recognized(text: str) -> str:
    """Returns the name of the format that a file's first line looks like."""
    if text.startswith("IN: "):
        return Scan.name
    if text.startswith("{") and "\t" not in text:
        return Jsonl.name
    fields = text.split("\t")
    return Sigmorphon.name if len(fields) == 3 and _TAGS.fullmatch(fields[-1]) else Tsv.name


_TAGS = re.compile(r"[A-Z][A-Za-z0-9.+/{}_-]*(;[A-Za-z0-9{][A-Za-z0-9.+/{}_-]*)+")


def check_columns(columns: tuple[int, ...] | None) -> None:
    """Raises an error if the columns are neither None nor two or three different numbers from 1."""
    if columns is None:
        return
    numbers = not isinstance(columns, str) and all(isinstance(column, int) for column in columns)
    if not numbers or len(columns) not in (2, 3) or len({*columns}) < len(columns) or min(columns) < 1:
        told = ", ".join(map(str, columns)) if numbers else repr(columns)
        raise RecombineError(
            f"cannot read the columns {told or 'of an empty list'}.",
            hint="Expected the numbers of two columns (input, output) or three (and features), different, from 1.",
        )


_HEADERS = {
    *(("input", "output"), ("source", "target"), ("src", "tgt"), ("x", "y"), ("question", "query")),
    *(("command", "action"), ("commands", "actions"), ("inputs", "outputs"), ("question", "answer"), ("text", "label")),
    *(("word", "pronunciation"), ("grapheme", "phoneme"), ("graphemes", "phonemes")),
    *(("lemma", name) for name in ("form", "word form", "inflection", "inflected form")),
    ("form", "lemma"),
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
    if not _are_unlike_words(first):
        return False
    holders = Counter(token for example in examples for token in {*example.d})
    alone = (each for each in examples if _are_unlike_words(each) and holders[each.x[0]] == holders[each.y[0]] == 1)
    return next(alone, None) is first and next(alone, None) is None


def _are_unlike_words(example: Example) -> bool:
    """Tells whether both sides are one token, and neither is a part of the other."""
    if len(example.x) > 1 or len(example.y) > 1:
        return False
    x, y = example.x[0].casefold(), example.y[0].casefold()
    return x not in y and y not in x


def _split_tags(field: str, *, line: Line) -> Tokens:
    """Returns the tags of a field such as ``V;IND;PST``."""
    tags = tuple(field.split(";"))
    if "" in tags:
        raise line.error(f"an empty tag in {shown(field)}; expected tags between semicolons, as in 'V;IND;PST'.")
    return tags


def _instead_of_tabs(line: Line) -> str:
    """Says what a line without tabs looks like, and what to do about it."""
    if line.text.startswith("["):
        return (
            'This looks like a list in JSON. Write one object a line, {"x": "...", "y": "..."}, to a file whose name '
            "ends in .jsonl."
        )
    for sign, name in ((",", "commas"), (";", "semicolons")):
        if sign in line.text:
            return f"If these are columns between {name}, save the file with tabs instead."
    return "Put a tab between input and output; lines of the form 'IN: ... OUT: ...' are read by `format='scan'`."


def _as_object(example: Example) -> dict[str, Any]:
    sides: dict[str, Any] = {"x": example.x, "y": example.y}
    provenance = example.provenance
    if provenance is None:
        return sides
    origin = {
        "method": provenance.method,
        "prototypes": [_as_object(prototype) for prototype in provenance.prototypes],
        "log_probability": provenance.log_probability,
        "sources": provenance.sources,
        "details": dict(provenance.details),
    }
    return {**sides, "provenance": {key: value for key, value in origin.items() if value not in (None, [], (), {})}}


_SIDES = 'Write for example {"x": "walk twice", "y": ["WALK", "WALK"]}, one such object a line.'
_SOURCE = re.compile(r"written|own:[1-9][0-9]*|[1-9][0-9]*:[1-9][0-9]*")


class _JsonLine:
    """A line of JSON whose values are checked one by one, so that an error names the line and the value."""

    def __init__(self, line: Line, tokens: str) -> None:
        self.line, self.tokens = line, tokens

    def example(self) -> Example:
        return self._checked(lambda value: self._example(value, "line"))

    def input(self) -> Tokens:
        return self._checked(
            lambda value: self._side(self._known(value, "line", ("x",), ("y", "provenance"))["x"], "x")
        )

    def _checked(self, check: Callable[[object], _Found]) -> _Found:
        """Returns what a check makes of the line's value."""
        try:
            return check(
                json.loads(self.line.text, parse_constant=_refuse_constant, object_pairs_hook=_without_repeats)
            )
        except (ValueError, OverflowError, RecursionError) as error:
            raise self.line.error(
                f"found {shown(self.line.text)}, which is no JSON that can be read ({error}); "
                "expected one object a line.",
                hint=_SIDES,
            ) from None

    def _input(self, value: object) -> Tokens:
        return self._side(self._known(value, "line", ("x",), ("y", "provenance"))["x"], "x")

    def _example(self, value: object, name: str) -> Example:
        found = self._known(value, name, ("x", "y"), ("provenance",))
        x, y = self._side(found["x"], "x"), self._side(found["y"], "y")
        origin = found.get("provenance")
        return Example(x, y, None if origin is None else self._provenance(origin, len(x) + len(y)))

    def _provenance(self, value: object, length: int) -> Provenance:
        optional = ("prototypes", "log_probability", "sources", "details")
        found = self._known(value, "provenance", ("method",), optional)
        method, log_probability = found["method"], found.get("log_probability")
        prototypes, details = found.get("prototypes", []), found.get("details", {})
        if not isinstance(method, str):
            raise self._unexpected(method, "method", "a string")
        if log_probability is not None and (isinstance(log_probability, bool) or not _is_number(log_probability)):
            raise self._unexpected(log_probability, "log_probability", "a number")
        if not isinstance(prototypes, list):
            raise self._unexpected(prototypes, "prototypes", "a list of objects with x and y")
        if not isinstance(details, dict) or not all(isinstance(v, str) or _is_number(v) for v in details.values()):
            raise self._unexpected(details, "details", "an object of strings and numbers")
        return Provenance(
            method=method,
            prototypes=tuple(self._example(prototype, "prototype") for prototype in prototypes),
            log_probability=None if log_probability is None else float(log_probability),
            sources=self._sources(found.get("sources", []), length),
            details=details,
        )

    def _sources(self, value: object, length: int) -> Tokens:
        if not isinstance(value, list) or not all(isinstance(item, str) and _SOURCE.fullmatch(item) for item in value):
            raise self._unexpected(value, "sources", "a list of 'written', 'own:I' or 'K:J', counted from 1")
        if value and len(value) != length:
            message = f"there are {len(value)} sources; expected one for each of the {length} tokens of x and y."
            raise self.line.error(message)
        return tuple(value)

    def _side(self, value: object, name: str) -> Tokens:
        if isinstance(value, str):
            return check_side(split(value, self.tokens), name, line=self.line)
        if not isinstance(value, list) or not all(isinstance(token, str) for token in value):
            raise self._unexpected(value, name, "a list of strings, or a string", hint=_SIDES)
        return check_side(tuple(value), name, line=self.line)

    def _known(self, value: object, name: str, required: Tokens, optional: Tokens) -> Mapping[str, Any]:
        """Returns an object that has all required keys, and others only if they are optional."""
        if not isinstance(value, dict):
            raise self._unexpected(value, name, "an object", hint=_SIDES if name == "line" else None)
        hint = f"Expected are the keys: {', '.join(required)}, and perhaps {', '.join(optional)}."
        for key in required:
            if key not in value:
                found = shown(", ".join(value)) if value else "none"
                raise self.line.error(f"the {name} has no {key!r}; found the keys {found}.", hint=hint)
        strange = [key for key in value if key not in required + optional]
        if strange:
            raise self.line.error(f"the {name} has unknown keys: {', '.join(map(shown, strange))}.", hint=hint)
        return value

    def _unexpected(self, value: object, name: str, expected: str, *, hint: str | None = None) -> RecombineError:
        found = shown(json.dumps(value, ensure_ascii=False))
        return self.line.error(f"found {found} as {name}; expected {expected}.", hint=hint)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found
