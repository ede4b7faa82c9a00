"""From examples to (target, prototypes): which training pairs could have given each training pair."""

from recombine.neighborhoods.neighborhood import HOLE, Neighborhoods, filled
from recombine.neighborhoods.omega import Omega, compatible, focused
from recombine.neighborhoods.rules import NEIGHBORHOODS, LongLong, LongShort, OnePrototype, Swap, Tagged
from recombine.neighborhoods.search import ALONE, Effort, Rule, trial_step

__all__ = [
    "ALONE",
    "HOLE",
    "NEIGHBORHOODS",
    "Effort",
    "LongLong",
    "LongShort",
    "Neighborhoods",
    "Omega",
    "OnePrototype",
    "Rule",
    "Swap",
    "Tagged",
    "compatible",
    "filled",
    "focused",
    "trial_step",
]
