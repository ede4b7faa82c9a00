"""Tokens and their ids, the border between strings and numbers; and signs that tokens are not what they should be."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import add
from random import Random
from types import MappingProxyType
from typing import Any, Self, TypeVar

from recombine.data.untrusted import typed
from recombine.errors import RecombineError
from recombine.example import SEPARATOR, Example, Tokens
from recombine.inflection import is_tag

MAX_VOCABULARY = 1_000_000
"""The most different tokens: each has a row in the tables of a network, and a code point in searches."""

MAX_CELLS = 1 << 30
"""The most places of a table that has a row for each example, as wide as the longest: 8 GB."""

PAD, BOS, UNK, EOS, SEP = range(5)
"""Ids that stand for no token of the data: padding, start, unknown, end, and the ▷ between x and y."""

ONLY_IN_OUTPUTS = "only in outputs"
"""The note of a predictor that says which tokens training had in outputs and in no input."""

NAMED = 10
"""How many unseen tokens are named."""

STRANGE = 0.5
"""New examples with more than this share of tokens that are in no original were hardly made of originals."""

UNLIKE, LEAST = 0.8, 20
"""Outputs or tags are too unlike if this share of them, out of at least this many, have no token in common."""


def check_vocabulary(tokens: int) -> None:
    """Raises the error for too many different tokens."""
    if tokens > MAX_VOCABULARY:
        hint = "Check what a token is; split words into smaller pieces."
        raise RecombineError(f"the examples have more than {MAX_VOCABULARY:,} different tokens.", hint=hint)


def check_table(rows: int, longest: int) -> None:
    """Raises the error for examples whose table would not fit: many, of which some are very long."""
    if rows * longest > MAX_CELLS:
        hint = "Leave out or cut the longest examples, or take a part of the file."
        raise RecombineError(f"{rows:,} examples with up to {longest:,} tokens make too large a table.", hint=hint)


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a training set, inputs and outputs together.

    Attributes:
        tokens: The tokens, sorted; token i has id 5 + i, after the five ids above.
    """

    tokens: Tokens

    @cached_property
    def _tokens(self) -> dict[int, str]:
        return {SEP + 1 + i: token for i, token in enumerate(self.tokens)} | {SEP: SEPARATOR}

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {token: i for i, token in self._tokens.items()}

    @classmethod
    def of(cls, examples: Iterable[Example]) -> Self:
        """Collects the tokens of training examples; those of test sets must stay out."""
        found = {token for example in examples for side in (example.x, example.y) for token in side}
        check_vocabulary(len(found))
        return cls(tuple(sorted(found)))

    def __len__(self) -> int:
        return SEP + 1 + len(self.tokens)

    def encode(self, tokens: Tokens) -> list[int]:
        """Returns the ids of tokens, then EOS; a token never seen becomes UNK."""
        return [*(self._ids.get(token, UNK) for token in tokens), EOS]

    def decode(self, ids: Sequence[int], copied: Mapping[int, str] = MappingProxyType({})) -> Tokens:
        """Returns the tokens before the first EOS; SEP becomes the separator.

        Args:
            ids: Token ids, none of them PAD or BOS before the first EOS.
            copied: The tokens at places whose id is UNK: copied from somewhere, though not in the vocabulary.
        """
        ended = ids[: ids.index(EOS)] if EOS in ids else ids
        if not copied:
            return tuple(map(self._tokens.__getitem__, ended))
        return tuple(copied[place] if i == UNK else self._tokens[i] for place, i in enumerate(ended))

    def unseen(self, examples: Iterable[Example]) -> list[str]:
        """Returns the tokens of examples that are not in the vocabulary, sorted."""
        return sorted({token for example in examples for token in (*example.x, *example.y)} - self._ids.keys())


Token = TypeVar("Token", str, int)

Holders = tuple[int, ...]
"""A set of examples: its size, and sums of its examples' random codes, since sets written out would be too large."""


def holders(sides: Iterable[Sequence[Token]]) -> dict[Token, Holders]:
    """Returns, given one side of each example, the set of examples that hold each token."""
    codes = Random(0)
    sums: dict[Token, Holders] = {}
    for side in sides:
        code = 1, codes.getrandbits(62), codes.getrandbits(62)
        for token in dict.fromkeys(side):
            sums[token] = tuple(map(add, sums[token], code)) if token in sums else code
    return sums


def told_unseen(tokens: Sequence[str]) -> str:
    """Returns how many tokens were never seen in training, and names some of them, for people."""
    more = f" and {len(tokens) - NAMED:,} more" if len(tokens) > NAMED else ""
    return f"Tokens never seen in training: {len(tokens):,} ({', '.join(tokens[:NAMED])}{more})."


def strange_tokens(originals: Sequence[Tokens], new: Sequence[Tokens]) -> list[str]:
    """Returns the tokens of new inputs (or outputs) that no original has, if they are the majority; otherwise nothing.

    One file was then read as words and the other as characters, or the two are of different tasks.
    """
    known = {token for side in originals for token in side}
    strange = [token for side in new for token in side if token not in known]
    return list(dict.fromkeys(strange)) if len(strange) > STRANGE * sum(map(len, new)) else []


def only_in_outputs(examples: Iterable[Example]) -> list[str]:
    """Returns the tokens that stand in outputs and in no input, sorted."""
    inputs, outputs = set[str](), set[str]()
    for example in examples:
        inputs.update(example.x)
        outputs.update(example.y)
    return sorted(outputs - inputs)


def told_swapped(
    inputs: Sequence[Tokens], notes: Mapping[str, Any], columns: str | None = None, alone: bool = True
) -> str:
    """Returns that inputs have mostly tokens that training had in outputs only, as its notes say; else nothing.

    The columns are those that were read, if any were chosen, of this file alone or of the training file as well.
    """
    known = {*typed(notes.get(ONLY_IN_OUTPUTS, []), tuple[str, ...], name=ONLY_IN_OUTPUTS)}
    found = [token for side in inputs for token in side if token in known]
    if len(found) <= STRANGE * sum(map(len, inputs)):
        return ""
    other = ",".join(reversed(columns.split(",")[:2])) if columns else "2,1 (or their names)"
    what = f"most tokens in the inputs, such as {found[0]!r}, were outputs in training and never inputs."
    way = f"Then give --columns {other}." if alone else "Then swap them in the file: --columns is for both files."
    return f"{what} Are its columns swapped? {way}"


def are_unlike(examples: Sequence[Example]) -> bool:
    """Tells whether nearly every output has only tokens of its own, as dates do that are read as words."""
    return _share_little(frozenset(example.y) for example in dict.fromkeys(examples))


def have_tags_of_their_own(examples: Sequence[Example]) -> bool:
    """Tells whether nearly every word form has only tags of its own, as in a file with another order of columns."""
    return _share_little(frozenset(filter(is_tag, example.x)) for example in dict.fromkeys(examples))


def _share_little(each_set: Iterable[frozenset[str]]) -> bool:
    sets = list(each_set)
    seen = Counter(token for each in sets for token in each)
    own = sum(all(seen[token] == 1 for token in each) for each in sets)
    return len(sets) >= LEAST and own >= UNLIKE * len(sets)
