"""Where there are kernels."""

from functools import cache
from importlib.util import find_spec

import torch

DEVICES = ("cuda",)
"""Kinds of device that kernels run on."""


def fused(device: torch.device) -> bool:
    """Tells whether kernels compute on a device."""
    return device.type in DEVICES and _have_triton()


@cache
def _have_triton() -> bool:
    return find_spec("triton") is not None
