"""GECA on the whole of SCAN, where everything that it makes is right."""

import time

import pytest

from recombine.augmentation.geca import GECA
from recombine.data.scan import interpret, split


@pytest.mark.slow
@pytest.mark.parametrize(("name", "number", "tested"), [("jump", 7706, 7706), ("around-right", 2740, 2272)])
def test_makes_every_pair_it_can_in_seconds_and_all_are_right(name: str, number: int, tested: int) -> None:
    dataset = split(name)
    start = time.process_time()
    geca = GECA().fit(dataset.train)
    geca.sample(400)
    assert time.process_time() - start < 10
    made = geca.sample(20_000)
    assert len(made) == number
    assert all(interpret(pair.x) == pair.y for pair in made)
    assert len(set(made) & set(dataset.test)) == tested
