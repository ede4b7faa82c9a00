"""What the models of a folder have in common: a population's recipe, seeds, vocabulary and weights."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor

from recombine.data.tokenization import check_kind
from recombine.data.vocabulary import Vocabulary
from recombine.errors import unknown
from recombine.inflection import DIRECTIONS
from recombine.models.architecture import Architecture
from recombine.models.recombiner import Recombiner
from recombine.training.device import resolve
from recombine.training.fit import Fitted, Recipe
from recombine.training.folder import read_settings
from recombine.training.loop import History
from recombine.training.tensors import read_tensors, write_tensors
from recombine.training.untrusted import fitting, typed

WEIGHTS = "weights.safetensors"
TOKENS = "tokens"
"""The note that says what a token of a string was."""
DIRECTION = "direction"
"""The note that says of word forms which side was the input: one of ``DIRECTIONS``."""


@dataclass(frozen=True)
class Stored:
    """A population as it lies on disk.

    Attributes:
        recipe: How it was trained.
        seeds: One per replica.
        vocabulary: Its tokens.
        fitted: The networks and how they came about.
        notes: What else is kept for whoever trained it, JSON-friendly; no network depends on it.
    """

    recipe: Recipe
    seeds: Sequence[int]
    vocabulary: Vocabulary
    fitted: Fitted
    notes: Mapping[str, Any] = field(default_factory=dict)

    def settings(self) -> dict[str, Any]:
        """Returns what goes into the manifest."""
        notes = {"notes": dict(self.notes)} if self.notes else {}
        return notes | {
            "recipe": asdict(self.recipe),
            "network": asdict(self.fitted.model.architecture),
            "seeds": list(self.seeds),
            "vocabulary": list(self.vocabulary.tokens),
            # Without the seconds, which differ from run to run: the same seed gives the same bytes.
            "history": asdict(replace(self.fitted.history, seconds=0.0)),
        }

    def write(self, folder: Path) -> None:
        """Writes the weights."""
        write_tensors(folder / WEIGHTS, self.fitted.model.state_dict(), {})

    @classmethod
    def read(cls, folder: Path, settings: Mapping[str, Any], device: str) -> Self:
        """Reads the weights and puts the networks together."""
        tensors, _ = read_tensors(folder / WEIGHTS)
        with fitting(folder):
            recipe, network = typed(settings["recipe"], Recipe), typed(settings["network"], Architecture)
            seeds = typed(settings["seeds"], tuple[int, ...])
            _check_shapes(network, len(seeds), tensors)
            model = Recombiner(network, len(seeds))
            model.load_state_dict(tensors)
            history = typed(settings["history"], History)
            vocabulary = Vocabulary(typed(settings["vocabulary"], tuple[str, ...]))
            notes = _notes(settings)
        return cls(recipe, seeds, vocabulary, Fitted(model.to(resolve(device)).eval(), history), notes)


def read_notes(folder: Path, kind: str) -> Mapping[str, Any]:
    """Returns the notes of a model of a kind, without its networks."""
    settings = read_settings(folder, kind)
    with fitting(folder):
        return _notes(settings)


def _notes(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    notes = settings.get("notes", {})
    if not isinstance(notes, dict):
        raise TypeError(f"{notes!r} are no notes")
    return notes


def kind_of_tokens(notes: Mapping[str, Any]) -> str | None:
    """Returns what a token of a string was in training; None if the notes do not say.

    Raises:
        RecombineError: If they say what is no kind of token.
    """
    kind = notes.get(TOKENS)
    if kind is not None:
        check_kind(str(kind))
    return kind


def direction_of(notes: Mapping[str, Any]) -> str | None:
    """Returns in which direction word forms were learned; None if the notes do not say, or of what is none.

    Raises:
        RecombineError: If they say what is no direction.
    """
    found = notes.get(DIRECTION)
    if found is not None and found not in DIRECTIONS:
        raise unknown("direction", str(found), DIRECTIONS)
    return found


def _check_shapes(network: Architecture, replicas: int, tensors: Mapping[str, Tensor]) -> None:
    """Raises an error for weights that are not this network's, before it takes the memory that its settings ask for."""
    if not replicas or network.prototypes not in range(3):
        raise ValueError(f"{replicas} networks with {network.prototypes} prototypes")
    with torch.device("meta"):
        expected = Recombiner(network, replicas).state_dict()
    shapes = [{name: (each.shape, each.dtype) for name, each in part.items()} for part in (expected, tensors)]
    if shapes[0] != shapes[1]:
        raise ValueError("shapes differ")
