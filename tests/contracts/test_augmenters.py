"""The contract that every augmenter keeps; a new one is held to it by an entry in ``augmenters.CASES``."""

import copy
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable

import augmenters
import pytest
from augmenters import CASES, EXAMPLES, Case, in_full

from recombine.augmentation.protocol import Augmenter
from recombine.errors import RecombineError
from recombine.example import Example


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture(scope="module")
def fitted(case: Case) -> Augmenter:
    return case.fitted


def test_constructor_stores_its_settings_and_nothing_else(case: Case) -> None:
    augmenter = case.kind(**case.settings)
    for setting, value in case.settings.items():
        assert getattr(augmenter, setting) is value
        assert f"{setting}={value!r}" in repr(augmenter)
    with pytest.raises(RecombineError, match="has not been fitted"):
        augmenter.sample(1)
    with pytest.raises(RecombineError, match=r"needs at least .* got 0"):
        augmenter.fit([])


def test_fitting_again_forgets_the_first_time(case: Case, fitted: Augmenter) -> None:
    augmenter = case.kind(**case.settings)
    assert augmenter.fit(EXAMPLES[:40]) is augmenter
    assert in_full(augmenter.fit(EXAMPLES).sample(30)) == in_full(fitted.sample(30))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda fitted: pickle.loads(pickle.dumps(fitted))])
def test_a_copy_for_another_process_gives_the_same(fitted: Augmenter, copied: Callable[[Augmenter], Augmenter]) -> None:
    assert in_full(copied(fitted).sample(30)) == in_full(fitted.sample(30))


def test_gives_as_many_as_were_asked_for_or_an_account_of_why_not(fitted: Augmenter) -> None:
    for n in (1, 2, 30):
        samples = fitted.sample(n)
        assert len(samples) == samples.requested == n
        assert samples.shortfall == ""
    samples = fitted.sample(5, accept=lambda _: "unwanted")
    assert len(samples) == 0
    assert samples.shortfall
    assert samples.rejected["unwanted"] > 0
    assert "unwanted" in samples.account
    assert samples.shortfall in samples.account


def test_same_seed_same_samples_whatever_was_drawn_in_between(fitted: Augmenter) -> None:
    first = in_full(fitted.sample(30, seed=7))
    fitted.sample(11, seed=8)
    fitted.sample(3, seed=7, accept=lambda _: "unwanted")
    assert in_full(fitted.sample(30, seed=7)) == first
    assert len({tuple(fitted.sample(30, seed=seed)) for seed in range(5)}) > 1


def test_samples_are_unique_and_novel_or_else_originals_with_complete_provenance(case: Case, fitted: Augmenter) -> None:
    samples, known = fitted.sample(30), set(EXAMPLES)
    assert case.repeats or len(set(samples)) == 30
    for sample in samples:
        assert sample.x
        assert sample.y
        assert (sample in known) == case.repeats
        provenance = sample.provenance
        assert provenance.method
        assert provenance.prototypes
        assert all(prototype in known and prototype.provenance is None for prototype in provenance.prototypes)
        assert len(provenance.sources) in (0, len(sample.x) + len(sample.y))
        assert all(isinstance(value, str | int | float) for value in provenance.details.values())


def test_accept_decides_and_is_counted(fitted: Augmenter) -> None:
    asked: list[Example] = []

    def without_skip(candidate: Example) -> str | None:
        asked.append(candidate)
        assert candidate.provenance
        return "skips" if "skip" in candidate.x else None

    samples = fitted.sample(30, accept=without_skip)
    assert len(samples) == 30
    assert not any("skip" in sample.x for sample in samples)
    assert samples.rejected["skips"] == sum("skip" in candidate.x for candidate in asked) > 0
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize(
    ("n", "seed", "message"),
    [(0, 0, "cannot draw 0 samples"), (-1, 0, "cannot draw -1"), (1, -1, "seed -1 is negative")],
)
def test_n_has_to_be_positive_and_the_seed_not_negative(fitted: Augmenter, n: int, seed: int, message: str) -> None:
    with pytest.raises(RecombineError, match=message):
        fitted.sample(n, seed=seed)


def test_same_samples_under_any_hash_seed() -> None:
    """One test for all, since it takes a process of its own, in which all are fitted."""
    own = os.environ.get("PYTHONHASHSEED")
    environment = {**os.environ, "PYTHONHASHSEED": "2" if own == "1" else "1"}
    program = [sys.executable, augmenters.__file__]
    found = json.loads(subprocess.run(program, env=environment, check=True, capture_output=True).stdout)
    assert found.keys() == CASES.keys()
    assert found == augmenters.samples()
    assert all(len(samples) == 30 for samples in found.values())
