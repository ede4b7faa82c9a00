"""The reader of ``run.json``: what is right is read as it stands, and what is wrong is named."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from sample_run import sample_run, write_run

from recombine.data.store import sealed
from recombine.errors import RecombineError
from recombine.report.run import read_run

Place = tuple[Any, Any]


def small_run() -> dict[str, Any]:
    """The sample run with fewer samples, so that reading it a thousand times takes no time."""
    run = sample_run()
    run["samples"], run["attention"], run["rarity"] = run["samples"][:4], run["attention"][:4], run["rarity"][:2]
    return run


def places(value: Any) -> Iterator[Place]:  # noqa: ANN401
    """Yields every container in a document with every key or index of it."""
    for key in range(len(value)) if isinstance(value, list) else list(value):
        yield value, key
        if isinstance(value[key], list | dict):
            yield from places(value[key])


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    run = sample_run()
    assert json.loads(json.dumps(asdict(read_run(write_run(tmp_path / "run", run))))) == run
    with pytest.raises(RecombineError, match=r"run\.json: the run cannot be read: No such file.*recombine compare"):
        read_run(tmp_path)


def test_every_record_key_is_needed(tmp_path: Path) -> None:
    count = sum(isinstance(container, dict) for container, _ in places(small_run()))
    refused = 0
    for number in range(count):
        run = small_run()
        container, key = [place for place in places(run) if isinstance(place[0], dict)][number]
        # Some have keys of any name; and which network was chosen older files do not tell.
        if container in (run["provenance"], run["rejected"]) or key == "network":
            continue
        del container[key]
        with pytest.raises(RecombineError, match=rf"lacks '{key}'"):
            read_run(write_run(tmp_path / "run", run))
        refused += 1
    assert refused > 50


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda run: run.update(format=2), "format is 2; expected 1"),
        (lambda run: run.update(format=True), "format is True; expected 1"),
        (lambda run: run.update(titel="x"), "unknown key of the document 'titel'"),
        (lambda run: run["data"].update(train="many"), "data.train is 'many'; expected a whole number"),
        (lambda run: run["data"].update(train=True), "data.train is True; expected a whole number"),
        (
            lambda run: run["comparison"][1]["scores"].update(rare=0.5),
            "comparison[1].scores.rare is 0.5; expected a list",
        ),
        (lambda run: run["comparison"][0]["scores"].update(all=[float("nan")]), "NaN is not a number of JSON"),
        (lambda run: run["samples"][0]["x"].append("more"), "samples[0].sources has 7 entries; expected 8"),
        (lambda run: run["samples"][0]["sources"].__setitem__(1, "3:1"), "samples[0].sources[1] is '3:1'"),
        (lambda run: run["samples"][0]["sources"].__setitem__(1, "2:3"), "samples[0].sources[1] is '2:3'"),
        (lambda run: run["samples"][0]["sources"].__setitem__(1, "own:8"), "samples[0].sources[1] is 'own:8'"),
        (lambda run: run["samples"][0]["sources"].__setitem__(1, "1:0"), "samples[0].sources[1] is '1:0'"),
        (lambda run: run["attention"].pop(), "attention has 3 entries; expected 4"),
        (lambda run: run["attention"][0]["weights"][1][2].pop(), "attention[0].weights[1][2] has 3 entries"),
        (lambda run: run["attention"][0]["weights"].pop(), "attention[0].weights has 1 entries"),
        (lambda run: run["curves"][2]["loss"].pop(), "curves[2].loss has 10 entries; expected 11"),
    ],
)
def test_what_does_not_hold_together_is_named(
    change: Callable[[dict[str, Any]], object], words: str, tmp_path: Path
) -> None:
    run = small_run()
    change(run)
    with pytest.raises(RecombineError) as raised:
        read_run(write_run(tmp_path / "run", run))
    assert words in str(raised.value)
    assert raised.value.place == str(tmp_path / "run" / "run.json")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"format": 1,\n"title" "x"}', "run.json:2: this is not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 100_000, "not JSON"),
        (b"1" * 10_000, "not JSON"),
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
        (sealed(small_run()) | {"verdict": "It helps."}, "not as it was written"),
        (small_run(), "no checksum"),
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
