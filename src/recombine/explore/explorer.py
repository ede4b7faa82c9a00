"""A recombination network to be tried out: next tokens and their alternatives, finished samples, prototypes.

Axes: R replicas, of which the first counts; T steps; V written tokens, C copy entries; K prototypes of S tokens.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import cached_property
from threading import Lock
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from recombine.augmentation.recombination import Recombination
from recombine.data.text import shown
from recombine.data.vocabulary import UNK, Vocabulary
from recombine.decoding.trace import END
from recombine.errors import RecombineError
from recombine.example import SEPARATOR, Example, Provenance, Tokens
from recombine.models import copying
from recombine.models.noise import Noise
from recombine.models.recombiner import Recombiner
from recombine.models.scoring import along
from recombine.neighborhoods import Omega
from recombine.training.corpus import encoded
from recombine.training.renaming import Twins, called

ALTERNATIVES = 5  # how many of the most probable tokens are shown at each step
FOUND = 50  # how many of the examples that a search finds are given
NAMED = 30  # how many known tokens are named to somebody who typed an unknown one
BLAMED = 5  # how many unknown tokens are named

SPACE = "␣"
"""Stands for a space within a token, on the page too, since spaces separate tokens."""

Strategy = Literal["greedy", "temperature", "mixed"]


@dataclass(frozen=True, slots=True)
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


class Source(NamedTuple):
    """Where a token comes from.

    Attributes:
        origin: ``"written"``, ``"own"`` for the sample itself, or the number of a prototype, from ``"1"``.
        place: Which token of that sequence x ▷ y it is a copy of, from 0; its end counts as a token. None if written.
    """

    origin: str
    place: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The steps of a network along a beginning: the last one is what may come after it.

    Attributes:
        probabilities: Of every id of the vocabulary at every step (T, ids); 0 for those that are never produced.
        entries: Log-probabilities of writing and copying (T, V + C).
        copied: Which token each copy entry produces (C,).
        names: What the network calls each id of the vocabulary (ids,).
        own: How many of the copy entries are tokens of the sample itself; `width` belong to each prototype.
    """

    probabilities: np.ndarray
    entries: Tensor
    copied: Tensor
    names: Tensor
    own: int
    width: int

    def source(self, step: int, token: int) -> Source:
        """Returns where a token most probably comes from if it is produced at a step."""
        named = self.names[token].view(1, 1)
        entry = copying.best_entry(self.entries[None, [step]], self.copied[None, None], named)
        place = int(entry) - (self.entries.shape[-1] - len(self.copied))
        if place < 0:
            return Source("written", None)
        if place < self.own:
            return Source("own", place)
        k, j = divmod(place - self.own, self.width)
        return Source(str(k + 1), j)


@torch.no_grad()
def steps_along(
    beginning: Tokens,
    prototypes: Sequence[Tokens],
    model: Recombiner,
    vocabulary: Vocabulary,
    *,
    twins: Twins | None = None,
    seed: int = 0,
) -> Steps:
    """Lets the first network of a population go along a beginning of x ▷ y, which may be empty, without dropout.

    The seed is for the names of `twins`, if the networks know tokens by drawn names, and for a latent variable z.
    """
    device = model.embed.weight.device
    noise = Noise([seed] * model.replicas, device)
    sources = encoded(prototypes, vocabulary, device).expand(model.replicas, 1, -1, -1)  # (R, 1, K, S)
    target = torch.tensor(vocabulary.encode(beginning), device=device).expand(model.replicas, 1, -1)  # (R, 1, T)
    names = torch.arange(len(vocabulary), device=device)
    if twins is not None:
        drawn = twins.draw(sources, noise)
        sources, target = called(drawn, sources), called(drawn, target)
        names = drawn[0, 0, : len(vocabulary)]
    z = None if model.latent is None else model.latent.prior(1, noise)
    _, entries, copied, own = along(model, sources, target, z)
    p = copying.token_probabilities(entries, copied.expand(len(entries), -1))[:, names].cpu().numpy()
    p[:, : UNK + 1] = 0
    return Steps(p, entries, copied, names, own=own, width=sources.shape[-1])


def check_tokens(tokens: Iterable[str], vocabulary: Vocabulary, *, where: str) -> None:
    """Raises the error for tokens that are not in the vocabulary, with the nearest ones that are."""
    known = dict.fromkeys(vocabulary.tokens)
    unknown = [token for token in dict.fromkeys(tokens) if token not in known]
    if not unknown:
        return
    first, hint = unknown[0], ""
    near = get_close_matches(first[:60], list(known), n=1, cutoff=0.5)
    if len(first) > 1 and set(first) <= set(known):
        hint = f"Put spaces between tokens: {shown(' '.join(first))}. "
    elif near:
        hint = f"Did you mean {shown(near[0])}? "
    rest = f" and {len(known) - NAMED:,} others" if len(known) > NAMED else ""
    hint += f"It knows: {' '.join(token[:60].replace(' ', SPACE) for token in list(known)[:NAMED])}{rest}."
    blamed = ", ".join(map(shown, unknown[:BLAMED])) + (" and others" if len(unknown) > BLAMED else "")
    raise RecombineError(f"the network does not know {blamed}, in {where}.", hint=hint)


class Explorer:
    """Lets the first network of a trained population be tried out, by one caller at a time."""

    def __init__(self, augmenter: Recombination) -> None:
        assert augmenter.examples_ is not None
        self.augmenter = augmenter
        self.vocabulary: Vocabulary = augmenter.vocabulary_
        # Where networks have data of their own, those of the first come first.
        self.examples = augmenter.examples_[: (augmenter.sizes_ or (None,))[0]]
        self.prototypes = (*self.examples, *augmenter.neighborhoods_.parts)
        self.longest = max(len(example.d) for example in self.examples)
        self._inputs = frozenset(example.x for example in self.examples)
        self._pairs = frozenset(self.examples)
        self._twins: Twins | None = None
        if augmenter.recipe.twins:
            device = augmenter.fitted_.model.embed.weight.device
            table = encoded([example.d for example in augmenter.examples_], self.vocabulary, device)
            self._twins = Twins.of(table, len(self.vocabulary), augmenter.recipe.twins)
        self._lock = Lock()

    def next(self, prototypes: Sequence[Example], beginning: Tokens, choice: Choice) -> dict[str, Any]:
        """Returns what comes after a beginning of x ▷ y: the token ``chosen``, and ``alternatives``, best first.

        `SEPARATOR` and `END` are among the tokens; each has its probability and its source.
        """
        steps = self._steps(prototypes, beginning, choice.seed)
        probabilities = steps.probabilities[-1]

        def candidate(i: int) -> dict[str, Any]:
            token = next(iter(self.vocabulary.decode([i])), END)
            return {"token": token, "probability": float(probabilities[i]), "source": steps.source(-1, i)._asdict()}

        best = np.argsort(-probabilities, kind="stable")[:ALTERNATIVES].tolist()
        chosen = candidate(choice.choose(probabilities, beginning))
        return {"chosen": chosen, "alternatives": [candidate(i) for i in best if probabilities[i] > 0]}

    def sample(self, prototypes: Sequence[Example], tokens: Tokens, choice: Choice) -> Example:
        """Returns a finished x ▷ y as an example, with its probability, its sources, and how it was chosen.

        Of its details, ``by_hand`` tells how many tokens (its end being one) are others than the choice makes there.
        """
        hint = "Choose another token on the way."
        if tokens.count(SEPARATOR) != 1 or SEPARATOR in (tokens[0], tokens[-1]):
            raise RecombineError("this is not one input and one output.", hint=hint)
        steps = self._steps(prototypes, tokens, choice.seed)
        ids = self.vocabulary.encode(tokens)
        probabilities = steps.probabilities[np.arange(len(ids)), ids]
        if not probabilities.all():
            raise RecombineError("the network never produces this.", hint=hint)
        middle = tokens.index(SEPARATOR)
        middles = {"own": middle} | {str(k): len(prototype.x) for k, prototype in enumerate(prototypes, start=1)}
        by_hand = sum(choice.choose(steps.probabilities[t], tokens[:t]) != i for t, i in enumerate(ids))
        sources = []
        for origin, place in (steps.source(t, i) for t, i in enumerate(ids[:-1]) if t != middle):
            # Counted from 1, without the ▷.
            sources.append(origin if place is None else f"{origin}:{place + (place < middles[origin])}")
        provenance = Provenance(
            "recombination",
            tuple(prototypes),
            log_probability=float(np.log(probabilities).sum()),
            sources=tuple(sources),
            details={**asdict(choice), "by_hand": by_hand},
        )
        return Example(tokens[:middle], tokens[middle + 1 :], provenance)

    def known(self, sample: Example) -> Literal["no", "input", "pair"]:
        """Returns what of a sample the training examples hold."""
        if sample in self._pairs:
            return "pair"
        return "input" if sample.x in self._inputs else "no"

    def find(self, words: str) -> tuple[tuple[Example, ...], int]:
        """Returns the first training examples, or parts of them, that hold all of the words, and how many do.

        Case does not matter.

        Words are found within tokens, and across tokens that are characters.
        """
        wanted = words.casefold().split()
        places = [i for i, text in enumerate(self._texts) if all(word in text for word in wanted)]
        return tuple(self.prototypes[i] for i in places[:FOUND]), len(places)

    @cached_property
    def _texts(self) -> list[str]:
        return [f"{one}\n{''.join(one.x)}\n{''.join(one.y)}".casefold() for one in self.prototypes]

    def draw_prototypes(self, seed: int) -> tuple[Example, ...]:
        """Returns prototypes as samples are made of them: a draw from Ω."""
        with self._lock:
            (drawn,) = self._drawing(1, np.random.default_rng([5, seed]))
        return tuple(self.prototypes[i] for i in drawn)

    @cached_property
    def _drawing(self) -> Omega:
        return self.augmenter.drawing(0)

    def _steps(self, prototypes: Sequence[Example], beginning: Tokens, seed: int) -> Steps:
        if len(prototypes) != self.augmenter.prototypes:
            raise RecombineError(f"the network has {self.augmenter.prototypes} prototypes, got {len(prototypes)}.")
        for number, prototype in enumerate(prototypes, start=1):
            for side, tokens in (("input", prototype.x), ("output", prototype.y)):
                if not tokens:
                    message = f"the {side} of prototype {number} is empty."
                    raise RecombineError(message, hint="Pick an example, or type tokens.")
            check_tokens((*prototype.x, *prototype.y), self.vocabulary, where=f"prototype {number}")
        check_tokens((token for token in beginning if token != SEPARATOR), self.vocabulary, where="the sample")
        if len(beginning) > self.longest:
            raise RecombineError(
                f"the sample is longer than any training example ({self.longest} tokens) and has not ended.",
                hint="Choose another token on the way, or another seed.",
            )
        sequences, model = [prototype.d for prototype in prototypes], self.augmenter.fitted_.model
        with self._lock:
            return steps_along(beginning, sequences, model, self.vocabulary, twins=self._twins, seed=seed)
