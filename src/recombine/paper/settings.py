"""Everything that a row of a table depends on, on one split."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_type_hints

from recombine.augmentation.geca import GECA
from recombine.augmentation.resample import Resampler
from recombine.augmentation.sampler import SamplingSettings
from recombine.data.untrusted import typed
from recombine.errors import RecombineError, unknown
from recombine.neighborhoods import LongShort, Rule, Tagged
from recombine.paper.as_coded import RULES
from recombine.paper.rows import Row
from recombine.prediction.direct import Direct
from recombine.training.presets import SCAN_GENERATOR, SCAN_PREDICTOR, WORD_FORM_GENERATOR, WORD_FORM_PREDICTOR
from recombine.training.recipe import Recipe

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")

NOTHING = "none"
"""Stands for None, which TOML cannot say."""

FILLED_IN = ("vocabulary", "network.prototypes")
"""Fields that follow from other settings or from the data."""

AND = " and "
"""Stands between methods whose samples are put together."""

Method = Literal[
    "none",
    "oversample",
    "geca",
    "paradigms",
    "recombination",
    "geca and recombination",
    "paradigms and recombination",
    "paradigms and geca and recombination",
    "direct",
]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How one row comes about on one split.

    Attributes:
        method: Where new examples come from, or ``direct``: the recombination network predicts by itself.
            ``oversample``: rare originals once more; ``geca and recombination``: the samples of both. ``paradigms`` is
            for word forms only.
        neighborhood: Which prototypes each training example is rebuilt from.
        prototypes: n of the recombination network.
        deviations: See `Recombination`.
        omega: Which prototypes samples are made from: those that the rule has; those of them whose last prototype has
            something rare (``focused``: section 4.2 would have rare tags in prototypes); or pairs of word forms around
            one with a rare tag (``rare``: as in the authors' code).
        generator: How recombination networks are trained.
        sampling: How samples are drawn from them.
        resampling: Whether only samples with something rare in them are kept.
        agreement: Whether samples are rejected that have a token and not its counterpart (see `Agreement`), or of
            word forms, a rare tag that the form does not show (see `Exponents`).
        resampler: What is rare.
        rare_tags: Which tags of word forms may be rare: all; named ones (PST, not 1S) as in the authors' code; or the
            tenses PST and FUT, one of which each sample has that the paper prints.
        n: How many samples.
        paradigms: How many samples by `Paradigms`, where that is the method or one of several.
        p_aug: How often a predictor sees one; None: all examples count alike.
        predictor: How predictors are trained.
    """

    method: Method = "recombination"
    neighborhood: Rule = field(default_factory=LongShort)
    prototypes: int = 2
    deviations: float | None = 1.0
    omega: Literal["rule", "focused", "rare"] = "rule"
    generator: Recipe = SCAN_GENERATOR
    sampling: SamplingSettings = field(default_factory=SamplingSettings)
    geca: GECA = field(default_factory=GECA)
    resampling: bool = False
    agreement: bool = False
    resampler: Resampler = field(default_factory=Resampler)
    rare_tags: Literal["all", "named", "tenses"] = "all"
    direct: Direct = field(default_factory=Direct)
    n: int = 400
    paradigms: int = 1_000
    p_aug: float | None = 0.0
    predictor: Recipe = SCAN_PREDICTOR

    def __post_init__(self) -> None:
        for name in ("n", "paradigms"):
            if getattr(self, name) < 1:
                raise RecombineError(f"{name} is {getattr(self, name)}; expected at least 1.")
        if self.p_aug is not None and not 0 <= self.p_aug < 1:
            raise RecombineError(f"p_aug is {self.p_aug}; expected at least 0 and less than 1.")
        if self.prototypes not in (0, 1, 2):
            raise RecombineError(f"prototypes is {self.prototypes}; expected 0, 1 or 2.")

    @property
    def sources(self) -> tuple["Settings", ...]:
        """The settings of what predictors need: samples by one method each, or direct inference, which needs none."""
        if self.method == "none":
            return ()
        each = [replace(self, method=method) for method in self.method.split(AND)]  # type: ignore[arg-type]
        return tuple(replace(one, n=self.paradigms) if one.method == "paradigms" else one for one in each)


WORD_FORMS = Settings(
    neighborhood=Tagged(),
    generator=WORD_FORM_GENERATOR,
    geca=GECA(fragment_size=4, gaps=1),
    n=180,
    p_aug=None,
    predictor=replace(WORD_FORM_PREDICTOR, own_epochs=True),  # as if each row were run by itself
)
"""What rows of Table 2 have in common, as far as it has to do with word forms at all."""


def settings(row: Row, split: str, base: Settings | None = None) -> Settings:
    """Returns the settings of a row on a split: those of its file, over shared ones, over `base`."""
    found = base or Settings()
    for layer in row.layers:
        found = updated(found, layer.table, place=layer.place)
        found = updated(found, layer.splits.get(split, {}), place=layer.place)
    return found


def updated(record: Record, table: Mapping[str, Any], *, place: str, within: str = "") -> Record:
    """Returns a dataclass with the settings of a table in place of its own; errors name `place` and the key `within`.

    A field that is a dataclass itself takes a table; one that holds a rule for neighborhoods may change it with the key
    ``rule``.
    """
    types = get_type_hints(type(record))
    known = [field.name for field in fields(record) if field.init and not f"{within}{field.name}".endswith(FILLED_IN)]
    changes: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{within}{key}"
        if key not in known:
            error = unknown("setting", name, [f"{within}{field}" for field in known])
            raise RecombineError(error.message, place=place, hint=error.hint)
        now: Any = getattr(record, key)
        if is_dataclass(now):
            further = typed(value, dict[str, Any], name=name, place=place, toml=True)
            kind: Any = type(now)
            if "rule" in further and kind in RULES.values():
                rule = typed(further.pop("rule"), Literal[*RULES], name=f"{name}.rule", place=place, toml=True)
                now = now if kind is RULES[rule] else RULES[rule]()
            changes[key] = updated(now, further, place=place, within=f"{name}.")
        else:
            is_none = value == NOTHING and NoneType in get_args(types[key])
            changes[key] = None if is_none else typed(value, types[key], name=name, place=place, toml=True)
    try:
        return replace(record, **changes)
    except RecombineError as error:
        raise RecombineError(error.message, place=place, hint=error.hint) from error


def described(record: object) -> dict[str, Any]:
    """Returns the settings of a dataclass as a JSON-friendly table, which `updated` could read.

    All but newer ones that have their defaults: results from before them keep their keys.
    """
    rules = [name for name, kind in RULES.items() if type(record) is kind]
    found: dict[str, Any] = {"rule": rules[0]} if rules else {}
    for field_ in fields(record):  # type: ignore[arg-type]
        value = getattr(record, field_.name)
        if field_.init and not (field_.metadata.get("newer") and value == field_.default):
            found[field_.name] = described(value) if is_dataclass(value) else value
    return found
