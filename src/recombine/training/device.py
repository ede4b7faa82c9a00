"""Where networks are trained."""

import re

import torch

from recombine.errors import RecombineError, unknown

DEVICES = ("auto", "cpu", "cuda")


def resolve(name: str) -> torch.device:
    """Returns the device of that name; ``auto`` is the GPU where there is one.

    Raises:
        RecombineError: If there is no such device here.
    """
    if not re.fullmatch(r"auto|(cpu|cuda)(:[0-9]{1,2})?", name):
        raise unknown("device", name, DEVICES)
    kind = name.partition(":")[0]
    if kind == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if kind == "cuda" and not torch.cuda.is_available():
        raise RecombineError("there is no CUDA GPU here that torch can use.", hint="Say `device='cpu'`.")
    return torch.device(name)
