"""Kernels for a GPU that is not here: Triton compiles all of them, in every form, to machine code."""

import os
from pathlib import Path

import pytest
import torch

triton = pytest.importorskip("triton", reason="the GPU kernels are not compiled: there is no Triton here")
if os.environ.get("TRITON_INTERPRET") == "1":
    pytest.skip("the GPU kernels are not compiled: they are interpreted", allow_module_level=True)

from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402
from triton.runtime.jit import JITFunction, mangle_type  # noqa: E402

from recombine.models.fast import on_gpu  # noqa: E402
from recombine.models.fast.on_gpu import Attending, Cells  # noqa: E402
from recombine.models.kernels.attention import attend, attend_gradient, weighed  # noqa: E402
from recombine.models.kernels.elementwise import adam, drop, norms, random_bytes  # noqa: E402
from recombine.models.noise import Drop  # noqa: E402
from recombine.models.packing import Packing  # noqa: E402

pytestmark = pytest.mark.slow

HOPPER = GPUTarget("cuda", 90, 32)
H = 16


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """Sizes of the machine code of the kernels that would have run."""
    sizes: list[int] = []

    def run(kernel: JITFunction, *values: object, grid: object, warmup: bool, **others: object) -> None:
        names = [parameter.name for parameter in kernel.params]
        given = dict(zip(names, values, strict=False)) | others
        types, constants = {}, {}
        for number, parameter in enumerate(kernel.params):
            value = given[parameter.name]
            fixed = parameter.is_constexpr or value is None or (type(value) is int and value == 1)  # as launches do
            types[parameter.name] = "constexpr" if fixed else mangle_type(value)
            if fixed:
                constants[(number,)] = value
        code = triton.compile(ASTSource(kernel, types, constants, {}), target=HOPPER)
        sizes.append(len(code.asm["cubin"]))

    monkeypatch.setattr(JITFunction, "run", run)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")  # without it, newer versions warn
    return sizes


@pytest.fixture(params=[torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def dtype(request: pytest.FixtureRequest) -> torch.dtype:
    return request.param


@pytest.fixture(params=[(2, 3, 2, 5), (1, 1, 1, 1)], ids=["many", "one"])
def sizes(request: pytest.FixtureRequest) -> tuple[int, int, int, int]:
    """R, B, K, S."""
    return request.param


def test_drop(compiled: list[int], dtype: torch.dtype, sizes: tuple[int, int, int, int]) -> None:
    R, B, *_ = sizes
    x, where = torch.empty(R, B, H, dtype=dtype), Drop(torch.empty(R, B, H, dtype=torch.uint8), 9, 1.5)
    for dropping in (None, where):
        for plus in (None, x):
            drop(x, dropping, out=x, plus=plus)
    assert len(compiled) == 4
    assert all(compiled)


def test_cells(compiled: list[int], dtype: torch.dtype, sizes: tuple[int, int, int, int]) -> None:
    R, B, _, S = sizes
    packing = Packing.whole(1, B, torch.device("cpu"))
    bias, c = torch.empty(R, 1, 4 * H, dtype=dtype), torch.empty(R, B, H)
    cells = Cells(torch.empty(R, B, 4 * H, dtype=dtype), bias, c, packing)
    cells.turn()
    keys, padding = torch.empty(R, B, 1, S, H, dtype=dtype), torch.empty(R, B, 1, S)
    attending, pre = Attending(keys, keys, padding, packing), torch.empty(R, B, 2 * H, dtype=dtype)
    h, where = pre[..., :H], Drop(torch.empty(R, B, H, dtype=torch.uint8), 9, 1.5)
    for later in (None, h):
        cells.forward(0, h, h, None, later)
        cells.forward(0, h, h, where, later)
        on_gpu.cell_and_attend(cells, attending, 0, pre, later)
    for d_h in ([h], [h, h], [h, h, h]):
        for dropping in (None, where):
            cells.backward(0, d_h, h, dropping)
    for d_h in ([h], [h, h]):
        for d_scores in (None, padding):
            attending.turn(d_scores)
            on_gpu.cell_and_attend_gradient(cells, attending, 0, pre, d_h)
    assert len(compiled) == 16
    assert all(compiled)


def test_bilstm(compiled: list[int], dtype: torch.dtype, sizes: tuple[int, int, int, int]) -> None:
    R, B, *_ = sizes
    weight, lengths = torch.zeros(2 * R, H, 4 * H, dtype=dtype), torch.ones(R, B, dtype=torch.long)
    gates, bias = torch.zeros(2 * R, 1, B, 4 * H, dtype=dtype), torch.empty(2 * R, 1, 4 * H, dtype=dtype)
    states, _, _ = on_gpu.bilstm(gates.requires_grad_(), bias, weight, lengths)
    states.sum().backward()
    assert len(compiled) == 2
    assert all(compiled)


def test_attention(compiled: list[int], dtype: torch.dtype, sizes: tuple[int, int, int, int]) -> None:
    R, B, K, S = sizes
    packing = Packing.whole(3, B, torch.device("cpu"))
    query, keys = torch.empty(R, B, K, H, dtype=dtype), torch.empty(R, B, K, S, H, dtype=dtype)
    scores, out = torch.empty(R, B, K, S), torch.empty(R, B, K * H, dtype=dtype)
    weights = scores.to(dtype)
    for bias in (None, scores):
        attend(query, keys, keys, bias, scores=scores, weights=weights, out=out)
    for d_scores in (None, scores):
        attend_gradient(keys, keys, weights, d_scores=d_scores, d_out=out, d_all=weights)
    weighed(torch.empty(R, 3 * B, K, S, dtype=dtype), torch.empty(R, 3 * B, K, H, dtype=dtype), packing)
    assert len(compiled) == 5
    assert all(compiled)


def test_adam_and_noise(compiled: list[int], dtype: torch.dtype, sizes: tuple[int, int, int, int]) -> None:
    R, *_ = sizes
    parameter, each, one = torch.empty(R, H), torch.empty(R), torch.ones(())
    computed = parameter.to(dtype)
    adam(
        parameter, computed, computed, parameter, parameter,
        lr=each, scale=each, step=one, betas=(0.9, 0.999), epsilon=1e-8,
    )  # fmt: skip
    norms([computed], R)
    random_bytes(torch.zeros(R, dtype=torch.long), torch.zeros((), dtype=torch.long), torch.arange(3), 9)
    assert len(compiled) == 3
    assert all(compiled)
