"""Files that are written whole, with a checksum, and read back or refused with a sentence: the one store.

Documents are JSON with a checksum among its keys. Folders have a manifest, a JSON file that lists the checksums of all
others; models are such folders. Arrays are numpy's files with a description. Nothing is ever unpickled.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from recombine import __version__
from recombine.data.output import check_folder, read_whole, replacing, replacing_folder
from recombine.errors import RecombineError

DIGEST = "digest"
"""Names the checksum of all else in a document."""

MODEL = "model.json"
"""The manifest of a model's folder."""

FORMAT = 2
"""The format of models, raised whenever older code could not read what newer code writes, or the other way round."""


def json_digest(content: object) -> str:
    """Returns the checksum of something JSON-friendly."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def checksum(file: Path) -> str:
    """Returns the checksum of a file's bytes."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def checksums(folder: Path, *, besides: str) -> dict[str, str]:
    """Returns the checksums of all files in a folder and those below it, besides the manifest."""
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file != folder / besides]
    return {file.relative_to(folder).as_posix(): checksum(file) for file in files}


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a document, as it will be read again, with its checksum."""
    content = json.loads(json.dumps(document))  # in which a key that is a number has become a string
    return {**content, DIGEST: json_digest(content)}


def unseal(document: dict[str, Any], *, place: str, hint: str) -> None:
    """Takes the checksum out of a document; an error, with this place and hint, if it is not that of the rest."""
    if DIGEST not in document:
        raise RecombineError(f"this has no checksum, which should be under {DIGEST!r}.", place=place, hint=hint)
    try:
        intact = document.pop(DIGEST) == json_digest(document)
    except RecursionError:  # some depths can be read, but not have been written
        intact = False
    if not intact:
        raise RecombineError("this is not as it was written.", place=place, hint=hint)


@contextmanager
def writing_model(path: Path, kind: str, settings: Mapping[str, Any], *, force: bool = False) -> Iterator[Path]:
    """Gives a folder to put a model's files into, which takes the place of `path` when the block ends well.

    The manifest tells its kind, e.g. ``"predictor"``, and its settings, which are JSON-friendly. A model that is there
    is replaced only with `force`, and anything else never.
    """
    check_free_model(path, force=force)
    with replacing_folder(path) as temporary:
        yield temporary
        manifest = {
            "format": FORMAT,
            "kind": kind,
            "recombine": __version__,
            "settings": settings,
            DIGEST: json_digest(settings),
            "files": checksums(temporary, besides=MODEL),
        }
        content = json.dumps(manifest, indent=2, ensure_ascii=False)
        (temporary / MODEL).write_text(content, encoding="utf-8")


def check_free_model(path: Path, *, force: bool) -> None:
    """Raises the error for a folder that a model may not be written to, before the work is done."""
    check_folder(path.absolute().parent, place=path, what="folder")
    if not path.exists():
        return
    if not path.is_dir() or (not (path / MODEL).exists() and any(path.iterdir())):
        raise RecombineError("this exists and is no model.", place=str(path), hint="Choose another folder.")
    if not force and (path / MODEL).exists():
        hint = "Choose another folder, or replace it: `force=True`."
        raise RecombineError("there is a model here already.", place=str(path), hint=hint)


def read_model(path: Path, kind: str, *, needed: Sequence[str] = ()) -> dict[str, Any]:
    """Returns a model's settings, once its files are known to be what they were; those `needed` have checksums."""
    place = path / MODEL
    try:
        manifest = json.loads(read_whole(place).decode("utf-8"))
        form, written_by = manifest["format"], manifest["recombine"]
        if form == FORMAT:
            found, files, digest = manifest["kind"], manifest["files"], manifest[DIGEST]
            settings: dict[str, Any] = manifest["settings"]
            if not isinstance(files, dict) or not isinstance(settings, dict):
                raise TypeError("lists, perhaps of pairs, are no tables")
    except FileNotFoundError as error:
        hint = f"Expected a folder with {MODEL} in it."
        raise RecombineError("there is no model here.", place=str(path), hint=hint) from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RecombineError("this is no manifest of a model.", place=str(place), hint="Train again.") from error
    if form != FORMAT:
        hint = f"It was written by recombine {written_by}; use that version or train again."
        raise RecombineError(f"this model has format {form!r}, expected {FORMAT}.", place=str(place), hint=hint)
    if found != kind:
        written_by = {"recombination": "augment --model", "predictor": "train"}.get(kind)
        hint = f"Name a folder that `recombine {written_by}` wrote." if written_by else ""
        raise RecombineError(f"this folder holds a {found}, expected a {kind}.", place=str(path), hint=hint)
    for name in needed:
        if name not in files:
            raise RecombineError(f"this has no checksum of {name}.", place=str(place), hint="Train again.")
    checks = [(place, digest == json_digest(settings))]
    for name, expected in files.items():
        file = path / Path(name).name
        if not file.is_file():
            raise RecombineError("a file of the model is missing.", place=str(file), hint="Train again.")
        checks.append((file, checksum(file) == expected))
    for file, is_intact in checks:
        if not is_intact:
            hint = "Copy it again, or train again."
            raise RecombineError("a file of the model is not as it was written.", place=str(file), hint=hint)
    return settings


def write_rows(path: str | Path, rows: np.ndarray, description: Mapping[str, Any], *, force: bool = False) -> None:
    """Writes an array and a JSON-friendly description of it into one file, in numpy's npz format, whole or not."""
    text = json.dumps(description)
    with replacing(path, force=force) as file:
        np.savez(file, rows=rows, description=text, digest=_digest_of_rows(rows, text))


def read_rows(path: str | Path, error: RecombineError) -> tuple[np.ndarray, Any]:
    """Returns the array and the description that `write_rows` wrote; the given error is raised for other files."""
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            # As they are written: a small file that unpacks to a large one was made to fill the memory.
            if any(part.compress_type != zipfile.ZIP_STORED for part in file.zip.infolist()):
                raise error
            rows, text, digest = file["rows"], str(file["description"]), str(file["digest"])
        if digest != _digest_of_rows(rows, text):
            raise error
        return rows, json.loads(text)
    except FileNotFoundError as missing:
        raise RecombineError("there is no such file.", place=str(path)) from missing
    except RecombineError:
        raise
    except Exception as damage:  # whatever readers of damaged files raise
        raise error from damage


def _digest_of_rows(rows: np.ndarray, description: str) -> str:
    return hashlib.sha256(f"{rows.dtype} {rows.shape} {description}".encode() + rows.tobytes()).hexdigest()
