"""Some hundreds of broken and hostile inputs for each reader; ``make fuzz`` feeds them more than 100,000."""

import warnings

import pytest
from fuzzing import TARGETS, fuzz

pytestmark = pytest.mark.slow

INPUTS = 150


@pytest.mark.parametrize("name", TARGETS)
def test_only_errors_of_ours_or_success(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy's, of overflows in numbers that are refused afterwards
        counts = fuzz(name, INPUTS)
    assert sum(counts.values()) >= INPUTS // 2  # fewer where hypothesis knows of no more
    assert counts["refused"]
