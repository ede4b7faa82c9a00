"""Examples as texts: pairs, "walk twice ▷ WALK WALK", and word forms, "cantar canto PRS;1;SG"."""

from recombine.example import Example
from recombine.inflection import Inflection


def pair(text: str) -> Example:
    x, y = text.split(" ▷ ")
    return Example(tuple(x.split()), tuple(y.split()))


def pairs(*texts: str) -> list[Example]:
    return list(map(pair, texts))


def word(text: str) -> Example:
    lemma, form, tags = text.split()
    return Inflection(lemma, tuple(tags.split(";")), form).for_generation


def words(*texts: str) -> list[Example]:
    return list(map(word, texts))
