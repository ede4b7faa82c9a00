"""What the models of a folder have in common: a population's recipe, seeds, vocabulary and weights."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from recombine.data.output import check_regular, replacing
from recombine.data.text import check_kind
from recombine.data.untrusted import fitting, typed
from recombine.data.vocabulary import Vocabulary
from recombine.errors import RecombineError, unknown
from recombine.inflection import DIRECTIONS
from recombine.models.architecture import Architecture
from recombine.models.device import resolve
from recombine.models.recombiner import Recombiner
from recombine.training.fitted import Fitted, History
from recombine.training.recipe import Recipe


def write_tensors(path: Path, tensors: Mapping[str, Tensor], description: Mapping[str, Any]) -> None:
    """Writes tensors and a JSON-friendly description into one file, whole or not at all, replacing what was there."""
    on_host = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    body = json.dumps(description, sort_keys=True)
    with replacing(path, force=True) as file:
        # One entry, since several would come in another order each time: same tensors, same bytes.
        file.write(save(on_host, metadata={"sealed": json.dumps([body, _digest(on_host, body)])}))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Reads what `write_tensors` wrote; an error if the file is missing, cut short or altered."""
    try:
        check_regular(path)
        with safe_open(path, "pt") as file:  # which checks the sizes: any file that was written can be read
            body, digest = json.loads(file.metadata()["sealed"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        intact = digest == _digest(tensors, body)
        tensors = {name: tensor.clone() for name, tensor in tensors.items()}  # which else are the file itself
        description = json.loads(body)
        if not intact or not isinstance(description, dict):
            raise ValueError
    except OSError as error:
        raise RecombineError(f"the file cannot be read: {error.strerror or error}.", place=str(path)) from error
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise damaged(path) from error
    return tensors, description


def damaged(path: Path) -> RecombineError:
    """Returns the error for a file that is not as it was written."""
    message = "this file is not as it was written: cut short, altered, or of another kind."
    return RecombineError(message, place=str(path), hint="Delete it and train again.")


def _digest(tensors: Mapping[str, Tensor], body: str) -> str:
    digest = hashlib.sha256(body.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)  # numpy knows no bfloat16
    return digest.hexdigest()


WEIGHTS = "weights.safetensors"
TOKENS = "tokens"
"""The note that says what a token of a string was."""
DIRECTION = "direction"
"""The note that says of word forms which side was the input: one of ``DIRECTIONS``."""


@dataclass(frozen=True)
class Stored:
    """A population as it lies on disk: one network for each seed."""

    recipe: Recipe
    seeds: Sequence[int]
    vocabulary: Vocabulary
    fitted: Fitted
    notes: Mapping[str, Any] = field(default_factory=dict)  # for whoever trained it, JSON-friendly

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
            recipe = typed(settings["recipe"], Recipe)
            network = typed(settings["network"], Architecture)
            seeds = typed(settings["seeds"], tuple[int, ...])
            if not seeds or network.prototypes not in range(3):
                raise ValueError(f"{len(seeds)} networks with {network.prototypes} prototypes")
            # Weights that are not this network's are refused before it takes the memory that its settings ask for.
            with torch.device("meta"):
                expected = Recombiner(network, len(seeds)).state_dict()
            shapes = [{name: (each.shape, each.dtype) for name, each in part.items()} for part in (expected, tensors)]
            if shapes[0] != shapes[1]:
                raise ValueError("shapes differ")
            model = Recombiner(network, len(seeds))
            model.load_state_dict(tensors)
            history = typed(settings["history"], History)
            vocabulary = Vocabulary(typed(settings["vocabulary"], tuple[str, ...]))
            notes = typed(settings.get("notes", {}), dict[str, Any])
        return cls(recipe, seeds, vocabulary, Fitted(model.to(resolve(device)).eval(), history), notes)


def kind_of_tokens(notes: Mapping[str, Any]) -> str | None:
    """Returns what a token of a string was in training; None if unknown; an error if it is no kind of token."""
    kind = notes.get(TOKENS)
    if kind is not None:
        check_kind(str(kind))
    return kind


def direction_of(notes: Mapping[str, Any]) -> str | None:
    """Returns in which direction word forms were learned; None if unknown; an error if it is no direction."""
    found = notes.get(DIRECTION)
    if found is not None and found not in DIRECTIONS:
        raise unknown("direction", str(found), DIRECTIONS)
    return found
