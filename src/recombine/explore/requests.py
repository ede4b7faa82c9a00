"""What the page may ask for, with bounds on everything."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from recombine.example import Example
from recombine.explore.choice import Choice, Strategy

Token = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Side = Annotated[list[Token], Field(max_length=1000)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]


class _Request(BaseModel):
    """Nothing is converted and nothing unknown passes."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class SearchRequest(_Request):
    """Words to look for in the training examples."""

    words: Annotated[str, StringConstraints(max_length=500)]


class DrawRequest(_Request):
    """Prototypes to be drawn."""

    seed: Seed


class Pair(_Request):
    """A prototype."""

    x: Side
    y: Side

    def example(self) -> Example:
        """Returns it as an example."""
        return Example(tuple(self.x), tuple(self.y))


class SampleRequest(_Request):
    """A sample x ▷ y on its way or finished, and how its tokens are chosen."""

    prototypes: Annotated[list[Pair], Field(max_length=8)]
    tokens: Annotated[list[Token], Field(max_length=2000)]
    strategy: Strategy
    temperature: Annotated[float, Field(ge=0.05, le=5)]
    seed: Seed

    def examples(self) -> list[Example]:
        """Returns the prototypes."""
        return [prototype.example() for prototype in self.prototypes]

    def choice(self) -> Choice:
        """Returns how tokens are chosen."""
        return Choice(strategy=self.strategy, temperature=self.temperature, seed=self.seed)
