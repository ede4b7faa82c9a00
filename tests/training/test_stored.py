import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from networks import MORPHOLOGY, SCAN, batch, network
from safetensors.torch import save_file
from toy import VOCABULARY

from recombine.data import output
from recombine.errors import RecombineError
from recombine.models.architecture import Architecture
from recombine.models.scoring import score
from recombine.training.fitted import Fitted, History
from recombine.training.recipe import Recipe
from recombine.training.stored import Stored, read_tensors, write_tensors

HISTORY = History(
    loss=[[1.0, 2.0]], evaluation=[[0.5, float("-inf")]], lr=[[0.1, 0.1]], seconds=3.5, stopped_early=True
)


def stored(architecture: Architecture) -> Stored:
    model = network(architecture, seeds=(1, 2)).float()
    model.unwritable[1, ..., 6] = True  # which tokens a replica never writes is part of it
    recipe = Recipe(network=replace(architecture, vocabulary=0), clip=None, max_steps=12)
    return Stored(recipe, (1, 2), VOCABULARY, Fitted(model, HISTORY))


@pytest.mark.parametrize("architecture", [SCAN, MORPHOLOGY], ids=["scan", "morphology"])
def test_a_population_is_read_as_it_was_written(tmp_path: Path, architecture: Architecture) -> None:
    written = stored(architecture)
    written.write(tmp_path)
    found = Stored.read(tmp_path, json.loads(json.dumps(written.settings())), "cpu")
    assert (found.recipe, found.seeds, found.vocabulary) == (written.recipe, written.seeds, written.vocabulary)
    assert found.fitted.history == replace(HISTORY, seconds=0.0)  # which differ from run to run
    model, same = written.fitted.model, found.fitted.model
    assert not same.training
    assert (same.architecture, same.replicas) == (model.architecture, 2)
    assert torch.equal(same.unwritable, model.unwritable)
    assert torch.equal(score(same, *batch(model))[0], score(model, *batch(model))[0])


@pytest.mark.parametrize(
    "other",
    [
        *({key: None} for key in ("recipe", "network", "seeds", "vocabulary", "history")),
        {"seeds": [1, 2, 3]},
        {"network": {"vocabulary": 7, "hidden": 5, "embedding": 3, "attention": 2}},
        {"network": {"vocabulary": 7, "color": "red"}},
        {"recipe": {"color": "red"}},
        {"history": {"color": "red"}},
        {"vocabulary": 7},
    ],
    ids=str,
)
def test_settings_that_lack_something_or_are_of_other_weights(tmp_path: Path, other: dict[str, Any]) -> None:
    written = stored(SCAN)
    written.write(tmp_path)
    settings = {key: value for key, value in (written.settings() | other).items() if value is not None}
    with pytest.raises(RecombineError, match="do not fit the weights") as error:
        Stored.read(tmp_path, settings, "cpu")
    assert error.value.place == str(tmp_path)


def test_weights_that_are_missing_or_damaged_and_no_such_device(tmp_path: Path) -> None:
    written = stored(SCAN)
    with pytest.raises(RecombineError, match=r"weights\.safetensors: the file cannot be read"):
        Stored.read(tmp_path, written.settings(), "cpu")
    (tmp_path / "weights.safetensors").write_bytes(b"?")
    with pytest.raises(RecombineError, match="not as it was written"):
        Stored.read(tmp_path, written.settings(), "cpu")
    written.write(tmp_path)
    with pytest.raises(RecombineError, match="unknown device"):
        Stored.read(tmp_path, written.settings(), "tpu")


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


@pytest.mark.parametrize("sealed", [None, "", "{}", "[]", "[1, 2]", '["{}", "0"]', '["{}"]', "[null, null]", "7"])
def test_tensors_that_were_not_sealed_are_damaged(tmp_path: Path, sealed: str | None) -> None:
    save_file({"a": torch.zeros(1)}, tmp_path / "file", metadata=None if sealed is None else {"sealed": sealed})
    assert_damaged(tmp_path / "file")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(RecombineError, match="cannot be read") as error:
            read_tensors(path)
        assert error.value.place == str(path)
