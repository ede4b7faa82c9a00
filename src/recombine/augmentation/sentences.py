"""Examples made ready for cutting phrases out of them, and what is cut."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from recombine.augmentation.alignment import Alignment
from recombine.example import Tokens

BEGINNING, END = "", " "
"""Stand before the first and after the last word of an input."""


class Key(NamedTuple):
    """A kind of phrase: words go by the names of their classes, but for one word with no more than it calls for.

    Attributes:
        x: The words.
        meaning: Their part of the output.
        is_word: Whether it is such a word, which stands for itself alone.
    """

    x: Tokens
    meaning: Hashable
    is_word: bool

    @property
    def is_single(self) -> bool:
        """Whether it is one word, or any word of a class."""
        return len(self.x) == 1

    @property
    def is_class(self) -> bool:
        """Whether it is any word of a class, with what stands around what it calls for."""
        return self.is_single and not self.is_word


class Cut(NamedTuple):
    """A phrase that was cut out of an example, and the frame that is left.

    Attributes:
        start: The place of its first word.
        stop: The place after its last word.
        key: The kind of phrase.
        frame_x: What is left of the input, on both sides; words go by the names of their classes.
        frame_y: What is left of the output.
        pieces: Where the parts are in the output, as the view needs them.
        role: What the rest of the output says of the phrase, such as that it is the theme of something; None: nothing.
    """

    start: int
    stop: int
    key: Key
    frame_x: tuple[Tokens, Tokens]
    frame_y: Hashable
    pieces: Any
    role: Hashable = None


@dataclass(eq=False)
class Sentence:
    """An example that can be cut.

    Attributes:
        x: The input.
        y: The output.
        alignment: Tells the classes of words.
        words: For each token of the output, the word that calls for it, if there is one.
        links: For each token of the output, the places of the words that may have called for it.
        parsed: What the view makes of the output.
        origins: For each token, of x and then of y, the number of the training example that it is from and its place
            there; a number below 0: of none.
    """

    x: Tokens
    y: Tokens
    alignment: Alignment
    words: tuple[str | None, ...]
    links: tuple[tuple[int, ...], ...]
    parsed: Any = None
    origins: tuple[tuple[int, int], ...] = ()

    @cached_property
    def called(self) -> set[str]:
        """The words that call for something in this output, and have a class."""
        return self.alignment.classes.keys() & {word for word in self.words if word is not None}

    @property
    def output_origins(self) -> tuple[tuple[int, int], ...]:
        """Where the tokens of the output are from; what stands at place -1 is from nowhere."""
        return (*self.origins[len(self.x) :], (-1, 0))

    @cached_property
    def template(self) -> tuple[Tokens, Tokens]:
        """The input and the output with the names of classes for words, and for what they call for."""
        names = names_of(self, range(len(self.x)))
        called = zip(self.words, self.y, strict=True)
        return renamed(self.x, names), tuple([names.get(word or "", token) for word, token in called])

    @cached_property
    def classes(self) -> tuple[str | None, ...]:
        """For each word of the input the name of its class, if it calls for something."""
        return tuple([self.alignment.classes[word] if word in self.called else None for word in self.x])

    @cached_property
    def _padded(self) -> Tokens:
        """The ends, and between them what stands at each place: a class or a word."""
        return (BEGINNING, *(name or word for name, word in zip(self.classes, self.x, strict=True)), END)

    def neighbor(self, place: int) -> str:
        """Returns what stands at a place as its neighbors see it: a class, a word or, outside, an end."""
        return self._padded[place + 1]

    def neighbors(self, start: int, stop: int) -> tuple[str, str]:
        """Returns what stands before and after a phrase."""
        return self._padded[start], self._padded[stop + 1]

    def frame_of_input(self, start: int, stop: int, names: Mapping[str, str]) -> tuple[Tokens, Tokens]:
        """Returns what is left of the input without a phrase."""
        return renamed(self.x[:start], names), renamed(self.x[stop:], names)


def names_of(sentence: Sentence, places: Iterable[int]) -> dict[str, str]:
    """Names the words at some places by their classes, and numbers them in order; words that call for nothing stay."""
    found: dict[str, str] = {}
    for place in places:
        name, word = sentence.classes[place], sentence.x[place]
        if name is not None and word not in found:
            found[word] = f"{name}{len(found)}"
    return found


def inner_and_outer_names(sentence: Sentence, start: int, stop: int) -> tuple[dict[str, str], dict[str, str]]:
    """Returns names for the words of a phrase, none if it is one word, and for the others."""
    inner = names_of(sentence, range(start, stop)) if stop - start > 1 else {}
    return inner, names_of(sentence, (*range(start), *range(stop, len(sentence.x))))


def renamed(tokens: Iterable[str], names: Mapping[str, str]) -> Tokens:
    """Returns tokens, those that have a name by their name."""
    return tuple([names.get(token, token) for token in tokens])
