"""What the models of a folder have in common: a population's recipe, seeds, vocabulary and weights."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from recombine.data.vocabulary import Vocabulary
from recombine.errors import RecombineError
from recombine.models.architecture import Architecture
from recombine.models.recombiner import Recombiner
from recombine.training.device import resolve
from recombine.training.fit import Fitted, Recipe
from recombine.training.loop import History
from recombine.training.tensors import read_tensors, write_tensors

WEIGHTS = "weights.safetensors"


@dataclass(frozen=True)
class Stored:
    """A population as it lies on disk.

    Attributes:
        recipe: How it was trained.
        seeds: One per replica.
        vocabulary: Its tokens.
        fitted: The networks and how they came about.
    """

    recipe: Recipe
    seeds: Sequence[int]
    vocabulary: Vocabulary
    fitted: Fitted

    def settings(self) -> dict[str, Any]:
        """Returns what goes into the manifest."""
        return {
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
        try:
            recipe = Recipe(**{**settings["recipe"], "network": Architecture(**settings["recipe"]["network"])})
            model = Recombiner(Architecture(**settings["network"]), len(settings["seeds"]))
            model.load_state_dict(tensors)
            history = History(**settings["history"])
            vocabulary = Vocabulary(tuple(settings["vocabulary"]))
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise RecombineError(
                "the settings do not fit the weights.", place=str(folder), hint="Train again."
            ) from error
        return cls(recipe, tuple(settings["seeds"]), vocabulary, Fitted(model.to(resolve(device)).eval(), history))
