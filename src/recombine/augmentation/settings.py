"""How samples are drawn from trained networks, and which are kept (section 4, appendix B)."""

from dataclasses import dataclass, field
from typing import Literal

from recombine.augmentation.protocol import Novelty
from recombine.decoding.generate import Decoding


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingSettings:
    """How samples are drawn and which are kept.

    Attributes:
        decoding: How tokens are chosen.
        novelty: What must be new: the pair; the input, since another output for a known input could only contradict
            it; both the input and the output, as in the authors' code for SCAN; or nothing, as in that for word forms.
        surplus: Collect so many times n samples, if they can be had, and keep the n of the highest confidence.
        confidence: What that is: the mean log-probability of the tokens of y, given x (``output``), which tells right
            outputs from wrong ones whatever was drawn for x, so that of several outputs for one x, of which at most one
            is right, the surest is kept; or log p(d) (``pair``), as in the authors' code, which prefers short samples.
        patience: Candidates that may be drawn for each one kept; where it takes more, the temperature is raised.
        warmer: By how much it is raised.
        warmest: The temperature at which, patience being lost once more, drawing ends with fewer samples.
        batch: Candidates drawn at a time by each replica.
    """

    decoding: Decoding = field(default_factory=Decoding)
    novelty: Novelty | Literal["nothing"] = "input"
    surplus: float = 4.0
    confidence: Literal["output", "pair"] = "output"
    patience: int = 100
    warmer: float = 0.2
    warmest: float = 1.0
    batch: int = 512
