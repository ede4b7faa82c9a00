"""``recombine env``: what runs here, for bug reports and beside results."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from recombine import __version__
from recombine.cli.options import Json
from recombine.cli.printing import print_json, print_table, say_next

PACKAGES = ("numpy", "scipy", "torch", "rapidfuzz", "rich", "typer", "safetensors")


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
    """Returns the versions of what matters, the device that would be used, and the threads."""
    return {
        "recombine": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{package: _version(package) for package in PACKAGES},
        "device": _device(),
        "threads": os.cpu_count() or 1,
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _device() -> str:
    try:
        import torch
    except (ImportError, OSError) as error:
        return f"unknown: torch cannot be imported ({error})"
    return f"cuda ({torch.cuda.get_device_name()})" if torch.cuda.is_available() else "cpu"
