import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def same_numbers_each_time() -> None:
    torch.manual_seed(0)
