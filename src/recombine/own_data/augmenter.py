"""The learned augmenter for one's own data: what is not set is found in the data."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

import numpy as np

from recombine.augmentation.drawing import distinct_examples, unfitted
from recombine.augmentation.protocol import Validator
from recombine.augmentation.recombination import Recombination
from recombine.augmentation.resample import Resampler
from recombine.augmentation.sampler import SamplingSettings
from recombine.errors import RecombineError, unknown
from recombine.example import Example
from recombine.neighborhoods import NEIGHBORHOODS, LongShort, Neighborhoods, OnePrototype, Rule
from recombine.own_data import choices, networks
from recombine.own_data.choices import Choice
from recombine.own_data.contract import Learned, OwnDataAugmenter
from recombine.own_data.validators import Rarity, rarity_rule
from recombine.training.device import resolve
from recombine.training.fit import Recipe
from recombine.training.loop import Report
from recombine.training.presets import SMALL_GENERATOR
from recombine.training.stored import TOKENS, kind_of_tokens

AUTO: Literal["auto"] = "auto"

NeighborhoodFunction = Callable[[Sequence[Example]], Iterable[Sequence[int]]]
"""Gives, for the different examples, rows (target, prototype) or (target, first, second prototype): their positions."""


@dataclass(eq=False, kw_only=True)
class Augmenter(OwnDataAugmenter):
    """Recombine and resample: learns to make examples of other examples, and keeps new ones with something rare.

    What is ``"auto"`` is chosen from the data; ``report_.choices`` says how and why.

    Attributes:
        neighborhood: Which examples can give which: the name of a rule, a rule, or a function (see
            ``NeighborhoodFunction``). With a function, samples are made of any prototypes, as with the long-short rule,
            and by its name (or one-prototype's) a model is saved.
        rarity: Which samples have something rare in them and are kept; see ``validators.Rarity``. None keeps all, as
            ``recombine augment --no-resample`` does.
        network: ``"small"``, ``"paper"``, or a recipe.
        epochs: How many passes over the data; None: chosen.
        max_time: Seconds of training at most; None: no bound.
        sampling: How samples are drawn; None: as usual.
        device: ``auto``, ``cpu`` or ``cuda``.
        progress: Is told, after every epoch, how training goes.
    """

    neighborhood: str | Rule | NeighborhoodFunction = AUTO
    rarity: Rarity = AUTO
    network: Literal["auto", "small", "paper"] | Recipe = AUTO
    epochs: int | None = None
    max_time: float | None = None
    sampling: SamplingSettings | None = None
    device: str = AUTO
    progress: Report | None = None

    def _learn(self, examples: Sequence[Example]) -> Learned:
        resolve(self.device)  # an error that comes before the work costs none
        networks.bounded(SMALL_GENERATOR, epochs=self.epochs, max_time=self.max_time)
        distinct = distinct_examples(examples, least=2, who="an Augmenter")
        rare = choices.rarity(distinct)
        accept = rarity_rule(self.rarity, distinct, rare)
        rule, found = self._neighborhoods(distinct, rare)
        recipe, made = self._recipe(distinct, rare, prototypes=found.value.prototypes)
        augmenter = Recombination(
            rule,
            recipe,
            sampling=self.sampling,
            prototypes=found.value.prototypes,
            seeds=(self.seed,),
            device=self.device,
        )
        augmenter.fit_on(distinct, found.value, report=self.progress)
        return Learned(augmenter, accept, {"rarity": rare, "neighborhood": found, **made})

    def _neighborhoods(
        self, distinct: Sequence[Example], rare: Choice[Resampler | None]
    ) -> tuple[Rule, Choice[Neighborhoods]]:
        asked = self.neighborhood
        if isinstance(asked, str):
            if asked not in (AUTO, *NEIGHBORHOODS):
                raise unknown("neighborhood", asked, (AUTO, *NEIGHBORHOODS))
            names = choices.rule_names(distinct, rare) if asked == AUTO else (asked,)
            found = choices.neighborhoods(distinct, list(map(choices.rule_named, names)), seed=self.seed)
            return choices.rule_named(found.name), found
        if not callable(asked):
            return asked, choices.neighborhoods(distinct, [asked], seed=self.seed)
        rows = _checked(list(map(tuple, asked(distinct))), len(distinct))
        rule: Rule = OnePrototype() if rows.shape[1] == 2 else LongShort()
        reason = f"as given, {len(rows):,} ways to rebuild one of the examples from others"
        return rule, Choice("your own", Neighborhoods(rows, rule.name), reason)

    def _recipe(
        self, distinct: Sequence[Example], rare: Choice[Resampler | None], *, prototypes: int
    ) -> tuple[Recipe, dict[str, Choice[object]]]:
        if isinstance(self.network, Recipe):
            return networks.bounded(self.network, epochs=self.epochs, max_time=self.max_time), {}
        size = networks.asked_or_chosen(self.network, distinct, self.device)
        network = networks.generator(distinct, size.value, rare=rare.name, prototypes=prototypes)
        length = networks.length(network.value, most=networks.GENERATOR_STEPS)
        recipe = networks.bounded(length.value, epochs=self.epochs, max_time=self.max_time)
        return recipe, {"size": size, "network": network, "length": length}

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Writes what was learned to a folder, from which ``recombine augment --model`` can draw, too.

        Args:
            path: The folder.
            force: Whether a model that is there may be replaced.
        """
        self._recombination.notes = {TOKENS: self.tokens}
        self._recombination.save(path, force=force)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        n: int = 400,
        tokens: str | None = None,
        rarity: Rarity = AUTO,
        validator: Validator | None = None,
        device: str = AUTO,
    ) -> Self:
        """Reads what ``save`` wrote: all that samples depend on but functions, which are given again.

        Args:
            path: The folder.
            n: How many samples ``fit_resample`` adds.
            tokens: What a token of a string is, if it is not to be what it was in training.
            rarity: Which samples have something rare in them; as when it was fitted, for the same samples.
            validator: Which samples are turned down; likewise.
            device: ``auto``, ``cpu`` or ``cuda``.
        """
        found = Recombination.load(path, device=device)
        examples = found.examples_ or ()
        augmenter = cls(
            seed=found.seeds[0],
            n=n,
            tokens=tokens or kind_of_tokens(found.notes) or cls.tokens,
            validator=validator,
            neighborhood=found.rule,
            rarity=rarity,
            network=found.recipe,
            sampling=found.sampling,
            device=device,
        )
        rare = choices.rarity(examples)
        return augmenter._remember(examples, Learned(found, rarity_rule(rarity, examples, rare), {"rarity": rare}))

    @property
    def _recombination(self) -> Recombination:
        if self._learned is None:
            raise unfitted("Augmenter")
        assert isinstance(self._learned.augmenter, Recombination)
        return self._learned.augmenter


def _checked(rows: list[tuple[int, ...]], examples: int) -> np.ndarray:
    """Returns the rows of a user's neighborhood function as a table, sorted and each once."""
    widths = sorted({len(row) for row in rows})
    if widths not in ([2], [3]):
        raise RecombineError(
            f"the neighborhood function gave {len(rows)} rows of {', '.join(map(str, widths)) or 'no'} positions.",
            hint="Expected rows (target, prototype) or (target, first prototype, second prototype).",
        )
    for row in rows:
        if row[0] in row[1:]:
            raise RecombineError(
                f"the neighborhood function gave the row {row}, in which an example is its own prototype.",
                hint="Expected prototypes other than the target, which comes first.",
            )
        if not all(isinstance(place, int | np.integer) and 0 <= place < examples for place in row):
            raise RecombineError(
                f"the neighborhood function gave the row {row}.",
                hint=f"Expected positions from 0 to {examples - 1} of the examples that it was given.",
            )
    return np.unique(np.array(rows, dtype=np.int32), axis=0)
