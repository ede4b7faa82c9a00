"""What ``import recombine`` offers, and what it costs."""

import subprocess
import sys

import pytest

import recombine


def printed(program: str) -> set[str]:
    """Returns the words that a program prints in a process of its own."""
    return {*subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()}


def test_public_names_are_there_and_completion_offers_them_and_no_modules() -> None:
    for name in recombine.__all__:
        assert getattr(recombine, name).__name__ == name
    offered = printed("import recombine, recombine.data.files; print(*dir(recombine))")
    assert {name for name in offered if not name.startswith("_")} == set(recombine.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'augment_everything'"):
        recombine.augment_everything  # noqa: B018


def test_importing_and_reading_need_nothing_heavy() -> None:
    assert not {"torch", "numpy", "scipy"} & printed("import sys, recombine; print(*sys.modules)")
    assert "torch" not in printed("import sys; from recombine import read; print(*sys.modules)")
