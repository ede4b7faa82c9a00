"""Everything that a row of Table 1 depends on, on one split."""

from dataclasses import dataclass, field
from typing import Literal

from recombine.augmentation.geca import GECA
from recombine.augmentation.resample import Resampler
from recombine.augmentation.sampler import SamplingSettings
from recombine.errors import RecombineError
from recombine.neighborhoods import LongShort, Rule
from recombine.paper.rows import Row
from recombine.paper.strict import updated
from recombine.training.fit import Recipe
from recombine.training.presets import SCAN_GENERATOR, SCAN_PREDICTOR


@dataclass(frozen=True, kw_only=True)
class Direct:
    """How direct inference retrieves prototypes; see `DirectInference`."""

    first: int = 5
    second: int = 5
    delta: float = 0.5
    dropout: bool = False
    batch: int | None = None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How one row comes about on one split.

    Attributes:
        method: Where new examples come from, or ``direct``: the recombination network predicts by itself.
        neighborhood: Which prototypes each training example is rebuilt from.
        prototypes: n of the recombination network.
        deviations: See `Recombination`.
        generator: How recombination networks are trained.
        sampling: How samples are drawn from them.
        geca: The rule-based augmenter.
        resampling: Whether only samples with something rare in them are kept.
        resampler: What is rare.
        direct: Direct inference.
        n: How many samples.
        p_aug: How often a predictor sees one.
        predictor: How predictors are trained.
    """

    method: Literal["none", "geca", "recombination", "direct"] = "recombination"
    neighborhood: Rule = field(default_factory=LongShort)
    prototypes: int = 2
    deviations: float | None = 1.0
    generator: Recipe = SCAN_GENERATOR
    sampling: SamplingSettings = field(default_factory=SamplingSettings)
    geca: GECA = field(default_factory=GECA)
    resampling: bool = False
    resampler: Resampler = field(default_factory=Resampler)
    direct: Direct = field(default_factory=Direct)
    n: int = 400
    p_aug: float = 0.0
    predictor: Recipe = SCAN_PREDICTOR

    def __post_init__(self) -> None:
        if self.n < 1:
            raise RecombineError(f"n is {self.n}; expected at least 1.")
        if not 0 <= self.p_aug < 1:
            raise RecombineError(f"p_aug is {self.p_aug}; expected at least 0 and less than 1.")
        if self.prototypes not in (0, 1, 2):
            raise RecombineError(f"prototypes is {self.prototypes}; expected 0, 1 or 2.")


def settings(row: Row, split: str) -> Settings:
    """Returns the settings of a row on a split: those of its file, over those that it shares with others.

    Raises:
        RecombineError: If a file has a key that there is not, or a value of another type than expected.
    """
    found = Settings()
    for layer in row.layers:
        found = updated(found, layer.table, place=layer.place)
        found = updated(found, layer.splits.get(split, {}), place=layer.place)
    return found
