"""Sets up all tests: helpers of this folder can be imported, and torch computes as in commands, the same each time."""

import os
import sys
from pathlib import Path

os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")  # before torch is imported, as commands do

import pytest
import torch
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
torch.set_num_threads(1)
# A busy machine is slow, not wrong. Half of the usual examples each time, and others each time.
settings.register_profile("any machine", deadline=None, max_examples=50)
settings.load_profile("any machine")


@pytest.fixture(autouse=True)
def same_numbers_each_time() -> None:
    torch.manual_seed(0)
