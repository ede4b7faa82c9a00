"""The networks that other tests try are as different as these tests take them to be."""

from itertools import combinations, product

from networks import FEATURES, VARIANTS

IMPOSSIBLE = {("prototypes", 0, "copying", "none"), ("prototypes", 0, "copying", "symbol")}
"""Without prototypes, there may be nothing to copy: whether copies are symbols makes no difference."""


def test_every_two_values_of_any_two_features_occur_together() -> None:
    values = {name: {value(a) for a in VARIANTS.values()} for name, value in FEATURES.items()}
    pairs = {
        (one, first, other, second)
        for one, other in combinations(FEATURES, 2)
        for first, second in product(values[one], values[other])
    }
    found = {
        (one, FEATURES[one](a), other, FEATURES[other](a))
        for a in VARIANTS.values()
        for one, other in combinations(FEATURES, 2)
    }
    assert pairs - found == IMPOSSIBLE
    assert values["prototypes"] == {0, 1, 2}
    assert values["copying"] == {"joint", "gated", "symbol", "none"}
    assert all(len(values[name]) == 2 for name in [*FEATURES][2:])
