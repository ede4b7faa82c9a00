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
    "recombine.data.files": ("read",),
    "recombine.errors": ("RecombineError",),
    "recombine.own_data.augmenters": ("GECA", "Augmenter", "Auto", "Both", "Oversampler", "Paradigms", "Spans"),
    "recombine.own_data.checks": ("Check",),
    "recombine.own_data.predictor": ("Predictor",),
}


def __dir__() -> list[str]:
    """Names what users import, whether or not it was asked for yet; completion offers that and no modules."""
    return [*__all__, "__version__"]


def __getattr__(name: str) -> object:
    """Imports a public name when it is first asked for: torch alone takes seconds."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
