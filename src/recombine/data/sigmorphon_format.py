"""The three columns of the SIGMORPHON shared tasks: lemma, form, tags between semicolons."""

import re
from collections.abc import Iterable, Iterator

from recombine.data.limits import check_length
from recombine.data.text import Line, shown
from recombine.data.tokenization import split_tags
from recombine.example import Example
from recombine.inflection import Inflection

_NAMES = ("lemma", "form", "tags")
_TAGS = re.compile(r"[A-Z][A-Za-z0-9.+/{}_-]*(;[A-Za-z0-9{][A-Za-z0-9.+/{}_-]*)+")


def recognises(text: str) -> bool:
    """Tells whether a line looks like this format: three columns, the last like ``V;IND;PST``."""
    fields = text.split("\t")
    return len(fields) == len(_NAMES) and _TAGS.fullmatch(fields[-1]) is not None


def parse_inflections(lines: Iterable[Line]) -> Iterator[Inflection]:
    """Yields a word form with its analysis for each line.

    Raises:
        RecombineError: If a line does not have three columns, or one is empty.
    """
    for line in lines:
        fields = line.text.split("\t")
        if len(fields) != len(_NAMES):
            raise line.error(
                f"found {len(fields)} column{'' if len(fields) == 1 else 's'} in {shown(line.text)}, "
                "expected 3 separated by tabs: lemma, form, tags.",
                hint="If the file has another format, name it: `format`.",
            )
        for name, field in zip(_NAMES, fields, strict=True):
            if not field:
                raise line.error(
                    f"the column of the {name} is empty; expected lemma, form, tags.",
                    hint="Fill it in or remove the line.",
                )
        lemma, form, tags = fields
        check_length(max(len(lemma), len(form)), "longer of lemma and form", place=line.place)
        yield Inflection(lemma=lemma, tags=split_tags(tags, line=line), form=form)


def parse(lines: Iterable[Line]) -> Iterator[Example]:
    """Yields each line as an example in the generator's order: lemma, tags ▷ form."""
    return (inflection.for_generation for inflection in parse_inflections(lines))


def render(example: Example) -> str:
    """Returns the line of an example in the generator's order.

    Raises:
        RecombineError: If the example is not of the form lemma, tags ▷ form.
    """
    inflection = Inflection.from_fields(example.x, example.y)
    return "\t".join((inflection.lemma, inflection.form, ";".join(inflection.tags)))
