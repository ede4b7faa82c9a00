"""``recombine export``."""

import json
from pathlib import Path

from commands import Run, assert_is_sentence


def test_it_writes_a_folder_and_says_how_to_train(run: Run, train: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.jsonl"
    new.write_text('{"x": ["jump", "twice"], "y": ["I_JUMP", "I_JUMP"]}\n')
    done = run("export", train, new, "--to", "fairseq", "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert "fairseq-train" in done.out
    assert (tmp_path / "out/train.src").read_text().splitlines()[-1] == "jump twice"
    again = run("export", train, new, "--to", "fairseq", "-o", tmp_path / "out", "--json", "--force")
    document = json.loads(again.out)
    assert (document["originals"], document["new"]) == (len(train.read_text().splitlines()), 1)
    assert [Path(name).name for name in document["files"]] == ["train.src", "train.tgt", "README.md"]


def test_mistakes_are_sentences(run: Run, train: Path, tmp_path: Path) -> None:
    assert_is_sentence(run("export", train, train, "--to", "fairsec", "-o", tmp_path / "out"), ["fairseq"])
    assert_is_sentence(run("export", train, train, "--p-aug", 1, "-o", tmp_path / "out"), ["p_aug"])
    assert_is_sentence(run("export", "-", "-", "-o", tmp_path / "out"), ["standard input"])
    assert not (tmp_path / "out").exists()
