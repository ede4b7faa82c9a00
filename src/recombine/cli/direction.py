"""Says of word forms which side is the input: commands and formats differ in it, and nobody could guess it."""

from collections.abc import Mapping, Sequence
from typing import Any

from recombine.cli.printing import say
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import DIRECTIONS, are_inflections, are_word_forms, reordered

INFLECTION = "Word forms, as inflection: lemma and tags are the input, the form is the output."
ANALYSIS = "Word forms, as analysis: the form is the input, lemma and tags are the output."
SENTENCES = dict(zip(DIRECTIONS, (ANALYSIS, INFLECTION), strict=True))


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
    if asked is None or learned is None or SENTENCES[learned] == asked:
        return
    what, give = (
        ("lemma and tags were the input", " (in predict, any form will do), or inputs like g o l a r [V] [PST]")
        if learned == "inflection"
        else ("forms were the input", ", or forms")
    )
    say(f"Warning: {model} was trained for {learned}: {what}. Give lemma, form, tags without --columns{give}.")


def check_direction(direction: str | None, examples: Sequence[Example], *, place: str) -> None:
    """Raises the error for a direction that was asked for of examples that are no word forms."""
    if direction is not None and not are_word_forms(examples):
        raise RecombineError("these are no word forms, which --direction is for.", place=place, hint="Leave it out.")


def say_direction(examples: Sequence[Example], *, otherwise: str = "") -> None:
    """Says which side of word forms is the input; of other examples nothing.

    Args:
        examples: The examples, in the order in which they are learned, predicted or written.
        otherwise: What to say of analyses besides: how to have the other direction.
    """
    found = direction(examples)
    if found is not None:
        say(f"{found}{otherwise if found == ANALYSIS else ''}")
