"""``recombine env``: what runs here, for bug reports and beside results."""

import os
import platform
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version

from recombine import __version__
from recombine.cli.options import Json
from recombine.cli.printing import print_json, print_table, say_next

PACKAGES = ("numpy", "scipy", "torch", "triton", "rapidfuzz", "rich", "typer", "safetensors")


def env_cli(json: Json = False) -> None:
    """Prints versions, device and threads, for bug reports.

    Example:
      recombine env
    """
    found = environment()
    if json:
        print_json(found)
    else:
        print_table([(name, str(value)) for name, value in found.items()], justify="left")
    say_next("--help")


def environment() -> dict[str, str | int]:
    """Returns the versions of what matters, the device that would be used, how it computes, and the threads."""
    return {
        "recombine": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{package: _version(package) for package in PACKAGES},
        **_computing(),
        "threads": os.cpu_count() or 1,
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _computing() -> dict[str, str]:
    """Returns the device, whether kernels of our own compute there, and in which precision networks are trained."""
    try:
        import torch

        from recombine.models.fast import fused
        from recombine.training.fit import Recipe
    except (ImportError, OSError) as error:
        return {"device": f"unknown: torch cannot be imported ({error})"}
    if not torch.cuda.is_available():
        return {"device": "cpu", "kernels": "none, on a CPU", "precision": "float32"}
    device = f"cuda ({torch.cuda.get_device_name()})"
    if not fused(torch.device("cuda")):
        return {"device": device, "kernels": "none, without Triton", "precision": "float32, products in TF32"}
    (asked,) = (field.default for field in fields(Recipe) if field.name == "precision")
    return {"device": device, "kernels": "by Triton", "precision": f"{asked}, parameters in float32"}
