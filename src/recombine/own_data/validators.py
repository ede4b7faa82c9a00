"""Which samples are kept: validators, and several of them as one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from recombine.augmentation.protocol import Validator
from recombine.augmentation.resample import Resampler
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import are_inflections, is_inflection
from recombine.own_data.choices import Choice

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


def rarity_rule(rarity: Rarity, examples: Sequence[Example], chosen: Choice[Resampler | None]) -> Validator | None:
    """Returns what tells rare from common.

    Args:
        rarity: What a user asked for.
        examples: The training examples.
        chosen: What ``auto`` stands for.

    Raises:
        RecombineError: If it is nothing that could.
    """
    if isinstance(rarity, Resampler):
        return replace(rarity).fit(examples)
    if rarity == "auto":
        return chosen.value
    if rarity is not None and not callable(rarity):
        raise RecombineError(f"the rarity is {rarity!r}, expected 'auto', a Resampler, a function or None.")
    return rarity
