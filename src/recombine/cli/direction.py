"""Says of word forms which side is the input: commands and formats differ in it, and nobody could guess it."""

from collections.abc import Mapping, Sequence
from typing import Any

from recombine.cli.printing import say
from recombine.cli.reading import are_inflections
from recombine.example import Example
from recombine.inflection import DIRECTIONS, reordered

INFLECTION = "Word forms, as inflection: lemma and tags are the input, the form is the output."
ANALYSIS = "Word forms, as analysis: the form is the input, lemma and tags are the output."


def direction(examples: Sequence[Example]) -> str | None:
    """Returns a sentence on which side of word forms is the input; None if the examples are no word forms."""
    if are_inflections(examples):
        return INFLECTION
    return ANALYSIS if are_inflections(map(reordered, examples)) else None


def warn_of_direction(model: str, notes: Mapping[str, Any], asked: str | None) -> None:
    """Warns where a model is asked for what it has not learned.

    Args:
        model: Its folder.
        notes: What is kept with it.
        asked: ``INFLECTION`` or ``ANALYSIS``; None: nothing is known.
    """
    from recombine.training.stored import direction_of

    learned = direction_of(notes)
    if asked is None or learned is None or (ANALYSIS, INFLECTION)[DIRECTIONS.index(learned)] == asked:
        return
    what = "lemma and tags were the input" if learned == "inflection" else "forms were the input"
    how = "Give lemma, form, tags without --columns (in predict, any form will do), or inputs like g o l a r [V] [PST]."
    how = how if learned == "inflection" else "Give lemma, form, tags without --columns, or forms."
    say(f"Warning: {model} was trained for {learned}: {what}. {how}")


def say_direction(examples: Sequence[Example], *, otherwise: str = "") -> None:
    """Says which side of word forms is the input; of other examples nothing.

    Args:
        examples: The examples, in the order in which they are learned, predicted or written.
        otherwise: What to say of analyses besides: how to have the other direction.
    """
    found = direction(examples)
    if found is not None:
        say(f"{found}{otherwise if found == ANALYSIS else ''}")
