"""The learned method of ``recombine augment``: networks that recombine, trained here or taken from a folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from recombine.cli.files import Reading, check_model
from recombine.cli.inspection import RULES
from recombine.cli.options import AUTO, check_executor
from recombine.cli.printing import progress, say, searching
from recombine.cli.training import Training, outcome, resumable
from recombine.errors import RecombineError, unknown
from recombine.example import Example

if TYPE_CHECKING:
    from recombine.augmentation.protocol import Novelty
    from recombine.augmentation.recombination import Recombination
    from recombine.augmentation.settings import SamplingSettings
    from recombine.execution.executor import Executor
    from recombine.neighborhoods import Effort, Neighborhoods

NOVELTIES = ("pair", "input", "both")
"""What must be new about a sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """The options of the learned method as they were given, None for those that were not.

    Attributes:
        prototypes: How many training examples a sample is made of; None: 2, or 1 if the neighborhoods have one.
        neighborhood: One of ``RULES``, or ``"auto"``.
        temperature: Above 1 samples get wilder, below 1 tamer.
        novelty: One of ``NOVELTIES``.
        model: A folder: samples come from the model in it, or the model is kept there if there is none.
        executor: Who searches and draws, one of ``EXECUTORS``; None: processes search, and this one draws.
        address: That of a Ray cluster.
        tokens: What a token of a string is.
    """

    prototypes: int | None = None
    neighborhood: str = AUTO
    temperature: float | None = None
    novelty: str | None = None
    model: str | None = None
    executor: str | None = None
    address: str | None = None
    tokens: str | None = None

    @property
    def given(self) -> list[str]:
        """The names of the options that were given and that only this method has."""
        own = (field for field in fields(self) if field.name != "tokens")
        return [f"--{field.name}" for field in own if getattr(self, field.name) != field.default]

    @property
    def is_trained(self) -> bool:
        """Whether there is a model to take samples from."""
        from recombine.training.folder import MANIFEST

        return self.model is not None and (Path(self.model) / MANIFEST).exists()

    @property
    def networks(self) -> int:
        """How many networks the model has."""
        from recombine.augmentation.recombination import KIND
        from recombine.training.folder import read_settings

        assert self.model is not None
        return len(read_settings(Path(self.model), KIND)["seeds"])

    @property
    def notes(self) -> Mapping[str, Any]:
        """What is kept with the model, if there is one."""
        from recombine.augmentation.recombination import KIND
        from recombine.training.stored import read_notes

        return read_notes(Path(self.model), KIND) if self.model is not None and self.is_trained else {}

    def check(self) -> None:
        """Raises an error for what cannot be done, before anything is read."""
        if self.neighborhood not in (AUTO, *RULES):
            raise unknown("neighborhood", self.neighborhood, (AUTO, *RULES))
        if self.novelty is not None and self.novelty not in NOVELTIES:
            raise unknown("novelty", self.novelty, NOVELTIES)
        if self.temperature is not None and not self.temperature > 0:
            raise RecombineError(
                f"the temperature is {self.temperature:g}, expected more than 0.",
                hint="For the tamest samples give a small one, such as 0.1.",
            )
        check_executor(self.executor, self.address)
        if self.model is not None and not self.is_trained:
            check_model(self.model, force=False)

    def sampling(self, default: "SamplingSettings") -> "SamplingSettings":
        """Returns how samples are drawn: as asked for, else by default."""
        novelty = default.novelty if self.novelty is None else cast("Novelty", self.novelty)
        temperature = default.decoding.temperature if self.temperature is None else self.temperature
        decoding = replace(default.decoding, temperature=temperature)
        # A temperature that was asked for is not too warm.
        return replace(default, novelty=novelty, decoding=decoding, warmest=max(default.warmest, temperature))


def recombination(
    examples: Sequence[Example],
    learned: Learned,
    training: Training,
    *,
    state: Path | None = None,
    executor: "Executor | None" = None,
) -> "Recombination":
    """Returns the trained augmenter.

    Args:
        examples: The training examples.
        learned: What to learn, or where what was learned is.
        training: How.
        state: Where to save the state of training now and then, and to go on from.
        executor: Who searches for neighborhoods; None: as many processes as torch has threads.
    """
    from recombine.own_data.unfinished import keeping

    if learned.is_trained:
        return _loaded(examples, learned, training)
    augmenter, neighborhoods = _prepared(examples, learned, training, executor)
    what, judged = "Training the recombination network", "held-out log-probability"
    shown = progress(what, judged=judged, max_time=training.max_time)
    with resumable(state), shown as shows, keeping(state, shows, say) as report:
        augmenter.fit_on(tuple(dict.fromkeys(examples)), neighborhoods, report=report, checkpoint=state)
    say(outcome(augmenter.fitted_.history))
    if learned.model is not None:
        augmenter.notes = Reading(tokens=learned.tokens or Reading.tokens).notes(examples)
        augmenter.save(learned.model)
        say(f"The model is in {learned.model}.")
    return augmenter


def find_neighborhoods(
    examples: Sequence[Example], learned: Learned, *, seed: int, effort: "Effort | None" = None
) -> "Neighborhoods":
    """Returns the neighborhoods to learn from, by the rule that was asked for, or the one that suits the examples.

    Args:
        examples: The training examples, all different.
        learned: What was asked for.
        seed: For random choices.
        effort: How the search is carried out; None: in this process, silently.

    Raises:
        RecombineError: If no example has a neighborhood.
    """
    import numpy as np

    from recombine.neighborhoods import ALONE, Neighborhoods
    from recombine.own_data import choices

    auto = learned.neighborhood == AUTO
    names = choices.rule_names(examples, choices.rarity(examples)) if auto else (learned.neighborhood,)
    if learned.prototypes == 0:  # nothing is rebuilt from anything
        return Neighborhoods(np.empty((0, 1), dtype=np.int32), names[0])
    rules = list(map(choices.rule_named, names))
    try:
        chosen = choices.neighborhoods(
            examples, rules, prototypes=learned.prototypes, seed=seed, effort=effort or ALONE
        )
        return chosen.value
    except RecombineError as error:
        ways = ["more examples, above all such as differ in a part"]
        ways += ["--neighborhood auto"] * (not auto) + ["fewer --prototypes"] * (learned.prototypes is not None)
        ways += ["--method geca, which needs none"] * _geca_makes_some(examples)
        raise RecombineError(error.message, hint=f"Try {' or '.join(ways)}.") from None


def _geca_makes_some(examples: Sequence[Example]) -> bool:
    from recombine.own_data import choices

    return bool(choices.geca(examples).value.fit(examples).sample(1, seed=0))


def _prepared(
    examples: Sequence[Example], learned: Learned, training: Training, executor: "Executor | None"
) -> "tuple[Recombination, Neighborhoods]":
    from recombine.augmentation.drawing import distinct_examples
    from recombine.augmentation.recombination import Recombination
    from recombine.models.device import resolve
    from recombine.own_data import choices

    resolve(training.device)  # an error that comes before the work costs none
    distinct = distinct_examples(examples, least=2, who="recombination")
    with searching("Looking for neighborhoods", len(distinct), executor) as effort:
        neighborhoods = find_neighborhoods(distinct, learned, seed=training.seed, effort=effort)
    if learned.prototypes != 0:
        ways = f"{len(neighborhoods):,} ways to rebuild one of the examples from others"
        say(f"Neighborhood {neighborhoods.rule}: {ways}.")
    prototypes = neighborhoods.prototypes if learned.prototypes is None else learned.prototypes
    augmenter = Recombination(
        choices.rule_named(neighborhoods.rule),
        training.generator(distinct, rare=choices.rarity(distinct).name, prototypes=prototypes),
        prototypes=prototypes,
        seeds=training.population,
        device=training.device,
    )
    augmenter.sampling = learned.sampling(augmenter.sampling)
    return augmenter, neighborhoods


def _loaded(examples: Sequence[Example], learned: Learned, training: Training) -> "Recombination":
    """Returns the model of a folder, if it is one that these options could have made of these examples."""
    from recombine.augmentation.recombination import Recombination

    assert learned.model is not None
    augmenter = Recombination.load(learned.model, device=training.device)
    if {*examples} != {*(augmenter.examples_ or ())}:
        raise RecombineError(
            "this model was trained on other examples.",
            place=learned.model,
            hint="Name its training file, or another folder for a new model.",
        )
    for option, asked, found in _comparisons(augmenter, learned, training):
        if asked is not None and asked != found:
            raise RecombineError(
                f"this model was trained with {option} {found}, not {asked}.",
                place=learned.model,
                hint=f"Leave out {option}, or name another folder for a new model.",
            )
    augmenter.sampling = learned.sampling(augmenter.sampling)
    return augmenter


def _comparisons(augmenter: "Recombination", learned: Learned, training: Training) -> list[tuple[str, object, object]]:
    """Returns each option that training depends on: its name, what was asked for, what the model has."""
    from recombine.training.presets import SCAN_GENERATOR, WORD_FORM_GENERATOR

    recipe = augmenter.recipe
    small = recipe.network.hidden not in (SCAN_GENERATOR.network.hidden, WORD_FORM_GENERATOR.network.hidden)
    rule = None if learned.neighborhood == AUTO else learned.neighborhood
    return [
        ("--prototypes", learned.prototypes, augmenter.prototypes),
        ("--neighborhood", rule, augmenter.neighborhoods_.rule),
        ("--size", training.size, "small" if small else "paper"),
        ("--epochs", training.epochs, recipe.epochs),
        ("--max-time", training.max_time, recipe.max_time),
        ("--seeds", training.seeds, len(augmenter.seeds)),
    ]
