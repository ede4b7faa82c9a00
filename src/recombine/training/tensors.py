"""Tensors in a file: safetensors with a JSON description and a checksum; never pickle."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from recombine.data.limits import read_whole
from recombine.data.output import replacing
from recombine.errors import RecombineError


def write_tensors(path: Path, tensors: Mapping[str, Tensor], description: Mapping[str, Any]) -> None:
    """Writes tensors and a JSON-friendly description into one file, whole or not at all, replacing what was there."""
    on_host = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    body = json.dumps(description, sort_keys=True)
    with replacing(path, force=True) as file:
        # One entry, since several would come in another order each time: same tensors, same bytes.
        file.write(save(on_host, metadata={"sealed": json.dumps([body, _digest(on_host, body)])}))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Reads what `write_tensors` wrote.

    Raises:
        RecombineError: If the file is missing, cut short or altered.
    """
    try:
        content = read_whole(path)
        tensors = load(content)
        size = int.from_bytes(content[:8], "little")
        body, digest = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["sealed"])
        intact = digest == _digest(tensors, body)
        description = json.loads(body)
    except OSError as error:
        raise RecombineError(f"the file cannot be read: {error.strerror or error}.", place=str(path)) from error
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise damaged(path) from error
    if not intact or not isinstance(description, dict):
        raise damaged(path)
    return tensors, description


def damaged(path: Path) -> RecombineError:
    """Returns the error for a file that is not as it was written."""
    return RecombineError(
        "this file is not as it was written: cut short, altered, or of another kind.",
        place=str(path),
        hint="Delete it and train again.",
    )


def _digest(tensors: Mapping[str, Tensor], body: str) -> str:
    digest = hashlib.sha256(body.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)  # numpy knows no bfloat16
    return digest.hexdigest()
