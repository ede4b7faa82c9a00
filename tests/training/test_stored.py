import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from networks import MORPHOLOGY, SCAN, batch, network
from toy import VOCABULARY

from recombine.errors import RecombineError
from recombine.models.architecture import Architecture
from recombine.models.scoring import score
from recombine.training.fitted import Fitted, History
from recombine.training.recipe import Recipe
from recombine.training.stored import Stored

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


def test_the_same_population_is_the_same_bytes(tmp_path: Path) -> None:
    contents = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        stored(SCAN).write(tmp_path / name)
        contents.append((tmp_path / name / "weights.safetensors").read_bytes())
    assert contents[0] == contents[1]


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
