"""Whether tokens are what they should be: new examples share those of the originals; outputs, and tags, share some."""

from collections import Counter
from collections.abc import Sequence

from recombine.example import Example, Tokens
from recombine.inflection import is_tag

STRANGE = 0.5
"""New examples of which more than this share of the tokens is in no original were hardly made of originals."""

UNLIKE, LEAST = 0.8, 20
"""Outputs or tags are too unlike if so many have no token in common with any other, among at least so many."""


def strange_tokens(originals: Sequence[Tokens], new: Sequence[Tokens]) -> list[str]:
    """Returns the tokens of new inputs (or outputs) that are in no original one, if that is most of them; else none.

    So it is where one file was read as words and the other as characters, or where the two are of different tasks.

    Args:
        originals: The inputs, or the outputs, of the original examples.
        new: Those of the new examples.
    """
    known = {token for side in originals for token in side}
    strange = [token for side in new for token in side if token not in known]
    return list(dict.fromkeys(strange)) if len(strange) > STRANGE * sum(map(len, new)) else []


def are_unlike(examples: Sequence[Example]) -> bool:
    """Tells whether nearly every output has only tokens of its own, so that there are no parts to recombine.

    So it is with dates or numbers that are read as words.

    Args:
        examples: Training examples; repetitions count once.
    """
    return _share_little([frozenset(example.y) for example in dict.fromkeys(examples)])


def have_tags_of_their_own(examples: Sequence[Example]) -> bool:
    """Tells whether nearly every word form has only tags of its own, which are hardly tags then.

    So it is where the columns of a file have another order.

    Args:
        examples: Word forms in the generator's order; repetitions count once.
    """
    return _share_little([frozenset(filter(is_tag, example.x)) for example in dict.fromkeys(examples)])


def _share_little(sets: Sequence[frozenset[str]]) -> bool:
    seen = Counter(token for each in sets for token in each)
    own = sum(all(seen[token] == 1 for token in each) for each in sets)
    return len(sets) >= LEAST and own >= UNLIKE * len(sets)
