"""Keeps samples in a file, each once."""

from pathlib import Path
from threading import Lock

from recombine.data.files import read, write
from recombine.data.output import check_free, locked, sweep
from recombine.data.text import STANDARD
from recombine.errors import RecombineError
from recombine.example import Example


class Keeper:
    """A JSONL file of samples that somebody found good; what it held before stays in it.

    Args:
        path: The file.

    Raises:
        RecombineError: If there is something else than JSONL of examples, it cannot be written, or it is standard
            output.
    """

    def __init__(self, path: Path) -> None:
        if str(path) == STANDARD:
            raise RecombineError("samples cannot be kept in standard output.", hint="Name a file.")
        check_free(path, force=True)
        self.path = path
        self._lock = Lock()
        self._read()

    def _read(self) -> list[Example]:
        if not self.path.exists() or not self.path.stat().st_size:
            return []
        return read(self.path, format="jsonl")

    def keep(self, sample: Example) -> int:
        """Adds a sample and returns how many there are now; the file is replaced whole.

        Raises:
            RecombineError: If it is there already, or the file cannot be read or written.
        """
        with self._lock, locked(self.path, say=lambda _: None):  # other pages may keep samples in the same file
            sweep(self.path)
            kept = self._read()
            if sample in kept:
                raise RecombineError("this sample is kept already.")
            return write([*kept, sample], self.path, format="jsonl", force=True)

    def count(self) -> int:
        """Returns how many samples the file holds."""
        return len(self._read())
