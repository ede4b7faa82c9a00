"""The three files of ``benchmarks/own_files.py``, and what judges samples of them."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import own_files
import pytest


@pytest.fixture(params=own_files.KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_all_pairs_are_right_inputs_differ_and_the_same_seed_makes_the_same(kind: str) -> None:
    made, again, other = (own_files.make(kind, 200, seed) for seed in (1, 1, 2))
    assert (made.train, made.test) == (again.train, again.test)
    assert made.train != other.train
    pairs = [*made.train, *made.test]
    assert len(made.train) == 200
    assert all(made.oracle.truth(x) == y and made.oracle.right(x, y) for x, y in pairs)
    assert all(made.oracle.right(own_files.spaced(x), own_files.spaced(y)) for x, y in pairs)  # spacing is no matter
    assert kind != "commands" or all(json.dumps(json.loads(y), ensure_ascii=False) == y for _, y in pairs)
    assert len({x for x, _ in pairs}) == len(pairs)


def test_corrupted_pairs_are_refused(kind: str) -> None:
    made = own_files.make(kind, 100)
    for (x, y), (_, other) in zip(made.train, made.train[1:], strict=False):
        assert made.oracle.right(x, other) == (other == y)
        assert made.oracle.judge(x, y[:-2]) == own_files.WRONG
        assert made.oracle.judge(f"{x} the", y) == own_files.NOT_OF_LANGUAGE
        assert made.oracle.truth(x.split(maxsplit=1)[1]) != y or x.split()[0] in ("please", "hey,")


def test_a_tenth_of_the_pairs_and_half_of_the_tests_are_rare(kind: str) -> None:
    made = own_files.make(kind)

    def rare(x: str) -> list[str]:
        return [word for word in made.rare if f" {own_files.spaced(word)} " in f" {own_files.spaced(x)} "]

    counts = Counter(word for x, _ in made.train for word in rare(x))
    assert sum(counts.values()) == 30
    assert {*counts} == {*made.rare}
    assert {*counts.values()} == {1, 2}
    assert sum(bool(rare(x)) for x, _ in made.test) == len(made.test) / 2


def test_files_are_written_and_judged(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        command = [sys.executable, own_files.__file__, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    run(str(tmp_path), "--pairs", "20")
    file = tmp_path / "sentences" / "train.tsv"
    with file.open("a") as stream:
        stream.write("Anna sleeps\tsleep(tom)\nsleeps Anna\tsleep(anna)\n")
    told = run("--judge", "sentences", str(file))
    assert "right: 20, input not of the language: 1, output wrong: 1 (of 22)" in told
    assert "output wrong: Anna sleeps → sleep(tom)" in told
