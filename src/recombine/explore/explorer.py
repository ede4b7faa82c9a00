"""A recombination network to be tried out: next tokens and their alternatives, finished samples, prototypes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Literal

import numpy as np

from recombine.augmentation.recombination import Recombination
from recombine.data.vocabulary import Vocabulary
from recombine.decoding.trace import END
from recombine.errors import RecombineError
from recombine.example import SEPARATOR, Example, Provenance, Tokens
from recombine.explore.checks import check_prototypes, check_tokens
from recombine.explore.choice import Choice
from recombine.explore.steps import Source, Steps, steps_along
from recombine.neighborhoods import Omega, compatible
from recombine.training.corpus import encoded
from recombine.training.renaming import Twins

ALTERNATIVES = 5
"""So many of the most probable tokens are shown at each step."""

Known = Literal["no", "input", "pair"]
"""What of a sample the training examples hold."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that may come next; `SEPARATOR` and `END` are among them."""

    token: str
    probability: float
    source: Source


@dataclass(frozen=True, slots=True)
class Next:
    """What comes next: the token that was chosen, and the most probable ones, best first."""

    chosen: Candidate
    alternatives: tuple[Candidate, ...]


class Explorer:
    """Lets the first network of a trained population be tried out, by one caller at a time.

    Args:
        augmenter: Trained.
    """

    def __init__(self, augmenter: Recombination) -> None:
        assert augmenter.examples_ is not None
        self.augmenter = augmenter
        self.vocabulary: Vocabulary = augmenter.vocabulary_
        # Where networks have data of their own, those of the first come first.
        self.examples = augmenter.examples_[: (augmenter.sizes_ or (None,))[0]]
        self.longest = max(len(example.d) for example in self.examples)
        self._inputs = frozenset(example.x for example in self.examples)
        self._pairs = frozenset(self.examples)
        self._twins = self._find_twins(augmenter.examples_)
        self._lock = Lock()

    def _find_twins(self, examples: Sequence[Example]) -> Twins | None:
        if not self.augmenter.recipe.twins:
            return None
        device = self.augmenter.fitted_.model.embed.weight.device
        table = encoded([example.d for example in examples], self.vocabulary, device)
        return Twins.of(table, len(self.vocabulary), self.augmenter.recipe.twins)

    def next(self, prototypes: Sequence[Example], beginning: Tokens, *, choice: Choice) -> Next:
        """Returns what comes after a beginning of x ▷ y.

        Raises:
            RecombineError: If there are more or fewer prototypes than the network has, one of them is empty, a token
                is unknown, or the beginning is longer than any training example.
        """
        steps = self._steps(prototypes, beginning, seed=choice.seed)
        probabilities = steps.probabilities[-1]
        best = np.argsort(-probabilities, kind="stable")[:ALTERNATIVES]
        return Next(
            self._candidate(steps, choice.choose(probabilities, beginning)),
            tuple(self._candidate(steps, int(i)) for i in best if probabilities[i] > 0),
        )

    def _candidate(self, steps: Steps, i: int) -> Candidate:
        token = next(iter(self.vocabulary.decode([i])), END)
        return Candidate(token, float(steps.probabilities[-1, i]), steps.source(-1, i))

    def sample(self, prototypes: Sequence[Example], tokens: Tokens, *, choice: Choice) -> Example:
        """Returns a finished x ▷ y as an example, with its probability, its sources, and how it was chosen.

        Of its details, ``by_hand`` tells how many tokens (its end being one) are others than the choice makes there.

        Raises:
            RecombineError: As `next`, and if it is not one input and one output, or the network never produces it.
        """
        if tokens.count(SEPARATOR) != 1 or SEPARATOR in (tokens[0], tokens[-1]):
            raise RecombineError("this is not one input and one output.", hint="Choose another token on the way.")
        steps = self._steps(prototypes, tokens, seed=choice.seed)
        ids = self.vocabulary.encode(tokens)
        probabilities = steps.probabilities[np.arange(len(ids)), ids]
        if not probabilities.all():
            raise RecombineError("the network never produces this.", hint="Choose another token on the way.")
        middle = tokens.index(SEPARATOR)
        middles = {"own": middle} | {str(k): len(prototype.x) for k, prototype in enumerate(prototypes, start=1)}
        by_hand = sum(choice.choose(steps.probabilities[t], tokens[:t]) != i for t, i in enumerate(ids))
        provenance = Provenance(
            "recombination",
            tuple(prototypes),
            log_probability=float(np.log(probabilities).sum()),
            sources=tuple(_word(steps.source(t, i), middles) for t, i in enumerate(ids[:-1]) if t != middle),
            details={
                "strategy": choice.strategy,
                "temperature": choice.temperature,
                "seed": choice.seed,
                "by_hand": by_hand,
            },
        )
        return Example(tokens[:middle], tokens[middle + 1 :], provenance)

    def known(self, sample: Example) -> Known:
        """Returns what of a sample the training examples hold."""
        if sample in self._pairs:
            return "pair"
        return "input" if sample.x in self._inputs else "no"

    def draw_prototypes(self, seed: int) -> tuple[Example, ...]:
        """Returns prototypes as samples are made of them: a draw from Ω."""
        if not self.augmenter.prototypes:
            return ()
        with self._lock:
            (drawn,) = self._omega.draw(1, np.random.default_rng([5, seed]))
        return tuple(self.examples[i] for i in drawn)

    @cached_property
    def _omega(self) -> Omega:
        neighborhoods = self.augmenter.neighborhoods_
        own = neighborhoods.rows[:, 0] < len(self.examples)
        neighborhoods = replace(neighborhoods, rows=neighborhoods.rows[own])
        return compatible(neighborhoods, self.examples, deviations=self.augmenter.deviations)

    def _steps(self, prototypes: Sequence[Example], beginning: Tokens, *, seed: int) -> Steps:
        check_prototypes(prototypes, self.vocabulary, expected=self.augmenter.prototypes)
        check_tokens((token for token in beginning if token != SEPARATOR), self.vocabulary, where="the sample")
        if len(beginning) > self.longest:
            raise RecombineError(
                f"the sample is longer than any training example ({self.longest} tokens) and has not ended.",
                hint="Choose another token on the way, or another seed.",
            )
        with self._lock:
            return steps_along(
                beginning,
                [prototype.d for prototype in prototypes],
                model=self.augmenter.fitted_.model,
                vocabulary=self.vocabulary,
                twins=self._twins,
                seed=seed,
            )


def _word(source: Source, middles: dict[str, int]) -> str:
    """Says a source in the words of `Provenance.sources`, whose positions leave out the ▷ after `middles` tokens."""
    if source.place is None:
        return source.origin
    return f"{source.origin}:{source.place + (source.place < middles[source.origin])}"
