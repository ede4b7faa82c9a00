import pytest
import torch

from recombine.errors import RecombineError
from recombine.models.device import resolve


@pytest.fixture(params=[True, False], ids=["GPU", "no GPU"])
def gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: request.param)
    return request.param


def test_automatically_the_gpu_where_there_is_one(gpu: bool) -> None:
    assert resolve("auto") == torch.device("cuda" if gpu else "cpu")
    assert resolve("cpu") == torch.device("cpu")


def test_a_gpu_has_to_be_there(gpu: bool) -> None:
    for name in ("cuda", "cuda:1"):
        if gpu:
            assert resolve(name) == torch.device(name)
        else:
            with pytest.raises(RecombineError, match=r"no CUDA GPU.*`device='cpu'`"):
                resolve(name)


@pytest.mark.parametrize("name", ["", "tpu", "gpu", "CPU", "cuda:x", "cuda:-1", "cpu:", "cuda:", ":0", "cuda:²"])
def test_names_of_no_device(gpu: bool, name: str) -> None:
    with pytest.raises(RecombineError, match="unknown device"):
        resolve(name)
