"""``recombine augment --method both``: samples of GECA and of networks."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Outcome, Run

from recombine.augmentation.geca import GECA
from recombine.augmentation.protocol import Samples
from recombine.augmentation.recombination import Recombination
from recombine.data import files
from recombine.example import Example

pytestmark = pytest.mark.usefixtures("tiny")

Augment = Callable[..., Outcome]


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return tmp_path / "new.jsonl"


@pytest.fixture
def both(run: Run, train: Path, new: Path) -> Augment:
    """Augments by both methods on one thread of the CPU."""

    def invoke(*options: object) -> Outcome:
        return run("augment", train, "--method", "both", "--device", "cpu", "--threads", 1, "-o", new, *options)

    return invoke


def made_by(samples: list[Example]) -> list[tuple[str, int]]:
    return list(Counter(sample.provenance.method for sample in samples if sample.provenance is not None).items())


@pytest.mark.slow
def test_half_of_the_samples_are_gecas_and_no_input_comes_twice(
    run: Run, both: Augment, train: Path, new: Path
) -> None:
    done = both("--no-resample", "-n", 15, "--epochs", 12, "--json").ok
    made = files.read(new)
    assert made_by(made) == [("geca", 7), ("recombination", 8)]
    assert len({sample.x for sample in made}) == 15
    report = done.document
    assert (report["method"], report["requested"], report["kept"], report["shortfall"]) == ("both", 15, 15, "")
    assert report["rejected"]["with an input that GECA has an output for"] > 0  # the network found some of these, too
    assert "geca: 7 of 7 samples." in done.err
    assert done.last == f"Next: recombine audit {new} --train {train}"
    assert run("augment", train, "--method", "geca", "-n", 7, "-o", new, "--force").code == 0
    assert made[:7] == files.read(new)


def test_unless_told_all_samples_have_something_rare(both: Augment, new: Path) -> None:
    done = both("-n", 6).ok
    assert done.err.count("Rare: 2 tokens") == 1
    assert all("jump" in sample.x or "I_JUMP" in sample.y for sample in files.read(new))


def test_networks_make_up_for_what_geca_cannot_make(both: Augment, new: Path) -> None:
    done = both("--no-resample", "-n", 30, "--json").ok
    assert "geca: 11 of 15 samples. GECA can make only 11 novel pairs" in done.err
    assert made_by(files.read(new)) == [("geca", 11), ("recombination", 19)]
    report = done.document
    assert (report["requested"], report["kept"], report["shortfall"]) == (30, 30, "")


def test_gecas_are_kept_where_networks_make_none(both: Augment, new: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    none = Samples((), 3, rejected={"too long": 7}, shortfall="None came.")
    monkeypatch.setattr(Recombination, "sample_each", lambda *_, **__: [none])
    done = both("-n", 6, "--epochs", 1, "--json").ok
    assert made_by(files.read(new)) == [("geca", 3)]
    report = done.document
    assert (report["requested"], report["kept"], report["shortfall"]) == (6, 3, "None came.")


def test_where_neither_makes_any_geca_is_no_advice(both: Augment, new: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    none = Samples((), 3, rejected={"too long": 7})
    monkeypatch.setattr(Recombination, "sample_each", lambda *_, **__: [none])
    monkeypatch.setattr(GECA, "sample", lambda *_, **__: none)
    done = both("-n", 6, "--epochs", 1)
    assert done.code == 1, done.err
    assert "0 of 6 samples; rejected: 14 too long. No file was written. Train longer" in done.err
    assert "--method geca" not in done.err
    assert not new.exists()


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
