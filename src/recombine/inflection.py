"""Word forms with fields of their own (lemma, tags, form) and the two orders in which models see them.

The generator sees lemma, tags ▷ form (reinflection); the predictor sees form ▷ lemma, tags (analysis): appendix C of
the paper. Characters and tags share one vocabulary, so a tag travels as ``[TAG]``, longer than any character, and the
fields can be told apart again in whatever a model generates.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from recombine.errors import RecombineError, unknown
from recombine.example import Example, Tokens


def tag_token(tag: str) -> str:
    """Returns the token that stands for a tag: ``PST`` becomes ``[PST]``."""
    return f"[{tag}]"


def is_tag(token: str) -> bool:
    """Tells tag tokens from characters, which are one code point long."""
    return len(token) > 2 and token[0] == "[" and token[-1] == "]"


def is_named_tag(token: str) -> bool:
    """Tells tags with names, such as PST, from characters and from tags that begin with a digit, such as 1S."""
    return is_tag(token) and not token[1].isdigit()


@dataclass(frozen=True, slots=True)
class Inflection:
    """A word form with its analysis.

    Attributes:
        lemma: The base form, spaces and all.
        tags: The features, in the order of the file.
        form: The inflected form, spaces and all.
    """

    lemma: str
    tags: Tokens
    form: str

    @property
    def for_generation(self) -> Example:
        """Lemma, tags ▷ form: the order in which the generator writes."""
        return Example(x=(*self.lemma, *map(tag_token, self.tags)), y=tuple(self.form))

    @classmethod
    def from_fields(cls, analysis: Tokens, form: Tokens) -> Self:
        """Puts the record together from tokens, as a model may have written them: characters, tags | characters."""
        lemma, tags = split_analysis(analysis)
        if not lemma or not tags or not form or any(map(is_tag, form)):
            raise RecombineError(
                f"{' '.join(analysis)!r} with {''.join(form)!r} is no word form with its analysis.",
                hint="Expected the lemma's characters, then at least one tag; and the form's characters.",
            )
        if any(is_tag(token) for token in lemma):
            raise RecombineError(f"{' '.join(analysis)!r} has a tag before the end of the lemma.")
        return cls(lemma="".join(lemma), tags=tuple(tag[1:-1] for tag in tags), form="".join(form))


def split_analysis(analysis: Tokens) -> tuple[Tokens, Tokens]:
    """Splits an analysis before its final run of tag tokens: (lemma characters, tag tokens)."""
    end = len(analysis)
    while end and is_tag(analysis[end - 1]):
        end -= 1
    return analysis[:end], analysis[end:]


def split_text(text: str) -> Tokens:
    """Returns the tokens of a form, or of an analysis with its tags at the end: ``gel [V] [PST]``."""
    words, tags = split_analysis(tuple(text.split(" ")))
    return (*" ".join(words), *tags)


def join_text(tokens: Tokens) -> str:
    """Returns the text of a form or an analysis, which ``split_text`` takes apart."""
    characters, tags = split_analysis(tokens)
    return " ".join(filter(None, ("".join(characters), *tags)))


def is_inflection(example: Example) -> bool:
    """Tells whether an example is a word form in the generator's order: characters, then tags ▷ characters."""
    lemma, tags = split_analysis(example.x)
    return bool(lemma and tags) and not any(map(is_tag, example.y)) and max(map(len, (*lemma, *example.y))) == 1


def are_inflections(examples: Iterable[Example]) -> bool:
    """Tells whether all examples are word forms in the generator's order."""
    return all(map(is_inflection, examples))


def are_of_word_forms(tokens: Iterable[str]) -> bool:
    """Tells whether tokens are those of word forms: characters and tags, and some of them tags."""
    longer = [token for token in tokens if len(token) > 1]
    return bool(longer) and all(map(is_tag, longer))


ANALYSIS, INFLECTION = DIRECTIONS = ("analysis", "inflection")
"""What predictors learn of word forms: from the form to lemma and tags, or back."""


def are_word_forms(examples: Sequence[Example]) -> bool:
    """Tells whether all examples are word forms, in one of the two orders."""
    return are_inflections(examples) or are_inflections(map(reordered, examples))


def directed(examples: Iterable[Example], direction: str = ANALYSIS) -> list[Example]:
    """Returns word forms, in whichever order each is, as a predictor of a direction sees them.

    Other examples stay as they are. Decide by the training data whether examples are word forms at all
    (``are_word_forms``): a single example of another kind may look like one.
    """
    if direction not in DIRECTIONS:
        raise unknown("direction", str(direction), DIRECTIONS)
    found = []
    for example in examples:
        swapped = reordered(example)
        found.append(swapped if is_inflection(example if direction == ANALYSIS else swapped) else example)
    return found


def reordered(example: Example) -> Example:
    """Returns the example with its sides swapped: generation order becomes analysis order and back.

    The token sources of its provenance move with their tokens; positions within prototypes stay in the prototypes'
    order, and positions within the example itself are renumbered.
    """
    swapped = replace(example, x=example.y, y=example.x)
    provenance = example.provenance
    if provenance is None or not provenance.sources:
        return swapped
    old, new = len(example.x), len(example.y)

    def renumber(source: str) -> str:
        kind, _, position = source.partition(":")
        if kind != "own":
            return source
        place = int(position)
        return f"own:{place + new if place <= old else place - old}"

    moved = provenance.sources[old:] + provenance.sources[:old]
    return swapped.with_provenance(replace(provenance, sources=tuple(map(renumber, moved))))
