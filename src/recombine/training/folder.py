"""A trained model as a folder: a readable manifest, the weights, and whatever else it needs, all with checksums."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recombine import __version__
from recombine.data.output import ROOM, read_whole, replacing_folder
from recombine.errors import RecombineError
from recombine.training.earlier import upgraded

MANIFEST = "model.json"
FORMAT = 1
"""Raised whenever older code could not read what newer code writes, or the other way round."""


@contextmanager
def writing(path: Path, kind: str, settings: Mapping[str, Any], *, force: bool = False) -> Iterator[Path]:
    """Gives a folder to put files into, which takes the place of `path` when the block ends well.

    Args:
        path: The folder to write.
        kind: What it holds, e.g. ``"predictor"``.
        settings: JSON-friendly; goes into the manifest, where people can read it.
        force: Whether a model that is there may be replaced.

    Raises:
        RecombineError: If something is there already and may not be replaced, or is no model.
    """
    check_free(path, force=force)
    try:
        with replacing_folder(path) as temporary:
            yield temporary
            manifest = {
                "format": FORMAT,
                "kind": kind,
                "recombine": __version__,
                "settings": settings,
                "digest": _digest(settings),
                "files": {file.name: _checksum(file) for file in sorted(temporary.iterdir())},
            }
            content = json.dumps(manifest, indent=2, ensure_ascii=False)
            (temporary / MANIFEST).write_text(content, encoding="utf-8")
    except OSError as error:
        raise RecombineError(
            f"the model cannot be written: {error.strerror or error}.", place=str(path), hint=ROOM
        ) from error


def check_free(path: Path, *, force: bool) -> None:
    """Raises the error for a folder that may not be written: found before the work, it costs none."""
    if not path.exists():
        above = next(folder for folder in path.absolute().parents if folder.exists())
        if not above.is_dir():
            raise RecombineError("this is no folder to write a model into.", place=str(above))
        return
    if not path.is_dir() or (not (path / MANIFEST).exists() and any(path.iterdir())):
        raise RecombineError("this exists and is no model.", place=str(path), hint="Choose another folder.")
    if not force and (path / MANIFEST).exists():
        raise RecombineError(
            "there is a model here already.",
            place=str(path),
            hint="Choose another folder, or replace it: `force=True`.",
        )


def read_settings(path: Path, kind: str, *, needed: Sequence[str] = ()) -> dict[str, Any]:
    """Returns a model's settings, once its files are known to be what they were.

    Args:
        path: The model's folder.
        kind: What it holds.
        needed: The names of files that are going to be read, which must have checksums.

    Raises:
        RecombineError: If there is no model of this kind, or of this format, or a file is missing or altered.
    """
    place = path / MANIFEST
    try:
        manifest = json.loads(read_whole(place).decode("utf-8"))
        form, written_by = manifest["format"], manifest["recombine"]
        if form == FORMAT:
            found, files, digest = manifest["kind"], manifest["files"], manifest["digest"]
            settings: dict[str, Any] = manifest["settings"]
            if not isinstance(files, dict) or not isinstance(settings, dict):
                raise TypeError("lists, perhaps of pairs, are no tables")
    except FileNotFoundError as error:
        raise RecombineError(
            "there is no model here.", place=str(path), hint=f"Expected a folder with {MANIFEST} in it."
        ) from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RecombineError("this is no manifest of a model.", place=str(place), hint="Train again.") from error
    if form != FORMAT:
        raise RecombineError(
            f"this model has format {form!r}, expected {FORMAT}.",
            place=str(place),
            hint=f"It was written by recombine {written_by}; use that version or train again.",
        )
    if found != kind:
        raise RecombineError(f"this is a {found}, expected a {kind}.", place=str(path))
    if digest != _digest(settings):
        raise _altered(place)
    for name in needed:
        if name not in files:
            raise RecombineError(f"this has no checksum of {name}.", place=str(place), hint="Train again.")
    for name, checksum in files.items():
        file = path / Path(name).name
        if not file.is_file():
            raise RecombineError("a file of the model is missing.", place=str(file), hint="Train again.")
        if _checksum(file) != checksum:
            raise _altered(file)
    upgraded_settings: dict[str, Any] = upgraded(settings)
    return upgraded_settings


def _altered(file: Path) -> RecombineError:
    return RecombineError(
        "a file of the model is not as it was written.", place=str(file), hint="Copy it again, or train again."
    )


def _digest(settings: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def _checksum(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
