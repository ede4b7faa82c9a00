"""Tokens and their ids: the border between strings and numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Self

from recombine.data.limits import check_vocabulary
from recombine.example import SEPARATOR, Example, Tokens

PAD, BOS, UNK, EOS, SEP = range(5)
"""Ids that stand for no token of the data: padding, start, unknown, end, and the ▷ between x and y."""


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a training set, inputs and outputs together.

    Attributes:
        tokens: The tokens, sorted; token i has id 5 + i, after the five ids above.
    """

    tokens: Tokens
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)
    _tokens: dict[int, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        tokens = {SEP + 1 + i: token for i, token in enumerate(self.tokens)} | {SEP: SEPARATOR}
        object.__setattr__(self, "_tokens", tokens)
        object.__setattr__(self, "_ids", {token: i for i, token in tokens.items()})

    @classmethod
    def of(cls, examples: Iterable[Example]) -> Self:
        """Collects the tokens of examples. Test sets have no business here.

        Raises:
            RecombineError: If there are too many.
        """
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
