"""The learned augmenter for one's own data: what is not set is found in the data."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from recombine.augmentation.drawing import distinct_examples, unfitted
from recombine.augmentation.protocol import Validator
from recombine.augmentation.recombination import Recombination
from recombine.augmentation.resample import Resampler
from recombine.augmentation.settings import SamplingSettings
from recombine.data.text import shown
from recombine.data.untrusted import fitting
from recombine.errors import RecombineError, unknown
from recombine.example import Example
from recombine.models.device import resolve
from recombine.neighborhoods import NEIGHBORHOODS, LongShort, Neighborhoods, OnePrototype, Rule
from recombine.own_data import choices, networks
from recombine.own_data.choices import Choice
from recombine.own_data.contract import Learned, OwnDataAugmenter
from recombine.own_data.settings import CHOICES, choices_as_json, choices_from_json, given_again
from recombine.own_data.validators import Rarity, check_function, name_of, naming, rarity_rule
from recombine.training.loop import Report
from recombine.training.presets import SMALL_GENERATOR
from recombine.training.recipe import Recipe

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
        distinct = distinct_examples(examples, least=2, who="an Augmenter")
        resolve(self.device)  # an error that comes before the work costs none
        networks.bounded(SMALL_GENERATOR, epochs=self.epochs, max_time=self.max_time)
        rare = choices.rarity(distinct)
        kept = rarity_rule(self.rarity, distinct, rare)
        rule, found = self._neighborhoods(distinct, rare)
        made = self._choices(distinct, rare, prototypes=found.value.prototypes)
        augmenter = Recombination(
            rule,
            made["length"].value,
            sampling=self.sampling,
            prototypes=found.value.prototypes,
            focus=kept.value,
            seeds=(self.seed,),
            device=self.device,
        )
        augmenter.fit_on(distinct, found.value, report=self.progress)
        made["length"] = networks.taken_length(made["length"], augmenter.fitted_.history)
        return Learned(augmenter, kept.value, {"rarity": kept, "neighborhood": found, **made})

    def _neighborhoods(
        self, distinct: Sequence[Example], rare: Choice[Resampler | None]
    ) -> tuple[Rule, Choice[Neighborhoods]]:
        asked = self.neighborhood
        if isinstance(asked, str):
            if asked not in (AUTO, *NEIGHBORHOODS):
                raise unknown("neighborhood", asked, (AUTO, *NEIGHBORHOODS))
            names = choices.rule_names(distinct, rare) if asked == AUTO else (asked,)
            found = choices.neighborhoods(distinct, list(map(choices.rule_named, names)), seed=self.seed)
            return choices.rule_named(found.name), found if asked == AUTO else _as_given(found)
        if not callable(asked):
            if not hasattr(asked, "build"):
                raise RecombineError(f"the neighborhood is {asked!r}, expected a name, a rule or a function.")
            return asked, _as_given(choices.neighborhoods(distinct, [asked], seed=self.seed))
        with naming(f"the neighborhood function {name_of(asked)}".rstrip()):
            given = asked(distinct)
        rows = _checked(_rows(given), len(distinct))
        rule: Rule = OnePrototype() if rows.shape[1] == 2 else LongShort()
        reason = f"as given, {len(rows):,} ways to rebuild one of the examples from others"
        return rule, Choice("your own", Neighborhoods(rows, rule.name), reason)

    def _choices(
        self, distinct: Sequence[Example], rare: Choice[Resampler | None], *, prototypes: int
    ) -> dict[str, Choice[Any]]:
        if isinstance(self.network, Recipe):
            made: dict[str, Choice[Any]] = {**networks.given(self.network)}
        else:
            size = networks.asked_or_chosen(self.network, distinct, self.device)
            network = networks.generator(distinct, size.value, rare=rare.name, prototypes=prototypes)
            length = networks.length(network.value, most=networks.GENERATOR_STEPS)
            made = {"size": size, "network": network, "length": length}
        made["length"] = networks.asked_length(made["length"], epochs=self.epochs, max_time=self.max_time)
        return made

    def _check(self) -> None:
        super()._check()
        check_function("progress", self.progress)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Writes what was learned to a folder, from which ``recombine augment --model`` can draw, too.

        Args:
            path: The folder.
            force: Whether a model that is there may be replaced.
        """
        found = self._recombination
        assert self._learned is not None
        found.notes = {**self._saved(), CHOICES: choices_as_json(self._learned.choices)}
        found.save(path, force=force)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        rarity: Rarity | Literal["saved"] = "saved",
        validator: Validator | None = None,
        neighborhood: NeighborhoodFunction | None = None,
        device: str = AUTO,
    ) -> Self:
        """Reads what ``save`` or ``recombine augment --model`` wrote.

        Functions are not saved. They are given again, or a warning says what is in their place.

        Args:
            path: The folder.
            rarity: Which samples have something rare in them; ``"saved"``: as when it was saved.
            validator: Which samples are turned down.
            neighborhood: Which examples can give which, for when it is fitted again.
            device: ``auto``, ``cpu`` or ``cuda``.
        """
        found = Recombination.load(path, device=device)
        examples = found.examples_ or ()
        given = given_again(rarity=rarity, validator=validator, neighborhood=neighborhood)
        known = {
            "seed": found.seeds[0],
            "neighborhood": found.rule,
            "network": found.recipe,
            "sampling": found.sampling,
        }
        with fitting(Path(path)):
            saved = {name: value for name, value in found.notes.items() if name != CHOICES}
            others = {name: value for name, value in known.items() if name not in (*saved, *given)}
            augmenter = cls._restored(saved, place=Path(path), given={**others, **given, "device": device})
            values = {"neighborhood": found.neighborhoods_, "network": found.recipe, "length": found.recipe}
            made = choices_from_json(found.notes.get(CHOICES, {}), values)
        kept = rarity_rule(augmenter.rarity, examples, choices.rarity(examples))
        found.focus = kept.value
        return augmenter._remember(examples, Learned(found, kept.value, {**made, "rarity": kept}))

    @property
    def _recombination(self) -> Recombination:
        if self._learned is None:
            raise unfitted("Augmenter")
        assert isinstance(self._learned.augmenter, Recombination)
        return self._learned.augmenter


def _as_given(found: Choice[Neighborhoods]) -> Choice[Neighborhoods]:
    return replace(found, reason=f"as given; {found.reason}")


def _rows(given: object) -> list[tuple[int, ...]]:
    """Returns what a user's neighborhood function gave as a list of tuples."""
    try:
        return [tuple(row) for row in given]  # type: ignore[attr-defined]
    except TypeError:
        raise RecombineError(
            f"the neighborhood function gave {shown(repr(given))}.",
            hint="Expected rows (target, prototype) or (target, first prototype, second prototype).",
        ) from None


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
