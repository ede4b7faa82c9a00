"""All neighborhood rules by name."""

from collections.abc import Mapping, Sequence

from recombine.errors import RecombineError, unknown
from recombine.example import Example
from recombine.neighborhoods.long_long import LongLong
from recombine.neighborhoods.long_short import LongShort
from recombine.neighborhoods.neighborhood import Neighborhoods
from recombine.neighborhoods.one_prototype import OnePrototype
from recombine.neighborhoods.rule import Rule
from recombine.neighborhoods.swap import Swap
from recombine.neighborhoods.tagged import Tagged

NEIGHBORHOODS: Mapping[str, type[Rule]] = {
    rule.name: rule for rule in (OnePrototype, LongShort, LongLong, Swap, Tagged)
}
"""The rules: frozen dataclasses whose fields are the settings."""


def build(name: str, examples: Sequence[Example], *, seed: int = 0, settings: Rule | None = None) -> Neighborhoods:
    """Returns the neighborhoods of the examples by a rule.

    Args:
        name: One of ``NEIGHBORHOODS``.
        examples: The examples; of identical ones, only the first counts.
        seed: Same seed, same rows.
        settings: The rule with other settings than the paper's.

    Raises:
        RecombineError: If there is no such rule, or the settings are another rule's.
    """
    if name not in NEIGHBORHOODS:
        raise unknown("neighborhood", name, NEIGHBORHOODS)
    rule = NEIGHBORHOODS[name]() if settings is None else settings
    if rule.name != name:
        raise RecombineError(f"the settings are those of the {rule.name} rule, expected those of {name}.")
    return rule.build(examples, seed)
