"""What users hand over as data, in the form in which they have it: from that to examples, and from examples back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set, Sized
from functools import partial
from typing import Any

import numpy as np

from recombine.data.code import kind_of
from recombine.data.formats import NAMES
from recombine.data.text import Line, check_kind, check_side, join, shown, split
from recombine.errors import RecombineError
from recombine.example import Example, Examples, Tokens

Side = Any
"""A string, or a sequence of tokens."""

Column = Any
"""Sides, all of one kind, in a list, a tuple, an array, a pandas series or whatever else can be gone through; or as the
one column of a data frame or an array."""

Data = Any
"""Examples; pairs (x, y); mappings, a data frame or a data set with two columns; or, beside a column y, a column x.

Data frames and data sets are known by what they can do, not by their types,
so neither pandas nor datasets needs to be there.
"""


def as_examples(data: Data, outputs: Column | None = None, *, tokens: str | None = None) -> Examples:
    """Returns the examples that data stand for, or that inputs and outputs do.

    Tokens of a string are ``"words"``, ``"characters"`` or ``"code"`` (words, numbers and marks); default: as in the
    file that the examples were read from; else code where that suits the examples, or words.
    """
    if tokens is not None:
        check_kind(tokens)
    if isinstance(data, str):
        raise RecombineError(f"{shown(data)} is a string, expected examples.", hint="To read a file, use read(path).")
    rows: Iterable[Any]
    if outputs is not None:
        rows = _side_by_side(as_column(data), as_column(outputs))
    elif (names := _column_names(data)) is not None:
        x, y = _chosen(names)
        rows = _side_by_side(data[x], data[y])
    else:
        rows = data
    every = list(_iterated(rows))

    def examples(kind: str) -> Iterator[Example]:
        return (_example(row, Line("", "data", number), kind) for number, row in enumerate(every, start=1))

    if tokens is None:
        tokens = data.tokens if isinstance(data, Examples) else kind_of(examples("code"), examples("words"))
    found = examples(tokens)
    # Texts that were read in other tokens are split again; samples, whose sources speak of their tokens, are not.
    if isinstance(data, Examples) and data.from_texts and {data.tokens, tokens} == {"words", "code"}:
        again = partial(_split_again, data.tokens, tokens)
        found = (each if each.provenance else Example(again(each.x), again(each.y)) for each in found)
    return Examples(found, tokens)


def _split_again(old: str, new: str, side: Tokens) -> Tokens:
    return split(join(side, old), new)


def as_column(data: Column) -> Column:
    """Returns a column as it is, or the one column of a data frame or of an array with two dimensions."""
    names = _column_names(data)
    if names is not None and len(names) == 1:
        return data[names[0]]
    return data[:, 0] if isinstance(data, np.ndarray) and data.ndim == 2 and data.shape[1] == 1 else data


def as_tokens(side: Side, line: Line, *, tokens: str = "words", name: str = "input") -> Tokens:
    """Returns the tokens of one side, which is a string or a sequence of tokens; messages call it `name`."""
    if isinstance(side, str):
        return check_side(split(side, tokens), name, line=line)
    found = tuple(side) if isinstance(side, Iterable) and not isinstance(side, bytes | Mapping) else (side,)
    if not all(isinstance(token, str) for token in found):
        raise line.error(f"the {name} is {shown(str(side))}; expected a string or a sequence of tokens.")
    # A numpy string is a str, too, but not one that JSON or a message shows as such.
    return check_side(tuple(map(str, found)), name, line=line)


def extended(column: Column, sides: Sequence[Tokens], *, tokens: str = "words") -> Column:
    """Returns a column with further sides at its end, in the type of the column and of what it holds.

    Lists, tuples, arrays, pandas series and frames of one column stay what they are; anything else becomes a list.
    """
    inner = as_column(column)
    if inner is not column:
        longer = extended(inner, sides, tokens=tokens)
        names = _column_names(column)
        return longer[:, None] if names is None else type(column)({names[0]: list(longer)})
    old = list(column)
    first = old[0] if old else ""
    kind = type(first) if isinstance(first, list | tuple) else tuple
    values = [*old, *(join(side, tokens) if isinstance(first, str) else kind(side) for side in sides)]
    if isinstance(column, tuple):
        return tuple(values)
    if isinstance(column, np.ndarray) and column.dtype == np.object_:
        array = np.empty(len(values), dtype=np.object_)  # np.array would make a table of tuples of one length
        array[:] = values
        return array
    if isinstance(column, np.ndarray):
        return np.array(values)
    if hasattr(column, "iloc") and hasattr(column, "name"):
        return type(column)(values, name=column.name)
    return values


def _column_names(data: Data) -> list[str] | None:
    """Returns the names of columns, if the data have columns."""
    names = getattr(data, "column_names", None)  # a data set of Hugging Face
    if isinstance(names, Mapping):
        raise RecombineError(
            f"these are several data sets: {', '.join(map(str, names))}.", hint="Choose one, for example data['train']."
        )
    if names is None:
        names = data.keys() if isinstance(data, Mapping) else getattr(data, "columns", None)
    return None if names is None else list(names)


def _chosen(names: Sequence[str]) -> tuple[str, str]:
    for pair in NAMES:
        if set(pair) <= set(names):
            return pair
    if len(names) == 2:
        return names[0], names[1]
    raise RecombineError(
        f"which of the columns are inputs and outputs? There are: {', '.join(map(str, names))}.",
        hint="Name them input and output, or give the two columns.",
    )


def _side_by_side(inputs: Column, outputs: Column) -> Iterator[tuple[Side, Side]]:
    if isinstance(inputs, Set) or isinstance(outputs, Set):
        raise RecombineError("a set has no order, so its inputs have no outputs.", hint="Give a list.")
    if getattr(inputs, "ndim", 1) != 1 or getattr(outputs, "ndim", 1) != 1:
        raise RecombineError("a column has one dimension.", hint="Of a data frame, give one column: frame['input'].")
    try:
        yield from zip(_iterated(inputs), _iterated(outputs), strict=True)
    except ValueError:
        sized = isinstance(inputs, Sized) and isinstance(outputs, Sized)
        lengths = f": {len(inputs)} and {len(outputs)}" if sized else ""
        message = f"there is not one output for each input{lengths}."
        raise RecombineError(message, hint="Give two columns of one length.") from None


def _iterated(rows: Data) -> Iterable[Any]:
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        raise RecombineError(
            f"{shown(str(rows))} is no collection of examples.",
            hint="Give pairs, or a column of inputs and one of outputs.",
        )
    return rows


def _example(row: object, line: Line, tokens: str) -> Example:
    if isinstance(row, Example):
        check_side(row.x, "input", line=line)
        check_side(row.y, "output", line=line)
        return row
    if isinstance(row, Mapping):
        row = [row[name] for name in _chosen(list(row))]
    if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray) or len(row) != 2:
        raise line.error(f"{shown(str(row))} is no pair of an input and an output.", hint="Give (input, output).")
    return Example(as_tokens(row[0], line, tokens=tokens), as_tokens(row[1], line, tokens=tokens, name="output"))
