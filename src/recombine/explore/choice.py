"""How the next token is chosen among the probable ones."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from recombine.example import SEPARATOR, Tokens

Strategy = Literal["greedy", "temperature", "mixed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How tokens are chosen.

    Attributes:
        strategy: ``greedy``: the most probable; ``temperature``: drawn; ``mixed``: drawn in x, the most probable in y.
        temperature: Probabilities are raised to 1/T before drawing.
        seed: Same seed and same beginning, same token.
    """

    strategy: Strategy = "mixed"
    temperature: float = 1.0
    seed: int = 0

    def choose(self, probabilities: np.ndarray, beginning: Tokens) -> int:
        """Returns the id of the token that comes after a beginning of x ▷ y, given the probabilities (ids,)."""
        if self.strategy == "greedy" or (self.strategy == "mixed" and SEPARATOR in beginning):
            return int(probabilities.argmax())
        possible = np.flatnonzero(probabilities)
        scores = np.log(probabilities[possible]) / self.temperature
        weights = np.exp(scores - scores.max())
        # A stream of its own for every place: what is drawn here does not depend on how one came here.
        rng = np.random.default_rng([self.seed, len(beginning)])
        return int(rng.choice(possible, p=weights / weights.sum()))
