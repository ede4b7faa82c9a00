"""Learned compositional data augmentation for sequence-to-sequence data."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recombine.data.files import read
    from recombine.errors import RecombineError
    from recombine.own_data.augmenters import GECA, Augmenter, Auto, Both, Oversampler, Paradigms, Spans
    from recombine.own_data.checks import Check
    from recombine.own_data.predictor import Predictor

__version__ = "0.1.0"
__all__ = [
    "GECA",
    "Augmenter",
    "Auto",
    "Both",
    "Check",
    "Oversampler",
    "Paradigms",
    "Predictor",
    "RecombineError",
    "Spans",
    "read",
]

_HOMES = {
    "Augmenter": "recombine.own_data.augmenters",
    "Auto": "recombine.own_data.augmenters",
    "Both": "recombine.own_data.augmenters",
    "Check": "recombine.own_data.checks",
    "GECA": "recombine.own_data.augmenters",
    "Oversampler": "recombine.own_data.augmenters",
    "Paradigms": "recombine.own_data.augmenters",
    "Predictor": "recombine.own_data.predictor",
    "RecombineError": "recombine.errors",
    "Spans": "recombine.own_data.augmenters",
    "read": "recombine.data.files",
}


def __dir__() -> list[str]:
    """Names what users import, whether or not it was asked for yet; completion offers that and no modules."""
    return [*__all__, "__version__"]


def __getattr__(name: str) -> object:
    """Imports a public name when it is first asked for: torch alone takes seconds."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
