"""Which samples are kept: validators, and several of them as one."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from recombine.augmentation.protocol import Validator
from recombine.augmentation.resample import Resampler
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import are_inflections, is_inflection
from recombine.own_data.choices import NOTHING, TOKENS, Choice

Rarity = Literal["auto"] | Validator | None
"""What samples must have something rare by: ``auto`` (see ``choices.rarity``), a resampler, which is fitted to the
examples, or any function that returns why a sample is turned down, or None to keep it; None: all samples will do."""


def well_formed(examples: Sequence[Example]) -> Validator | None:
    """Returns what all samples of such examples must be: of word forms, word forms; else anything."""
    return _word_form if are_inflections(examples) else None


def _word_form(sample: Example) -> str | None:
    return None if is_inflection(sample) else "no word form"


def all_of(*validators: Validator | None) -> Validator | None:
    """Returns the validator that asks others in turn and gives the first reason; None if there are none."""
    asked = [validator for validator in validators if validator is not None]
    if not asked:
        return None
    return lambda sample: next((reason for validator in asked if (reason := validator(sample)) is not None), None)


def check_function(name: str, value: object) -> None:
    """Raises the error for a setting that is neither a function nor None."""
    if value is not None and not callable(value):
        raise RecombineError(f"the {name} is {value!r}, expected a function or None.")


def rarity_rule(
    rarity: Rarity, examples: Sequence[Example], chosen: Choice[Resampler | None]
) -> Choice[Validator | None]:
    """Returns what tells rare from common.

    Args:
        rarity: What a user asked for.
        examples: The training examples.
        chosen: What ``auto`` stands for.

    Raises:
        RecombineError: If it is nothing that could.
    """
    if isinstance(rarity, Resampler):
        fitted = replace(rarity).fit(examples)
        return Choice(TOKENS if fitted.ngram == 1 else "n-grams", fitted, f"as given: {rarity}")
    if rarity == "auto":
        return chosen
    if rarity is None:
        return Choice(NOTHING, None, "as given: all samples are kept")
    if not callable(rarity):
        raise RecombineError(f"the rarity is {rarity!r}, expected 'auto', a Resampler, a function or None.")
    return Choice("your own", partial(_asked, rarity), "as given")


def _asked(rarity: Validator, sample: Example) -> str | None:
    reason = rarity(sample)
    if reason is not None and not isinstance(reason, str):
        raise RecombineError(
            f"the rarity function returned {reason!r}, expected None for what is rare or else the reason, a string."
        )
    return reason
