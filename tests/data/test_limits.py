import os
from collections.abc import Callable
from pathlib import Path

import pytest

from recombine.data import files, output, text, vocabulary
from recombine.data.files import iterate, read
from recombine.data.vocabulary import Vocabulary
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods import LongLong
from recombine.paper.records import read_records
from recombine.paper.rows import read_rows

LINES = {
    "tsv": "a b c d\te\n",
    "jsonl": '{"x": ["a"], "y": ["b", "c", "d", "e"]}\n',
    "scan": "IN: a b c d OUT: e\n",
    "sigmorphon": "abcd\te\tV;PST\n",
}


@pytest.mark.parametrize("format", LINES)
def test_the_longest_sequence(format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "data"
    file.write_text(LINES[format])
    monkeypatch.setattr(text, "MAX_TOKENS", 4)
    assert len(read(file, format=format)) == 1
    monkeypatch.setattr(text, "MAX_TOKENS", 3)
    with pytest.raises(RecombineError, match="has 4 tokens, expected at most 3") as error:
        read(file, format=format)
    assert error.value.place == f"{file}:1"


def test_the_largest_vocabulary_and_the_most_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = [Example(("a", "b"), ("c",)), Example(("b", "a"), ("c",))]
    monkeypatch.setattr(vocabulary, "MAX_VOCABULARY", 3)
    assert len(Vocabulary.of(examples).tokens) == 3
    LongLong().build(examples)
    monkeypatch.setattr(vocabulary, "MAX_VOCABULARY", 2)
    for work in (Vocabulary.of, LongLong().build):
        with pytest.raises(RecombineError, match="more than 2 different tokens"):
            work(examples)
    file = tmp_path / "data.tsv"
    file.write_text("a\tb\n" * 5)
    monkeypatch.setattr(files, "MAX_EXAMPLES", 5)
    assert len(read(file)) == 5
    monkeypatch.setattr(files, "MAX_EXAMPLES", 4)
    with pytest.raises(RecombineError, match="more than 4 examples"):
        read(file)
    assert sum(1 for _ in iterate(file)) == 5  # what is gone through is not held


@pytest.mark.parametrize(("name", "read"), [("a.json", read_records), ("a.toml", read_rows)])
def test_results_and_settings_have_a_largest_size_too(
    name: str, read: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_text('{"padding": "' + "x" * 100_000 + '"}')
    monkeypatch.setattr(output, "MAX_WHOLE", 50_000)
    with pytest.raises(RecombineError, match=r"takes more than 50,000 bytes"):
        read(tmp_path)
    if read is read_records:  # a pipe is not waited for
        (tmp_path / name).unlink()
        os.mkfifo(tmp_path / name)
        with pytest.raises(RecombineError, match="no record"):
            read(tmp_path)
