"""Finding training examples, and keeping samples."""

import subprocess
import sys
from pathlib import Path

import pytest
from toy_task import TASK, example

from recombine.data.files import read
from recombine.errors import RecombineError
from recombine.example import Example, Provenance
from recombine.explore.keeping import Keeper
from recombine.explore.search import SHOWN, Search


def test_all_words_have_to_occur() -> None:
    search = Search(TASK.train)
    found = search.find("Twice RUN")
    assert found.examples == tuple(one for one in TASK.train if "run" in str(one).lower() and "twice" in str(one))
    assert found.total == len(found.examples) > 1
    assert search.find("nowhere").total == 0


def test_only_the_first_are_given() -> None:
    found = Search(TASK.train).find("")
    assert found.total == len(TASK.train) > SHOWN
    assert found.examples == tuple(TASK.train[:SHOWN])


def test_words_are_found_across_characters() -> None:
    search = Search([Example(("g", "e", "l", "PST"), tuple("geldi")), Example(tuple("bak"), tuple("bakar"))])
    assert search.find("geldi").examples == (search.examples[0],)
    assert search.find("gel bakar").total == 0


def test_samples_are_added_each_once(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    first = example("jump twice").with_provenance(Provenance("recombination", (example("jump"),), log_probability=-1.5))
    assert Keeper(path).count() == 0
    assert not path.exists()
    assert Keeper(path).keep(first) == 1
    keeper = Keeper(path)
    assert keeper.keep(example("jump thrice")) == 2
    with pytest.raises(RecombineError, match="kept already"):
        keeper.keep(first)
    kept = read(path)
    assert kept == [example("jump twice"), example("jump thrice")]
    assert kept[0].provenance == first.provenance


@pytest.mark.parametrize("content", ["no json\n", '{"x": "a"}\n'])
def test_another_file_is_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(content)
    with pytest.raises(RecombineError, match=r"mine\.txt:1"):
        Keeper(path)
    assert path.read_text() == content


def test_an_empty_file_will_do_and_a_folder_will_not(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.touch()
    assert Keeper(path).keep(example("jump")) == 1
    with pytest.raises(RecombineError):
        Keeper(tmp_path)
    with pytest.raises(RecombineError, match="standard output"):
        Keeper(Path("-"))


KEEP = """
import sys
from pathlib import Path
from recombine.example import Example
from recombine.explore.keeping import Keeper
keeper = Keeper(Path(sys.argv[1]))
for number in range(20):
    keeper.keep(Example((sys.argv[2], str(number)), ("y",)))
"""


def test_two_processes_keep_samples_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    (tmp_path / ".kept.jsonl.0123456789abcdef.tmp").touch()  # of one that was killed
    both = [subprocess.Popen([sys.executable, "-c", KEEP, str(path), name]) for name in "ab"]
    assert [process.wait() for process in both] == [0, 0]
    assert sorted(one.x for one in read(path)) == sorted((name, str(n)) for name in "ab" for n in range(20))
    assert list(tmp_path.iterdir()) == [path]
