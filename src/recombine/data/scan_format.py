"""The lines of the published SCAN files: ``IN: jump twice OUT: I_JUMP I_JUMP``."""

from collections.abc import Iterable, Iterator

from recombine.data.text import Line, shown
from recombine.data.tokenization import check_side, join, split
from recombine.example import Example

START = "IN:"
_MIDDLE = "OUT:"


def parse(lines: Iterable[Line]) -> Iterator[Example]:
    """Yields an example for each line.

    Raises:
        RecombineError: If a line does not have the words ``IN:`` and ``OUT:`` in their places, once, each followed by
            at least one token.
    """
    for line in lines:
        words = split(line.text, "words")
        if words[:1] != (START,) or words.count(_MIDDLE) != 1 or START in words[1:]:
            raise line.error(
                f"found {shown(line.text)}, expected 'IN: input tokens OUT: output tokens'.",
                hint="If the file has another format, name it: `format`.",
            )
        middle = words.index(_MIDDLE)
        yield Example(
            x=check_side(words[1:middle], "input (after IN:)", line=line),
            y=check_side(words[middle + 1 :], "output (after OUT:)", line=line),
        )


def render(example: Example) -> str:
    """Returns the line of an example."""
    return f"{START} {join(example.x, 'words')} {_MIDDLE} {join(example.y, 'words')}"
