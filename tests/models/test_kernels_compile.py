"""Kernels for a GPU that is not here: Triton compiles all of them, in every form, to machine code."""

import os
from pathlib import Path

import pytest
import torch
from torch import Tensor

triton = pytest.importorskip("triton", reason="the GPU kernels are not compiled: there is no Triton here")
if os.environ.get("TRITON_INTERPRET") == "1":
    pytest.skip("the GPU kernels are not compiled: they are interpreted", allow_module_level=True)

from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402
from triton.runtime.jit import JITFunction, mangle_type  # noqa: E402

from recombine.models.kernels.adam import adam, norms  # noqa: E402
from recombine.models.kernels.attention import _blocks, attend, attend_gradient, weighed  # noqa: E402
from recombine.models.kernels.bilstm import encode, encode_gradient  # noqa: E402
from recombine.models.kernels.cell import cell, cell_gradient  # noqa: E402
from recombine.models.kernels.join import join  # noqa: E402
from recombine.models.kernels.noise import random_words  # noqa: E402

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
    return sizes


@pytest.fixture(params=[torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def dtype(request: pytest.FixtureRequest) -> torch.dtype:
    return request.param


@pytest.fixture(params=[(2, 3, 2, 5), (1, 1, 1, 1)], ids=["many", "one"])
def sizes(request: pytest.FixtureRequest) -> tuple[int, int, int, int]:
    """R, B, K, S."""
    return request.param


def test_join(compiled: list[int], dtype: torch.dtype, sizes: tuple[int, int, int, int]) -> None:
    R, B, *_ = sizes
    a, bits = torch.empty(R, B, H, dtype=dtype), torch.empty(R, B, H, dtype=torch.uint8)
    for dropping in (None, bits):
        for plus in (None, a):
            for b in (None, a):
                for after in (None, a):
                    join(a, bits=dropping, limit=9, scale=1.5, plus=plus, after=after, b=b)
    assert len(compiled) == 16
    assert all(compiled)


def test_cell(compiled: list[int], dtype: torch.dtype, sizes: tuple[int, int, int, int]) -> None:
    R, B, *_ = sizes
    gates, h, c = torch.empty(R, B, 4 * H, dtype=dtype), torch.empty(R, B, H, dtype=dtype), torch.empty(R, B, H)
    bias = torch.empty(R, 1, 4 * H, dtype=dtype)
    cell(gates, gates, bias, c)
    uses: list[list[Tensor | None]] = [[h], [h, h], [h, h, h], [None, h, None]]
    for d_h in uses:
        for d_c in (None, c):
            cell_gradient(gates, gates, bias, c, c, d_h=d_h, d_c_after=d_c, d_gates=gates)
    assert len(compiled) == 9
    assert all(compiled)


def test_bilstm(compiled: list[int], dtype: torch.dtype, sizes: tuple[int, int, int, int]) -> None:
    R, B, *_ = sizes
    gates, bias = torch.zeros(2 * R, 1, B, 4 * H, dtype=dtype), torch.empty(2 * R, 1, 4 * H, dtype=dtype)
    weight, lengths, h = (
        torch.zeros(2 * R, H, 4 * H, dtype=dtype),
        torch.ones(R, B, dtype=torch.long),
        gates[:, 0, :, :H],
    )
    encoded = encode(gates, bias, weight, lengths)
    encode_gradient(gates, encoded.c, weight, lengths, d_states=encoded.states, d_h=h, d_c=h.float())
    assert len(compiled) == 2
    assert all(compiled)


def test_attention(compiled: list[int], dtype: torch.dtype, sizes: tuple[int, int, int, int]) -> None:
    R, B, K, S = sizes
    shape, count = torch.Size((R, B, K, S)), R * B * K
    scores, retrieved = torch.empty(shape), torch.empty(R, B, K * H, dtype=dtype)
    keys, values = torch.empty(count, S, H, dtype=dtype), torch.empty(count, S, H, dtype=dtype)
    query, room = torch.empty(count, H, dtype=dtype), [torch.empty(count, 3, n, dtype=dtype) for n in (H, S, S, H)]
    for bias in (None, torch.empty(count, S)):
        _, weights, _ = attend(query, keys, values, bias)
    for d_scores in (None, scores):
        for d_weights in (None, scores.to(dtype)):
            for d_out in (None, retrieved):
                gradients = {"d_scores": d_scores, "d_weights": d_weights, "d_out": d_out}
                attend_gradient(keys, values, weights, **gradients, shape=shape)
                part = [each[:, 1] for each in room]
                attend_gradient(keys, values, weights, **gradients, shape=shape, query=query, room=part)
    weighed(room[1], room[0])
    assert len(compiled) == 19
    assert all(compiled)


@pytest.mark.parametrize("sources", [5, 300, 100_000])
def test_attention_has_as_many_warps_as_a_block_may(sources: int) -> None:
    assert _blocks(sources, 512)["num_warps"] in (1, 2, 4, 8, 16)


def test_adam_and_noise(compiled: list[int], dtype: torch.dtype, sizes: tuple[int, int, int, int]) -> None:
    R, *_ = sizes
    parameter, each, one = torch.empty(R, H), torch.empty(R), torch.ones(())
    computed = parameter.to(dtype)
    adam(
        parameter, computed, computed, parameter, parameter,
        lr=each, scale=each, step=one, betas=(0.9, 0.999), epsilon=1e-8,
    )  # fmt: skip
    norms([computed], R)
    random_words(torch.zeros(R, dtype=torch.long), torch.zeros((), dtype=torch.long), 9)
    assert len(compiled) == 3
    assert all(compiled)
