import pytest
import torch

from recombine.errors import RecombineError
from recombine.models.device import resolve

NAMES = ["", "tpu", "gpu", "CPU", "cuda:x", "cuda:-1", "cpu:", "cuda:", ":0", "cuda:²"]


@pytest.mark.parametrize("gpu", [True, False], ids=["GPU", "no GPU"])
def test_automatically_the_gpu_which_has_to_be_there(gpu: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    assert resolve("auto") == torch.device("cuda" if gpu else "cpu")
    assert resolve("cpu") == torch.device("cpu")
    for name in ("cuda", "cuda:1"):
        if gpu:
            assert resolve(name) == torch.device(name)
        else:
            with pytest.raises(RecombineError, match=r"no CUDA GPU.*`device='cpu'`"):
                resolve(name)
    for name in NAMES:
        with pytest.raises(RecombineError, match="unknown device"):
            resolve(name)
