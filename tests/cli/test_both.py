"""``recombine augment --method both``: samples of GECA and of networks."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Outcome, Run

from recombine.data import files
from recombine.example import Example

pytestmark = pytest.mark.usefixtures("tiny")

Augment = Callable[..., Outcome]


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return tmp_path / "new.jsonl"


@pytest.fixture
def both(run: Run, train: Path, new: Path) -> Augment:
    """Augments by both methods."""
    return lambda *options: run("augment", train, "--method", "both", "-o", new, *options)


def made_by(samples: list[Example]) -> list[tuple[str, int]]:
    return list(Counter(sample.provenance.method for sample in samples if sample.provenance is not None).items())


def test_half_are_gecas_and_networks_make_up_for_what_it_cannot_make(
    run: Run, both: Augment, train: Path, new: Path
) -> None:
    done = both("--no-resample", "-n", 30, "--json").ok
    assert "geca: 11 of 15 samples. GECA can make only 11 novel pairs" in done.err
    made = files.read(new)
    assert made_by(made) == [("geca", 11), ("recombination", 19)]
    assert len({sample.x for sample in made}) == 30
    report = done.document
    assert (report["method"], report["requested"], report["kept"], report["shortfall"]) == ("both", 30, 30, "")
    assert report["rejected"]["with an input that GECA has an output for"] > 0  # the network found some of these, too
    assert done.last == f"Next: recombine audit {new} --train {train}"
    assert run("augment", train, "--method", "geca", "-n", 11, "-o", new, "--force").ok
    assert {*made[:11]} == {*files.read(new)}


def test_every_network_of_a_model_has_samples_of_geca_beside_its_own(both: Augment, tmp_path: Path) -> None:
    words = ("--no-resample", "-n", 6, "--model", tmp_path / "model")
    assert both(*words, "--seeds", 2).ok
    paths = [tmp_path / f"new.{number}.jsonl" for number in range(2)]
    first, second = map(files.read, paths)
    for made in (first, second):
        assert made_by(made) == [("geca", 3), ("recombination", 3)]
        assert len({sample.x for sample in made}) == 6
    assert first[:3] != second[:3]
    again = both(*words, "--force")  # how many networks there are, the model says
    assert "Training" not in again.err
    assert [files.read(path) for path in paths] == [first, second]
