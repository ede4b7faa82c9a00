"""The reader of ``run.json``: what is right is read as it stands, and what is wrong is named."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

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


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda run: run.pop("verdict"), "lacks 'verdict'"),
        (lambda run: run.update(format=2), "format is 2; expected 1"),
        (lambda run: run["data"].update(train="many"), "data.train is 'many'; expected a whole number"),
        (lambda run: run["comparison"][0]["scores"].update(all=[float("nan")]), "NaN is no number"),
    ],
)
def test_what_is_of_another_type_is_named(
    change: Callable[[dict[str, Any]], object], words: str, tmp_path: Path
) -> None:
    run = sample_run()
    change(run)
    with pytest.raises(RecombineError) as raised:
        read_run(write_run(tmp_path / "run", run))
    assert words in str(raised.value)
    assert raised.value.place == str(tmp_path / "run" / "run.json")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"format": 1,\n"title" "x"}', "run.json:2: this is not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"", "run.json:1: this is not JSON"),
        (b"[]", "the document is a list; expected an object"),
    ],
)
def test_files_that_are_something_else_are_refused(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(RecombineError) as raised:
        read_run(tmp_path)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (sealed(sample_run()) | {"verdict": "It helps."}, "not as it was written"),
        (sample_run(), "no checksum"),
        ({}, "no checksum"),
    ],
)
def test_a_run_that_was_altered_or_has_no_checksum_is_named(
    document: dict[str, Any], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(RecombineError, match=words) as error:
        read_run(tmp_path)
    assert (error.value.place, error.value.hint) == (str(path), "Get it again, or compare again.")
