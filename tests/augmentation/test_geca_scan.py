"""GECA on the whole of SCAN, where everything that it makes is right."""

import time

import pytest

from recombine.augmentation.geca import GECA
from recombine.augmentation.resample import Resampler
from recombine.data.scan import Dataset, interpret, split


@pytest.fixture(scope="module", params=["jump", "around-right"])
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def dataset(name: str) -> Dataset:
    return split(name)


@pytest.fixture(scope="module")
def geca(dataset: Dataset) -> GECA:
    start = time.process_time()
    geca = GECA().fit(dataset.train)
    geca.sample(400)
    assert time.process_time() - start < 10
    return geca


@pytest.mark.slow
def test_makes_every_pair_it_can_and_all_are_right(name: str, dataset: Dataset, geca: GECA) -> None:
    made = geca.sample(20_000)
    assert len(made) == {"jump": 7706, "around-right": 2740}[name]
    assert all(interpret(pair.x) == pair.y for pair in made)
    in_test = set(made) & set(dataset.test)
    assert len(in_test) == {"jump": 7706, "around-right": 2272}[name]


def test_prototypes_are_training_pairs(dataset: Dataset, geca: GECA) -> None:
    train = set(dataset.train)
    for pair in geca.sample(100):
        changed, shown = pair.provenance.prototypes
        assert changed in train
        assert shown in train
        assert pair not in train


def test_resampling_keeps_what_the_training_data_lack(name: str, dataset: Dataset, geca: GECA) -> None:
    resampler = {"jump": Resampler(), "around-right": Resampler(epsilon=0.005, ngram=2, side="x")}[name]
    lacking = {"jump": "jump", "around-right": "around right"}[name]
    resampler.fit(dataset.train)
    for pair in geca.sample(200, accept=resampler):
        assert lacking in " ".join(pair.x)
