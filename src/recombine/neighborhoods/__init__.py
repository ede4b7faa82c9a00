"""From examples to (target, prototypes): which training pairs could have given each training pair."""

from recombine.neighborhoods.compatible import compatible
from recombine.neighborhoods.effort import ALONE, Effort
from recombine.neighborhoods.long_long import LongLong
from recombine.neighborhoods.long_short import LongShort
from recombine.neighborhoods.neighborhood import Neighborhoods
from recombine.neighborhoods.omega import Omega, focused
from recombine.neighborhoods.one_prototype import OnePrototype
from recombine.neighborhoods.rule import Rule
from recombine.neighborhoods.rules import NEIGHBORHOODS, build
from recombine.neighborhoods.search import trial_step
from recombine.neighborhoods.swap import Swap
from recombine.neighborhoods.tagged import Tagged
from recombine.neighborhoods.tagged_omega import RareFocused, TagPairs

__all__ = [
    "ALONE",
    "NEIGHBORHOODS",
    "Effort",
    "LongLong",
    "LongShort",
    "Neighborhoods",
    "Omega",
    "OnePrototype",
    "RareFocused",
    "Rule",
    "Swap",
    "TagPairs",
    "Tagged",
    "build",
    "compatible",
    "focused",
    "trial_step",
]
