"""What depends on the device: its name, whether kernels compute on it, how precisely it multiplies."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec

import torch

from recombine.errors import RecombineError, unknown

DEVICES = ("auto", "cpu", "cuda")
"""Names of devices; a number may follow the last two, as in ``cuda:1``."""


def resolve(name: str) -> torch.device:
    """Returns the device of that name, if it is here; ``auto`` is the GPU if there is one."""
    if not re.fullmatch(r"auto|(cpu|cuda)(:[0-9]{1,2})?", name):
        raise unknown("device", name, DEVICES)
    kind = name.partition(":")[0]
    if kind == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if kind == "cuda" and not torch.cuda.is_available():
        raise RecombineError("there is no CUDA GPU here that torch can use.", hint="Say `device='cpu'`.")
    return torch.device(name)


WITH_KERNELS = ("cuda",)
"""Kinds of device that kernels run on."""


def fused(device: torch.device) -> bool:
    """Tells whether kernels compute on a device."""
    return device.type in WITH_KERNELS and _have_triton()


@cache
def _have_triton() -> bool:
    return find_spec("triton") is not None


@contextmanager
def fast_products() -> Iterator[None]:
    """Lets a GPU multiply float32 matrices in TF32, which is many times faster and precise enough to train with."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
