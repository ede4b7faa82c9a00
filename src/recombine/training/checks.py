"""Refuses recipes that cannot be followed, before any work."""

from numbers import Integral
from typing import TYPE_CHECKING

from recombine.errors import RecombineError

if TYPE_CHECKING:
    from recombine.training.fit import Recipe

WHOLE = {"batch": 1, "sorting": 1, "epochs": 1, "min_steps": 0, "max_steps": 1, "averaging": 0}
"""Settings that are whole numbers, and the least that each can be."""

POSITIVE = ("lr", "clip", "max_time")
"""Settings that are more than 0, and finite."""


def check_recipe(recipe: "Recipe") -> None:
    """Raises the error for numbers of epochs, steps or sequences that are none, and rates or times out of range.

    Args:
        recipe: How a network is to be trained; what is None in it is not set.
    """
    for name, least in WHOLE.items():
        value = getattr(recipe, name)
        if value is not None and (not isinstance(value, Integral) or value < least):
            raise RecombineError(f"{name} is {value!r}, expected a whole number, at least {least}.")
    for name in POSITIVE:
        value = getattr(recipe, name)
        if value is not None and (not isinstance(value, int | float) or not 0 < value < float("inf")):
            raise RecombineError(f"{name} is {value!r}, expected a number above 0.")
    if recipe.own_epochs and (recipe.min_steps or recipe.max_steps is not None):
        raise RecombineError("epochs of their own have no bounds in steps.", hint="Set own_epochs to False.")
