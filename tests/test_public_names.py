"""What ``import recombine`` offers, and what it costs."""

import subprocess
import sys

import pytest

import recombine


@pytest.mark.parametrize("name", recombine.__all__)
def test_public_names_are_there(name: str) -> None:
    assert getattr(recombine, name).__name__ == name


def test_completion_offers_the_public_names_and_no_modules() -> None:
    program = "import recombine, recombine.data.files; print(*dir(recombine))"
    offered = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert {name for name in offered if not name.startswith("_")} == set(recombine.__all__)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'augment_everything'"):
        recombine.augment_everything  # noqa: B018


def test_importing_the_package_imports_nothing_heavy() -> None:
    program = "import sys, recombine; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert not {"torch", "numpy", "scipy"} & {*loaded}


def test_reading_needs_no_torch() -> None:
    program = "import sys; from recombine import read; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout == b"False\n"
