"""Runs ``recombine explore`` as people do, in a process of its own."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Served:
    """A page that is served, and, once that is over, how it ended."""

    url: str
    code: int | None = None
    talk: str = field(default="")

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://").rstrip("/")


@contextmanager
def served(*words: object) -> Iterator[Served]:
    """Serves a page for as long as the block takes, then interrupts."""
    program = Path(sys.executable).parent / "recombine"
    command = [program, "explore", *map(str, words), "--device", "cpu", "--threads", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            page = Served(process.stdout.readline().strip())
            yield page
        finally:
            process.send_signal(signal.SIGINT)
            _, page.talk = process.communicate(timeout=20)
            page.code = process.returncode
