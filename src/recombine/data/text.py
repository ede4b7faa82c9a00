r"""Text of files: its lines, each with its place, and the tokens of a line.

Only ``\n`` and ``\r\n`` end a line: other line separators of Unicode are characters like any other, and nothing is
normalised.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from sys import intern

from recombine.data import code
from recombine.errors import RecombineError, unknown
from recombine.example import Tokens

MAX_LINE = 100_000
"""The longest line that is read or written, in characters; a longer one means that the file is of another kind."""

MAX_TOKENS = 10_000
"""The longest input or output, in tokens: tables of examples are as wide as the longest."""

TOKENS = ("words", "characters", "code")
"""What a token is: a run of anything but spaces; one code point (a space is a token then); or, in ``"code"``, a word, a
number or a mark such as a bracket, a quote or ``>=``, with the spaces of a text restored (`recombine.data.code`)."""

STANDARD = "-"
"""Stands for standard input or standard output."""

_MAX_BYTES = 4 * MAX_LINE + 8  # a code point takes at most 4 bytes; the rest holds a mark and a line end
_BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
_FORBIDDEN = re.compile(r"[\0\t\n\r\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text without its end, and where it stands: the file's name for people, and its number, from 1."""

    text: str
    file: str
    number: int

    def error(self, message: str, *, hint: str | None = None) -> RecombineError:
        """Returns the error that speaks of this line."""
        return RecombineError(message, place=f"{self.file}:{self.number}", hint=hint)


def shown(value: object) -> str:
    """Returns a value of the user's as an error message quotes it: short, with control characters visible."""
    text = value if isinstance(value, str) else repr(value)
    text = text if len(text) <= 60 else f"{text[:57]}..."
    return repr(text) if isinstance(value, str) else text


def read_lines(source: str | Path) -> Iterator[Line]:
    """Yields the lines of a file, or of standard input (``-``), as they come, without waiting for its end.

    Blank lines at the end are no lines.
    """
    is_standard = str(source) == STANDARD
    file = "stdin" if is_standard else str(source)
    blank: Line | None = None
    offset = 0
    try:
        with nullcontext(sys.stdin.buffer) if is_standard else Path(source).open("rb") as stream:
            for number in count(1):
                raw = stream.readline(_MAX_BYTES)
                if not raw:
                    return
                line = decode(raw, file=file, number=number, offset=offset)
                offset += len(raw)
                if not line.text.strip(" "):
                    blank = blank or line
                elif blank:
                    hint = "Remove the line; blank lines may only stand at the end of the file."
                    raise blank.error("the line is blank; expected an example in each line.", hint=hint)
                else:
                    yield line
    except FileNotFoundError:
        raise RecombineError("there is no such file.", place=file, hint="Check the path.") from None
    except IsADirectoryError:
        raise RecombineError("this is a folder; expected a file.", place=file, hint="Name one in it.") from None
    except OSError as error:
        raise RecombineError(f"the file cannot be read: {error.strerror or error}.", place=file) from error


def decode(raw: bytes, *, file: str, number: int, offset: int = 0) -> Line:
    """Returns a line, by its number in a file, from its bytes, with the line's end if it has one.

    The first line may begin with a byte-order mark, which is dropped. `offset` bytes of the file come before.
    """
    found = Line("", file, number)
    if b"\0" in raw:
        raise found.error(
            f"the file is binary (a NUL byte at offset {offset + raw.index(0)}); expected text in UTF-8.",
            hint="If it is compressed, unpack it. If it is text in UTF-16: iconv -f UTF-16 -t UTF-8 FILE > NEW.",
        )
    # The last character may be cut off where a line is too long to be read whole.
    is_whole = len(raw) < _MAX_BYTES
    try:
        text = raw.decode("utf-8", "strict" if is_whole else "ignore")
    except UnicodeDecodeError as error:
        raise found.error(
            f"the byte 0x{raw[error.start]:02X} at offset {offset + error.start} is not UTF-8; expected text in UTF-8.",
            hint="If the file is in Latin-1, convert it: iconv -f LATIN1 -t UTF-8 FILE > NEW. "
            "Else name its own encoding there: Turkish may be in ISO-8859-9.",
        ) from None
    if number == 1:
        text = text.removeprefix(_BYTE_ORDER_MARK)
    text = text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text
    if len(text) > MAX_LINE or not is_whole:
        raise found.error(
            f"the line is longer than {MAX_LINE:,} characters, the most that an example may have.",
            hint="Check that the file has one example in each line.",
        )
    if "\r" in text:
        raise found.error(
            f"a carriage return stands inside the line, at character {text.index(chr(13)) + 1}.",
            hint="Lines end in \\n or \\r\\n. If the file has old Macintosh line ends: tr '\\r' '\\n' < FILE > NEW.",
        )
    return Line(text, file, number)


def check_kind(tokens: str) -> None:
    """Raises the error for a kind of token that is not in ``TOKENS``."""
    if tokens not in TOKENS:
        raise unknown("token kind", tokens, TOKENS)


def split(text: str, tokens: str) -> Tokens:
    """Returns the tokens of a text: the words between spaces, the characters, or the words and marks of code."""
    if tokens == "characters":
        return tuple(text)
    if tokens == "code":
        return code.split(text) if text.strip(" ") else ()
    # Words recur: one string for all that are equal takes a tenth of the memory, and is compared in no time.
    return tuple([intern(word) for word in text.split(" ") if word])


def join(side: Iterable[str], tokens: str) -> str:
    """Returns the text of tokens; ``split`` gives them back, except words with spaces and longer characters.

    Of code, it gives back those that are as it would split the text; a network may have others for the same text.
    """
    if tokens == "code":
        return code.join(side)
    return ("" if tokens == "characters" else " ").join(side)


def check_side(side: Tokens, name: str, *, line: Line) -> Tokens:
    """Returns one side of an example, which messages call by its name, if it can stand in a file.

    A token cannot hold half a surrogate pair, since UTF-8 cannot encode it.
    """
    if not side:
        raise line.error(f"the {name} is empty; expected at least one token.", hint="Fill it in or remove the line.")
    if len(side) > MAX_TOKENS:
        hint = "Check that a line holds one example, and what a token is; cut long sequences into shorter ones."
        raise line.error(f"the {name} has {len(side):,} tokens, expected at most {MAX_TOKENS:,}.", hint=hint)
    if "" in side:
        raise line.error(f"the {name} holds an empty token; expected at least one character in each.")
    if _FORBIDDEN.search("".join(side)):
        token = next(token for token in side if _FORBIDDEN.search(token))
        raise line.error(
            f"the {name} holds the token {shown(token)}; expected no NUL, tab, line break or lone surrogate in it."
        )
    return side
