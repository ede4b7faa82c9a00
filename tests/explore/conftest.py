from pathlib import Path

import pytest
import torch
from toy_task import QUICK_GENERATOR, TASK

from recombine.augmentation.recombination import Recombination
from recombine.explore.explorer import Explorer
from recombine.neighborhoods import LongShort


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that nobody may change: two networks that were trained for a moment."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("explored") / "model"
    Recombination(LongShort(), QUICK_GENERATOR, seeds=(1, 2), device="cpu").fit(TASK.train).save(folder)
    return folder


@pytest.fixture(scope="session")
def augmenter(model: Path) -> Recombination:
    return Recombination.load(model, device="cpu")


@pytest.fixture(scope="session")
def explorer(augmenter: Recombination) -> Explorer:
    return Explorer(augmenter)
