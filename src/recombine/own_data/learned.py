"""The learned augmenter for one's own data, the one that shares the work with GECA, and the names of all methods."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from recombine.augmentation.protocol import Samples, Validator, distinct_examples, together, unfitted
from recombine.augmentation.recombination import Recombination
from recombine.augmentation.resample import Rare, find_rare
from recombine.augmentation.sampler import SamplingSettings
from recombine.data.text import shown as shortened
from recombine.data.untrusted import fitting
from recombine.errors import RecombineError, unknown
from recombine.example import Example
from recombine.execution.executor import SERIAL, Executor
from recombine.models.device import resolve
from recombine.neighborhoods import NEIGHBORHOODS, Effort, LongShort, Neighborhoods, OnePrototype, Rule
from recombine.own_data import choices, networks
from recombine.own_data.augmenters import (
    GECA,
    Learned,
    Oversampler,
    OwnDataAugmenter,
    Rarity,
    all_of,
    naming,
    rarity_rule,
)
from recombine.own_data.choices import Choice
from recombine.own_data.settings import CHOICES, TRAINING, choices_from_json, preserving_state, shown
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
            and the model is saved under the name of that rule (or of one-prototype).
        prototypes: How many examples each sample is made of: 0, 1 or 2; default: as many as the neighborhoods have.
        rarity: Which samples are rare and so are kept; see ``augmenters.Rarity``. None keeps all, as
            ``recombine augment --no-resample`` does.
        network: ``"small"``, ``"paper"``, or a recipe.
        epochs: How many passes over the data; default: chosen.
        max_time: Seconds of training at most; default: no bound.
        sampling: How samples are drawn; default: see ``recombination.DEFAULT_SAMPLING``.
        device: ``auto``, ``cpu`` or ``cuda``.
        executor: Who searches for neighborhoods and draws samples; default: this process.
    """

    neighborhood: str | Rule | NeighborhoodFunction = AUTO
    prototypes: int | None = None
    rarity: Rarity = AUTO
    network: str | Recipe = AUTO
    epochs: int | None = None
    max_time: float | None = None
    sampling: SamplingSettings | None = None
    device: str = AUTO
    executor: Executor | None = None

    def _learn(self, examples: Sequence[Example], checkpoint: Path | None) -> Learned:
        distinct = distinct_examples(examples, least=2, who="an Augmenter")
        resolve(self.device)  # an error that comes before the work costs none
        networks.length(SMALL_GENERATOR, epochs=self.epochs, max_time=self.max_time)
        display, rare = shown(self.progress), find_rare(distinct)
        kept = rarity_rule(self.rarity, distinct, rare, display.say)
        with display.searching("Looking for neighborhoods", len(distinct), self.executor) as effort:
            rule, found = self._neighborhoods(distinct, rare, effort)
        if len(found.value):
            ways = f"{len(found.value):,} ways to rebuild one of the examples from others"
            display.say(f"Neighborhood {found.value.rule}: {ways}.")
        prototypes = found.value.prototypes if self.prototypes is None else self.prototypes
        made: dict[str, Choice[Any]] = {"rarity": kept, "neighborhood": found}
        most = None
        if isinstance(self.network, Recipe):
            made["network"] = Choice("your own", self.network, "as given")
        else:
            made["size"] = networks.size(self.network, distinct, self.device)
            most = networks.GENERATOR_STEPS
            made["network"] = networks.generator(distinct, made["size"].value, rare=rare.kind, prototypes=prototypes)
        made["length"] = networks.length(made["network"].value, most=most, epochs=self.epochs, max_time=self.max_time)
        augmenter = Recombination(
            rule,
            made["length"].value,
            sampling=self.sampling,
            prototypes=prototypes,
            focus=kept.value,
            seeds=range(self.seed, self.seed + self.seeds),
            device=self.device,
        )
        what = "the recombination network" if self.seeds == 1 else f"{self.seeds} recombination networks"
        with (
            display.progress(f"{TRAINING} {what}") as told,
            preserving_state(checkpoint, told, display.say) as report,
        ):
            augmenter.fit_on(distinct, found.value, report=report, checkpoint=checkpoint)
        history = augmenter.fitted_.history
        made["length"] = networks.taken_length(made["length"], history)
        return Learned(augmenter, kept.value, made, history)

    def _neighborhoods(
        self, distinct: Sequence[Example], rare: Rare, effort: Effort
    ) -> tuple[Rule, Choice[Neighborhoods]]:
        asked = self.neighborhood
        if isinstance(asked, str):
            if asked not in (AUTO, *NEIGHBORHOODS):
                raise unknown("neighborhood", asked, (AUTO, *NEIGHBORHOODS))
            rules = list(map(choices.rule_named, choices.rule_names(distinct, rare) if asked == AUTO else (asked,)))
        elif callable(asked):
            with naming(asked, "neighborhood"):
                given = asked(distinct)
            rows = _checked(given, len(distinct))
            rule: Rule = OnePrototype() if rows.shape[1] == 2 else LongShort()
            reason = f"as given, {len(rows):,} ways to rebuild one of the examples from others"
            return rule, Choice("your own", Neighborhoods(rows, rule.name), reason)
        elif hasattr(asked, "build"):
            rules = [asked]
        else:
            raise RecombineError(f"the neighborhood is {asked!r}, expected a name, a rule or a function.")
        if self.prototypes == 0:  # nothing is rebuilt from anything
            nothing = Neighborhoods(np.empty((0, 1), dtype=np.int32), rules[0].name)
            return rules[0], Choice(nothing.rule, nothing, "as given, no prototypes")
        found = choices.neighborhoods(distinct, rules, prototypes=self.prototypes, seed=self.seed, effort=effort)
        rule = next(rule for rule in rules if rule.name == found.name)
        return rule, found if asked == AUTO else replace(found, reason=f"as given; {found.reason}")

    def _draw(
        self, learned: Learned, n: int, seed: int, keep: Validator | Sequence[Validator | None] | None
    ) -> list[Samples]:
        assert isinstance(learned.augmenter, Recombination)
        times = f"{self.seeds} x " if self.seeds > 1 else ""
        with shown(self.progress).progress(f"Drawing candidates for {times}{n:,} samples") as report:
            return learned.augmenter.sample_each(n, seed, keep, report=report, executor=self.executor or SERIAL)

    @property
    def networks_(self) -> Recombination:
        """The trained networks."""
        if self._learned is None:
            raise unfitted(type(self).__name__)
        assert isinstance(self._learned.augmenter, Recombination)
        return self._learned.augmenter

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Writes what was learned to a folder, from which ``recombine augment --model`` can draw, too.

        Args:
            path: The folder.
            force: Whether a model that is there may be replaced.
        """
        found = self.networks_
        assert self._learned is not None
        told = {what: [choice.name, choice.reason] for what, choice in self._learned.choices.items()}
        found.notes = {**self._saved(), CHOICES: told}
        found.save(path, force=force)

    @classmethod
    def load(cls, path: str | Path, **settings: Any) -> Self:  # noqa: ANN401
        """Reads what ``save`` or ``recombine augment --model`` wrote.

        Functions are not saved: give them again, or a warning says what is there instead.

        Args:
            path: The folder.
            settings: Settings to have instead of the saved ones, such as ``device``, ``rarity`` or ``validator``.
        """
        cls._check_names(settings)
        found = Recombination.load(path, device=settings.get("device", AUTO))
        examples = found.examples_ or ()
        known = {
            "seed": found.seeds[0],
            "seeds": len(found.seeds),
            "neighborhood": found.rule,
            "network": found.recipe,
            "sampling": found.sampling,
        }
        with fitting(Path(path)):
            names = {setting.name for setting in fields(cls)}
            saved = {name: value for name, value in found.notes.items() if name in names}
            others = {name: value for name, value in known.items() if name not in saved}
            augmenter = cls._restored(saved, place=Path(path), given={**others, **settings})
            values = {"neighborhood": found.neighborhoods_, "network": found.recipe, "length": found.recipe}
            made = choices_from_json(found.notes.get(CHOICES, {}), values)
        kept = rarity_rule(augmenter.rarity, examples, say=shown(augmenter.progress).say)
        found.focus = kept.value
        if augmenter.sampling is not None:
            found.sampling = augmenter.sampling
        return augmenter._remember(examples, Learned(found, kept.value, {**made, "rarity": kept}))


@dataclass(eq=False, kw_only=True)
class Both(Augmenter):
    """Half of the samples are GECA's, or as many as it can make; networks make the others, with other inputs.

    Attributes:
        gaps: See `GECA`.
        fewest_gaps_first: See `GECA`.
    """

    gaps: int | None = None
    fewest_gaps_first: bool = False

    @property
    def learned(self) -> Augmenter:
        """The networks alone."""
        names = {setting.name for setting in fields(Augmenter)}
        alone = Augmenter(**{name: value for name, value in self.get_params().items() if name in names})  # type: ignore[arg-type]
        assert self._learned is not None
        return alone._remember(self.examples_, self._learned)

    def _draw(
        self, learned: Learned, n: int, seed: int, keep: Validator | Sequence[Validator | None] | None
    ) -> list[Samples]:
        if n < 2:
            raise RecombineError("one sample cannot be made by both methods.", hint="Ask for at least 2.")
        assert keep is None or callable(keep)
        geca = GECA(gaps=self.gaps, fewest_gaps_first=self.fewest_gaps_first, seeds=self.seeds).fit(self.examples_)
        by_rule = geca.sample_each(n // 2, seed, keep)
        shown(self.progress).say(f"geca: {by_rule[0].account}")
        rest = n - len(by_rule[0])  # alike for every seed: half of n, or all that can be made
        accept = [all_of(keep, _no_input_of(samples)) for samples in by_rule]
        every = map(together, zip(by_rule, super()._draw(learned, rest, seed, accept), strict=True))
        # Networks were asked for what GECA fell short of.
        return [replace(found, requested=n, shortfall=found.shortfall if len(found) < n else "") for found in every]


METHODS: dict[str, type[Augmenter | GECA | Oversampler]] = {
    "learned": Augmenter,
    "geca": GECA,
    "both": Both,
    "oversample": Oversampler,
}
"""The ways to make examples, by the names that all commands have for them."""


def _no_input_of(samples: Samples) -> Validator:
    inputs = {sample.x for sample in samples}
    return lambda sample: "with an input that GECA has an output for" if sample.x in inputs else None


def _checked(given: object, examples: int) -> np.ndarray:
    """Returns the rows that a user's neighborhood function gave as a table, sorted and each once."""
    kinds = "Expected rows (target, prototype) or (target, first prototype, second prototype)."
    try:
        rows = [tuple(row) for row in given]  # type: ignore[attr-defined]
    except TypeError:
        raise RecombineError(f"the neighborhood function gave {shortened(repr(given))}.", hint=kinds) from None
    widths = sorted({len(row) for row in rows})
    if widths not in ([2], [3]):
        raise RecombineError(
            f"the neighborhood function gave {len(rows)} rows of {', '.join(map(str, widths)) or 'no'} positions.",
            hint=kinds,
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
