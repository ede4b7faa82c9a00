from pathlib import Path

import pytest

from recombine.data import files, vocabulary
from recombine.data.files import iterate, read
from recombine.data.vocabulary import Vocabulary
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.neighborhoods import LongLong


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
