"""Runs kernels in tests: on a GPU (``make test-gpu``), or by Triton's interpreter (``make test-slow``, which
sets TRITON_INTERPRET=1). Where there is neither, tests that import this are skipped.
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
