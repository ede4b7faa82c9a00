"""Results of stages on disk, each under a hash of all that it depends on: what is there need not be done again."""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from recombine.data.output import replacing_folder
from recombine.data.store import checksums, json_digest, sealed, unseal
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.paper.records import commit, today

FORMAT = 14
"""Raised whenever the same settings give another result than before, or its files look different."""

MANIFEST = "stage.json"


@dataclass(frozen=True)
class Stage:
    """A piece of work, identified by what its result depends on.

    Attributes:
        kind: What is made, e.g. ``"samples"``.
        inputs: Settings, seeds, digests of data, keys of the stages before: JSON-friendly.
        effort: How much work it is, roughly, in training steps of one predictor; no part of what identifies it.
    """

    kind: str
    inputs: Mapping[str, Any]
    effort: float = 1.0

    @cached_property
    def key(self) -> str:
        """The hash of it all."""
        return json_digest([FORMAT, self.kind, self.inputs])[:24]


@dataclass
class Done:
    """A finished stage: where its files are, what it took by part, the commit of the code, and further facts."""

    folder: Path
    seconds: dict[str, float] = field(default_factory=dict)
    commit: str = ""
    facts: dict[str, float] = field(default_factory=dict)


class Cache:
    """A folder of finished stages, made when the first is finished. `say` is told of stages that are damaged."""

    def __init__(self, folder: Path, say: Callable[[str], None] = lambda _: None) -> None:
        self.folder, self.say = folder, say
        self._found: dict[str, Done] = {}  # checked already, or written by ourselves

    def find(self, stage: Stage) -> Done | None:
        """Returns a stage's result, if it is there and as it was written; else the stage is to be done (again)."""
        if stage.key in self._found:
            return self._found[stage.key]
        folder = self._path(stage)
        if not folder.exists():
            return None
        try:
            manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
            unseal(manifest, place=str(folder), hint="")
            intact = manifest["files"] == checksums(folder, besides=MANIFEST)
        except (RecombineError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            intact = False
        if not intact:
            self.say(f"{folder}: the {stage.kind} are not as they were written, and are made again.")
            shutil.rmtree(folder, ignore_errors=True)
            return None
        with suppress(OSError):  # of one who was killed between the end of the stage and this
            self._path(stage, ".training").unlink(missing_ok=True)
        self._found[stage.key] = Done(folder, manifest["seconds"], manifest["commit"], manifest["facts"])
        return self._found[stage.key]

    @contextmanager
    def doing(self, stage: Stage) -> Iterator[Done]:
        """Gives a folder for a stage's files, which becomes its result when the block ends well, and else vanishes."""
        folder = self._path(stage)
        done = Done(folder, commit=commit())
        with replacing_folder(folder) as done.folder:
            yield done
            content = {
                "kind": stage.kind,
                "inputs": stage.inputs,
                "seconds": done.seconds,
                "facts": done.facts,
                "commit": done.commit,
                "date": today(),
                "files": checksums(done.folder, besides=MANIFEST),
            }
            manifest = json.dumps(sealed(content), indent=2, ensure_ascii=False)
            (done.folder / MANIFEST).write_text(manifest, encoding="utf-8")
        done.folder = folder
        self._found[stage.key] = done

    @contextmanager
    def training(self, stage: Stage) -> Iterator[Path]:
        """Gives a file for the state of a training that may be stopped; a block that ends well removes it."""
        state = self._path(stage, ".training")
        yield state
        state.unlink(missing_ok=True)

    def _path(self, stage: Stage, suffix: str = "") -> Path:
        return self.folder / f"{stage.kind}-{stage.key}{suffix}"


def digest_of(examples: Iterable[Example]) -> str:
    """Returns a hash of examples and their order; where they came from plays no part."""
    return json_digest([[example.x, example.y] for example in examples])
