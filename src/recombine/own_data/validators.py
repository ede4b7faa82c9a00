"""Which samples are kept: validators, and several of them as one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from recombine.augmentation.agreement import Agreement
from recombine.augmentation.exponents import Exponents
from recombine.augmentation.protocol import Validator
from recombine.augmentation.resample import Resampler
from recombine.data.text import shown
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.inflection import are_inflections, is_inflection, is_tag
from recombine.own_data.choices import NOTHING, TOKENS, Choice

Judge = Callable[[Example], str | bool | None]
"""A function of a user's own that looks at a sample: True or None keeps it, False or the reason, a string, does not. So
a function that returns nothing keeps all. The reason that False stands for is the function's name."""

Rarity = Literal["auto"] | Judge | None
"""What samples must have something rare by: ``auto`` (see ``choices.rarity``), a resampler, which is fitted to the
examples, or any ``Judge``, which keeps what is rare; None: all samples will do."""


def kept(examples: Sequence[Example], rare: Validator | None, *, agree: bool = True) -> Validator | None:
    """Returns what samples must be: of word forms, word forms; where only the rare are kept, rare and in agreement.

    Args:
        examples: The training examples.
        rare: What samples must have something rare by; None: all will do.
        agree: Whether the rare ones must be in agreement.
    """
    word_form = _word_form if are_inflections(examples) else None
    return all_of(word_form, agreement(examples, rare) if agree and rare is not None else None, rare)


def agreement(examples: Sequence[Example], rare: Validator) -> Validator | None:
    """Returns what finds out samples whose output leaves out, or makes up, what is rare in their input.

    Args:
        examples: The training examples.
        rare: What tells rare from common, fitted to them; which tags of word forms are rare is known of a resampler.
    """
    if not are_inflections(examples):
        return Agreement.of(examples)
    if not isinstance(rare, Resampler):
        return None
    return Exponents.of(examples, {token for found in rare.rare_ for token in found.ngram if is_tag(token)})


def _word_form(sample: Example) -> str | None:
    return None if is_inflection(sample) else "no word form"


def all_of(*validators: Validator | None) -> Validator | None:
    """Returns the validator that asks others in turn and gives the first reason; None if there are none."""
    asked = tuple(validator for validator in validators if validator is not None)
    return _All(asked) if asked else None


@dataclass(frozen=True, eq=False)
class _All:
    asked: tuple[Validator, ...]

    def __call__(self, sample: Example) -> str | None:
        return next((reason for validator in self.asked if (reason := validator(sample)) is not None), None)

    @property
    def common(self) -> frozenset[str] | None:
        """Tokens that are not enough for one of them, and so not for all together."""
        return next((found for validator in self.asked if (found := getattr(validator, "common", None))), None)


def judged(judge: Judge | None, setting: str) -> Validator | None:
    """Returns the validator that a user's own function stands for; None for none.

    Args:
        judge: The function.
        setting: What it was given as: ``validator``, ``accept`` or ``rarity``; a lambda goes by that name.
    """
    return None if judge is None else partial(_reason, judge, setting)


def _reason(judge: Judge, setting: str, sample: Example) -> str | None:
    name = name_of(judge)
    who = f"the {setting} function {name}".rstrip()
    with naming(who, f", for the sample {shown(str(sample))}"):
        said = judge(sample)
    if isinstance(said, bool | np.bool_):
        return None if said else name or setting
    if said is None or isinstance(said, str):
        return said
    raise RecombineError(
        f"{who} returned {shown(repr(said))}, "
        "expected True or None for what is kept, or else False or the reason, a string."
    )


def name_of(function: object) -> str:
    """Returns the name of a user's own function; a lambda has none."""
    return getattr(function, "__name__", "<lambda>").replace("<lambda>", "")


@contextmanager
def naming(who: str, what: str = "") -> Iterator[None]:
    """Says of whatever a user's own function raises who raised it, and of what."""
    try:
        yield
    except RecombineError:
        raise
    except Exception as error:
        raise RecombineError(f"{who} raised {type(error).__name__}: {error}{what}.") from error


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
    return Choice("your own", judged(rarity, "rarity"), "as given")
