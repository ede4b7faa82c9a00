"""Originals and new examples together in a folder, in the form that another toolkit reads, with a word on how."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from recombine.data import export_formats as formats
from recombine.data.export_mix import Mix
from recombine.data.locking import locked
from recombine.data.output import all_or_none, check_free, replacing, sweep
from recombine.data.tokenization import check_kind
from recombine.errors import RecombineError, unknown
from recombine.example import Example

README = "README.md"

TOOLKITS: dict[str, Callable[[formats.Mixture], formats.Files]] = {
    "tsv": formats.tsv,
    "jsonl": formats.jsonl,
    "yoyodyne": formats.yoyodyne,
    "fairseq": formats.fairseq,
    "opennmt": formats.opennmt,
    "hf": formats.hugging_face,
}
"""What can be written, by name."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    Attributes:
        files: The files, the README last.
        how: What the README says: how to train with them.
    """

    files: tuple[Path, ...]
    how: str


def check_toolkit(name: str) -> None:
    """Raises the error for a toolkit that nothing is written for."""
    if name not in TOOLKITS:
        raise unknown("toolkit", name, TOOLKITS)


def export(
    originals: Sequence[Example],
    new: Sequence[Example],
    folder: str | Path,
    *,
    to: str,
    p_aug: float | None = None,
    tokens: str = "words",
    force: bool = False,
) -> Exported:
    """Writes originals and new examples for a toolkit; all new files or none, and after a kill once more.

    Where a toolkit takes weights it is given them; where it does not, examples are repeated.

    Args:
        originals: The original training examples.
        new: The new ones.
        folder: Where to.
        to: One of ``TOOLKITS``.
        p_aug: The probability that a training example is a new one; None: all count alike.
        tokens: What a token is where the toolkit splits strings: ``"words"`` or ``"characters"``.
        force: Whether existing files may be replaced.

    Raises:
        RecombineError: If a token cannot be written for the toolkit, or a file exists already.
    """
    check_toolkit(to)
    check_kind(tokens)
    for examples, name in ((originals, "original"), (new, "new")):
        if not examples:
            raise RecombineError(f"there are no {name} examples to export.")
    mix = Mix.of(len(originals), len(new), p_aug)
    files = TOOLKITS[to](formats.Mixture(originals, new, mix, tokens))
    paths = [Path(folder) / name for name in (*files.lines, README)]
    with locked(paths[-1]) as was_killed, all_or_none(paths):
        for path in paths:
            sweep(path)
            check_free(path, force=force or was_killed)
        for path, lines in zip(paths, (*files.lines.values(), [files.how]), strict=True):
            with replacing(path, force=force or was_killed) as stream:
                stream.writelines(f"{line}\n".encode() for line in lines)
    return Exported(tuple(paths), files.how)
