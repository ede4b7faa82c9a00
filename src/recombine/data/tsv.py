"""Tab-separated columns: an input, an output, and perhaps features of the input."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from recombine.data.text import Line, shown
from recombine.data.tokenization import check_side, join, split, split_tags
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import is_tag, tag_token

COLUMNS = (1, 2)
"""The columns of input and output where none are chosen; no further column may stand beside them then."""

_NAMES = {
    *(("input", "output"), ("source", "target"), ("src", "tgt"), ("x", "y"), ("question", "query")),
    *(("command", "action"), ("commands", "actions"), ("inputs", "outputs"), ("question", "answer"), ("text", "label")),
    *(("word", "pronunciation"), ("grapheme", "phoneme"), ("graphemes", "phonemes")),
    *(
        ("lemma", "form"),
        ("lemma", "word form"),
        ("lemma", "inflection"),
        ("lemma", "inflected form"),
        ("form", "lemma"),
    ),
}
"""Names of columns that are known, of an input and an output."""


def looks_like_header(examples: Sequence[Example]) -> bool:
    """Tells whether the first of a file's examples may be the names of its columns.

    These are known names, or two words of which neither is anywhere else in the file, if no other line is such a pair:
    in a file of single words all are. A word seen once beside what it stands for (``jump``, ``I_JUMP``) is not taken
    for a name.
    """
    if len(examples) < 2:
        return False
    first = examples[0]
    if tuple("".join(token for token in side if not is_tag(token)).casefold() for side in (first.x, first.y)) in _NAMES:
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


def check_columns(columns: tuple[int, ...] | None) -> None:
    """Raises an error unless the columns are two or three different numbers from 1, or none are chosen."""
    if columns is None:
        return
    numbers = not isinstance(columns, str) and all(isinstance(column, int) for column in columns)
    if not numbers or len(columns) not in (2, 3) or len({*columns}) < len(columns) or min(columns) < 1:
        told = ", ".join(map(str, columns)) if numbers else repr(columns)
        raise RecombineError(
            f"cannot read the columns {told or 'of an empty list'}.",
            hint="Expected the numbers of two columns (input, output) or three (and features), different, from 1.",
        )


def parse(lines: Iterable[Line], *, tokens: str, columns: tuple[int, ...] | None = None) -> Iterator[Example]:
    """Yields an example for each line.

    Args:
        lines: The lines; all must have as many columns as the first, and two where none are chosen.
        tokens: ``"words"`` or ``"characters"``.
        columns: The columns of input and output, and perhaps of features between semicolons, which join the input as
            tag tokens; from 1. None: the only two.

    Raises:
        RecombineError: If a column is missing, empty or too many.
    """
    width = len(COLUMNS) if columns is None else None
    columns = columns or COLUMNS
    for line in lines:
        fields = line.text.split("\t")
        width = width or max(len(fields), *columns)
        if len(fields) != width:
            raise _wrong_width(line, len(fields), width)
        x, y, *features = (fields[column - 1] for column in columns)
        tags = tuple(map(tag_token, split_tags(features[0], line=line))) if features else ()
        yield Example(
            x=check_side(split(x, tokens), f"input (column {columns[0]})", line=line) + tags,
            y=check_side(split(y, tokens), f"output (column {columns[1]})", line=line),
        )


def render(example: Example, *, tokens: str) -> str:
    """Returns the line of an example: input, tab, output."""
    return f"{join(example.x, tokens)}\t{join(example.y, tokens)}"


def _wrong_width(line: Line, found: int, expected: int) -> RecombineError:
    number = f"{found} column{'' if found == 1 else 's'}"
    message = f"found {number} in {shown(line.text)}, expected {expected} separated by tabs."
    if found == 1:
        return line.error(message, hint=_instead_of_tabs(line))
    if found < expected:
        return line.error(message, hint="Fill in the missing column, or choose others: `columns`.")
    hint = (
        "Remove the stray tab, or choose `columns`. Lemma, form, tags are read by `format='sigmorphon'`; in another "
        "order they are read with `tokens='characters'` and `columns`, the numbers of lemma, form and tags. A "
        "line that names the columns is skipped with `header=True`."
    )
    return line.error(message, hint=hint)


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
