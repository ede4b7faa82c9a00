import json
import os
import platform

import numpy as np
import pytest
import typer
from commands import Run

import recombine


def test_versions_device_and_threads(run: Run) -> None:
    found = json.loads(run("env", "--json").out)
    assert found["recombine"] == recombine.__version__
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["typer"] == typer.__version__
    assert found["device"].startswith(("cpu", "cuda"))
    assert found["threads"] == os.cpu_count()


def test_a_package_that_is_missing_is_named_as_such(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.cli.app.PACKAGES", ("no-such-package",))
    assert json.loads(run("env", "--json").out)["no-such-package"] == "not installed"


@pytest.mark.parametrize(
    ("gpu", "triton", "kernels", "precision"),
    [
        (False, True, "none, on a CPU", "float32"),
        (True, False, "none, without Triton", "float32, products in TF32"),
        (True, True, "by Triton", "bfloat16, parameters in float32"),
    ],
)
def test_how_networks_are_computed(
    run: Run, monkeypatch: pytest.MonkeyPatch, gpu: bool, triton: bool, kernels: str, precision: str
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: gpu)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda: "Some GPU")
    monkeypatch.setattr("recombine.models.device._have_triton", lambda: triton)
    found = json.loads(run("env", "--json").out)
    assert found["device"] == ("cuda (Some GPU)" if gpu else "cpu")
    assert (found["kernels"], found["precision"]) == (kernels, precision)


def test_table(run: Run) -> None:
    assert f"python {platform.python_version()}" in [" ".join(line.split()) for line in run("env").out.splitlines()]
