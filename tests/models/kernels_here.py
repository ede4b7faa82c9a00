"""Runs kernels in tests: on a GPU, or by Triton's interpreter. Whoever imports this is skipped where there is neither.

TRITON_INTERPRET=1 pytest tests/models/test_kernels.py tests/training/test_training_by_kernels.py
"""

import os

import pytest
import torch

from recombine.models import device

pytest.importorskip("triton", reason="the GPU kernels are not tested: there is no Triton here")
if os.environ.get("TRITON_INTERPRET") != "1" and not torch.cuda.is_available():
    pytest.skip("the GPU kernels are not tested: no GPU, and TRITON_INTERPRET is not 1", allow_module_level=True)

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
PLAIN: tuple[str, ...] = ()
KERNELS = (DEVICE,)


def use(devices: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets kernels compute on these kinds of device from now on."""
    monkeypatch.setattr(device, "WITH_KERNELS", devices)
