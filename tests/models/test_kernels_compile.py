"""Kernels for a GPU that is not here: Triton compiles all that training launches to machine code."""

import os
from pathlib import Path

import pytest
import torch

triton = pytest.importorskip("triton", reason="the GPU kernels are not compiled: there is no Triton here")
if os.environ.get("TRITON_INTERPRET") == "1":
    pytest.skip("the GPU kernels are not compiled: they are interpreted", allow_module_level=True)

from networks import CALLING_ALL_KERNELS, VARIANTS, batch, network  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402
from triton.runtime.jit import JITFunction, mangle_type  # noqa: E402

from recombine.models import device  # noqa: E402
from recombine.models.noise import Noise  # noqa: E402
from recombine.models.packing import Packing  # noqa: E402
from recombine.models.scoring import score  # noqa: E402
from recombine.training.optimizer import PopulationAdam, gradients_of  # noqa: E402
from recombine.training.recipe import Precision  # noqa: E402

pytestmark = pytest.mark.slow

HOPPER = GPUTarget("cuda", 90, 32)
LAUNCHED = {
    *("encode", "encode_gradient", "cell", "cell_gradient", "cell_and_attend", "cell_and_attend_gradient"),
    *("_attend", "_attend_gradient", "_weighed", "_drop", "_adam", "_squares", "_random_bytes"),
}


@pytest.mark.parametrize("precision", ["bfloat16", "float32"])
def test_every_kernel_is_compiled_in_every_form(
    precision: Precision, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compiled: dict[str, int] = {}

    def run(kernel: JITFunction, *values: object, grid: object, warmup: bool, **others: object) -> None:
        given = dict(zip([parameter.name for parameter in kernel.params], values, strict=False)) | others
        types, constants = {}, {}
        for number, parameter in enumerate(kernel.params):
            value = given[parameter.name]
            fixed = parameter.is_constexpr or value is None or (type(value) is int and value == 1)  # as launches do
            types[parameter.name] = "constexpr" if fixed else mangle_type(value)
            if fixed:
                constants[(number,)] = value
        form = f"{kernel.fn.__name__} {types} {constants}"
        if form not in compiled:
            code = triton.compile(ASTSource(kernel, types, constants, {}), target=HOPPER)
            compiled[form] = len(code.asm["cubin"])

    monkeypatch.setattr(JITFunction, "run", run)
    monkeypatch.setattr(device, "WITH_KERNELS", ("cpu",))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")  # without it, newer versions warn
    for name in CALLING_ALL_KERNELS:
        for seeds, counts in (((1, 2), (3, 3, 2)), ((1,), (1, 1))):
            model, size = network(VARIANTS[name], seeds).float().train(), counts[0]
            optimizer = PopulationAdam(model, len(seeds), lr=0.1, clip=1.0, precision=precision)
            sources, targets = batch(model, size, source=4, target=len(counts))
            packing = Packing.of(counts, torch.device("cpu"))
            score(model, sources, targets, Noise(seeds), packing=packing)[0].sum().backward()
            optimizer.update(gradients_of(model))
    assert {form.split()[0] for form in compiled} == LAUNCHED
    assert all(compiled.values())
