import json
from pathlib import Path

import pytest
from commands import Run


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, Path]:
    contents = {
        "train.tsv": "walk\tI_WALK\njump\tI_JUMP\n",
        "test.tsv": "jump twice\tI_JUMP I_JUMP\nwalk twice\tI_WALK I_WALK\n",
        "samples.tsv": "walk\tI_WALK\njump twice\tI_JUMP I_JUMP\njump twice\tI_JUMP I_JUMP\n"
        "walk twice\tI_WALK\ntwice walk\tI_WALK\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    return {name.removesuffix(".tsv"): tmp_path / name for name in contents}


def test_counts_and_shares(run: Run, paths: dict[str, Path]) -> None:
    files = (paths["samples"], "--train", paths["train"], "--test", paths["test"])
    found = json.loads(run("audit", *files, "--gold", "scan", "--json").out)
    shares = found.pop("shares")
    assert found == {
        "n": 5,
        "novel": 4,
        "duplicates": 1,
        "contradicted": 0,
        "well_formed": 4,
        "right": 3,
        "right_and_novel": 2,
        "inputs_in_test": 3,
        "pairs_in_test": 2,
    }
    assert shares["right"] == 0.6


def test_table(run: Run, paths: dict[str, Path]) -> None:
    done = run("audit", paths["samples"], "--train", paths["train"], "--gold", "scan")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "samples 5 100.0 %" in lines
    assert "exactly right 3 60.0 %" in lines
    assert "test" not in done.out
    following = f"train {paths['train']} --augmented {paths['samples']} -o predictor"
    assert done.err.splitlines()[-1] == f"Next: recombine {following}"


def test_samples_from_standard_input(run: Run, paths: dict[str, Path]) -> None:
    done = run("audit", "-", "--train", paths["train"], "--json", stdin=paths["samples"].read_text())
    assert json.loads(done.out)["n"] == 5
