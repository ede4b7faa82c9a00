"""Feeds broken and hostile files to all that reads files: an error of ours or success, and nothing else.

    python tests/fuzzing.py [INPUTS]

Feeds each target this many inputs, or 7000, and prints what came of it. Inputs are of two kinds: bytes of any kind, and
files of the right form in which something is not as it should be, sealed anew where there are checksums, as a stranger
could.
"""

import hashlib
import json
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from recombine.errors import RecombineError

LONGEST = 5.0
"""Seconds of computing that one input may take: what takes longer hangs, and is stopped."""

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
ODD = st.sampled_from(
    ["", " ", "\t", "\n", "\r\n", "\r", "\0", "\ufeff", "\u2028", '"', "\\", "{", "[[", "e\u0301", "▷"]
)
PLAIN = st.sampled_from(["walk", "a", "b", "é", "V", "[V]"])
TOKENS = st.lists(PLAIN, min_size=1, max_size=3).map(" ".join) | st.lists(PLAIN | TEXT | ODD, max_size=4).map(" ".join)
WORD = PLAIN | TEXT | ODD
NUMBERS = st.integers() | st.floats() | st.sampled_from([10**12, 2**63, -1, 0, 10**400, 1e308, float("nan")])
LEAVES = st.none() | st.booleans() | NUMBERS | TEXT | ODD
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3))
DEEP = st.sampled_from([b"[" * 100_000, b'{"a":' * 50_000, b'{"x": ' + b"[" * 5_000])


class Target(NamedTuple):
    """What something is fed that reads files, as the files of a folder by name; and the function that reads it."""

    inputs: SearchStrategy[dict[str, bytes]]
    read: Callable[[Path], object]


@st.composite
def altered(draw: DrawFn, document: object) -> Any:  # noqa: ANN401
    """Draws a JSON value that differs from a given one in a few places."""
    changed = json.loads(json.dumps(document))
    for _ in range(draw(st.integers(1, 2))):
        changed = _alter(draw, changed)
    return changed


def _alter(draw: DrawFn, value: Any) -> Any:  # noqa: ANN401
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 7)) == 0:
        return draw(JSON)
    key = draw(st.sampled_from(sorted(value))) if isinstance(value, dict) else draw(st.integers(0, len(value) - 1))
    match draw(st.sampled_from(["in", "in", "in", "in", "gone", "more"])):
        case "gone":
            del value[key]
        case "more" if isinstance(value, list):
            value.insert(key, draw(JSON))
        case "more":
            value[draw(TEXT)] = draw(JSON)
        case _:
            value[key] = _alter(draw, value[key])
    return value


@st.composite
def damaged(draw: DrawFn, content: bytes) -> bytes:
    """Draws bytes that differ from given ones: cut, or with a few places overwritten."""
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(changed)))
        new = draw(st.binary(max_size=9))
        match draw(st.sampled_from(["over", "in", "cut"])):
            case "over":
                changed[place : place + len(new)] = new
            case "in":
                changed[place:place] = new
            case _:
                del changed[place:]
    return bytes(changed)


def as_json(value: object) -> bytes:
    """Returns a document as a file has it; numbers that JSON does not know are in it, too."""
    return json.dumps(value).encode("utf-8", "surrogatepass")


def as_sealed_json(value: object) -> bytes:
    """Returns a document as a file has it, with the right checksum if it can have one."""
    from recombine.data.store import sealed

    return as_json(sealed(value) if isinstance(value, dict) else value)


def one_file(name: str, content: SearchStrategy[bytes]) -> SearchStrategy[dict[str, bytes]]:
    return content.map(lambda found: {name: found})


# Examples

LINE = {
    "tsv": st.lists(TOKENS, min_size=2, max_size=2).map("\t".join) | st.lists(TOKENS, max_size=4).map("\t".join),
    "scan": st.tuples(TOKENS, TOKENS).map(lambda sides: f"IN: {sides[0]} OUT: {sides[1]}"),
    "sigmorphon": st.tuples(WORD, WORD, st.lists(WORD, max_size=3).map(";".join)).map("\t".join),
    "jsonl": (
        st.fixed_dictionaries({"x": JSON, "y": JSON}, optional={"provenance": JSON})
        | JSON
        | altered({"x": ["a"], "y": "b c"})
    ).map(json.dumps)
    | TOKENS
    | st.sampled_from(['{"x": "a b", "y": "c"}', '{"x": ["a"], "y": ["b"], "provenance": {"method": "geca"}}']),
}


def examples(line: SearchStrategy[str], read: str = "read", **how: str) -> Target:
    """Returns a target: what a function of `files` reads of a file with lines of some kind."""
    from recombine.data import files

    lines = (line | st.lists(line, max_size=4).map("\n".join)).map(lambda text: text.encode("utf-8", "surrogatepass"))

    def reading(folder: Path) -> None:
        files.detect(folder / "file")
        getattr(files, read)(folder / "file", **how)

    return Target(one_file("file", lines | st.binary(max_size=60) | DEEP), reading)


# Settings and results

KEYS = [
    *("name", "like", "note", "splits", "published", "method", "n", "p_aug", "jump", "neighborhood", "jump.n"),
    *("neighborhood.rule", "generator.network.hidden", "generator.epochs", "sampling.decoding.temperature"),
    "published.jump",
]
VALUES = [
    *('"baseline"', '"recomb-2"', '"long-short"', "true", "1", "-1", "0.5", "nan", "inf", '"none"', "[]", "{}"),
    *("[0.1, 0.2]", '["jump"]', "1979-05-27", "[[1], 2]", "{a = 1}", '"""', '"-"', "'x'"),
    *("9" * 5000, "{" * 2000, "[" * 5000),
]
SOUND = ["n = 5", "p_aug = 0.1", 'method = "geca"', 'splits = ["jump"]', 'like = "baseline"', "prototypes = 1"]


def rows() -> Target:
    from recombine.paper.rows import read_rows
    from recombine.paper.settings import settings as settings_of

    line = st.tuples(st.sampled_from(KEYS) | TEXT, st.sampled_from(VALUES) | TEXT).map(" = ".join)
    table = st.sampled_from(["[jump]", "[published]", "[generator.network]", "[[x]]", "["]) | line
    text = st.lists(st.sampled_from(SOUND) | table, max_size=5).map(lambda lines: "\n".join(['name = "new"', *lines]))
    shipped = {row.name for row in read_rows()}

    def read(folder: Path) -> None:
        for row in read_rows(folder):
            for split in () if row.name in shipped else row.splits:
                settings_of(row, split)

    return Target(one_file("row.toml", text.map(str.encode) | st.binary(max_size=60)), read)


RECORD = {
    "row": "recomb-2",
    "column": "jump",
    "seeds": [0, 1],
    "exact_match": [0.5, 1.0],
    "correct": ["gA==", "wA=="],
    "tested": 2,
    "samples": [{"n": 4, "novel": 4, "right_and_novel": 3, "inputs_in_test": 2}, None],
    "samples_right": {"mean": 0.5, "deviation": 0.1, "n": 1},
    "kept": [4, 0],
    "rejected": [{"known": 1}, {}],
    "listing": [{"seed": 0, "x": "a", "y": "b", "right": True}],
    "items": [{"x": "a", "y": "b", "sampled": None, "predicted": "c"}],
}


def records() -> Target:
    from recombine.paper.records import read_records

    documents = altered(RECORD).map(as_sealed_json) | JSON.map(as_json) | damaged(as_sealed_json(RECORD))
    return Target(one_file("a.json", documents | st.binary(max_size=60) | DEEP), read_records)


def runs() -> Target:
    from sample_run import sample_run

    from recombine.report.run import read_run, render

    small = sample_run()
    for name in ("samples", "attention", "rarity"):
        small[name] = small[name][:3]
    content = altered(small).map(as_sealed_json) | JSON.map(as_json) | damaged(as_sealed_json(small)) | DEEP
    return Target(one_file("run.json", content), lambda folder: render(read_run(folder)))


# Models


def readers() -> dict[str, Any]:
    from recombine.augmentation.recombination import Recombination
    from recombine.own_data.augmenters import GECA
    from recombine.prediction.predictor import Predictor

    return {"geca": GECA, "predictor": Predictor, "recombination": Recombination}


@cache
def a_folder(kind: str) -> dict[str, bytes]:
    """Returns the files of a model that is as it should be."""
    from recombine.data.files import iterate
    from recombine.neighborhoods import OnePrototype
    from recombine.training.presets import SMALL_GENERATOR, SMALL_PREDICTOR

    preset = SMALL_PREDICTOR if kind == "predictor" else SMALL_GENERATOR
    network = replace(preset.network, hidden=4, embedding=4)
    recipe = replace(preset, network=network, epochs=1, min_steps=0, held_out=0.0, batch=2)
    settings = {
        "geca": {},
        "predictor": {"recipe": recipe, "device": "cpu"},
        "recombination": {"rule": OnePrototype(), "recipe": recipe, "prototypes": 1, "device": "cpu"},
    }
    with tempfile.TemporaryDirectory() as place:
        data, folder = Path(place) / "data.tsv", Path(place) / "model"
        data.write_text("walk\tWALK\nrun\tRUN\nwalk twice\tWALK WALK\nrun twice\tRUN RUN\njump\tJUMP\n")
        examples, model = list(iterate(data)), readers()[kind](**settings[kind])
        (model.fit_each(examples, [()]) if kind == "predictor" else model.fit(examples)).save(folder)
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def resealed(files: dict[str, bytes], settings: Any) -> dict[str, bytes]:  # noqa: ANN401
    """Returns a model's files with other settings and the right checksums."""
    manifest = json.loads(files["model.json"])
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items() if name != "model.json"}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    return files | {"model.json": as_json(manifest | {"settings": settings, "digest": digest, "files": sums})}


@st.composite
def models(draw: DrawFn, kind: str) -> dict[str, bytes]:
    files = dict(a_folder(kind))
    manifest = json.loads(files["model.json"])
    match draw(st.sampled_from(["settings", "settings", "settings", "manifest", "file", "sealed file"])):
        case "settings":
            return resealed(files, draw(altered(manifest["settings"])))
        case "manifest":
            return files | {"model.json": draw(altered(manifest).map(as_json) | damaged(files["model.json"]) | DEEP)}
        case "file":
            name = draw(st.sampled_from(sorted(files)))
            return files | {name: draw(damaged(files[name]))}
    name = draw(st.sampled_from(sorted(files.keys() - {"model.json"})))
    return resealed(files | {name: draw(damaged(files[name]))}, manifest["settings"])


def model(kind: str) -> Target:
    given = {} if kind == "geca" else {"device": "cpu"}
    return Target(models(kind), lambda folder: readers()[kind].load(folder, **given))


def tensors() -> Target:
    import torch

    from recombine.training.stored import read_tensors, write_tensors

    with tempfile.TemporaryDirectory() as place:
        write_tensors(Path(place) / "file", {"a": torch.arange(3.0), "b": torch.tensor(True)}, {"run": "0123abcd"})
        content = (Path(place) / "file").read_bytes()
    size = int.from_bytes(content[:8], "little")

    def joined(header: bytes) -> bytes:
        return len(header).to_bytes(8, "little") + header + content[8 + size :]

    headers = altered(json.loads(content[8 : 8 + size])).map(as_json) | damaged(content[8 : 8 + size])
    inputs = damaged(content) | headers.map(joined) | st.binary(max_size=60)
    return Target(one_file("file", inputs), lambda folder: read_tensors(folder / "file"))


def neighborhoods() -> Target:
    import numpy as np

    from recombine.neighborhoods import Neighborhoods

    with tempfile.TemporaryDirectory() as place:
        Neighborhoods(np.array([[0, 1], [1, 0]], dtype=np.int32), "one-prototype").save(Path(place) / "file")
        content = (Path(place) / "file").read_bytes()
    inputs = damaged(content) | st.binary(max_size=60)
    return Target(one_file("file", inputs), lambda folder: Neighborhoods.load(folder / "file"))


TARGETS: dict[str, Callable[[], Target]] = {
    "tsv": lambda: examples(LINE["tsv"], format="tsv"),
    "tsv of characters": lambda: examples(LINE["tsv"], format="tsv", tokens="characters"),
    "jsonl": lambda: examples(LINE["jsonl"], format="jsonl"),
    "inputs in jsonl": lambda: examples(LINE["jsonl"], "read_inputs", format="jsonl"),
    "scan": lambda: examples(LINE["scan"], format="scan"),
    "sigmorphon": lambda: examples(LINE["sigmorphon"], format="sigmorphon"),
    "any format": lambda: examples(st.one_of(*LINE.values())),
    "word forms": lambda: examples(LINE["sigmorphon"], "read_inflections"),
    "rows of a table": rows,
    "records": records,
    "runs": runs,
    "tensors": tensors,
    "neighborhoods": neighborhoods,
    "predictors": lambda: model("predictor"),
    "recombination networks": lambda: model("recombination"),
    "geca": lambda: model("geca"),
}


def fuzz(name: str, inputs: int) -> Counter[str]:
    """Feeds inputs to a target, as files of a folder, and returns how many it read and how many it refused.

    Raises:
        Exception: What a target raised that is no error of ours, or AssertionError if it took too long.
    """
    target, counts = TARGETS[name](), Counter[str]()

    def hangs(*_: object) -> None:
        raise AssertionError(f"more than {LONGEST} s for one input")

    @settings(max_examples=inputs, deadline=None, database=None, derandomize=True, suppress_health_check=[*HealthCheck])
    @given(target.inputs)
    def feed(files: dict[str, bytes]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for each, content in files.items():
                (Path(folder) / each).write_bytes(content)
            signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
            try:
                target.read(Path(folder))
                counts["read"] += 1
            except RecombineError:
                counts["refused"] += 1
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    signal.signal(signal.SIGVTALRM, hangs)
    feed()
    return counts


def main() -> None:
    warnings.simplefilter("ignore")  # numpy's, of overflows in numbers that are refused afterwards
    for name in TARGETS:
        counts = fuzz(name, int(sys.argv[1]) if sys.argv[1:] else 7000)
        print(f"{name:24}{counts['read']:7,} read, {counts['refused']:7,} refused", flush=True)
    print("Only errors of ours, or success.")


if __name__ == "__main__":
    main()
