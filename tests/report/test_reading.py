"""The reader of ``run.json``: what is right is read as it stands, and what is wrong is named."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from sample_run import sample_run, write_run

from recombine.data.store import sealed
from recombine.errors import RecombineError
from recombine.report.run import read_run


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    run = sample_run()
    assert json.loads(json.dumps(asdict(read_run(write_run(tmp_path / "run", run))))) == run
    with pytest.raises(RecombineError, match=r"run\.json: the run cannot be read: No such file.*recombine compare"):
        read_run(tmp_path)


def content(**changes: object) -> bytes:
    return json.dumps(sealed(sample_run() | changes)).encode()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (content(format=2), "run.json: format is 2; expected 1"),
        (content(rejected={"rare": float("nan")}), "NaN is no number"),
        (content().replace(b"helps", b"harms"), "not as it was written. Get it again"),
        (b"{}", "run.json: this has no checksum"),
        (b'{"format": 1,\n"title" "x"}', "run.json:2: this is not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"", "run.json:1: this is not JSON"),
        (b"[]", "the document is a list; expected an object"),
    ],
)
def test_what_is_something_else_is_refused(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(RecombineError) as raised:
        read_run(tmp_path)
    assert words in str(raised.value)
    assert str(raised.value).startswith(str(tmp_path / "run.json"))
