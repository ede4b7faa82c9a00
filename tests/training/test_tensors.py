from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from recombine.data import output
from recombine.errors import RecombineError
from recombine.training.stored import read_tensors, write_tensors

TENSORS = {
    "weight": torch.arange(6.0).view(2, 3),
    "half": torch.tensor([0.5, -3.0], dtype=torch.bfloat16),
    "double": torch.tensor([0.1], dtype=torch.double),
    "mask": torch.tensor([[True, False]]),
    "state": torch.arange(4, dtype=torch.uint8),
    "none": torch.empty(0, 3, dtype=torch.int64),
    "": torch.tensor(7),
}
DESCRIPTION = {"run": "é ▷", "history": {"loss": [[1.5, float("inf")]], "seconds": 0.0}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    write_tensors(path, TENSORS, DESCRIPTION)
    return path


def assert_intact(path: Path) -> None:
    tensors, description = read_tensors(path)
    assert tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert tensors[name].dtype == tensor.dtype
        assert torch.equal(tensors[name], tensor)
    assert description == DESCRIPTION


def test_what_was_written_is_read(file: Path) -> None:
    assert_intact(file)
    assert [path.name for path in file.parent.iterdir()] == ["file"]


def test_what_is_larger_than_other_files_may_be_is_read_too(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "MAX_WHOLE", 8)
    assert_intact(file)


def test_views_and_parameters_are_written_as_they_look(tmp_path: Path) -> None:
    square = torch.arange(9.0).view(3, 3)
    parts = {"turned": square.T, "column": square[:, 1], "parameter": torch.nn.Parameter(square), "same": square}
    write_tensors(tmp_path / "file", parts, {})
    tensors, _ = read_tensors(tmp_path / "file")
    assert all(torch.equal(tensors[name], part) for name, part in parts.items())


def test_the_same_tensors_are_the_same_bytes(file: Path, tmp_path: Path) -> None:
    write_tensors(tmp_path / "other", dict(reversed(TENSORS.items())), dict(reversed(DESCRIPTION.items())))
    assert (tmp_path / "other").read_bytes() == file.read_bytes()


def assert_damaged(path: Path) -> None:
    with pytest.raises(RecombineError, match=r"not as it was written.*again") as error:
        read_tensors(path)
    assert error.value.place == str(path)


def test_a_file_cut_short_anywhere_is_damaged(file: Path) -> None:
    content = file.read_bytes()
    for length in range(len(content)):
        file.write_bytes(content[:length])
        assert_damaged(file)


@pytest.mark.parametrize("change", [1, 0x20, 0x80])
def test_a_byte_altered_anywhere_is_noticed_or_changes_nothing(file: Path, change: int) -> None:
    content = file.read_bytes()
    size = int.from_bytes(content[:8], "little")
    for place in range(len(content)):
        altered = bytearray(content)
        altered[place] ^= change
        file.write_bytes(altered)
        if place >= 8 + size:
            assert_damaged(file)
            continue
        try:
            assert_intact(file)  # another kind of blank in the header, say
        except RecombineError:
            assert_damaged(file)


def test_files_of_another_kind_are_damaged(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content in (b"", b"not tensors", b"{}" * 20, b"\x02" + b"\0" * 7 + b"{}"):
        path.write_bytes(content)
        assert_damaged(path)


@pytest.mark.parametrize("sealed", [None, "", "{}", "[]", "[1, 2]", '["{}", "0"]', '["{}"]', "[null, null]", "7"])
def test_tensors_that_were_not_sealed_are_damaged(tmp_path: Path, sealed: str | None) -> None:
    save_file({"a": torch.zeros(1)}, tmp_path / "file", metadata=None if sealed is None else {"sealed": sealed})
    assert_damaged(tmp_path / "file")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(RecombineError, match="cannot be read") as error:
            read_tensors(path)
        assert error.value.place == str(path)


def test_what_cannot_be_described_leaves_nothing_behind(file: Path) -> None:
    with pytest.raises(TypeError):
        write_tensors(file, TENSORS, {"what": object()})
    assert_intact(file)
    assert [path.name for path in file.parent.iterdir()] == ["file"]
