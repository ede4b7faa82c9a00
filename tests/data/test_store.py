"""The store: folders of models, and documents with checksums, as they were written or refused."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.data import store
from recombine.data.store import DIGEST, check_free_model, read_model, sealed, unseal, writing_model
from recombine.errors import RecombineError

SETTINGS = {"seeds": [1, 2], "tokens": ["é", "▷"], "rate": 0.1, "none": None}


def write(path: Path, content: str = "content", *, force: bool = False) -> None:
    with writing_model(path, "toy", SETTINGS, force=force) as inside:
        (inside / "weights").write_text(content)
        (inside / "more").write_text("more")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write(tmp_path / "model")
    return tmp_path / "model"


def names(path: Path) -> list[str]:
    return sorted(file.name for file in path.iterdir())


def assert_error(path: Path, message: str, *, place: Path) -> None:
    with pytest.raises(RecombineError, match=message) as error:
        read_model(path, "toy")
    assert error.value.place == str(place)


def test_what_was_written_is_read(model: Path) -> None:
    assert read_model(model, "toy") == SETTINGS
    assert names(model) == ["model.json", "more", "weights"]
    assert names(model.parent) == ["model"]
    assert "▷" in (model / "model.json").read_text("utf-8")  # people can read it


def test_an_empty_folder_is_filled_and_missing_ones_above_are_made(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    for path in (tmp_path / "model", tmp_path / "a/b/model"):
        write(path)
        assert read_model(path, "toy") == SETTINGS


def test_a_model_is_replaced_only_by_force_and_then_wholly(model: Path) -> None:
    (model / "left over").write_text("from before")
    with pytest.raises(RecombineError, match=r"a model here already.*`force=True`"):
        write(model, "new")
    assert (model / "weights").read_text() == "content"
    write(model, "new", force=True)
    assert (model / "weights").read_text() == "new"
    assert names(model) == ["model.json", "more", "weights"]
    assert names(model.parent) == ["model"]


@pytest.mark.parametrize("force", [False, True])
def test_what_is_no_model_is_never_replaced(tmp_path: Path, force: bool) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/file").write_text("mine")
    for path in (tmp_path / "file", tmp_path / "folder"):
        for action in (lambda p: write(p, force=force), lambda p: check_free_model(p, force=force)):
            with pytest.raises(RecombineError, match="is no model") as error:
                action(path)
            assert error.value.place == str(path)
    assert (tmp_path / "folder/file").read_text() == (tmp_path / "file").read_text() == "mine"


def test_no_model(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        assert_error(path, "there is no model here", place=path)
    (tmp_path / "file").write_text("")
    assert_error(tmp_path / "file", "no ", place=tmp_path / "file/model.json")


def change(model: Path, **values: object) -> None:
    manifest = json.loads((model / "model.json").read_text())
    (model / "model.json").write_text(json.dumps(manifest | values))


def test_another_format_is_told_before_all_else(model: Path) -> None:
    change(model, format=store.FORMAT + 1, recombine="9.9", kind="else", settings=None, files=None)
    assert_error(model, rf"format {store.FORMAT + 1}, expected {store.FORMAT}.*9\.9", place=model / "model.json")


@pytest.mark.parametrize("name", ["weights", "more"])
def test_files_that_are_missing_or_altered_are_named(model: Path, name: str) -> None:
    (model / name).write_text("else")
    assert_error(model, "not as it was written", place=model / name)
    (model / name).unlink()
    assert_error(model, "missing", place=model / name)
    (model / name).mkdir()
    assert_error(model, "missing", place=model / name)


@pytest.mark.parametrize("content", ["", "{", "[]", "7", "null", '"text"', "{}", '{"format": 1}', "\ud800", "\0", None])
def test_what_is_no_manifest(model: Path, content: str | None) -> None:
    if content is None:
        (model / "model.json").unlink()
        os.mkfifo(model / "model.json")
    else:
        (model / "model.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    assert_error(model, "no manifest", place=model / "model.json")


@pytest.mark.parametrize(
    "values", [{"settings": 7}, {"settings": None}, {"files": 7}, {"files": "ab"}, {"files": [1]}], ids=str
)
def test_a_manifest_with_odd_or_altered_values(model: Path, values: dict[str, object]) -> None:
    change(model, settings={**SETTINGS, "rate": 0.2})
    assert_error(model, "not as it was written", place=model / "model.json")
    change(model, **values)
    assert_error(model, "no manifest", place=model / "model.json")


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "..", "", ".", "a/../../secret", "\0"])
def test_a_manifest_cannot_point_out_of_the_folder(model: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (model.parent / "secret").write_text("secret")
    looked_at: list[Path] = []
    checksum = store.checksum
    monkeypatch.setattr(store, "checksum", lambda file: looked_at.append(file) or checksum(file))
    change(model, files={name: "0"})
    with pytest.raises(RecombineError, match="missing"):
        read_model(model, "toy")
    assert looked_at == []


def test_what_is_read_must_have_a_checksum(model: Path) -> None:
    assert read_model(model, "toy", needed=["weights", "more"]) == SETTINGS
    files = json.loads((model / "model.json").read_text())["files"]
    change(model, files={"weights": files["weights"]})
    assert read_model(model, "toy", needed=["weights"]) == SETTINGS
    with pytest.raises(RecombineError, match="no checksum of more") as error:
        read_model(model, "toy", needed=["weights", "more"])
    assert error.value.place == str(model / "model.json")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
ALTERED = "a.json: this is not as it was written. Get it again."
DOCUMENTS = st.dictionaries(st.text().filter(lambda key: key != DIGEST), VALUES, max_size=4)


def problem(document: dict[str, Any]) -> str | None:
    """Takes the checksum out of a document and returns what is wrong with it."""
    try:
        unseal(document, place="a.json", hint="Get it again.")
    except RecombineError as error:
        return str(error)
    return None


@given(DOCUMENTS)
def test_what_was_sealed_is_intact_when_it_is_read(document: dict[str, object]) -> None:
    missing = "a.json: this has no checksum, which should be under 'digest'. Get it again."
    assert problem(dict(document)) == missing
    read = json.loads(json.dumps(sealed(document), indent=1, ensure_ascii=True))
    assert problem(read) is None
    assert read == document


@given(DOCUMENTS, DOCUMENTS)
def test_what_was_altered_is_not(document: dict[str, object], other: dict[str, object]) -> None:
    altered = {**other, DIGEST: sealed(document)[DIGEST]}
    is_same = json.dumps(document, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert problem(altered) == (None if is_same else ALTERED)


def test_odd_documents() -> None:
    """Keys that are numbers become strings; odd checksums are wrong, and so are those of what is too deep."""
    assert problem(json.loads(json.dumps(sealed({"counts": {2: "a", 10: "b"}, "none": None})))) is None
    for odd in (None, 7, [], {}, "", True):
        assert problem({"a": 1, DIGEST: odd}) == ALTERED
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert problem({"a": deep, DIGEST: ""}) == ALTERED
